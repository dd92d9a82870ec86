"""Small networks on boxes of R^3 and R^4 and on all of R^n, with the oracle's answers: `python tests/space.py` writes
them to `data/space.json`, so that the quick tests need not wait for linear programs.

An entry has `name`, `network`, `domain` ([[low, high], ..] or null for the whole space), the five `counts`, and
`patterns`: the patterns of bounded and of unbounded cells, each as a sorted list of strings of 0 and 1.
"""

import json
from fractions import Fraction
from pathlib import Path
from random import Random

import lp_oracle
import oracle

FILE = Path(__file__).parent / "data" / "space.json"

SMALL = (-1, 0, 1)  # mostly degenerate: parallel and repeated hyperplanes, many through one point
FEW = (-2, -1, Fraction(-1, 2), 0, 0, Fraction(1, 2), 1, 2)
GENERIC = tuple(Fraction(k, 97) for k in range(-200, 201) if k % 97)
SIDES = ([-1, 1], [-2, 2], [0, 1], ["-1/3", "5/7"], [-3, "7/2"])
MOST = 200  # cells of an entry
KINDS = ("relu", "deep_relu", "mixed", "maxout", "ragged", "fixed_query", "fixed_keys")


def draw(kind, dim, rng, small=False):
    """A random network of a kind with `dim` inputs; `small` ones have few cells."""
    values = rng.choice((SMALL, FEW, GENERIC))
    most = 4 if small else 6
    if kind == "relu":
        return oracle.random_relu(rng, [dim, rng.randint(3, most + 1), 2], values)
    if kind == "deep_relu":
        return oracle.random_relu(rng, [dim, rng.randint(2, most), rng.randint(2, most - 1), 1], values)
    if kind == "mixed":
        widths = [dim, rng.randint(2, most), rng.randint(1, most - 2), 1]
        return oracle.random_relu(rng, widths, values, "mixed", rng.choice(("1/4", "-1/3", 2, 1)))
    if kind in ("maxout", "ragged"):
        widths = [dim, rng.randint(2, 2 if small else 3), rng.randint(1, 2), 1]
        return oracle.random_maxout(rng, widths, rank=3, values=values, ragged=kind == "ragged")
    return oracle.random_transformer(
        rng,
        tokens=rng.randint(2, 3 if small else 4),
        dim=2,
        layers=rng.randint(1, 2),
        heads=1,
        hidden=rng.randint(0, 1 if small else 2),
        input_dim=dim,
        values=values,
        scores=kind,
        mask=rng.choice(("none", "causal", "random")),
        readout=rng.choice((True, False, "mean")),
    )


def draw_domain(dim, rng):
    """A box whose sides often lie on borders, or None for the whole space."""
    return None if rng.random() < 0.5 else [rng.choice(SIDES) for _ in range(dim)]


def answer(network, domain):
    """What the oracle says of a network: the keys `counts` and `patterns` of an entry."""
    cells = lp_oracle.enumerate_cells(network, domain)
    known = {"bounded": [], "unbounded": []}
    for cell in cells:
        bounded = domain is not None or lp_oracle.is_bounded(cell)
        known["bounded" if bounded else "unbounded"].append("".join(map(str, cell.pattern)))
    return {"counts": lp_oracle.counts(cells), "patterns": {key: sorted(words) for key, words in known.items()}}


def text(domain):
    """A domain as text, "all" for None."""
    return "all" if domain is None else ",".join(f"{low}:{high}" for low, high in domain)


def _interest(entry):
    numbers = entry["counts"].values()
    return len(set(numbers)), max(numbers)


def main():
    entries = []
    for number, (kind, dim) in enumerate((kind, dim) for dim in (3, 4) for kind in KINDS):
        for repeat in (0, 1):
            drawn = []  # of a few networks the one whose counts differ most
            for seed in range(8):
                rng = Random(1000 * number + 100 * repeat + seed)
                network = draw(kind, dim, rng)
                domain = None if repeat else [rng.choice(SIDES) for _ in range(dim)]
                entry = {"name": f"{kind}_{dim}d_{repeat}", "domain": domain, "network": network}
                if len(lp_oracle.enumerate_cells(network, domain)) <= MOST:
                    drawn.append(entry | answer(network, domain))
            entries.append(max(drawn, key=_interest))
            print(entries[-1]["name"], entries[-1]["domain"], entries[-1]["counts"], flush=True)
    temporary = FILE.with_suffix(".part")
    temporary.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")
    temporary.replace(FILE)


if __name__ == "__main__":
    main()
