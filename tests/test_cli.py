"""The command line: its contract (keys, exit codes, one line on stderr), not the counts themselves."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import scored

from regioncount import cli, partition, sweep
from regioncount.definitions import DEFINITIONS, MEANINGS
from regioncount.errors import TooManyPieces

KEYS = [
    "network", "domain", "method", "counts", "depth_profile", "pieces", "certified", "undecided", "decisions",
    "seconds", "note",
]  # fmt: skip
RECORD = {
    "construction": "three-step", "tokens": 3, "depth": 3, "counts": {"linear": 2}, "bound": 2,
    "method": "interval", "certified": True, "seconds": 0.1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def network(tmp_path: Path) -> str:
    """A 2-D ReLU network with four linear regions on its own domain."""
    write(
        tmp_path / "net.json",
        {
            "format": "regioncount-network",
            "version": 1,
            "input_dim": 2,
            "domain": "-1:1,-1:1",
            "layers": [{"type": "relu"}, {"type": "affine", "weight": [[1, 2]]}],
        },
    )
    return "net.json"


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "regioncount", *words], capture_output=True, text=True)


def refuse(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must fail as bad input does, and return its one line."""
    before = set(os.listdir())
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("regioncount: error: ") and err.count("\n") == 1 and err.endswith("\n")
    assert set(os.listdir()) == before, "a failed command left a file"
    return err


# --- start


def test_help_is_quick_and_loads_no_numpy() -> None:
    def cpu() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(5):
        start = cpu()
        assert run("--help").returncode == 0
        times.append(cpu() - start)
    assert min(times) < 0.15

    code = "import sys; from regioncount.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "assert 'numpy' not in sys.modules and 'numba' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.parametrize("command", ["build", "count", "depth", "figure", "app"])
def test_help_of_commands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: regioncount {command}" in capsys.readouterr().out


def test_exit_codes_of_the_process(network: str) -> None:
    assert run("--version").returncode == 0
    for words in ([], ["paint"], ["count", "nowhere.json"], ["count", network, "--domain=1:0,0:1"]):
        result = run(*words)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.stderr


# --- build


