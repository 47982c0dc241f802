"""Chinese questions: one clause in, what it asks for out. The words are data; see `chinese_words`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.scouting.chinese_forms import DOING, FORMS, WHOLE, Form, any_of
from orchestrator.scouting.chinese_regions import take_regions
from orchestrator.scouting.chinese_words import (
    DETERMINERS,
    FILE_KINDS,
    INVERSE,
    KINDS,
    LEADS,
    TAILS,
    TEXT_KINDS,
    TRADITIONAL,
    TURNED,
    VERBS,
)
from orchestrator.scouting.english_words import CONTENT_KINDS
from orchestrator.scouting.marks import Marked
from orchestrator.scouting.question import Ask, Intent, Subject
from orchestrator.scouting.regions import Filters
from orchestrator.scouting.subjects import Named, coded_in, named

_LONGEST = 300
"""Characters; a longer clause is a text and not a question that a form fits."""
_SPLIT = re.compile(r"\s*(?:[,;]|以及|并且|而且|还有|同时|和(?=谁|哪))\s*(?=\S*(?:谁|哪|什么|何处|怎么|是否|有没有))")
_POLAR = re.compile(r"吗|有没有|是否|是不是")
_PRONOUN = re.compile(r"它们?|他们?|其|这个|那个|该(?:函数|类|方法|变量)?|这个(?:函数|类|方法|变量)")
_HAN = r"[\u3400-\u9fff]"
_BETWEEN = re.compile(
    rf"\s*(?:,\s*(?:和|与)?|(?<![\w])(?:和|与|以及|及|跟|或者?|还是)(?![\w])|(?<={_HAN})\s|(?:和|与|以及|及|跟|或者|或|还是)|\band\b|"
    rf"\bor\b|&)\s*"
)
_LETTER = r"(?:[^\W\u3400-\u9fff]|[$./:@*#-])"
_NAME = re.compile(rf"[\ue000-\uf8ff](?:\(\))?|{_LETTER}+(?:\(\))?")
_SAYS_NOTHING = re.compile(
    rf"{_NAME.pattern}|{KINDS}|{TEXT_KINDS}|{DETERMINERS}|和|与|以及|及|跟|或者|或|还是|的|\s|,|and|or|&|段|句|条"
)
_OWNED = re.compile(
    rf"(?P<owner>[\w$.:/-]+|[\ue000-\uf8ff])\s*(?:这个)?(?:{KINDS})?\s*(?:的|里的|中的|下的|"
    rf"里面的)\s*(?P<name>[\w$]+(?:\(\))?|[\ue000-\uf8ff])\s*(?:这个)?(?:{KINDS})?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class _Variant:
    text: str
    filters: Filters
    forms: tuple[Form, ...]


def split_clauses(sentence: str) -> list[str]:
    """The questions that one sentence may join."""
    return [piece for piece in _SPLIT.split(sentence) if piece.strip()]


def read_clause(clause: str, marked: Marked, before: tuple[Subject, ...] = ()) -> tuple[tuple[Ask, ...], int]:
    """What `clause` asks, and how well it fits, as in `english.read_clause`."""
    best: tuple[tuple[Ask, ...], int] = ((), -1)
    if len(clause) > _LONGEST:
        return best
    polar = _POLAR.search(clause.translate(TRADITIONAL)) is not None
    for variant in _variants(clause.translate(TRADITIONAL), marked):
        for form in variant.forms:
            asks, fit = _try(form, variant, marked, before, polar)
            if fit == 2:
                return asks, fit
            if asks and fit > best[1]:
                best = asks, fit
    bare = _bare(clause, marked)
    return bare if bare[0] else best


def _variants(clause: str, marked: Marked) -> Iterator[_Variant]:
    core = _trim(clause)
    yield _Variant(core, Filters(), WHOLE)
    plain, filters = take_regions(core, marked)
    plain = _trim(plain)
    yield _Variant(plain, filters, FORMS)
    if plain != core:
        yield _Variant(core, Filters(), FORMS)


def _trim(text: str) -> str:
    """`text` without what stands before and after the question proper, and without spaces beside Chinese characters."""
    text = re.sub(rf"\s*(?:[?!.,:;]|{TAILS})+\s*$", "", text.strip())
    text = re.sub(rf"^(?:{any_of(LEADS)}|[,\s])+(?=\S)", "", text)
    return re.sub(rf"(?<={_HAN})\s+|\s+(?={_HAN})", "", text).strip()


def _try(
    form: Form, variant: _Variant, marked: Marked, before: tuple[Subject, ...], polar: bool
) -> tuple[tuple[Ask, ...], int]:
    found = re.fullmatch(form.pattern, variant.text, re.IGNORECASE)
    if found is None:
        return (), -1
    groups = {name: text for name, text in found.groupdict().items() if text}
    if form.intent == "history" and "x" not in groups:
        return (Ask("history", (), variant.filters),), 2
    names = _names(groups.get("x", ""), marked, before)
    if not names.subjects:
        return (), -1
    intents = (form.intent,) if form.intent else _intents(form.verb, groups[form.verb])
    kinds = _kinds(groups) if intents[0] == "contents" else ()
    return tuple(Ask(intent, names.subjects, variant.filters, kinds, polar) for intent in intents), names.fit


def _kinds(groups: dict[str, str]) -> tuple[str, ...]:
    """The kinds of definitions that the words after the name ask for; none when some word asks for all."""
    said = f"{groups.get('content', '')}{groups.get('turned', '')}"
    words = [word for word in re.split("和|与|、", said) if word]
    return tuple(dict.fromkeys(CONTENT_KINDS[w] for w in words)) if all(w in CONTENT_KINDS for w in words) else ()


def _intents(group: str, words: str) -> tuple[Intent, ...]:
    if group == "base":
        return (INVERSE[words.lower()],)
    if group == "turned":
        return (TURNED[words.lower()],)
    if group == "thing":
        return (next(verb.intent for verb in VERBS if words.lower() in verb.things.split("|")),)
    found = re.findall(DOING, words.lower())
    return tuple(dict.fromkeys(next(v.intent for v in VERBS if word in v.doing.split("|")) for word in found))


def _names(slot: str, marked: Marked, before: tuple[Subject, ...]) -> Named:
    """The names in the Chinese words `slot`."""
    slot = slot.strip(" ,:;")
    if before and _PRONOUN.fullmatch(slot):
        return Named(before, 2)
    owned = _OWNED.fullmatch(slot)
    if owned:
        owner, name = _one(owned["owner"], marked), _one(owned["name"], marked)
        if name.shape == "name":
            return Named((Subject("name", name.name, owner.dotted, name.asked),), 2)
    found = [_NAME.findall(piece) for piece in _BETWEEN.split(slot) if piece]
    words = [word for piece in found for word in piece]
    if words:
        kinds = set(re.findall(rf"{KINDS}|{TEXT_KINDS}", slot))
        clean = all(len(piece) <= 1 for piece in found) and not _SAYS_NOTHING.sub("", slot)
        return Named(tuple(dict.fromkeys(_one(word, marked, kinds) for word in words)), 2 if clean else 1)
    bare = re.sub(rf"^(?:{DETERMINERS})|(?:{KINDS})$", "", slot)
    return Named((Subject("name", bare, asked=bare),), 0) if re.fullmatch(rf"{_HAN}{{1,12}}", bare) else Named((), 0)


def _one(word: str, marked: Marked, kinds: set[str] | None = None) -> Subject:
    kinds = kinds or set()
    mark = marked.at(word.removesuffix("()"))
    is_text = bool(kinds & set(TEXT_KINDS.split("|")))
    is_file = bool(kinds & FILE_KINDS)
    if mark is None:
        return named(word.rstrip(".:"), literal=is_text, file=is_file)
    plain = coded_in(word, marked)[0]
    literal = is_text or (mark.literal and plain.shape == "text")
    return named(mark.text, literal=literal, file=is_file)


def _bare(clause: str, marked: Marked) -> tuple[tuple[Ask, ...], int]:
    """Names with nothing but leading words: asks for all about them."""
    plain, filters = take_regions(_trim(clause), marked)
    names = _names(_trim(plain), marked, ())
    if names.fit == 2:
        return (Ask("about", names.subjects, filters),), 2
    return (), -1
