"""YAML for files that people write: one mapping of text keys, and the place of every key and value.

Refused with file, line and column: tabs, duplicate keys, keys that are not text, tags, merge keys, several documents,
aliases that expand without end, files that are not regular or not UTF-8. A byte order mark is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from orchestrator.errors import ConfigError
from orchestrator.problems import START, Position, Problem
from orchestrator.small_file import read_small_file
from orchestrator.yaml_syntax import find_control_character, find_tab, split_lines, syntax_problem

MAX_BYTES = 256 * 1024
MAX_VALUES = 10_000
"""Values in one file after aliases are expanded."""
MAX_DEPTH = 40

KeyPath = tuple[str | int, ...]
"""Where a value is: `("budget", "usd")`, `("tools", 0)`."""

_TAG = "tag:yaml.org,2002:"
_AS_TEXT = frozenset({"str", "timestamp", "value"})
_KNOWN_TAGS = frozenset(_TAG + kind for kind in (*_AS_TEXT, "null", "bool", "int", "float", "map", "seq"))


class Document(NamedTuple):
    """The data of one file. `keys` and `values` give positions, `texts` the spelling of each plain value."""

    file: str
    data: dict[str, Any]
    keys: Mapping[KeyPath, Position]
    values: Mapping[KeyPath, Position]
    texts: Mapping[KeyPath, str]

    def position(self, path: KeyPath, *, of_key: bool = False) -> Position:
        """Where the value (or the key) at `path` stands; for what is not in the file, its nearest parent."""
        places = self.keys if of_key else self.values
        while path and path not in places:
            path = path[:-1]
        return places.get(path) or self.values[()]


class Parsed(NamedTuple):
    """`document` is `None` when the file could not be read as a mapping at all; then `problems` says why."""

    document: Document | None
    problems: tuple[Problem, ...]


def read_yaml(path: Path, file: str = "") -> Parsed:
    """Parse the file at `path`, called `file` in messages. Whatever is wrong becomes a problem; nothing is raised."""
    file = file or str(path)
    try:
        text = read_text(path)
    except ConfigError as error:
        return Parsed(None, (Problem(file, START, error.message, error.hint),))
    except OSError as error:
        return Parsed(None, (Problem(file, START, f"cannot be read: {error.strerror}"),))
    return parse_yaml(text, file)


def read_text(path: Path) -> str:
    """The UTF-8 text of a small regular file without its byte order mark. Raises `ConfigError` or `OSError`."""
    data = read_small_file(path, MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"line {line} is not UTF-8 text", "save the file as UTF-8") from None


def parse_yaml(text: str, file: str, first_line: int = 1) -> Parsed:
    """Parse `text`, whose first line is line `first_line` of `file`."""
    builder = _Builder(file, first_line)
    try:
        root = _compose(text, builder)
    except yaml.MarkedYAMLError as error:
        return Parsed(None, (syntax_problem(error, text, file, first_line),))
    except RecursionError:
        builder.problem(START, "the values are nested too deeply")
        root = None
    if isinstance(root, yaml.MappingNode):
        data = builder.mapping(root, ())
        return Parsed(builder.document(data), tuple(builder.problems))
    return Parsed(None, tuple(builder.problems))


def _compose(text: str, builder: _Builder) -> yaml.Node | None:
    """The node tree, or `None` after adding a problem for what is not one mapping."""
    control = find_control_character(text)
    if control is not None:
        builder.problem(control, "a control character", "remove it, or write it as an escape in double quotes")
        return None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        root: yaml.Node | None = loader.get_single_node()
    finally:
        loader.dispose()
    if root is None or (root.tag == _TAG + "null" and not root.value):
        only_comments = "#" in text
        builder.problem(START, "the file has only comments" if only_comments else "the file is empty")
    elif not isinstance(root, yaml.MappingNode):
        found = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        builder.problem(builder.start(root), f"expected `key: value` lines, found {found}")
    elif "\t" in text:
        builder.tabs(text, root)
    return root


class _Builder:
    """Turns nodes into data, collecting positions and problems on the way."""

    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.problems: list[Problem] = []
        self.keys: dict[KeyPath, Position] = {}
        self.values: dict[KeyPath, Position] = {}
        self.texts: dict[KeyPath, str] = {}
        self.too_many = False

    def document(self, data: dict[str, Any]) -> Document:
        return Document(self.file, data, self.keys, self.values, self.texts)

    def start(self, node: yaml.Node) -> Position:
        return Position(node.start_mark.line + 1, node.start_mark.column + 1)

    def problem(self, position: Position, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, self._moved(position), message, hint))

    def tabs(self, text: str, root: yaml.Node) -> None:
        tab = find_tab(split_lines(text), root)
        if tab is not None:
            self.problem(tab, "a tab", "YAML is indented and separated with spaces")

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        self.values[path] = self._moved(self.start(node))
        if not path and node.tag not in _KNOWN_TAGS:
            self._unsupported_tag(node)
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key is None:
                continue
            if key in data:
                first = self.keys[(*path, key)].line
                self.problem(self.start(key_node), f"duplicate key `{key}`", f"first given in line {first}")
                continue
            self.keys[(*path, key)] = self._moved(self.start(key_node))
            data[key] = self._value(value_node, (*path, key))
        return data

    def _moved(self, position: Position) -> Position:
        return Position(position.line + self.first_line - 1, position.column)

    def _key(self, node: yaml.Node) -> str | None:
        if isinstance(node, yaml.ScalarNode):
            if node.tag == _TAG + "str":
                return str(node.value)
            if node.tag == _TAG + "merge":
                self.problem(self.start(node), "merge keys (`<<`) are not supported", "write the keys out")
                return None
            self.problem(self.start(node), f"the key `{node.value}` is not text", f'write "{node.value}" in quotes')
            return None
        self.problem(self.start(node), "a key must be text", "put a value with `{` or `[` in quotes")
        return None

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.values[path] = self._moved(self.start(node))
        if self.too_many or len(path) > MAX_DEPTH or len(self.values) > MAX_VALUES:
            self._stop(node)
            return None
        if node.tag not in _KNOWN_TAGS:
            self._unsupported_tag(node)
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]
        self.texts[path] = str(node.value)
        return self._scalar(node)

    def _stop(self, node: yaml.Node) -> None:
        if not self.too_many:
            limits = f"more than {MAX_VALUES:,} values or {MAX_DEPTH} levels"
            self.problem(self.start(node), f"{limits} once aliases are expanded", "write the values out")
        self.too_many = True

    def _scalar(self, node: yaml.Node) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind in _AS_TEXT:
            return node.value
        if kind == "null":
            return None
        if kind == "bool":
            return node.value.lower() in ("yes", "true", "on")
        try:
            return _number(node.value, kind)
        except ValueError:
            self.problem(self.start(node), f"`{node.value[:40]}` cannot be read as a value of kind {kind}")
            return None

    def _unsupported_tag(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        self.problem(self.start(node), f"tags such as `{tag}` are not supported", "put a value with `!` in quotes")


def _number(text: str, kind: str) -> int | float | str:
    """A whole number or a decimal. `1:30` (a number in base 60 to YAML 1.1) stays text. Raises `ValueError`."""
    if ":" in text:
        return text
    digits = text.replace("_", "")
    if kind == "float":
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if kind != "int":
        raise ValueError(kind)
    if re.fullmatch(r"[-+]?0[0-7]+", digits):
        return int(digits, 8)
    return int(digits, 0)
