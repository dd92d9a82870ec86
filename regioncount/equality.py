"""Which pieces have the same affine map, exactly.

Three steps, from cheap to dear: maps whose floats differ by more than their errors differ; of the others, those whose
*effective patterns* agree (choices that still reach the output through non-zero weights) are equal by structure; what
is left is composed exactly, once for each effective pattern.  Pieces of the line whose exact state is known skip the
second step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from regioncount.lowering import BIT, PASS, Lowered

U = 2.0**-53
_MASKED = 2


def map_classes(
    lowered: Lowered,
    exact_map: Callable[[int], Hashable],
    patterns: np.ndarray,
    maps: np.ndarray,
    errors: np.ndarray,
    cheap: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Number the distinct maps.

    Parameters
    ----------
    exact_map : function
        The exact map of a piece, as something that is equal where maps are.
    patterns : ndarray of uint8 (n_pieces, n_columns)
    maps : ndarray (n_pieces, out, n + 1), engine coordinates
    errors : ndarray (n_pieces, n + 1)
        Bound on the 2-norm over the outputs of the error of each column of coefficients.
    cheap : ndarray of bool (n_pieces,)
        Where ``exact_map`` composes nothing, so that structure is not worth a look.

    Returns
    -------
    labels : ndarray of int (n_pieces,)
        Equal exactly where the exact maps are equal; numbered in the order of first appearance.
    n_exact : int
        How many exact maps were asked for.
    """
    cluster = _close_maps(maps, errors)
    sizes = np.bincount(cluster)
    unsure = sizes[cluster] > 1
    labels = cluster.astype(np.int64)
    known: dict[Hashable, int] = {}

    def label(piece: int) -> int:
        return known.setdefault(exact_map(piece), len(sizes) + len(known))

    at_once = np.flatnonzero(unsure & cheap)
    for piece in at_once.tolist():
        labels[piece] = label(piece)
    rest = np.flatnonzero(unsure & ~cheap)
    if len(rest):
        keys = effective_patterns(lowered, patterns[rest])
        own = cluster[rest, None].astype(np.int64).view(np.uint8).reshape(-1, 8)
        rows = np.ascontiguousarray(np.concatenate([own, keys], axis=1))
        _, first, inverse = np.unique(
            rows.view(np.dtype((np.void, rows.shape[1]))).ravel(), return_index=True, return_inverse=True
        )
        maps_in = np.bincount(cluster[rest[first]], minlength=len(sizes))
        maps_in[cluster[at_once]] += 1
        of_key = cluster[rest[first]].astype(np.int64)
        doubtful = np.flatnonzero(maps_in[of_key] > 1)
        for key in doubtful.tolist():
            of_key[key] = label(int(rest[first[key]]))
        labels[rest] = of_key[inverse.ravel()]
        return _renumber(labels), len(at_once) + len(doubtful)
    return _renumber(labels), len(at_once)


def _renumber(labels: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]


def _close_maps(maps: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Clusters such that equal maps lie in one cluster: runs of close values of one fixed linear function of the
    coefficients.
    """
    n = len(maps)
    flat = maps.reshape(n, -1)
    weights = np.random.default_rng(0).uniform(0.5, 1.0, flat.shape[1])
    with np.errstate(all="ignore"):
        value = flat @ weights
        # |Σ w δ| ≤ Σ_k ‖w_k‖ ‖δ_k‖ with |w| ≤ 1 and the rounding of the sum itself
        reach = np.sqrt(maps.shape[1]) * errors.sum(axis=1) * 1.01 + 2 * U * flat.shape[1] * np.abs(flat).sum(axis=1)
        unknown = ~(np.isfinite(value) & np.isfinite(reach))
    value[unknown], reach[unknown] = 0.0, np.inf
    order = np.argsort(value, kind="stable")
    if unknown.any():
        return np.zeros(n, dtype=np.int64)
    # an interval may reach past its neighbour: compare each with the farthest reach so far
    farthest = np.maximum.accumulate(value[order] + reach[order])
    starts = np.concatenate([[False], value[order][1:] - reach[order][1:] > farthest[:-1]])
    cluster = np.empty(n, dtype=np.int64)
    cluster[order] = np.cumsum(starts)
    return cluster


def effective_patterns(lowered: Lowered, patterns: np.ndarray) -> np.ndarray:
    """Patterns with the columns masked of units that cannot reach the output through the chosen values: equal ones,
    equal maps.
    """
    out = np.full_like(patterns, _MASKED)
    for start in range(0, len(patterns), 4096):
        part = slice(start, start + 4096)
        _mask(lowered, patterns[part], out[part])
    return out


def _mask(lowered: Lowered, patterns: np.ndarray, out: np.ndarray) -> None:
    n = len(patterns)
    reached = np.ones((n, lowered.blocks[-1].n_pre), dtype=bool)  # coordinates of pre that reach the output
    for index in range(len(lowered.blocks) - 1, 0, -1):
        block = lowered.blocks[index]
        weight = block.weight.nonzero().astype(np.float32)
        parts = np.split(reached, block.repeat, axis=1)
        state = np.concatenate([part.astype(np.float32) @ weight > 0 for part in parts], axis=1)
        below = lowered.blocks[index - 1]
        reached = np.zeros((n, below.n_pre), dtype=bool)
        for unit in below.units:
            if unit.kind == PASS:
                reached[:, unit.values[0]] |= state[:, unit.out]
                continue
            wanted = state[:, unit.out : unit.out + unit.n_values]
            seen = np.asarray(wanted.any(axis=1))
            columns = list(unit.columns)
            out[:, columns] = np.where(seen[:, None], patterns[:, columns], out[:, columns])
            if unit.kind == BIT:
                on = patterns[:, columns[0]] == 1
                reached[:, unit.values[0]] |= seen & (on if unit.slope == 0 else True)
                continue
            for value, column in zip(unit.values, columns, strict=True):
                won = patterns[:, column] == 1
                reached[:, value : value + unit.n_values] |= wanted & won[:, None]