def test_build_then_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["build", "three-step", "--tokens", "4", "--depth", "9", "-o", "net.json"]) == 0
    assert json.loads(Path("net.json").read_text(encoding="utf-8"))["metadata"]["family"] == "three-step"
    capsys.readouterr()
    assert cli.main(["count", "net.json", "--domain=0:1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["linear"] == 27


@pytest.mark.parametrize("name", ["net.json", "net.safetensors"])
def test_build_passes_every_parameter(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = "random-transformer --tokens 2 --layers 1 --heads 2 --dim 2 --hidden 3 --input-dim 1 --queries fixed"
    assert cli.main(["build", *words.split(), "--seed", "5", "--init", "uniform", "-o", name]) == 0
    from regioncount import load

    metadata = load(name).metadata
    assert metadata is not None and metadata["seed"] == 5
    assert metadata["parameters"]["input_dim"] == 1 and metadata["parameters"]["queries"] == "fixed"


def test_build_rounds_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", "three-step", "--tokens", "4", "--depth", "3", "-o", "net.safetensors", "--round"]
    assert cli.main(words) == 0
    capsys.readouterr()
    assert cli.main(["count", "net.safetensors", "--json", "--definitions", "linear"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"linear": 5}, "another function, its right count"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("tower -o net.json", "three-step"),
        ("three-step --tokens four -o net.json", "--tokens"),
        ("three-step --tokens 1 -o net.json", "tokens"),
        ("three-step --rank 3 -o net.json", "rank"),
        ("random-relu -o net.json", "widths"),
        ("random-relu --widths 2,x,1 -o net.json", "widths"),
        ("three-step", "--output"),
        ("three-step -o nowhere/net.json", "nowhere"),
        ("three-step -o net.txt", "net.txt"),
        ("three-step -o net.safetensors", "1/3"),
        ("three-step -o .", "."),
    ],
)
def test_build_refuses(words: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refuse(capsys, "build", *words.split())


# --- count


def test_count_as_json(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["count", network, "--json"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert err == ""
    assert list(report) == KEYS
    assert list(report["counts"]) == list(DEFINITIONS) and set(report["counts"].values()) == {4}
    assert (report["network"], report["domain"], report["method"]) == ("net.json", "-1:1,-1:1", "polygon")
    assert report["certified"] is True and report["undecided"] == 0 and report["pieces"] == 4
    assert report["depth_profile"] == [{"layer": 0, "type": "relu", "activation": 4}]
    assert report["seconds"] > 0


def test_count_for_people(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["count", network]) == 0
    out, _ = capsys.readouterr()
    for name in DEFINITIONS:
        assert any(line.startswith(name) and MEANINGS[name] in line for line in out.splitlines())
    for text in ("net.json", "-1:1,-1:1", "polygon", "certified", "4 pieces", "relu"):
        assert text in out


def test_count_names_definitions_and_domain(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["count", network, "--domain", "-1:-1/2,0:1", "--definitions", "linear,activation", "--json"]
    assert cli.main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report["counts"]) == {"linear", "activation"} and set(report["counts"].values()) == {1}
    assert cli.main(["count", network, "--domain=poly:0,0;1,0;-1,2", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["counts"].values()) == {2}


def test_count_by_grid_is_an_estimate(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["count", network, "--method", "grid", "--grid", "10", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {*KEYS, "estimate"}
    assert report["counts"] == {} and report["certified"] is False
    assert report["estimate"] == {"activation": 4, "components": 4, "points": [10, 10]}
    assert cli.main(["count", network, "--method", "grid", "--grid", "10"]) == 0
    assert "not a count" in capsys.readouterr().out


@pytest.fixture
def conic(tmp_path: Path) -> str:
    """A disc and a hyperbola as borders: 7 pieces or more, 4 cells."""
    write(tmp_path / "conic.json", scored.signs(scored.circle(0, 0, "1/4"), ("-1/4", 0, 0, 0, 1, 0)))
    return str(tmp_path / "conic.json")


@pytest.mark.nojit
def test_count_with_conics(conic: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {"activation": 3, "cells": 4, "linear": 4, "linear_closed": 4, "affine_maps": 3}
    for words in ((), ("--method", "conic"), ("--method", "auto")):
        assert cli.main(["count", conic, "--domain=-1:1,-1:1", *words, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert list(report) == KEYS and report["method"] == "conic" and report["certified"] is True
        assert report["counts"] == expected and report["undecided"] == 0 and report["note"] == ""
        assert report["depth_profile"] == [{"layer": 1, "type": "attention", "activation": 3}]
    assert cli.main(["count", conic, "--domain=-1:1,-1:1", "--method", "conic"]) == 0
    assert "certified" in capsys.readouterr().out
    square = ["count", conic, "--domain=-1:1,-1:1"]
    assert "quadratic" in refuse(capsys, *square, "--method", "polygon")
    assert "R1" in refuse(capsys, *square, "--definitions", "R1")
    assert "pieces" in refuse(capsys, *square, "--max-pieces", "2", "--definitions", "cells")
    assert cli.main([*square, "--max-pieces", "2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["counts"] == {"activation": 3} and "only activation was counted" in err


@pytest.mark.nojit
def test_conics_are_not_for_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"format": "regioncount-network", "version": 1, "input_dim": 1, "layers": [{"type": "abs"}]}
    write(tmp_path / "line.json", line)
    assert "conic" in refuse(capsys, "count", str(tmp_path / "line.json"), "--domain=-1:1", "--method", "conic")


def test_beyond_max_pieces(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["count", network, "--max-pieces", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["counts"] == {"activation": 4}
    assert "only activation was counted" in report["note"] and report["note"] in err
    assert "pieces" in refuse(capsys, "count", network, "--max-pieces", "3", "--definitions", "linear")


def test_an_uncertified_count_says_so(
    network: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = types.SimpleNamespace(
        domain="-1:1,-1:1", method="polygon", counts={"linear": 1234}, depth_profile=[], pieces=2000,
        certified=False, undecided=17, decisions={}, estimate=None, seconds=0.5, note="",
    )  # fmt: skip
    monkeypatch.setattr(partition, "count", lambda *_, **__: result)
    assert cli.main(["count", network]) == 0
    out = capsys.readouterr().out
    assert "not certified: 17 undecided" in out and "1,234" in out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--domain=1:-1,0:1", "low[0]"),
        ("--domain=0:1", "2"),
        ("--domain=nonsense", "nonsense"),
        ("--domain=poly:0,0;1,0;0.2,0.2;0,1", "convex"),
        ("--domain=nan:1,0:1", "nan"),
        ("--method magic", "--method"),
        ("--method grid --grid 0", "--grid"),
        ("--method grid --definitions linear", "--definitions"),
        ("--method interval", "interval"),
        ("--grid 10", "--grid"),
        ("--definitions linear,volume", "volume"),
        ("--definitions=", "--definitions"),
        ("--max-pieces many", "--max-pieces"),
        ("--colour", "--colour"),
        ("--js", "--js"),
    ],
)
def test_count_refuses(network: str, words: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refuse(capsys, "count", network, *words.split())


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('{"format": "regioncount-network", "version": 1, "input', "net.json"),
        ("[]", "net.json"),
        (
            '{"format": "regioncount-network", "version": 1, "input_dim": 1, "layers": [{"type": "gelu"}]}',
            "gelu",
        ),
        (
            '{"format": "regioncount-network", "version": 1, "input_dim": 1, "domain": "0:1",'
            ' "layers": [{"type": "affine", "weight": [[1, 2]]}]}',
            "layers[0]",
        ),
        (
            '{"format": "regioncount-network", "version": 1, "input_dim": 1, "domain": "0:1",'
            ' "layers": [{"type": "affine", "weight": [[NaN]]}]}',
            "NaN",
        ),
        (
            '{"format": "regioncount-network", "version": 1, "input_dim": 1, "layers": [{"type": "relu"}]}',
            "--domain",
        ),
    ],
)
def test_count_refuses_files(content: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("net.json").write_text(content, encoding="utf-8")
    assert named in refuse(capsys, "count", "net.json")


# --- depth


def test_depth_writes_records_and_a_figure(capsys: pytest.CaptureFixture[str]) -> None:
    words = "depth --construction three-step --tokens 3,4 --max-depth 6 -o depth.jsonl --figure depth.html"
    assert cli.main(words.split()) == 0
    out, err = capsys.readouterr()
    records = [json.loads(line) for line in Path("depth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(r["tokens"], r["depth"]) for r in records] == [(t, d) for t in (3, 4) for d in range(1, 7)]
    for record in records:
        assert list(record) == list(RECORD)
        assert record["counts"]["linear"] == record["bound"] == (record["tokens"] - 1) ** (record["depth"] // 3)
        assert record["certified"] is True
    table = out.splitlines()
    assert len(table) == 1 + len(records) and "linear" in table[0] and "lower bound" in table[0]
    assert err == ""
    page = Path("depth.html").read_text(encoding="utf-8")
    assert "linear regions" in page and "<script" in page
    assert sorted(os.listdir()) == ["depth.html", "depth.jsonl"]


def test_depth_of_one_definition(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["depth", "--tokens", "3", "--max-depth", "3", "--definitions", "activation"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert "activation" in header and "linear" not in header and len(rows) == 3
    assert os.listdir() == []


def test_depth_of_several_constructions(capsys: pytest.CaptureFixture[str]) -> None:
    words = "depth --construction three-step,one-step --tokens 3 --max-depth 3 -o depth.jsonl"
    assert cli.main(words.split()) == 0
    records = [json.loads(line) for line in Path("depth.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [r["construction"] for r in records] == ["three-step"] * 3 + ["one-step"] * 3
    assert [r["counts"]["linear"] for r in records] == [1, 1, 2, 1, 3, 9]
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(":")] == ["three-step:", "one-step:"] and len(lines) == 10


def test_depth_of_random_networks(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "depth --construction three-step,random-relu,random-transformer --tokens 3 --max-depth 2 --seeds 4 --units 5"
    )
    files = "-o depth.jsonl --figure depth.html --figure depth.json --definitions linear"
    assert cli.main([*words.split(), *files.split()]) == 0
    records = sweep.read_records("depth.jsonl")
    assert [r.get("seed") for r in records] == [None, None, *range(4), *range(4), *range(4), *range(4)]
    assert [r["tokens"] for r in records] == [3] * 2 + [None] * 8 + [3] * 8
    assert sorted(os.listdir()) == ["depth.html", "depth.json", "depth.jsonl"]
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [
        "three-step:",
        "random-relu (units 5), medians of 4 seeds:",
        "random-transformer (heads 1, dim 4, hidden 8), medians of 4 seeds:",
    ]
    relu = [row.split() for row in lines[lines.index("random-relu (units 5), medians of 4 seeds:") + 2 :][:2]]
    drawn = [[r["counts"]["linear"] for r in records if r["tokens"] is None and r["depth"] == d] for d in (1, 2)]
    assert [(row[0], float(row[1]), row[2]) for row in relu] == [
        (str(d), sum(sorted(counts)[1:3]) / 2, "yes") for d, counts in zip((1, 2), drawn, strict=True)
    ]


def test_depth_of_networks_without_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "depth --construction random-maxout --rank 2 --max-depth 1 --seeds 1 --definitions linear --figure depth.json"
    )
    assert cli.main(words.split()) == 0
    assert capsys.readouterr().out.splitlines()[0] == "random-maxout (units 16, rank 2), medians of 1 seed:"


@pytest.mark.parametrize("ending", ["pdf", "png", "svg"])
def test_depth_prints(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = f"depth --tokens 3 --max-depth 3 --figure depth.{ending} --width double --figure depth.html"
    assert cli.main(words.split()) == 0
    assert Path(f"depth.{ending}").stat().st_size > 4000
    assert sorted(os.listdir()) == sorted([f"depth.{ending}", "depth.html"])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--tokens 3", "--max-depth"),
        ("--tokens 3,x --max-depth 3", "--tokens"),
        ("--tokens 3 --max-depth 0", "--max-depth"),
        ("--tokens 1 --max-depth 3", "tokens"),
        ("--tokens 3 --max-depth 3 --construction tower", "construction"),
        ("--tokens 3 --max-depth 3 --construction tent", "tent"),
        ("--tokens 3 --max-depth 3 --definitions volume", "volume"),
        ("--tokens 3 --max-depth 3 --figure depth.gif", "--figure"),
        ("--tokens 3 --max-depth 3 --figure nowhere/depth.html", "nowhere"),
        ("--tokens 3 --max-depth 3 -o nowhere/depth.jsonl", "nowhere"),
        ("--tokens 3 --max-depth 3 -o .", "directory"),
        ("--tokens 3 --max-depth 3 -o nowhere/../depth.jsonl", "-o"),
        ("--tokens 3 --max-depth 3 --figure .", "--figure"),
        ("--tokens 3 --max-depth 3 --figure depth.html --width single", "--width"),
        ("--tokens 3 --max-depth 3 --figure depth.pdf --width wide", "--width"),
        ("--tokens 3 --max-depth 3 --width single", "--width"),
        ("--tokens 3 --max-depth 3 --construction three-step,tower", "tower"),
        ("--max-depth 3", "--tokens: three-step needs"),
        ("--max-depth 3 --construction random-relu,random-transformer", "--tokens: random-transformer needs"),
        ("--tokens 3 --max-depth 3 --construction random-relu", "--tokens: random-relu has none"),
        ("--tokens 3 --max-depth 3 --seeds 4", "--seeds: three-step has none"),
        ("--max-depth 3 --construction random-relu --rank 4", "--rank"),
        ("--max-depth 3 --construction random-relu --seeds 0", "--seeds"),
        ("--max-depth 3 --construction random-relu --units x", "--units"),
        ("--tokens 3 --max-depth 3 --figure depth.html --figure depth.gif", "--figure"),
    ],
)
def test_depth_refuses(words: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    extra = [] if "-o" in words.split() else ["-o", "depth.jsonl"]
    assert named in refuse(capsys, "depth", *words.split(), *extra)


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141)])
def test_depth_keeps_finished_records(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, on_record: Any, **__: Any) -> None:
        on_record(RECORD)
        raise error

    monkeypatch.setattr(sweep, "depth_sweep", interrupted)
    assert cli.main(["depth", "--tokens", "3", "--max-depth", "9", "-o", "depth.jsonl"]) == code
    assert sweep.read_records("depth.jsonl") == [RECORD]
    assert os.listdir() == ["depth.jsonl"]


def test_ctrl_c_in_the_process() -> None:
    words = ["depth", "--construction", "one-step", "--tokens", "3", "--max-depth", "40", "-o", "depth.jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "regioncount", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # jobs may ignore it
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(3):  # the header and two records
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "regioncount: interrupted\n"
    assert len(sweep.read_records("depth.jsonl")) >= 2
    assert os.listdir() == ["depth.jsonl"]


def test_progress_on_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def one(*_: Any, on_record: Any, **__: Any) -> None:
        on_record(RECORD)

    monkeypatch.setattr(sweep, "depth_sweep", one)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert cli.main(["depth", "--tokens", "3", "--max-depth", "2"]) == 0
    out, err = capsys.readouterr()
    assert "] 1/2" in err and err.endswith("\r\033[K")
    assert "\r" not in out


# --- figure


@pytest.fixture
def classifier(tmp_path: Path) -> str:
    """A network with three outputs: x, y and 0, each greatest somewhere."""
    layers = [{"type": "relu"}, {"type": "affine", "weight": [[1, 0], [0, 1], [0, 0]], "bias": [0, 0, "1/2"]}]
    write(
        tmp_path / "classifier.json",
        {"format": "regioncount-network", "version": 1, "input_dim": 2, "domain": "-1:1,-1:1", "layers": layers},
    )
    return "classifier.json"


@pytest.mark.parametrize("ending", ["html", "json", "pdf", "png", "svg"])
def test_figure(classifier: str, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    if ending not in ("html", "json"):
        pytest.importorskip("matplotlib")
    assert cli.main(["figure", classifier, "-o", f"plot.{ending}", "--boundary"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        f"plot.{ending}: 4 linear regions (R4); 4 pieces on -1:1,-1:1, certified",
        "decision boundary: 5 segments, jumps of the greatest output: 0",
    ]
    assert err == "" and Path(f"plot.{ending}").stat().st_size > 4000
    assert sorted(os.listdir()) == ["classifier.json", f"plot.{ending}"]


def test_figure_of_values_and_domains(classifier: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figure", classifier, "--domain", "-1:0,0:1", "--color-by", "value:2", "-o", "plot.json"]
    assert cli.main(words) == 0
    assert "1 linear region (R4); 1 piece on -1:0,0:1" in capsys.readouterr().out
    assert json.loads(Path("plot.json").read_text())["data"][0]["type"] == "heatmap"
    assert cli.main(["build", "tent", "--depth", "3", "-o", "tent.json"]) == 0
    assert cli.main(["figure", "tent.json", "--color-by", "activation", "-o", "tent.json.html"]) == 0
    assert "activation regions (R2)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("", "--output"),
        ("-o plot.gif", ".pdf"),
        ("-o nowhere/plot.pdf", "nowhere"),
        ("-o .", "directory"),
        ("-o plot.html --width single", "--width"),
        ("-o plot.pdf --width wide", "--width"),
        ("-o plot.html --color-by volume", "--color-by"),
        ("-o plot.html --color-by value:7", "value:7"),
        ("-o plot.html --max-pieces 3", "max_pieces"),
        ("-o plot.html --max-pieces 0", "--max-pieces"),
        ("-o plot.html --domain=0:1", "domain"),
        ("-o plot.html --boundary", "--boundary"),
    ],
)
def test_figure_refuses(network: str, words: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refuse(capsys, "figure", network, *words.split())


def test_prints_without_matplotlib(
    network: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from regioncount import paper

    monkeypatch.setattr(paper.importlib.util, "find_spec", lambda name: None)
    assert "regioncount[paper]" in refuse(capsys, "figure", network, "-o", "plot.pdf")
    words = ["depth", "--tokens", "3", "--max-depth", "3", "--figure", "depth.pdf"]
    assert "regioncount[paper]" in refuse(capsys, *words)


# --- the rest


def test_a_closed_pipe_is_no_traceback() -> None:
    code = f'"{sys.executable}" -m regioncount depth --tokens 3 --max-depth 3 | true; echo "${{PIPESTATUS[0]}}"'
    result = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() in ("0", "141")
    assert result.stderr == ""


def test_errors_of_the_system_are_one_line(
    network: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "net.json")

    monkeypatch.setattr(partition, "count", full)
    assert "net.json: No space left on device" in refuse(capsys, "count", network)

    def several_lines(*_: Any, **__: Any) -> None:
        raise TooManyPieces("one\ntwo")

    monkeypatch.setattr(partition, "count", several_lines)
    assert "one two" in refuse(capsys, "count", network, "--definitions", "linear")


def test_bench_runs_the_cases_of_the_checkout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "regioncount" / "cli.py"))
    assert "checkout" in refuse(capsys, "bench", "--repeat", "3")

    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "cases.py").touch()
    called: list[list[str]] = []
    cases = types.ModuleType("benchmarks.cases")
    cases.main = lambda argv: called.append(argv) or 0  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, "benchmarks", types.ModuleType("benchmarks"))
    monkeypatch.setitem(sys.modules, "benchmarks.cases", cases)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert cli.main(["bench", "--repeat", "3", "--help"]) == 0
    assert called == [["--repeat", "3", "--help"]]


# --- unbounded domains and windows


def test_the_whole_plane(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["count", network, "--domain=all", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["domain"], report["counts"]["linear"], report["certified"]) == ("all", 4, True)
    assert cli.main(["count", network, "--domain", "all"]) == 0
    assert cli.main(["count", network, "--domain=all", "--save=p.npz"]) == 0
    assert cli.main(["verify", "p.npz", network]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("name", ["a.html", "a.json", "a.svg"])
def test_figures_of_a_window(network: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["figure", network, "--window", "-1/2:2,0:1", "-o", name]
    assert cli.main(words) == 0
    assert cli.main([*words, "--domain", "all"]) == 0
    assert "1 of them bounded" not in capsys.readouterr().out
    assert Path(name).stat().st_size > 1000


@pytest.mark.parametrize(
    "window", ["0:1", "1:0,0:1", "all", "0:1,0:1,0:1", "poly:0,0;1,0;0,1", "x", "slice:net.json", ""]
)
def test_windows_that_are_refused(network: str, window: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["figure", network, f"--window={window}", "-o", "a.html"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("regioncount: error: argument --window: ") and error.count("\n") == 1
    assert not Path("a.html").exists()


def test_domains_that_are_refused(network: str, capsys: pytest.CaptureFixture[str]) -> None:
    for domain in ("slice:none.json", "slice:", "all:", "slice:net.json", "alles"):
        assert cli.main(["count", network, f"--domain={domain}"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("regioncount: error: domain: ") and error.count("\n") == 1
