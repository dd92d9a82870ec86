"""Partition files, and ``verify``: it accepts what the engines made, and refuses it broken in every way we can think
of.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import regioncount as rc
from regioncount.cli import main
from regioncount.files import network_from_dict
from regioncount.verify import verify

ENTRIES = {e["name"]: e for e in json.loads((Path(__file__).parent / "data" / "networks.json").read_text())}
NAMES = ["hat", "attn_DS_T4", "rand_hardmax_2_T3_D1_H2_m2", "three_step_T3_L2", "stargalla_7_5_4_3_3_3",
         "touch_6_6_6_6_5_5", "all_distinct_0", "rand_relu2d_4", "rand_maxout2d_5", "facet_overlap"]  # fmt: skip


@pytest.fixture(params=NAMES)
def partition(request, tmp_path):
    """A partition that was written and read again."""
    entry = ENTRIES[request.param]
    made = rc.subdivide(network_from_dict(entry["network"]), entry["domain"])
    rc.save(made, tmp_path / "partition.npz")
    return rc.load(tmp_path / "partition.npz")


def test_file_keeps_everything(partition, tmp_path):
    again = rc.subdivide(partition.network, partition.domain)
    for name in ("patterns", "maps", "facets", "facet_border", "facet_vertices", "vertices", "offsets",
                 "piece_vertices",
                 "breakpoints"):  # fmt: skip
        np.testing.assert_array_equal(getattr(partition, name), getattr(again, name), err_msg=name)
    assert partition.network == again.network and str(partition.domain) == str(again.domain)
    # counted from the file alone: exact maps composed anew, contacts from vertices
    assert partition.counts() == again.counts() == partition.recorded
    assert (partition.depth_profile, partition.undecided) == (again.depth_profile, again.undecided)


def test_accepts(partition):
    found = verify(partition, partition.network)
    assert found["counts"] == partition.recorded and found["pieces"] == partition.n_pieces


def _bit(p):
    patterns = p.patterns.copy()
    patterns[p.n_pieces // 2, -1] ^= 1
    return replace(p, patterns=patterns)


def _swap(p):
    order = np.arange(p.n_pieces)
    order[[0, 1]] = [1, 0]
    return replace(p, patterns=p.patterns[order], maps=p.maps[order])


def _array(name, change):
    def broken(p):
        array = getattr(p, name).copy()
        change(array)
        return replace(p, **{name: array})

    return broken


def _set(index, value):
    def change(array):
        array[index] = value

    return change


def _add(index, value):
    def change(array):
        array[index] += value

    return change


def _drop_piece(p):
    kept = np.arange(p.n_pieces - 1)
    if p.dim == 1:
        facets = np.where(p.facets == p.n_pieces - 1, -1, p.facets)
        return replace(p, patterns=p.patterns[kept], maps=p.maps[kept], breakpoints=p.breakpoints[:-1],
                       facets=facets[:-1],
                       facet_border=p.facet_border[:-1])  # fmt: skip
    inside = (p.facets < p.n_pieces - 1).all(axis=1)
    return replace(p, patterns=p.patterns[kept], maps=p.maps[kept], offsets=p.offsets[:-1],
                   piece_vertices=p.piece_vertices[: p.offsets[-2]], facets=p.facets[inside],
                   facet_border=p.facet_border[inside], facet_vertices=p.facet_vertices[inside])  # fmt: skip


def _copy_piece(p):
    extra = {"patterns": np.vstack([p.patterns, p.patterns[:1]]), "maps": np.concatenate([p.maps, p.maps[:1]])}
    if p.dim == 1:
        return replace(p, **extra, breakpoints=np.append(p.breakpoints, p.breakpoints[-1]))
    corners = p.piece_vertices[p.offsets[0] : p.offsets[1]]
    return replace(p, **extra, offsets=np.append(p.offsets, p.offsets[-1] + len(corners)),
                   piece_vertices=np.concatenate([p.piece_vertices, corners]))  # fmt: skip


def _drop_facet(p):
    at = int(np.flatnonzero(p.facets[:, 1] >= 0)[0])
    keep = np.arange(len(p.facets)) != at
    ends = p.facet_vertices if p.dim == 1 else p.facet_vertices[keep]
    return replace(p, facets=p.facets[keep], facet_border=p.facet_border[keep], facet_vertices=ends)


def _wrong_neighbour(p):
    facets = p.facets.copy()
    at = int(np.flatnonzero(facets[:, 1] >= 0)[0])
    others = [q for q in range(p.n_pieces) if q not in facets[at]]
    facets[at, 1] = others[0] if others else -1
    return replace(p, facets=facets)


EVERYWHERE = {
    "a pattern bit": _bit,
    "patterns of two pieces swapped with their maps": _swap,
    "a slope": _array("maps", lambda maps: _add((0, 0, 0), 1e-3 * (1 + np.abs(maps).max()))(maps)),
    "a constant": _array("maps", lambda maps: _add((-1, 0, -1), 1e-3 * (1 + np.abs(maps).max()))(maps)),
    "a map that is not finite": _array("maps", _set((0, 0, 0), np.nan)),
    "a facet missing": _drop_facet,
    "a facet to the wrong piece": _wrong_neighbour,
    "a facet to a piece that is not there": _array("facets", _set((0, 0), 10**6)),
    "a piece missing": _drop_piece,
    "a piece twice": _copy_piece,
    "a pattern too many columns": lambda p: replace(p, patterns=np.pad(p.patterns, ((0, 0), (0, 1)))),
    "a recorded count": lambda p: replace(p, recorded=p.recorded | {"linear": p.recorded["linear"] + 1}),
    "another domain": lambda p: replace(
        p, domain=rc.Interval(-1000, 1000) if p.dim == 1 else rc.Box([-9] * 2, [999] * 2)
    ),
}


@pytest.mark.parametrize("how", EVERYWHERE)
def test_refuses_broken(partition, how):
    with pytest.raises(rc.InputError):
        verify(EVERYWHERE[how](partition))


IN_THE_PLANE = {
    "a vertex moved": _array("vertices", _add((0, 0), 1e-3)),
    "a vertex that is not finite": _array("vertices", _set((0, 0), np.inf)),
    "two corners swapped": _array("piece_vertices", lambda v: v.__setitem__([0, 1], v[[1, 0]])),
    "clockwise": _array("piece_vertices", lambda v: v.__setitem__(slice(0, 3), v[:3][::-1])),
    "a corner of another piece": lambda p: replace(
        p, offsets=np.concatenate([p.offsets[:1], [p.offsets[1] + 1], p.offsets[2:]])
    ),
    "a facet turned around": _array("facet_vertices", lambda v: v.__setitem__(0, v[0][::-1])),
    "a facet with another end": _array(
        "facet_vertices", lambda v: v.__setitem__((0, 0), (v[0, 0] + 1) % (v.max() + 1))
    ),
    "a border on the wrong side": _array("facet_border", lambda b: b.__setitem__(0, -1 - b[0])),
}


@pytest.mark.parametrize("how", IN_THE_PLANE)
def test_refuses_broken_plane(how, tmp_path):
    for name in ("touch_6_6_6_6_5_5", "facet_overlap", "rand_maxout2d_5"):
        entry = ENTRIES[name]
        made = rc.subdivide(network_from_dict(entry["network"]), entry["domain"])
        rc.save(made, tmp_path / "partition.npz")
        with pytest.raises(rc.InputError):
            verify(IN_THE_PLANE[how](rc.load(tmp_path / "partition.npz")))


def test_refuses_broken_line():
    entry = ENTRIES["attn_DS_T4"]
    made = rc.subdivide(network_from_dict(entry["network"]), entry["domain"])
    made = replace(made, recorded=made.counts())
    for change in (_add(1, 1e-3), _set(2, np.nan), lambda b: b.__setitem__([1, 2], b[[2, 1]])):
        with pytest.raises(rc.InputError):
            verify(_array("breakpoints", change)(made))


def test_refuses_another_network(partition):
    other = rc.from_layers([([[1.0] * partition.dim], [0.5])])
    with pytest.raises(rc.InputError, match="another network"):
        verify(partition, other)


def test_command(tmp_path, capsys):
    file, network = tmp_path / "p.npz", tmp_path / "net.json"
    network.write_text(json.dumps(ENTRIES["all_distinct_0"]["network"]))
    assert main(["count", str(network), "--domain=-3:3,-3:3", "--save", str(file), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert main(["verify", str(file), str(network), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == counts
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], b"", b"PK\x03\x04" + content[40:]):
        file.write_bytes(damaged)
        assert main(["verify", str(file)]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert main(["verify", str(network)]) == 2
    assert main(["count", str(network), "--domain=-3:3,-3:3", "--save", str(tmp_path / "p.json")]) == 2
    assert not (tmp_path / "p.json").exists()
