"""Monte-Carlo estimates: the tree has the right leaves, weights are unbiased, intervals are worth what is said."""

import json
import math

import numpy as np
import oracle
import peers
import pytest
import space

import regioncount as rc
from regioncount.domain import as_domain
from regioncount.files import network_from_dict
from regioncount.montecarlo import Tree, estimate, interval

ENTRIES = json.loads(space.FILE.read_text())


def all_descents(tree, seed=0):
    """Every descent there is, with the same random numbers: (probability, weight, pattern)."""
    found, waiting = [], [()]
    while waiting:
        path = waiting.pop()
        taken, probability = [], 1.0

        def pick(probabilities, path=path, taken=taken):
            nonlocal probability
            place = len(taken)
            if place >= len(path):  # new here: the other children wait
                waiting.extend((*taken, child) for child in range(1, len(probabilities)))
            child = path[place] if place < len(path) else 0
            taken.append(child)
            assert (probabilities > 0).all()
            assert math.isclose(probabilities.sum(), 1)
            probability *= float(probabilities[child])
            return child

        log, pattern = tree.descend(np.random.default_rng(seed), pick)
        found.append((probability, math.exp(log), pattern))
    return found


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_leaves_are_the_regions_and_their_weights_expect_the_count(entry):
    network = network_from_dict(entry["network"])
    descents = all_descents(Tree(network, as_domain(space.text(entry["domain"]), network.input_dim)))
    number = entry["counts"]["activation"]
    assert math.isclose(sum(p for p, _, _ in descents), 1)
    assert math.isclose(sum(p * weight for p, weight, _ in descents), number)
    words = ["".join(map(str, np.frombuffer(pattern, np.uint8))) for _, _, pattern in descents]
    assert sorted(words) == sorted(entry["patterns"]["bounded"] + entry["patterns"]["unbounded"])
