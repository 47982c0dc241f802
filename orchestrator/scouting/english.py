"""English questions: one clause in, what it asks for out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.scouting.english_forms import DOING, DONE, FORMS, THING, WHOLE, Form, any_of
from orchestrator.scouting.english_regions import bare_region, noun_region, take_bare_region, take_regions
from orchestrator.scouting.english_words import CONTENT_KINDS, INVERSE, LEADS, TAILS, TURNED, VERBS
from orchestrator.scouting.marks import Marked
from orchestrator.scouting.names import looks_like_code, singulars, word_set
from orchestrator.scouting.question import Ask, Intent, Subject
from orchestrator.scouting.regions import Filters
from orchestrator.scouting.subjects import Named, coded_in, subjects_in

_LONGEST = 400
"""Characters; a longer clause is a text and not a question that a form fits."""
_LEADS = rf"(?:{any_of(LEADS)}[,:]? )+"
_TAILS = rf"(?:,? (?:{TAILS}))+"
_PRONOUN = re.compile(r"it|its|them|they|this|that|these|those|this one|the same", re.IGNORECASE)
_SPLIT = re.compile(
    r"\s*(?:[;,]|\band\b|\bor\b|\bplus\b)+\s*(?:also\s+)?(?=(?:where|who|what|which|how|is|are|does|do|list|show|"
    r"find|explain)\b)",
    re.IGNORECASE,
)
_POLAR = re.compile(r"(?:is|are|was|were|does|do|did|has|have|can|could|will)\b", re.IGNORECASE)
_NO_KINDS = word_set("and or the all any public private different other")
_SHOWN = word_set("print prints printing log logs logging say says show shows display displays")
"""Verbs after which plain words are what is printed, which need not stand in the code as such."""
_FIND = re.compile(r"(?:find|search|look|grep|count|list|trace)\b", re.IGNORECASE)
_COLUMNS = {"done": "done", "doing": "doing", "thing": "things"}


@dataclass(frozen=True, slots=True)
class _Variant:
    """One way to see the clause: the text to match, the filters taken out of it, the forms that may fit."""

    text: str
    filters: Filters
    forms: tuple[Form, ...]


def split_clauses(sentence: str) -> list[str]:
    """The questions that one sentence may join: "where is A defined and who calls it"."""
    return [piece for piece in _SPLIT.split(sentence) if piece.strip()]


def read_clause(clause: str, marked: Marked, before: tuple[Subject, ...] = ()) -> tuple[tuple[Ask, ...], int]:
    """What `clause` asks, and how well it fits; empty when no form does.

    The fit is 2 for nothing but names, 1 for names among words, 0 for plain words. `before` are the subjects that
    "it" stands for.
    """
    best: tuple[tuple[Ask, ...], int] = ((), -1)
    if len(clause) > _LONGEST:
        return best
    for variant in _variants(clause, marked):
        words = _words_of(variant.text)
        for form in (form for form in variant.forms if form.may_fit(words)):
            asks, fit = _try(form, variant, marked, before)
            if fit == 2:
                return asks, fit
            if asks and fit > best[1]:
                best = asks, fit
    bare = _bare(clause, marked)
    return (bare, 2) if bare else best


def _words_of(text: str) -> list[str]:
    """The words of a clause; "where's" counts as itself and as its parts."""
    return [
        piece
        for word in re.findall(r"[\w']+", text.lower())
        for piece in dict.fromkeys((word, *re.findall(r"\w+|'", word)))
    ]


def _variants(clause: str, marked: Marked) -> Iterator[_Variant]:
    whole = clause.strip(" ?!.,:;")
    core = _without_tail(_without_leads(whole))
    yield _Variant(core, Filters(), WHOLE)
    plain, filters = take_regions(_without_leads(whole), marked)
    plain = _without_tail(plain)
    yield _Variant(plain, filters, FORMS)
    shorter, bare = take_bare_region(plain, marked)
    if bare:
        yield _Variant(_without_tail(shorter), filters + bare, FORMS)
    for text in dict.fromkeys((core, _without_leads(whole), whole)):
        if text != plain:
            yield _Variant(text, Filters(), FORMS)


def _without_leads(text: str) -> str:
    found = re.match(_LEADS, text, re.IGNORECASE)
    return text[found.end() :] if found and found.end() < len(text) else text


def _without_tail(text: str) -> str:
    found = re.search(rf"{_TAILS}$", text, re.IGNORECASE)
    return text[: found.start()].strip(" ,") if found and found.start() else text


def _try(form: Form, variant: _Variant, marked: Marked, before: tuple[Subject, ...]) -> tuple[tuple[Ask, ...], int]:
    found = re.fullmatch(form.pattern, variant.text, re.IGNORECASE)
    if found is None:
        return (), -1
    groups = {name: text for name, text in found.groupdict().items() if text}
    named = _subjects(groups, marked, before)
    whole_history = form.intent == "history" and "x" not in groups
    if not named.subjects and not whole_history:
        return (), -1
    intents = (form.intent,) if form.intent else _intents(form.verb, groups[form.verb])
    filters = variant.filters + _filters(groups, marked, intents[0])
    kinds = _kinds(groups) if intents[0] == "contents" else ()
    polar = _POLAR.match(variant.text) is not None
    asks = tuple(Ask(intent, named.subjects, filters, kinds, polar) for intent in intents)
    return asks, 2 if whole_history else named.fit


def _kinds(groups: dict[str, str]) -> tuple[str, ...]:
    """The kinds of definitions that the words before the name ask for; none when some word asks for all."""
    said = " ".join(groups.get(group, "") for group in ("content", "noun", "turned"))
    known = [
        next((CONTENT_KINDS[one] for one in (word, *singulars(word)) if one in CONTENT_KINDS), "")
        for word in re.findall(r"\w+", said.lower())
        if word not in _NO_KINDS
    ]
    return tuple(dict.fromkeys(known)) if all(known) else ()


def _subjects(groups: dict[str, str], marked: Marked, before: tuple[Subject, ...]) -> Named:
    slot = groups.get("x", "")
    if before and _PRONOUN.fullmatch(slot):
        return Named(before, 2)
    named = subjects_in(slot, marked)
    if groups.get("doing", "").lower() in _SHOWN and len(slot.split()) > 1 and not coded_in(slot, marked):
        return Named((), 0)
    if "y" in groups:
        other = subjects_in(groups["y"], marked)
        return Named((*named.subjects, *other.subjects), min(named.fit, other.fit))
    return named


def _filters(groups: dict[str, str], marked: Marked, intent: Intent) -> Filters:
    filters = noun_region(groups["noun"]) if "noun" in groups else Filters()
    for group in ("place", "by"):
        if group in groups and not (group == "by" and intent in ("imports", "defined")):
            filters += Filters(within=((bare_region(groups[group], marked),),))
    return filters


def _intents(group: str, words: str) -> tuple[Intent, ...]:
    """What the verbs in `words` ask for: one intent, or several for "defined and used"."""
    if group == "base":
        return (INVERSE[words.lower()],)
    if group == "turned":
        return (TURNED[words.lower()],)
    alternation = {"done": DONE, "doing": DOING, "thing": THING}[group]
    found = re.findall(rf"(?<!\S){alternation}(?=$|[\s,/])", words.lower())
    return tuple(dict.fromkeys(_intent_of(group, word) for word in found))


def _intent_of(group: str, word: str) -> Intent:
    column = _COLUMNS[group]
    return next(verb.intent for verb in VERBS if word in getattr(verb, column).split("|"))


def _bare(clause: str, marked: Marked) -> tuple[Ask, ...]:
    """A name alone, or after "find": asks for all about it."""
    plain, filters = take_regions(clause.strip(" ?!.,:;"), marked)
    core = _without_tail(_without_leads(plain))
    named = subjects_in(core, marked)
    if named.fit < 2 or (len(core.split()) > 1 and not _joined_or_coded(core, marked)):
        return ()
    return (Ask("used" if _FIND.match(plain) else "about", named.subjects, filters),)


def _joined_or_coded(core: str, marked: Marked) -> bool:
    return bool(re.search(r",|\band\b|\bor\b", core)) or any(
        marked.at(word) or looks_like_code(word) for word in core.split()
    )
