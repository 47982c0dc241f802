"""orch as a user has it: a wheel of this checkout in a fresh virtual environment, its bytecode compiled.

The dependencies are those of the environment that runs the benchmark.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SOURCES = ("orchestrator", "tools", "roles", "configs", "pyproject.toml", "README.md", "LICENSE")


@dataclass(frozen=True, slots=True)
class Installed:
    """`orch` and the `python` of its environment; `home` is an empty home folder, `env` what every run gets."""

    orch: Path
    python: Path
    home: Path

    @property
    def env(self) -> Mapping[str, str]:
        """Nothing of the surrounding environment but PATH: no keys, no settings of orch, no Python switches."""
        return {
            "PATH": f"{self.orch.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
        }


def install(folder: Path) -> Installed:
    """Build the wheel and install it below `folder`, which is empty; the checkout is left as it is."""
    source, wheels, environment, home = (folder / name for name in ("source", "wheels", "venv", "home"))
    for name in _SOURCES:
        _copy(ROOT / name, source / name)
    home.mkdir()
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, source)
    subprocess.run((*pip, *build), check=True)
    venv.create(environment, symlinks=True)
    python = environment / "bin" / "python"
    [wheel] = wheels.glob("*.whl")
    subprocess.run((*pip, "--python", python, "install", "--no-deps", wheel), check=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (own / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    subprocess.run([sys.executable, "-m", "compileall", "-qq", own], check=True)
    ripgrep = Path(sys.prefix) / "bin" / "rg"
    if ripgrep.exists():
        (environment / "bin" / "rg").symlink_to(ripgrep)
    return Installed(environment / "bin" / "orch", python, home)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
