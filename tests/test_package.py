"""The public names of the package, and that they load on first use."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
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


@pytest.mark.parametrize("language", ["python", ""])
def test_the_readme_runs(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python; of the shell the section on more dimensions, from `build` to its last command."""
    from regioncount import cli

    checkout = Path(__file__).parents[1]
    (tmp_path / "examples").symlink_to(checkout / "examples")
    monkeypatch.chdir(tmp_path)
    text = (checkout / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    blocks = [block for kind, block in found if kind == language]
    if language:
        regioncount.save(regioncount.constructions.three_step(tokens=4, depth=9), "net.json")
        for block in blocks:
            exec(compile(block, "README.md", "exec"), {})
        return
    shown = [block for block in blocks if "space.json" in block or "lines.json" in block]
    commands = "\n".join(shown).split("\n")
    assert len(commands) > 8
    for line in commands:
        words = shlex.split(line, comments=True)
        if words[:1] == ["echo"]:
            Path(words[-1]).write_text(words[1])
        elif words:
            assert words[0] == "regioncount" and cli.main(words[1:]) == 0


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="'regioncount' has no attribute 'nothing'"):
        regioncount.nothing  # noqa: B018
    with pytest.raises(ImportError):
        importlib.import_module("regioncount.nothing")
