"""The public names of the package, and that they load on first use."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import regioncount

THIRD_PARTY = (
    "dash",
    "llvmlite",
    "matplotlib",
    "numba",
    "numpy",
    "plotly",
    "safetensors",
    "scipy",
    "shapely",
)
LOADED = f"import sys; print([name for name in {THIRD_PARTY!r} if name in sys.modules])"


def run_python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize(
    "statement", ["import regioncount", "import regioncount.cli", "import regioncount.definitions"]
)
def test_import_loads_no_third_party_package(statement: str) -> None:
    assert run_python(f"{statement}; {LOADED}") == "[]"


def test_a_network_loads_no_compiler() -> None:
    loaded = run_python(
        f"import regioncount as rc; rc.Network, rc.load, rc.Box, rc.constructions, rc.bounds; {LOADED}"
    )
    assert "numpy" in loaded
    assert "numba" not in loaded and "plotly" not in loaded


def test_every_public_name_is_that_of_its_module() -> None:
    for name in regioncount.__all__:
        value = getattr(regioncount, name)
        if name in regioncount._MODULES:
            assert value is importlib.import_module(f"regioncount.{name}")
        else:
            assert value is getattr(importlib.import_module(f"regioncount.{regioncount._HOME[name]}"), name)


def test_public_names_and_the_type_checking_block_agree() -> None:
    tree = ast.parse(Path(regioncount.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    declared = {
        (alias.name, node.module.removeprefix("regioncount").lstrip("."))
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    submodules = {(name, "") for name, names in regioncount._MODULES.items() if not names}
    assert declared == {*regioncount._HOME.items(), *submodules}
    assert sorted(regioncount.__all__) == sorted(name for name, _ in declared)
    assert set(regioncount.__all__) <= set(dir(regioncount))


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="'regioncount' has no attribute 'nothing'"):
        regioncount.nothing  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module("regioncount.nothing")
