"""A question that code alone does not answer: what can be asked instead, and the best matches for its words."""

from __future__ import annotations

import re

from orchestrator.scouting import lookups, uses
from orchestrator.scouting.english_words import STOP_WORDS
from orchestrator.scouting.names import parts, singulars, word_set
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, with_kind
from orchestrator.scouting.question import Ask, Question
from orchestrator.scouting.wording import Words

_SHORTEST_WORD = 4
_MAX_WORDS = 6
_MAX_MATCHES = 15
_ASKING = word_set(
    "explain tell show find list give please could should would about make made used using does work works need "
    "want code "
    "file files function functions class classes project write fix refactor change improve best good test tests with "
    "there their them they what when which happens"
)
_DECLARES = (
    "(?:def|class|function|func|fn|struct|enum|interface|trait|type|const|let|var|module|namespace|"
    "macro_rules!|#define)"
)


def answer(ask: Ask, question: Question, book: Notebook, words: Words) -> Part | None:
    """Says that it cannot answer, what it can, and shows what it found for the names or words of the question."""
    named = [uses.answer(Ask("used", (subject,)), subject, book, words) for subject in ask.subjects[:3]]
    known = [part for part in named if part is not None]
    if len(known) < len(named):
        return None
    if any(part.cited for part in known):
        found = Part("", tuple(g for part in known for g in part.groups), tuple(part.headline for part in known))
    else:
        matches = _matches(question.text, book)
        if matches is None:
            return None
        found = Part("", groups((words.title("match"), matches)), () if matches else (words.say("no_match"),))
    said = words.say("out_of_reach")
    notes = (words.say("kinds_answered"), words.say("configure"))
    whole = Part(
        said, found.groups, found.details, open_question=words.say("not_answered", question=question.text.strip())
    )
    return noted(whole, *notes)


def _matches(text: str, book: Notebook) -> tuple[Place, ...] | None:
    """Definitions whose names hold words of the question, those with the most of them first."""
    wanted = _words_of(text)
    if not wanted:
        return ()
    stems = sorted({min((word, *singulars(word)), key=len) for word in wanted}, key=len, reverse=True)
    hits = lookups.grep(book, rf"\b{_DECLARES}\s+\w*(?:{'|'.join(map(re.escape, stems))})\w*", ignore_case=True)
    if hits is None:
        return None

    def score(place: Place) -> tuple[int, int]:
        said = parts(place.text)
        whole = sum(stem in said for stem in stems)
        return -whole - sum(stem in "".join(said) for stem in stems), len(place.text)

    return with_kind(sorted(hits.places, key=score)[:_MAX_MATCHES], "definition")


def _words_of(text: str) -> tuple[str, ...]:
    found = (word.lower() for word in re.findall(r"[A-Za-z_]\w+", text))
    kept = (word for word in found if len(word) >= _SHORTEST_WORD and word not in STOP_WORDS and word not in _ASKING)
    return tuple(dict.fromkeys(kept))[:_MAX_WORDS]


def nothing_asked(words: Words) -> Part:
    """The answer to an empty question."""
    return Part(words.say("no_question"), notes=(words.say("kinds_answered"),))
