"""The text of a PDF with marks where its pages begin, read by pypdf (the extra `pdf`) in a process of its own."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.attached_names import Span
from orchestrator.attached_process import Worked, library_folder, run_worker
from orchestrator.attached_text import Block, fenced
from orchestrator.errors import UsageError
from orchestrator.messages import scrub

MAX_PAGES = 300
"""Pages that are read of one document."""
TIME_LIMIT = 20.0


class PdfText(NamedTuple):
    block: Block
    notes: tuple[str, ...] = ()


async def pdf_text(
    data: bytes,
    name: str,
    span: Span | None,
    limit: int,
    *,
    again: str = "",
    time_limit: float = TIME_LIMIT,
    pypdf: bool | None = None,
) -> PdfText:
    """The text of the pages in `span` (all without one), in about `limit` bytes.

    Raises `UsageError` that names the document `name` and says what to do. `again` is how the user names it (`@a.pdf`),
    for the note that says how to see more. `pypdf=False` is for doing without pypdf although it is installed.
    """
    library = None if pypdf is False else library_folder("pypdf")
    if library is None:
        hint = "pip install 'orch-agents[pdf]', or turn it into text yourself (pdftotext)"
        raise UsageError(f"{name} is a PDF, and pypdf, which reads them, is not installed", hint)
    first, last = span or (1, 0)
    settings = {"first": first, "last": last, "most": MAX_PAGES, "characters": limit}
    worked = await run_worker("pdf", settings, data, library, time_limit)
    count = _page_count(worked, name, first, time_limit)
    texts = {said["page"]: _clean(said["text"]) for said in worked.said if "page" in said}
    if not any(texts.values()):
        raise _no_text(worked, name, count, time_limit)
    return rendered(worked, name, texts, (min(last or count, count), count), limit, again or name)


def _clean(text: str) -> str:
    return scrub(text.replace("\0", "").strip())


def _page_count(worked: Worked, name: str, first: int, time_limit: float) -> int:
    said = worked.said[0] if worked.said else {}
    if said.get("failed") == "encrypted":
        hint = "save it without one, or turn it into text yourself (pdftotext -upw)"
        raise UsageError(f"{name} is protected by a password", hint)
    if "pages" not in said and worked.ended == "timeout":
        raise UsageError(f"{name} could not be opened within {time_limit:g} seconds", "save it anew, or as text")
    if not said.get("pages"):
        why = f": {said['detail']}" if said.get("detail") else ""
        raise UsageError(f"{name} is a PDF that cannot be read: it is broken or not whole{why}", "save it anew")
    count: int = said["pages"]
    if count < first:
        raise UsageError(f"{name} has {count:,} pages; there is no page {first:,}", "name pages that it has")
    return count


def _no_text(worked: Worked, name: str, count: int, time_limit: float) -> UsageError:
    pages = sum("page" in said for said in worked.said)
    if worked.ended == "timeout":
        return UsageError(
            f"no text of {name} could be read within {time_limit:g} seconds", "turn it into text yourself"
        )
    if worked.ended or (pages and all("error" in said for said in worked.said if "page" in said)):
        return UsageError(f"{name} is a PDF whose pages cannot be read: it is broken", "save it anew, or as text")
    read = "its pages hold" if pages == count else f"the {pages} pages that were read of {count:,} hold"
    hint = "attach its pages as images to a model that takes them, or run text recognition on it"
    return UsageError(f"{name} has no text: {read} pictures only, as scans do", hint)


def rendered(
    worked: Worked, name: str, texts: dict[int, str], wanted: tuple[int, int], limit: int, again: str
) -> PdfText:
    """`wanted`: the last page that was asked for, and how many there are."""
    last, count = wanted
    parts: list[str] = []
    room, shown, whole = limit, 0, True
    for number, text in texts.items():
        part = f"[page {number}]\n{text}" if text else f"[page {number}: no text]"
        kept = part.encode("utf-8", "replace")[: max(room, 0)].decode("utf-8", "ignore")
        whole = kept == part
        if not whole and parts and len(kept) < len(part) // 2:
            break
        parts.append(kept if whole else f"{kept}\n[… the rest of page {number} is left out here …]")
        room, shown = room - len(kept.encode("utf-8", "replace")) - 1, number
        if not whole:
            break
    cut = not whole or shown < last
    if shown < last:
        parts.append(f"[… pages {shown + 1}-{last} are left out here …]")
    first = min(texts)
    pages = f"page {first}" if first == shown else f"pages {first}-{shown}"
    told = f"{count:,} {'page' if count == 1 else 'pages'}" if (first, shown) == (1, count) else f"{pages} of {count:,}"
    body = "\n".join(parts)
    block = Block(fenced(f"[text of {name}: {told}]", body), len(body.encode("utf-8", "replace")), told, cut)
    return PdfText(block, _notes(worked, shown, last, again))


def _notes(worked: Worked, shown: int, last: int, again: str) -> tuple[str, ...]:
    notes = []
    broken = [str(said["page"]) for said in worked.said if "error" in said]
    if broken:
        notes.append(f"page {', '.join(broken[:10])} could not be read")
    if shown < last:
        why = "reading it took too long" if worked.ended == "timeout" else "it is long"
        notes.append(f"{why}: it is cut after page {shown}; {again}:{shown + 1}-{last} gives the next pages")
    return tuple(notes)
