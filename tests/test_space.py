"""Three and more dimensions from the command line and from Python: what works, and what is refused in one line."""

from __future__ import annotations

import json

import pytest

import regioncount as rc
from regioncount import cli, files, geometry
from regioncount.errors import InputError, NeedsConicEngine

CUT = {"origin": [0, 0, 0], "directions": [[1, 0, 0], [0, 1, 0]], "domain": "-1:1,-1:1"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build = rc.constructions.build
    rc.save(build("random-relu", widths="3,4,4,2", seed=1), "net.json")
    rc.save(build("random-relu", widths="17,2,1", seed=1), "wide.json")
    rc.save(
        build("random-transformer", tokens=2, layers=1, heads=1, dim=2, hidden=2, input_dim=3, seed=1), "free.json"
    )
    (tmp_path / "cut.json").write_text(json.dumps(CUT))
    return tmp_path


REFUSED = {
    "figure net.json -o x.pdf": "one or two dimensions",
    "figure net.json -o x.html --domain=all": "slice:FILE",
    "figure net.json -o x.png --boundary": "slice:FILE",
    "count net.json --definitions R1": "R1 is counted in one and two dimensions",
    "count net.json --definitions linear,R1 --domain=all": "R1 is counted in one and two dimensions",
    "count net.json --save p.npz": "--save: partitions are kept in one and two dimensions, got 3",
    "count net.json --method polygon": "expected one of 'auto', 'polytope'",
    "count net.json --method grid": "expected dimension 1 or 2 for a grid, got 3",
    "count net.json --domain=-1:1,-1:1": "expected dimension 3 (input_dim)",
    "count net.json --domain=poly:0,0;1,0;0,1": "expected dimension 3 (input_dim)",
    "count net.json --domain=slice:flat.json": "expected dimension 3 (input_dim)",
    "count wide.json": "box of dimension 16 or less, got dimension 17",
    "count free.json": "or a slice",
    "count free.json --domain=all": "or a slice",
}


@pytest.mark.parametrize("words", REFUSED)
def test_refused_in_one_line(words, folder, capsys):
    (folder / "flat.json").write_text(json.dumps({**CUT, "origin": [0, 0], "directions": [[1, 0], [0, 1]]}))
    before = sorted(folder.iterdir())
    assert cli.main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and REFUSED[words] in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("domain", ["all", "-1:1,-1:1,-1:1"])
@pytest.mark.parametrize("options", [[], ["--method=polytope"], ["--exact"]])
def test_count(domain, options, folder, capsys):
    assert cli.main(["count", "net.json", f"--domain={domain}", "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["domain"] == domain and report["method"] == "polytope" and report["certified"]
    assert list(report["counts"]) == list(rc.DEFINITIONS)
    assert report["counts"] == rc.subdivide(rc.load("net.json"), domain).counts()


def test_max_pieces(folder, capsys):
    assert cli.main(["count", "net.json", "--max-pieces=2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["counts"]) == ["activation"] and "only activation was counted" in err


def test_a_slice_through_attention(folder, capsys):
    assert cli.main(["count", "free.json", "--domain=slice:cut.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certified"]
    assert cli.main(["figure", "net.json", "--domain=slice:cut.json", "-o", "cut.html", "--boundary"]) == 0


def test_python_refuses_before_and_after(folder):
    network = rc.load("net.json")
    with pytest.raises(InputError, match="R1 is counted in one and two"):
        rc.count(network, definitions=("R1",))
    partition = rc.subdivide(network)
    from regioncount import figures, paper

    for ask in (
        partition.decision_boundary,
        lambda: partition.count("R1"),
        lambda: files.save(partition, "p.npz"),
        lambda: figures.partition_figure(partition),
        lambda: paper.partition_figure(partition),
        lambda: geometry.areas(partition),
        lambda: geometry.geojson(partition),
        lambda: geometry.regions(partition),
        lambda: geometry.polygons(partition),
    ):
        with pytest.raises(InputError, match="dimension"):
            ask()
    assert not (folder / "p.npz").exists()
    with pytest.raises(NeedsConicEngine, match="or a slice"):
        rc.subdivide(rc.load("free.json"))
