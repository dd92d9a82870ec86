"""A network dictionary through regioncount and through the oracle: counts and sets of patterns must agree exactly."""

from fractions import Fraction
from random import Random

import oracle

import regioncount as rc
from regioncount.files import network_from_dict

THIRDS = (-2, -1, Fraction(-1, 3), Fraction(-1, 2), 0, Fraction(1, 7), Fraction(2, 3), 1, 2)
SMALL = (-1, 0, 1)  # mostly degenerate: ties, parallels, lines through one point
MIXED = (-3, Fraction(-7, 5), -1, 0, 0, Fraction(1, 3), 1, Fraction(11, 7), 2)


def oracle_pieces(network, domain):
    """The oracle's pieces of a network dictionary; domain as [[low, high], ..]."""
    if len(domain) == 1:
        return oracle.enumerate_1d(network, *domain[0])
    return oracle.enumerate_2d(network, oracle.box(domain))


def pattern_set(partition):
    """The patterns of a partition, as the oracle writes them."""
    return {tuple(row) for row in partition.patterns.tolist()}


def assert_same(network, domain, invariants=True):
    """Subdivide, compare everything that both programs know, and return the partition."""
    made = network_from_dict(network)
    pieces = oracle_pieces(network, domain)
    partition = rc.subdivide(made, domain)
    assert pattern_set(partition) == oracle.patterns(pieces)
    assert partition.n_pieces == len(pieces)
    assert partition.counts() == oracle.counts(pieces)
    assert partition.certified
    streamed = rc.count(made, domain)
    assert streamed.counts == {"activation": len(oracle.patterns(pieces))}
    assert streamed.certified
    if invariants:
        partition.check_invariants()
    return partition


def domain_for(rng, dim):
    """A domain whose sides often lie on borders, and sometimes never do."""
    sides = [[-1, 1], [-2, 2], [0, 1], ["-1/3", "5/7"], [-3, "7/2"]]
    return [rng.choice(sides) for _ in range(dim)]


def continuous(seed, dim):
    """A small random network without attention; ``seed`` may be a Random."""
    rng = seed if isinstance(seed, Random) else Random(seed)
    values = rng.choice((oracle.VALUES, THIRDS, SMALL, MIXED))
    widths = [dim, *(rng.randint(1, 4) for _ in range(rng.randint(1, 3 if dim == 1 else 2))), rng.randint(1, 2)]
    kind = rng.choice(("relu", "leaky_relu", "abs", "mixed", "maxout", "ragged"))
    if kind in ("maxout", "ragged"):
        return oracle.random_maxout(rng, widths, rank=rng.randint(2, 4), values=values, ragged=kind == "ragged")
    slope = rng.choice(("1/4", "-1/3", 2, "1/10", 1))
    return oracle.random_relu(rng, widths, values=values, activation=kind, slope=slope)


def transformer(seed, dim):
    """A small random hardmax Transformer; in the plane its scores are affine."""
    rng = seed if isinstance(seed, Random) else Random(seed)
    values = rng.choice((oracle.VALUES, THIRDS, SMALL, MIXED))
    scores = rng.choice(("fixed_query", "fixed_keys", "mixed") if dim == 2 else ("quadratic", "quadratic", "mixed"))
    return oracle.random_transformer(
        rng,
        tokens=rng.randint(2, 4),
        dim=rng.randint(1 if scores in ("quadratic", "fixed_query") else 2, 3),
        layers=rng.randint(1, 2),
        heads=rng.randint(1, 2),
        head_dim=rng.randint(1, 2),
        hidden=rng.randint(0, 2),
        input_dim=dim,
        values=values,
        scores=scores,
        mask=rng.choice(("none", "causal", "random")),
        residual=True if scores in ("fixed_keys", "mixed") else rng.random() < 0.6,
        readout=rng.choice((True, True, False, "mean", "all")),
    )
