"""Depth sweeps against reference counts, and files of records, interrupted ones included."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from regioncount import constructions, sweep
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError, TooManyPieces
from regioncount.partition import subdivide

COUNTS = json.loads((Path(__file__).parent / "data" / "constructions.json").read_text())["constructions"]
RECORD = {
    "construction": "three-step",
    "tokens": 3,
    "depth": 3,
    "counts": {"linear": 2},
    "bound": 2,
    "method": "interval",
    "certified": True,
    "seconds": 0.25,
}


@pytest.mark.parametrize(
    ("construction", "tokens", "max_depth"),
    [("three-step", (3, 4, 5), 9), ("one-step", (2, 3, 4), 4), ("two-heads", (3, 4), 9)],
)
def test_sweep_gives_the_reference_counts(construction: str, tokens: tuple[int, ...], max_depth: int) -> None:
    seen: list[sweep.Record] = []
    records = sweep.depth_sweep(construction, tokens, max_depth, on_record=seen.append)
    assert seen == records
    assert [(r["tokens"], r["depth"]) for r in records] == [(t, d) for t in tokens for d in range(1, max_depth + 1)]
    table = COUNTS[construction.replace("-", "_")]
    checked = 0
    for record in records:
        assert tuple(record) == sweep.RECORD_KEYS
        assert record["certified"] is True
        assert record["bound"] == (record["tokens"] - 1) ** (record["depth"] // 3)
        assert tuple(record["counts"]) == DEFINITIONS
        expected = table.get(f"{record['tokens']},{record['depth']}")
        if expected:
            assert record["counts"] == {name: expected[name] for name in DEFINITIONS}
            checked += 1
    assert checked >= 4


def test_three_step_attains_its_bound_at_every_depth() -> None:
    records = sweep.depth_sweep("three-step", 3, 8, definitions=("linear", "affine_maps"))
    for record in records:
        assert record["counts"] == {"linear": record["bound"], "affine_maps": record["bound"]}


def test_records_are_json() -> None:
    records = sweep.depth_sweep("one-step", [2], 2)
    assert json.loads(json.dumps(records)) == records


def test_a_failure_keeps_the_records_before_it(tmp_path: Path) -> None:
    path = tmp_path / "depth.jsonl"
    with pytest.raises(TooManyPieces), sweep.RecordWriter(path) as write:
        sweep.depth_sweep("one-step", 3, 5, on_record=write, max_pieces=15)
    assert [record["depth"] for record in sweep.read_records(path)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("four-step", 3, 3), "construction: expected one of three-step"),
        (
            ("tent", 3, 3),
            "construction: expected one with a depth and tokens or seeds .three-step, one-step, two-heads, random-relu",
        ),
        (("three-step", (), 3), "tokens: expected at least one"),
        (("three-step", (3, 1), 3), "tokens: expected an integer from 2"),
        (("three-step", "3", 3), "tokens: expected an integer, got '3'"),
        (("three-step", 3, 0), "max_depth: expected an integer of at least 1, got 0"),
        (("three-step", 3, True), "max_depth: expected"),
        (("three-step", 3, 2, ("straight",)), "straight"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(arguments, message) -> None:
    def never(record: sweep.Record) -> None:
        raise AssertionError("counted before the arguments were checked")

    with pytest.raises(InputError, match=message):
        sweep.depth_sweep(*arguments, on_record=never)


# --- random networks


@pytest.mark.parametrize(
    ("construction", "tokens", "sizes"),
    [
        ("random-relu", None, {"units": 5}),
        ("random-maxout", None, {"units": 3, "rank": 4}),
        ("random-transformer", 3, {"heads": 2, "dim": 4, "hidden": 3}),
    ],
)
def test_a_seed_sweep_counts_the_networks_it_names(
    construction: str, tokens: int | None, sizes: dict[str, int]
) -> None:
    records = sweep.depth_sweep(construction, tokens, 2, seeds=3, **sizes)
    assert [(r["depth"], r["seed"]) for r in records] == [(d, s) for d in (1, 2) for s in range(3)]
    for record in records:
        assert tuple(record) == (*sweep.RECORD_KEYS, "seed", "sizes")
        assert (record["tokens"], record["sizes"]) == (tokens, sizes)
        assert record["bound"] == (None if tokens is None else 1)
        depth = record["depth"]
        if construction == "random-transformer":
            parameters = {**sizes, "tokens": tokens, "layers": depth, "input_dim": 1}
        else:
            rest = {"rank": sizes["rank"]} if "rank" in sizes else {}
            parameters = {"widths": [1] + [sizes["units"]] * depth + [1], **rest}
        network = constructions.build(construction, seed=record["seed"], **parameters)
        assert record["counts"] == subdivide(network, "-1:1").counts()
    assert len({tuple(r["counts"].values()) for r in records}) > 2


def test_defaults_of_a_seed_sweep() -> None:
    jobs = sweep.plan("random-maxout", None, 2)
    assert [job.seed for job in jobs] == [*range(sweep.SEEDS)] * 2
    assert jobs[0].sizes == {"units": 16, "rank": 3}
    for name, sizes in sweep.SIZES.items():
        known = constructions.parameters(name)
        assert sizes == {key: known.get(key, 16) for key in sizes}  # those of the construction, but for units


def test_one_token_has_no_bound() -> None:
    (record,) = sweep.depth_sweep("random-transformer", 1, 1, definitions=("linear",), seeds=1)
    assert record["tokens"] == 1 and record["bound"] is None


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("random-relu", 3, 3), {}, "tokens: random-relu has none, got 3"),
        (("random-transformer", None, 3), {}, "tokens: random-transformer needs a number of tokens"),
        (("random-transformer", (3, 0), 3), {}, "tokens: expected an integer from 1"),
        (("random-transformer", 3, 0), {}, "max_depth: expected an integer of at least 1, got 0"),
        (("random-transformer", 3, 3), {"units": 4}, "units: random-transformer has no such size, expected heads or"),
        (("random-relu", None, 3), {"rank": 4}, "rank: random-relu has no such size, expected units"),
        (("random-relu", None, 3), {"units": 0}, "units: expected an integer of at least 1, got 0"),
        (("random-relu", None, 3), {"seeds": 0}, "seeds: expected an integer of at least 1, got 0"),
        (("random-relu", None, 3), {"seeds": True}, "seeds: expected an integer of at least 1"),
        (("random-relu", None, 30), {"units": 10_000}, "this network would have"),
        (("random-relu", None, 3), {"seeds": 10**9}, "max_depth: this sweep would have more than 1,000,000 networks"),
        (("three-step", 3, 10**9), {}, "max_depth: this sweep would have more than 1,000,000 networks"),
        (("three-step", 3, 3), {"seeds": 2}, "seeds: three-step is not random"),
        (("three-step", 3, 3), {"hidden": 2}, "hidden: three-step has no such size, expected none"),
    ],
)
def test_bad_arguments_of_seed_sweeps(arguments, options, message) -> None:
    def never(record: sweep.Record) -> None:
        raise AssertionError("counted before the arguments were checked")

    with pytest.raises(InputError, match=message):
        sweep.depth_sweep(*arguments, on_record=never, **options)


# --- files of records


def test_written_records_are_read_back(tmp_path: Path) -> None:
    records = [
        RECORD,
        {**RECORD, "depth": 6, "bound": 2**200, "counts": {"linear": 3**300}},
        {**RECORD, "construction": "random-relu", "tokens": None, "bound": None, "seed": 0, "sizes": {"units": 16}},
    ]
    path = tmp_path / "depth.jsonl"
    sweep.write_records(records, path)
    assert sweep.read_records(path) == records
    assert path.read_text().count("\n") == 3
    assert os.listdir(tmp_path) == ["depth.jsonl"]


def test_no_records_make_an_empty_file(tmp_path: Path) -> None:
    sweep.write_records([], tmp_path / "none.jsonl")
    assert sweep.read_records(tmp_path / "none.jsonl") == []


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_interruption_keeps_finished_records(tmp_path: Path, interruption: type[BaseException]) -> None:
    path = tmp_path / "depth.jsonl"
    path.write_text("old\n")
    with pytest.raises(interruption), sweep.RecordWriter(path) as write:
        write(RECORD)
        assert path.read_text() == "old\n"
        assert sweep.read_records(write.part) == [RECORD]
        raise interruption
    assert sweep.read_records(path) == [RECORD]
    assert os.listdir(tmp_path) == ["depth.jsonl"]


def test_interruption_before_the_first_record_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "depth.jsonl"
    path.write_text("old\n")
    with pytest.raises(KeyboardInterrupt), sweep.RecordWriter(path):
        raise KeyboardInterrupt
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["depth.jsonl"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write .*absent"):
        sweep.write_records([RECORD], tmp_path / "absent" / "depth.jsonl")
    with pytest.raises(InputError, match="is a directory"):
        sweep.write_records([RECORD], tmp_path)


def without(key: str) -> str:
    return json.dumps({name: value for name, value in RECORD.items() if name != key})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"construction": "three-', "line 2: expected a JSON object"),
        ("[1, 2]", "line 2: expected a JSON object"),
        (without("bound"), "line 2: the key 'bound' is missing"),
        (json.dumps({**RECORD, "depth": "3"}), "line 2: depth: expected a non-negative integer, got '3'"),
        (json.dumps({**RECORD, "depth": None}), "line 2: depth: expected a non-negative integer, got None"),
        (json.dumps({**RECORD, "tokens": True}), "line 2: tokens: expected a non-negative integer"),
        (json.dumps({**RECORD, "bound": -1}), "line 2: bound: expected a non-negative integer"),
        (json.dumps({**RECORD, "seed": "0"}), "line 2: seed: expected a non-negative integer"),
        (json.dumps({**RECORD, "counts": [1]}), "line 2: counts: expected an object"),
        (json.dumps({**RECORD, "counts": {"linear": 1.5}}), "line 2: counts: expected an object"),
    ],
)
def test_files_that_hold_no_records(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "depth.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        sweep.read_records(path)
    assert "depth.jsonl" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent.jsonl: cannot read it"):
        sweep.read_records(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="cannot read it"):
        sweep.read_records(tmp_path)
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        sweep.read_records(tmp_path / "binary.jsonl")
