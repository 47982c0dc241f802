"""From the words that stand where the name belongs to the names themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.scouting.english_words import CONNECTORS, DETERMINERS, FILE_KINDS, KINDS, STOP_WORDS, TEXT_KINDS
from orchestrator.scouting.marks import MARK, Marked
from orchestrator.scouting.names import is_identifier, looks_like_code, looks_like_path, split_dotted
from orchestrator.scouting.question import Subject

_DETERMINER = rf"(?:{DETERMINERS})\s+(?=\S)"
_KIND_FIRST = rf"(?P<kind>{KINDS})(?:\s+(?:called|named|name))?\s*[: ]\s*(?=\S)"
_KIND_LAST = rf"(?<=\S)\s+(?P<kind>{KINDS})$"
_OWNED = re.compile(r"(?P<owner>[^\s']+)'s\s+(?P<name>\S+)$")
_OF = rf"(?P<name>\S+)\s+(?:(?:{KINDS})\s+(?:of|from|in|on|inside|within)|of|from)\s+(?P<owner>\S.*)"
_BETWEEN = re.compile(
    r"\s*(?:,\s*(?:and|or|&)?|\band\b|\bor\b|&|\bas well as\b|\bplus\b|\bvs\.?\b|\bversus\b|/(?=\s))\s+", re.I
)
_CALL = re.compile(r"\([^()'\"]*\)$")
_HERE = re.compile(
    r"(?:this|our|my|the|the whole|this whole)\s+(?:repo|repository|project|code ?base|package|library|app|workspace|"
    r"folder|directory)",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(rf"\b(?:{KINDS})\s+(?:that|which|who)\s", re.IGNORECASE)
"""A thing told by what it does, not by its name."""
_NUMBERS = re.compile(r"[\d\s,.-]*\d(?:\s+(?:and|or|to)\s+\d+)?")
_LONGEST_NAME = 4
"""Words; more than these are no name."""
_OUTER = " \t\n,;:!?.\"'`()[]{}<>"
_WORD = re.compile(rf"{MARK}|[\w$@#./:*-]*[\w$](?:\(\))?")


@dataclass(frozen=True, slots=True)
class Named:
    """The subjects of a slot; `fit` is 2 when the slot held nothing else, 1 when it did, 0 for plain words."""

    subjects: tuple[Subject, ...]
    fit: int


def subjects_in(slot: str, marked: Marked) -> Named:
    """The names in `slot`; a few plain words that hold none are one `phrase`, a sentence is nothing."""
    slot = slot.strip(" \t\n,;:")
    if _DESCRIBES.search(slot) or _NUMBERS.fullmatch(slot):
        coded = coded_in(slot, marked) if not _NUMBERS.fullmatch(slot) else ()
        return Named(coded, 1 if coded else 0)
    items = [item for item in _BETWEEN.split(slot) if item and item.strip(_OUTER)]
    if not items:
        return Named((), 0)
    found = [_subject(item, marked) for item in items]
    if all(subject.shape != "phrase" for subject in found):
        doubtful = any(item.strip() in STOP_WORDS for item in items)
        return Named(tuple(dict.fromkeys(found)), 1 if doubtful else 2)
    whole = _subject(slot, marked)
    if whole.shape != "phrase":
        return Named((whole,), 2)
    coded = coded_in(slot, marked)
    if coded:
        return Named(coded, 1)
    words = whole.name.split()
    outer = {words[0].lower(), words[-1].lower()}
    inner = {word.lower() for word in words[1:-1]} - CONNECTORS
    may_be_name = len(words) <= _LONGEST_NAME and not (outer | inner) & STOP_WORDS
    return Named((whole,) if may_be_name else (), 0)


def coded_in(text: str, marked: Marked) -> tuple[Subject, ...]:
    """The quoted parts of `text`, else the words that nobody would write in plain English."""
    words = _WORD.findall(text)
    picked = [word for word in words if marked.at(word)] or [word for word in words if looks_like_code(word)]
    return tuple(dict.fromkeys(_subject(word, marked) for word in picked))


def _subject(words: str, marked: Marked) -> Subject:
    """One name out of the words for it: "the `send` method of Session" gives Session.send."""
    if _HERE.fullmatch(words.strip()):
        return Subject("path", ".", asked=words.strip())
    core, kinds = _without_kinds(words.strip(" \t\n,;:!?"))
    owned = _OWNED.fullmatch(core)
    if owned:
        owner, kept = _without_kinds(owned["owner"])
        return _with_owner(_subject(owned["name"], marked), _subject(owner, marked), kinds | kept)
    of = re.fullmatch(_OF, core, re.IGNORECASE) if " " in core else None
    if of:
        holder, name = _subject(of["owner"], marked), _subject(of["name"], marked)
        if holder.shape != "phrase" and name.shape == "name":
            return _with_owner(name, holder, kinds)
    return _plain(core, kinds, marked)


def _with_owner(name: Subject, owner: Subject, kinds: set[str]) -> Subject:
    if name.shape != "name" or kinds & TEXT_KINDS:
        return name
    return Subject("name", name.name, owner.dotted if not name.owner else f"{owner.dotted}.{name.owner}", name.asked)


def _without_kinds(words: str) -> tuple[str, set[str]]:
    """`words` without "the" and "function" at either end, and the kinds that were taken off; never all of it."""
    kinds: set[str] = set()
    while " " in words or ":" in words:
        determiner = re.match(_DETERMINER, words, re.IGNORECASE)
        shorter = words[determiner.end() :] if determiner else words
        first = re.match(_KIND_FIRST, shorter, re.IGNORECASE)
        last = re.search(_KIND_LAST, shorter, re.IGNORECASE)
        if last and not first:
            kinds.add(last["kind"].lower())
            shorter = shorter[: last.start()]
        elif first and not (last and len(shorter.split()) == 2):
            kinds.add(first["kind"].lower())
            shorter = shorter[first.end() :]
        elif first and last:
            shorter, kind = _two_kinds(shorter)
            kinds.add(kind)
        if shorter == words:
            break
        words = shorter
    return words, kinds


def _two_kinds(words: str) -> tuple[str, str]:
    """Of "class method" or "name field" one is the name: the first, unless it follows the order "class X"."""
    first, last = words.split()
    return (
        (last, first.lower()) if first.lower() in {"class", "function", "method", "variable"} else (first, last.lower())
    )


def _plain(core: str, kinds: set[str], marked: Marked) -> Subject:
    core = core.strip()
    mark = marked.at(core.removesuffix("()").removesuffix("'s").strip(_OUTER.replace("(", "")) or core)
    if mark is not None:
        literal = bool(kinds & TEXT_KINDS) or (mark.literal and not _is_name(mark.text))
        return named(mark.text, literal=literal, file=bool(kinds & FILE_KINDS))
    text = marked.restore(core)
    if kinds & TEXT_KINDS and len(text.split()) > 1:
        return Subject("text", text, asked=text)
    if len(text.split()) != 1:
        return Subject("phrase", text, asked=text)
    return named(text.strip(" \t\n,;!?\"'`"), literal=bool(kinds & TEXT_KINDS), file=bool(kinds & FILE_KINDS))


def _is_name(text: str) -> bool:
    return is_identifier(split_dotted(_CALL.sub("", text.strip()))[1]) or looks_like_path(text)


def named(text: str, *, literal: bool = False, file: bool = False) -> Subject:
    """The subject that one word, or one quoted part, stands for."""
    if literal:
        return Subject("text", text, asked=text)
    bare = text.strip()
    if looks_like_path(bare) or (file and is_identifier(bare)):
        return Subject("path", bare.removeprefix("./").rstrip("/") or ".", asked=bare)
    name = _CALL.sub("", bare).rstrip(".,:;").lstrip("@#&*")
    name = name[1:] if re.match(r"\.\w", name) else name
    owner, last = split_dotted(name)
    if is_identifier(last) and (not owner or re.fullmatch(r"[\w$.@/-]+", owner)):
        return Subject("name", last, "" if owner in ("self", "this", "cls") else owner, bare)
    if " " in bare or not re.search(r"\w", bare):
        return Subject("text", bare, asked=bare)
    return (
        Subject("name", name, asked=bare) if re.fullmatch(r"[\w$-]+[?!]?", name) else Subject("text", bare, asked=bare)
    )
