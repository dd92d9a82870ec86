"""Thousands of random small networks against the rational oracle: ``python tests/long_run.py [count] [first seed]``,
and with ``conic`` as a third argument networks with quadratic scores in the plane against ``conic_oracle``.

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import conic_oracle  # noqa: E402
import oracle  # noqa: E402

import regioncount as rc  # noqa: E402
from regioncount.files import network_from_dict  # noqa: E402

FEW = [-1, 0, 1]
INTEGERS = [-2, -1, 0, 0, 1, 2]
FRACTIONS = [-1, "-1/3", 0, "1/2", "2/3", 1]
MANY = 20  # conic pieces of the package from which on the oracle takes more than a few seconds


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


def random_conic_network(seed: int) -> tuple[dict, list]:
    """A hardmax Transformer with quadratic scores in the plane, as the file's dict, and a domain."""
    rng = random.Random(seed)
    layers = rng.choice([1, 1, 1, 2])
    network = oracle.random_transformer(
        rng, tokens=rng.choice([2, 2, 3]), dim=rng.randint(1, 3), layers=layers,
        heads=rng.choice([1, 1, 2]) if layers == 1 else 1, head_dim=rng.choice([1, 2, 2, 3]),
        hidden=rng.randint(0, 2) if layers == 1 else 1, input_dim=2, values=rng.choice([FEW, INTEGERS, FRACTIONS]),
        mask=rng.choice(["none", "none", "causal", "random"]), residual=rng.random() < 0.8,
    )  # fmt: skip
    return network, rng.choice([[[-1, 1], [-1, 1]], [[-2, 1], ["-1/3", 2]]])


def disagreement(network: dict, domain: list, ways: Sequence[tuple[str, bool]] = (("auto", False),)) -> str | None:
    """What differs between the package and the oracles, or None; ``ways`` are methods, exact or not."""
    loaded = network_from_dict(network)
    oracles: Any = oracle
    if len(domain) == 1:
        pieces = oracle.enumerate_1d(network, *domain[0])
    else:
        try:
            pieces = oracle.enumerate_2d(network, oracle.box(domain))
        except oracle.NotAffine:
            oracles = conic_oracle
            if rc.count(loaded, domain).pieces > MANY:
                return _among_ourselves(loaded, domain)
            try:
                pieces = conic_oracle.enumerate_conic(network, oracle.box(domain))
            except conic_oracle.NotGeneric:
                return _among_ourselves(loaded, domain)
    expected = oracles.counts(pieces)
    for method, exact in ways:
        partition = rc.subdivide(loaded, domain, method=method, exact=exact)
        found = partition.counts()
        if expected != found:
            return f"{method}, exact={exact}: counts {found}, expected {expected}"
        if {tuple(map(int, row)) for row in partition.patterns} != oracles.patterns(pieces):
            return f"{method}, exact={exact}: the sets of patterns differ"
        if not partition.certified:
            return f"{method}, exact={exact}: not certified"
        streamed = rc.count(loaded, domain, method=method, exact=exact).counts["activation"]
        if streamed != expected["activation"]:
            return f"{method}, exact={exact}: streamed {streamed}, expected {expected['activation']}"
    return None


def _among_ourselves(network: rc.Network, domain: list) -> str | None:
    """What differs between our own ways, where the oracle would take too long."""
    first, *others = (
        rc.subdivide(network, domain, method=method, exact=exact)
        for method, exact in (("auto", False), ("conic", False), ("auto", True))
    )
    for other in others:
        if first.counts() != other.counts():
            return f"counts {first.counts()} and {other.counts()}"
        if {row.tobytes() for row in first.patterns} != {row.tobytes() for row in other.patterns}:
            return "the sets of patterns differ between methods"
    return None


def main(argv: list[str]) -> int:
    """Run; see the module docstring."""
    count = int(argv[0]) if argv else 10_000
    first = int(argv[1]) if len(argv) > 1 else 0
    make = random_conic_network if argv[2:] == ["conic"] else random_network
    wrong, started = 0, time.perf_counter()
    for seed in range(first, first + count):
        network, domain = make(seed)
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
