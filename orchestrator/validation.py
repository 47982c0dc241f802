"""pydantic's complaints about a file, in plain words and with the place in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from orchestrator.problems import Problem, did_you_mean
from orchestrator.strict_yaml import Document, KeyPath

_EXPECTED = {
    "string_type": "expected text",
    "string_pattern_mismatch": "it must match {pattern}",
    "string_too_short": "it must not be empty",
    "string_too_long": "it must have at most {max_length} characters",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "tuple_type": "expected a list",
    "dict_type": "expected `key: value` pairs",
    "model_type": "expected `key: value` pairs",
    "model_attributes_type": "expected `key: value` pairs",
    "literal_error": "expected {expected}",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
}
"""pydantic's error types to our words; any other type keeps pydantic's sentence."""


def problems_of(error: ValidationError, document: Document, model: type[BaseModel]) -> list[Problem]:
    """One problem for each error that pydantic found in the data of `document`, which should fit `model`."""
    return [_problem(details, document, model) for details in error.errors(include_url=False)]


def complaint(details: Mapping[str, Any], spelled: str | None = None) -> str:
    """What was expected and what came instead; `spelled` is the value as the user wrote it."""
    template = _EXPECTED.get(details["type"])
    limits = {
        name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in details.get("ctx", {}).items()
    }
    expected = template.format(**limits) if template else details["msg"]
    found = _describe(details["input"], spelled)
    return f"{expected}, found {found}"


def _problem(details: Mapping[str, Any], document: Document, model: type[BaseModel]) -> Problem:
    path: KeyPath = tuple(details["loc"])
    name = dotted(path)
    if details["type"] == "extra_forbidden":
        position = document.position(path, of_key=True)
        hint = did_you_mean(str(path[-1]), _fields_at(model, path[:-1]))
        return Problem(document.file, position, f"unknown key `{name}`", hint)
    if details["type"] == "missing":
        return Problem(document.file, document.position(path), f"`{name}` is missing", f"add a line `{path[-1]}: …`")
    message = f"`{name}`: {complaint(details, document.texts.get(path))}"
    return Problem(document.file, document.position(path), message)


def _fields_at(model: type[BaseModel], path: KeyPath) -> Sequence[str]:
    """The keys that a mapping at `path` may have; none where they are free."""
    fields: type[BaseModel] | None = model
    for part in path:
        info = fields.model_fields.get(str(part)) if fields else None
        fields = _model_in(info.annotation) if info else fields
    return tuple(fields.model_fields) if fields else ()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a field holds, directly or as the values of a mapping."""
    candidates = [annotation, *getattr(annotation, "__args__", ())]
    return next((kind for kind in candidates if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def dotted(path: KeyPath) -> str:
    """`budget.usd`, `tools[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _describe(value: object, spelled: str | None) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "`key: value` pairs"
    if isinstance(value, list | tuple):
        return "a list"
    kind = {bool: "the truth value", int: "the number", float: "the number"}.get(type(value), "the text")
    shown = str(value) if spelled is None else spelled
    return f"{kind} `{shown if len(shown) <= 60 else shown[:59] + '…'}`"
