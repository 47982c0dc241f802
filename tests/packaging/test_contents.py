"""What is in the distributions."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from orchestrator import __version__
from tests.support.installing import ROOT, build

MAPPED = {"configs", "roles", "tools"}
"""Folders of the checkout that are packages inside `orchestrator`."""


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_the_whole_product_and_nothing_else(names: set[str], source: Path) -> None:
    inside = {path.relative_to(source).as_posix() for path in (source / "orchestrator").rglob("*.py")}
    mapped = [path for name in MAPPED for kind in ("*.py", "*.yaml") for path in (source / name).glob(kind)]
    data = {f"orchestrator/{path.relative_to(source)}" for path in mapped}
    assert names == {*inside, *data, "orchestrator/py.typed"}


def test_nothing_of_the_wheel_is_importable_but_orchestrator(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names} == {"orchestrator"}


def test_the_list_of_packages_is_the_tree() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "orchestrator").rglob("*.py")}
    assert sorted(listed) == sorted(
        [*(".".join(f.parts) for f in folders), *(f"orchestrator.{name}" for name in MAPPED)]
    )


def test_the_metadata_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (path,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = message_from_string(archive.read(path).decode())
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert str(metadata.get_payload()).startswith("# orch")


def test_a_wheel_of_the_checkout_is_the_wheel_of_the_source_distribution(
    wheel: Path, source: Path, tmp_path: Path
) -> None:
    direct = build("wheel", source, tmp_path)
    contents = []
    for file in (direct, wheel):
        with zipfile.ZipFile(file) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist() if "RECORD" not in name})
    assert contents[0] == contents[1]


def test_the_source_distribution_can_be_read_and_tested(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md"} <= names
    assert {".gitignore", ".ci/run", "bench/README.md"} <= names
    assert {"tests/conftest.py", "tests/support/model_server.py", "tests/snapshots/prompt-parent.txt"} <= names
    assert {"tools/read_file.py", "roles/explorer.yaml", "configs/providers.yaml"} <= names
    assert not [name for name in names if "__pycache__" in name]
