"""What is built once and installed in every way there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installing import (
    ROOT,
    Installation,
    build,
    copy_checkout,
    install,
    make_environment,
    unpack,
)

WAYS = ("wheel", "editable", "checkout")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With `--dist loadgroup` one worker builds, once."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("packaging"))


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout."""
    return copy_checkout(tmp_path_factory.mktemp("source") / "checkout")


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", source, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(sdist, tmp_path_factory.mktemp("unpacked"))


@pytest.fixture(scope="session")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel from the source distribution, as an index would make it."""
    return build("wheel", unpacked, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session", params=WAYS)
def installation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    python = make_environment(tmp_path_factory.mktemp(request.param) / "venv")
    if request.param == "wheel":
        return install(python, str(request.getfixturevalue("wheel")))
    if request.param == "editable":
        return install(python, "--editable", str(request.getfixturevalue("unpacked")))
    return Installation(python, (str(python), "-P", "-m", "orchestrator.cli"), {"PYTHONPATH": str(ROOT)})
