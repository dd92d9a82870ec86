"""Kernels of the grid engine: patterns become fingerprints, equal ones are found, neighbours are joined.

A fingerprint is two 64-bit chains over the pattern's columns, 64 at a time, with different multipliers; each step
goes through splitmix64's finaliser (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014), so it
depends on every bit before.  The chance that two of 10^8 different patterns share all 128 bits is about 10^-23.

Components are counted in a sweep: each point is a component of its own, and every union that joins two makes one less.
Only the row before is kept.  `parent` is a union-find forest of two rows of n points, the row before first; roots
are the greatest elements of their trees, so a component that reaches the new row has its root there.
"""

from __future__ import annotations

import numpy as np

from regioncount.kernels import inlined, njit


@inlined
def stir(state, word, factor):
    """One step of a chain of 64-bit hashes."""
    z = state * factor + word + np.uint64(0x7F4A7C15F39CC060)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def fingerprint(patterns, inside, prints):
    """Hash patterns (m, n_columns) of 0 and 1, in order, into the rows of `prints` (., 2) where `inside` is not 0."""
    at = 0
    columns = patterns.shape[1]
    for i in range(patterns.shape[0]):
        while inside[at] == 0:
            at += 1
        a = np.uint64(1)
        b = np.uint64(2)
        word = np.uint64(0)
        for c in range(columns):
            word = (word << np.uint64(1)) | np.uint64(patterns[i, c])
            if c % 64 == 63 or c == columns - 1:
                a = stir(a, word, np.uint64(0x9E3779B97F4A7C15))
                b = stir(b, word, np.uint64(0xD1342543DE82EF95))
                word = np.uint64(0)
        prints[at, 0] = a
        prints[at, 1] = b
        at += 1


@njit
def collect(prints, used, start, table, filled, n_filled):
    """Put the `used` rows of `prints` from `start` on into the open table (2^k, 2) until it is half full.

    Returns the row where it stopped and the number of entries; overwrites `table` and `filled`.
    """
    mask = np.uint64(table.shape[0] - 1)
    for i in range(start, prints.shape[0]):
        if used[i] == 0:
            continue
        if 2 * n_filled >= table.shape[0]:
            return i, n_filled
        at = prints[i, 0] & mask
        while filled[at] != 0 and (table[at, 0] != prints[i, 0] or table[at, 1] != prints[i, 1]):
            at = (at + np.uint64(1)) & mask
        if filled[at] == 0:
            filled[at] = 1
            table[at, 0] = prints[i, 0]
            table[at, 1] = prints[i, 1]
            n_filled += 1
    return prints.shape[0], n_filled


@inlined
def root(parent, i):
    """The root of i's tree; halves the path."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def join(parent, i, j):
    """Unite two trees; returns how many trees that is less."""
    i = root(parent, i)
    j = root(parent, j)
    if i == j:
        return 0
    if i < j:
        parent[i] = j
    else:
        parent[j] = i
    return 1


@njit
def sweep(prints, inside, parent):
    """Add rows 1, 2, … of `prints` (n_rows, n, 2) below row 0, whose components `parent` (2n,) knows.

    Returns the change in the number of components; leaves those of the last row in `parent[:n]`.
    """
    n = prints.shape[1]
    change = 0
    for r in range(1, prints.shape[0]):
        for i in range(n):
            parent[n + i] = n + i
            if inside[r, i] == 0:
                continue
            change += 1
            a = prints[r, i, 0]
            b = prints[r, i, 1]
            if inside[r - 1, i] != 0 and prints[r - 1, i, 0] == a and prints[r - 1, i, 1] == b:
                change -= join(parent, i, n + i)
            if i > 0 and inside[r, i - 1] != 0 and prints[r, i - 1, 0] == a and prints[r, i - 1, 1] == b:
                change -= join(parent, n + i - 1, n + i)
        for i in range(n):
            parent[i] = root(parent, n + i) - n
    return change
