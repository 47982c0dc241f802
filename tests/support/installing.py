"""Builds and installs orch without a network, each time into a folder of its own; the checkout is not written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FILES = (".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml")
_FOLDERS = (".ci", "bench", "configs", "docs", "orchestrator", "roles", "tests", "tools")
_OFFLINE = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@dataclass(frozen=True)
class Installation:
    """One way to have orch on a machine: the start of its command line, and the variables that it needs."""

    python: Path
    orch: tuple[str, ...]
    env: Mapping[str, str]

    def run(self, *arguments: str, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
        """Run `orch` in `folder`, with `home` for everything that it keeps."""
        return self._run((*self.orch, *arguments), folder, home)

    def run_python(self, code: str, *, folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
        """Run `code` as a script of the user's in `folder` would run, but for the folder itself on the path."""
        return self._run((str(self.python), "-P", "-c", code), folder, home)

    def _run(self, command: Sequence[str], folder: Path, home: Path) -> subprocess.CompletedProcess[str]:
        env = {"PATH": f".:{os.defpath}", "HOME": str(home), "ORCH_HOME": str(home), "LC_ALL": "C.UTF-8", **self.env}
        return subprocess.run(
            command,
            check=False,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )


def copy_checkout(folder: Path) -> Path:
    """The files of the project, without what builds and tests leave among them."""
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


def build(kind: str, source: Path, into: Path) -> Path:
    """Build a `wheel` or an `sdist` of `source`; gives the file. What the build calls deprecated is an error."""
    said = _checked([sys.executable, "-P", "-m", "build", "--no-isolation", f"--{kind}", "-o", str(into), str(source)])
    assert "deprecat" not in said.lower(), said
    (file,) = into.iterdir()
    return file


def unpack(sdist: Path, into: Path) -> Path:
    """The folder inside a source distribution."""
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = lambda member, path: member  # 3.11.2 has no `filter` argument, 3.12 asks for one
        archive.extractall(into)
    (folder,) = into.iterdir()
    return folder


def make_environment(folder: Path) -> Path:
    """A virtual environment that has what this one has, but no orch; gives its Python."""
    venv.EnvBuilder(symlinks=True).create(folder)
    python = folder / "bin" / "python"
    own = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    # A path that a .pth file adds is searched last, and the .pth files in it (an editable orch) are not read.
    libraries = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (own / "libraries.pth").write_text("".join(f"{library}\n" for library in libraries))
    return python


def install(python: Path, *what: str) -> Installation:
    """Install with pip, offline and without dependencies."""
    command = [sys.executable, "-P", "-m", "pip", "--python", str(python), "install", "--no-deps", "--ignore-installed"]
    _checked([*command, "--no-build-isolation", *what])
    return Installation(python, (str(python.parent / "orch"),), {})


def _checked(command: Sequence[str]) -> str:
    """Run a command in a neutral folder; gives all that it said."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | _OFFLINE
    done = subprocess.run(
        command,
        check=False,
        cwd=sys.prefix,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
