"""Networks that others trained, read where they lie; their counts are those on which several independent tools agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import regioncount as rc
from regioncount.cli import main

REAL = Path(__file__).resolve().parents[2] / "shared" / "real"
COUNTS = json.loads((REAL / "counts.json").read_text()) if (REAL / "counts.json").exists() else {}
KNOWN = {name: entry["activation"] for name, entry in COUNTS.items() if entry["activation"] is not None}

pytestmark = pytest.mark.skipif(not COUNTS, reason=f"no folder of real networks beside the checkout ({REAL.name})")


@pytest.mark.parametrize("name", KNOWN or ["none"])
def test_counts(name):
    network = rc.load(REAL / f"{name}.json")
    result = rc.count(network)
    assert result.counts == {"activation": KNOWN[name]} and result.certified
    if KNOWN[name] <= 3000:
        partition = rc.subdivide(network)
        partition.check_invariants()
        exact = rc.count(network, definitions=rc.DEFINITIONS, exact=True)
        assert partition.counts() == exact.counts and exact.decisions["float"] == 0


def test_a_controller_from_the_command_line(capsys):
    assert main(["count", str(REAL / "acas_xu_4_6__syrenn_0_150_150.json"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"]["activation"] == 24_815 and report["certified"] and report["undecided"] == 0


@pytest.mark.parametrize("name", ["tracr_hist", "tracr_sort"])
def test_quadratic_attention_in_the_plane_is_refused(name):
    with pytest.raises(rc.NeedsConicEngine, match=r"layers\[\d\] \(attention\)"):
        rc.count(rc.load(REAL / f"{name}.json"))


def test_reverse_has_one_pattern():
    """All its scores differ by constants on the domain, once exact ties are decided exactly: sampling in floats finds
    dozens of patterns there, which are roundings of ties; exact sampling finds one."""
    network = rc.load(REAL / "tracr_reverse.json")
    result = rc.count(network)
    assert result.counts["activation"] == 1 and result.certified
    assert rc.count(network, method="grid", grid=40).estimate["activation"] == 1
