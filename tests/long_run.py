"""Thousands of random small networks against the rational oracle: ``python tests/long_run.py [count] [first seed]``.

Weights come from few integers and simple fractions, so most networks are degenerate: lines through one point,
repeated neurons, exact ties.  Compared are the sets of activation patterns, all five counts, and that they are
certified.  Prints one line a thousand networks and every disagreement, as the network's JSON; exit code 1 if there is
one.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import oracle  # noqa: E402

import regioncount as rc  # noqa: E402
from regioncount.files import network_from_dict  # noqa: E402

FEW = [-1, 0, 1]
INTEGERS = [-2, -1, 0, 0, 1, 2]
FRACTIONS = [-1, "-1/3", 0, "1/2", "2/3", 1]


def random_network(seed: int) -> tuple[dict, list]:
    """A network of a family that the seed chooses, as the file's dict, and a domain."""
    rng = random.Random(seed)
    values = rng.choice([FEW, FEW, INTEGERS, FRACTIONS])
    dim = rng.choice([1, 2, 2])
    kind = rng.randrange(4)
    if kind == 0:
        widths = [dim, *(rng.randint(2, 5) for _ in range(rng.randint(1, 3))), rng.randint(1, 2)]
        network = oracle.random_relu(rng, widths, values, activation=rng.choice(["relu", "mixed"]))
    elif kind == 1:
        widths = [dim, *(rng.randint(1, 3) for _ in range(rng.randint(1, 2))), 1]
        network = oracle.random_maxout(rng, widths, rng.randint(2, 3), values, ragged=rng.random() < 0.5)
    else:
        scores = "quadratic" if dim == 1 else rng.choice(["fixed_query", "fixed_keys"])
        network = oracle.random_transformer(
            rng, tokens=rng.randint(2, 3), dim=rng.randint(2, 3), layers=rng.randint(1, 2), heads=rng.randint(1, 2),
            head_dim=rng.randint(1, 2), hidden=rng.randint(1, 2), input_dim=dim, values=values, scores=scores,
            mask=rng.choice(["none", "causal"]), residual=scores == "fixed_keys" or rng.random() < 0.7,
        )  # fmt: skip
    return network, rng.choice([[[-1, 1]], [[-2, 1]]]) * dim


def disagreement(network: dict, domain: list) -> str | None:
    """What differs between the package and the oracle, or None."""
    if len(domain) == 1:
        pieces = oracle.enumerate_1d(network, *domain[0])
    else:
        try:
            pieces = oracle.enumerate_2d(network, oracle.box(domain))
        except oracle.NotAffine:
            try:
                rc.count(network_from_dict(network), domain)
            except rc.NeedsConicEngine:
                return None
            return "the oracle meets a quadratic score, regioncount does not"
    loaded = network_from_dict(network)
    partition = rc.subdivide(loaded, domain)
    expected, found = oracle.counts(pieces), partition.counts()
    if expected != found:
        return f"counts {found}, expected {expected}"
    if {tuple(map(int, row)) for row in partition.patterns} != oracle.patterns(pieces):
        return "the sets of patterns differ"
    if not partition.certified:
        return "not certified"
    streamed = rc.count(loaded, domain).counts["activation"]
    return None if streamed == expected["activation"] else f"streamed {streamed}, expected {expected['activation']}"


def main(argv: list[str]) -> int:
    """Run; see the module docstring."""
    count = int(argv[0]) if argv else 10_000
    first = int(argv[1]) if len(argv) > 1 else 0
    wrong, started = 0, time.perf_counter()
    for seed in range(first, first + count):
        network, domain = random_network(seed)
        try:
            what = disagreement(network, domain)
        except Exception as error:  # noqa: BLE001 - a crash is a finding like any other
            what = f"{type(error).__name__}: {error}"
        if what is not None:
            wrong += 1
            print(f"seed {seed}: {what}\n{json.dumps({'domain': domain, 'network': network})}", flush=True)
        if (seed - first) % 1000 == 999:
            done = seed - first + 1
            print(f"{done:,} networks, {wrong} wrong, {time.perf_counter() - started:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
