"""From the text that a model wrote as arguments to the validated arguments of a tool.

What is unambiguous is understood (double-encoded objects, a list written as text, escapes between values); everything
else is refused with the place and the reason. Nothing is ever repaired to an empty object.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from pydantic import ValidationError

from orchestrator.errors import ToolError
from orchestrator.messages import scrub
from orchestrator.tool import Args

A = TypeVar("A", bound=Args)

PREVIEW = 200
"""Characters of wrong arguments that are shown back to the model."""


def parse_arguments(raw: str, *, cut: bool = False) -> dict[str, Any]:
    """The JSON object in `raw`. `cut`: the reply ended at the output limit, which explains broken text.

    Raises `ToolError` with code `invalid_json`, `truncated` or `not_an_object`.
    """
    if not raw.strip():
        return {}
    value = _decode(raw, cut)
    if isinstance(value, str):
        value = _double_encoded(value)
    if not isinstance(value, dict):
        raise ToolError(
            "not_an_object",
            "The arguments must be one JSON object.",
            expected="an object such as {...}",
            got=_preview(raw),
        )
    return _scrubbed_object(value) if _may_hold_half_pairs(raw) else value


def validate_arguments(model: type[A], values: Mapping[str, Any]) -> A:
    """`values` as the tool's arguments. Raises `ToolError('invalid_arguments')` that names every wrong field."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        mended = _mended(model, values, error)
        if mended is None:
            raise _invalid(model, error) from None
    try:
        return model.model_validate(mended)
    except ValidationError as error:
        raise _invalid(model, error) from None


def stored_arguments(raw: str) -> str:
    """What the history keeps and sends on: `raw` if it is a JSON object, else an object that says what was there."""
    try:
        value = _loads(raw)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return json.dumps(_scrubbed(value), ensure_ascii=False) if _has_half_escapes(raw) else raw
    if not raw.strip():
        return "{}"
    return json.dumps({"_invalid_arguments": _preview(raw)}, ensure_ascii=False)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_loads = json.JSONDecoder(strict=False, parse_constant=_no_constant).decode


def _decode(raw: str, cut: bool) -> Any:
    try:
        return _loads(raw)
    except RecursionError:
        raise ToolError("invalid_json", "The arguments are nested too deeply.", got=_preview(raw)) from None
    except ValueError as error:
        spaced = _escapes_outside_strings(raw)
        if spaced is not None:
            return spaced
        raise _broken(raw, error, cut) from None


def _double_encoded(text: str) -> Any:
    try:
        return _loads(text)
    except (ValueError, RecursionError):
        return text


_STRING_OR_ESCAPE = re.compile(r'"(?:[^"\\]|\\.)*"|\\[nrt]', re.DOTALL)


def _escapes_outside_strings(raw: str) -> Any | None:
    r"""The value of `raw` when literal `\n`, `\r`, `\t` pairs between its tokens are all that is wrong."""
    spaced = _STRING_OR_ESCAPE.sub(lambda m: " " if m.group().startswith("\\") else m.group(), raw)
    if spaced == raw:
        return None
    try:
        return _loads(spaced)
    except (ValueError, RecursionError):
        return None


def _broken(raw: str, error: ValueError, cut: bool) -> ToolError:
    position = error.pos if isinstance(error, json.JSONDecodeError) else None
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)[:PREVIEW]
    if cut:
        return ToolError(
            "truncated",
            "The reply was cut at the output limit, so the arguments are incomplete and nothing was run. "
            "Send a smaller call, or several.",
            got=_preview(raw[-PREVIEW:]),
            length=len(raw),
        )
    near = raw if position is None else raw[max(0, position - 40) : position + 40]
    return ToolError(
        "invalid_json",
        f"The arguments are not valid JSON: {reason}. Nothing was run; send the whole call again.",
        position=position,
        near=_preview(near),
        length=len(raw),
    )


def _preview(text: str) -> str:
    clean = scrub(text)
    return clean if len(clean) <= PREVIEW else f"{clean[:PREVIEW]}… ({len(clean):,} characters)"


def _may_hold_half_pairs(raw: str) -> bool:
    """Whether text in the JSON `raw` can hold a lone surrogate. Looked at once, since there may be 100,000 texts."""
    return scrub(raw) != raw or _has_half_escapes(raw)


def _has_half_escapes(raw: str) -> bool:
    return "\\ud" in raw or "\\uD" in raw


def _scrubbed_object(value: Mapping[str, Any]) -> dict[str, Any]:
    return {scrub(key): _scrubbed(item) for key, item in value.items()}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    return _scrubbed_object(value) if isinstance(value, dict) else value


_WANTS_LIST = {"list_type", "tuple_type", "set_type", "frozen_set_type"}
_WANTS_OBJECT = {"dict_type", "model_type", "model_attributes_type", "mapping_type"}


def _mended(model: type[Args], values: Mapping[str, Any], error: ValidationError) -> dict[str, Any] | None:
    """`values` with lists that came as text or as one item, and nulls for what has a default, put right."""
    mended = dict(values)
    for fault in error.errors(include_url=False):
        place = fault["loc"]
        if not place or place[0] not in model.model_fields or place[0] not in mended:
            continue
        wanted = fault["type"]
        if wanted in _WANTS_LIST | _WANTS_OBJECT and len(place) == 1:
            mended[place[0]] = _as_structure(mended[place[0]], as_list=wanted in _WANTS_LIST)
        elif mended[place[0]] in (None, "null") and not model.model_fields[str(place[0])].is_required():
            del mended[place[0]]
    return None if mended == dict(values) else mended


def _as_structure(value: Any, *, as_list: bool) -> Any:
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        parsed = _literal(value)
        value = value if parsed is None else parsed
    return [value] if as_list and not isinstance(value, list) and value is not None else value


def _literal(text: str) -> Any | None:
    """JSON, or a Python literal (no names, no calls); `None` when it is neither."""
    for read in (_loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _invalid(model: type[Args], error: ValidationError) -> ToolError:
    faults = [_fault(model, dict(fault)) for fault in error.errors(include_url=False)[:5]]
    return ToolError("invalid_arguments", " ".join(faults), allowed=", ".join(model.model_fields))


def _fault(model: type[Args], fault: dict[str, Any]) -> str:
    field = ".".join(str(part)[:80] for part in fault["loc"]) or "arguments"
    match fault["type"]:
        case "missing":
            return f"`{field}` is missing{_expectation(model, field)}."
        case "extra_forbidden":
            import difflib

            near = difflib.get_close_matches(field, model.model_fields, n=1)
            return f"`{field}` is not an argument of this tool" + (f"; did you mean `{near[0]}`?" if near else ".")
        case _:
            return f"`{field}`: {fault['msg']}; got {_preview(repr(fault['input']))}."


def _expectation(model: type[Args], field: str) -> str:
    known = model.model_fields.get(field)
    return f" ({known.description})" if known is not None and known.description else ""
