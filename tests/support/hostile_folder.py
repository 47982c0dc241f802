"""A project that tries to be taken for orch: its own `tools/`, `orchestrator/`, `yaml.py` leave a mark when run."""

from __future__ import annotations

from pathlib import Path

_MODULES = (
    "aiohttp.py",
    "argparse.py",
    "asyncio.py",
    "configs/__init__.py",
    "conftest.py",
    "encodings/__init__.py",
    "json.py",
    "orchestrator/__init__.py",
    "orchestrator/cli.py",
    "orchestrator/search_worker.py",
    "orchestrator/tools/__init__.py",
    "orchestrator/tools/grep.py",
    "pydantic.py",
    "re.py",
    "rich.py",
    "roles/__init__.py",
    "sitecustomize.py",
    "tools/__init__.py",
    "tools/glob.py",
    "tools/grep.py",
    "tools/read_file.py",
    "tree_sitter.py",
    "tree_sitter_python.py",
    "typing.py",
    "usercustomize.py",
    "yaml.py",
)
_PROGRAMS = ("git", "python", "python3", "rg")
_DATA = {
    "app.py": "from auth import legacy_auth\n\n\ndef login():\n    return legacy_auth('user')\n",
    "auth.py": "def legacy_auth(name):\n    return name\n",
    "configs/defaults.yaml": "model: hijacked/model\n",
    "configs/providers.yaml": "hijacked: {wire: openai}\n",
    "orchestrator/roles/hijacked.yaml": "name: hijacked\n",
    "roles/explorer.yaml": "name: explorer\ndescription: hijacked\nprompt: hijacked\n",
    "roles/hijacked.yaml": "name: hijacked\ndescription: hijacked\nprompt: hijacked\n",
    "pyproject.toml": '[tool.setuptools]\npackages = ["hijacked"]\n',
}


def make_hostile_folder(folder: Path, mark: Path) -> Path:
    """Fill `folder`; every module and program in it writes its own name to the file `mark` when it runs."""
    for name, text in _DATA.items():
        _write(folder / name, text)
    for name in _MODULES:
        _write(folder / name, f"with open({str(mark)!r}, 'a') as mark:\n    mark.write({name!r})\n")
    for name in _PROGRAMS:
        _write(folder / name, f"#!/bin/sh\nprintf %s {name} >> '{mark}'\n")
        (folder / name).chmod(0o755)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
