"""The tools that come with orch, each loaded from its own file when it is first needed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from orchestrator.errors import ConfigError
from orchestrator.model import ToolSchema
from orchestrator.shipped import shipped_folder
from orchestrator.tool import Args, Tool

PREFIX = "orchestrator.tools."


class _ReadOnly(Mapping[str, bool]):
    """Whether an agent that only reads may have each tool; a tool is loaded when it is asked about."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def __getitem__(self, name: str) -> bool:
        if name not in self._toolbox.names:
            raise KeyError(name)
        tool = self._toolbox.get(name)
        return tool.read_only or tool.judged

    def __contains__(self, name: object) -> bool:
        return name in self._toolbox.names

    def __iter__(self) -> Iterator[str]:
        return iter(self._toolbox.names)

    def __len__(self) -> int:
        return len(self._toolbox.names)


class Toolbox:
    """Tools by name. `names` are known without importing anything; a tool's file is imported on first use."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or shipped_folder("tools")
        self.names: tuple[str, ...] = tuple(sorted(p.stem for p in self._folder.glob("[a-z]*.py")))
        self._loaded: dict[str, Tool[Any]] = {}
        self._schemas: dict[str, ToolSchema] = {}
        self.read_only: Mapping[str, bool] = _ReadOnly(self)

    def get(self, name: str) -> Tool[Any]:
        """The tool called `name`, which must be one of `names`."""
        if name not in self._loaded:
            self._loaded[name] = _tool_of(_import_file(self._folder / f"{name}.py"), name)
        return self._loaded[name]

    def usable(self, names: Iterable[str], *, read_only: bool) -> Iterable[str]:
        """Those of `names` that an agent can use; `read_only`: one that must not change anything."""
        return [name for name in names if not read_only or self.read_only[name]]

    def schemas(self, names: Iterable[str]) -> tuple[ToolSchema, ...]:
        """What a model is told of these tools, sorted by name so that the bytes are always the same."""
        return tuple(self._schema(name) for name in sorted(names))

    def _schema(self, name: str) -> ToolSchema:
        if name not in self._schemas:
            tool = self.get(name)
            self._schemas[name] = ToolSchema(tool.name, tool.description, json_schema(tool.args))
        return self._schemas[name]


def _import_file(path: Path) -> ModuleType:
    """The module of a tool file, under a name of our own so that nothing in the working folder can take its place."""
    name = PREFIX + path.stem
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"the tool file {path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _tool_of(module: ModuleType, name: str) -> Tool[Any]:
    tool = getattr(module, "TOOL", None)
    if not isinstance(tool, Tool) or tool.name != name:
        raise ConfigError(
            f"{module.__file__} must define TOOL, an instance of a Tool whose name is {name!r}",
            "see docs/writing-a-tool.md",
        )
    return tool


def json_schema(model: type[Args]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments in as few bytes as it can be said: no titles, no null alternatives."""
    schema = model.model_json_schema()
    return _object(schema, schema.get("$defs", {}))


_NOISE = ("title", "additionalProperties", "$defs", "$ref")
_EMPTY_DEFAULTS: tuple[tuple[str, object], ...] = (("default", None), ("default", []))


def _object(node: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """One schema node without what a model does not need. Names of properties are never touched."""
    if "$ref" in node:
        node = {**shared[node["$ref"].rsplit("/", 1)[-1]], **node}
    choices = [choice for choice in node.get("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        node = {**choices[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    kept = {key: value for key, value in node.items() if key not in _NOISE and (key, value) not in _EMPTY_DEFAULTS}
    if "properties" in kept:
        kept["properties"] = {name: _object(part, shared) for name, part in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _object(kept["items"], shared)
    return kept
