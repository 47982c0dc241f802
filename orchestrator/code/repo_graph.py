"""Which files use which, as a graph, and which of them matter for a question: PageRank that starts at what it names."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

from orchestrator.code.languages import language_by_name
from orchestrator.code.links import FileLinks
from orchestrator.code.outline import FileSymbol

if TYPE_CHECKING:
    import networkx as nx

MAX_DEFINERS = 4
"""A name that more files define tells nothing about which of them is meant."""
MAX_EDGES = 40
"""Files that one file is linked to, the strongest links first."""
_IMPORT = 2.0
"""The weight of an import beside that of a name that only one file defines."""
_FOLLOW = 0.5
"""The share of the rank that is passed along the links; the rest starts again at what the question names."""
_ROUNDS = 40

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_STOP = frozenset(
    (
        *("about", "all", "and", "any", "are", "class", "code", "defined", "does", "explain", "file", "find", "for"),
        *("from", "function", "has", "have", "how", "implemented", "into", "its", "list", "method", "module", "not"),
        *("one", "show", "tell", "that", "the", "their", "there", "this", "through", "use", "used", "uses", "using"),
        *("what", "when", "where", "which", "who", "why", "with", "work"),
    )
)
"""Words of questions that name nothing."""
_ROOTS = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that stand for their folder."""
VENDORED = re.compile(
    r"(?:^|/)(node_modules|vendor|vendored|_vendor|third[_-]party|site-packages|bower_components|extern|external)/"
)
_TEST = re.compile(r"(?:^|[/_.])(?:tests?|specs?|testing|conftest)(?:[/_.]|$)", re.IGNORECASE)

_KINDS = {"class": 1.5, "interface": 1.5, "struct": 1.5, "trait": 1.5, "function": 1.2, "method": 0.8}

_Name = tuple[str, str]
"""A language and a name in it."""


class Terms:
    """The words of a question that can name something: whole (`getUser`) and their parts (`get`, `user`)."""

    def __init__(self, query: str) -> None:
        words = [word for word in re.findall(r"\w+", query) if len(word) > 1]
        whole = [word for word in words if not {low := word.casefold(), low.removesuffix("s")} & _STOP]
        self.names = tuple(dict.fromkeys(whole))
        self.parts = frozenset(part for word in whole for part in parts_of(word) if part not in _STOP)

    def match(self, name: str) -> float:
        """How well a name fits: 8 for the same, up to 3 by its parts."""
        if name in self.names:
            return 8.0
        own = parts_of(name)
        return 3.0 * len(own & self.parts) / max(len(own), len(self.parts)) if own else 0.0

    @property
    def about_tests(self) -> bool:
        return bool(self.parts & {"test", "spec", "fixture"})


def parts_of(name: str) -> frozenset[str]:
    """The words in a name, in lower case, without a plural's `s`."""
    found = (part.casefold() for part in _PARTS.findall(name))
    return frozenset(part[:-1] if len(part) > 3 and part.endswith("s") and part[-2] != "s" else part for part in found)


def build_graph(files: Mapping[str, FileLinks]) -> nx.DiGraph:
    """Nodes are paths; an edge leads from a file to one that it imports or that defines names it uses."""
    import networkx as nx

    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(files)
    definers = _definers(files)
    used = _users(files, definers)
    modules = _modules(files)
    for path, links in files.items():
        weights: defaultdict[str, float] = defaultdict(float)
        language = _language(path)
        for name in links.uses:
            for target in definers.get(key := (language, name), ()):
                weights[target] += log(1 + len(files) / used[key]) / len(definers[key])
        for name in links.imports:
            for target in _imported(name, path, modules):
                weights[target] += _IMPORT * log(1 + len(files))
        weights.pop(path, None)
        strongest = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:MAX_EDGES]
        graph.add_weighted_edges_from((path, target, weight) for target, weight in strongest)
    return graph


def _language(path: str) -> str:
    """Files of one language can use each other's names."""
    language = language_by_name(path)
    return language.rules if language else ""


def _definers(files: Mapping[str, FileLinks]) -> dict[_Name, list[str]]:
    """The files that define a name, for the names that few define."""
    found: dict[_Name, list[str]] = defaultdict(list)
    for path, links in files.items():
        for name in dict.fromkeys(symbol.name for symbol in links.symbols):
            found[_language(path), name].append(path)
    return {key: paths for key, paths in found.items() if len(paths) <= MAX_DEFINERS and len(key[1]) > 2}


def _users(files: Mapping[str, FileLinks], definers: Mapping[_Name, Sequence[str]]) -> Counter[_Name]:
    """The number of files in which each of the names stands."""
    known = ((_language(path), links.uses) for path, links in files.items())
    keys = ((language, name) for language, uses in known for name in uses)
    return Counter(key for key in keys if key in definers)


def _modules(paths: Iterable[str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Files by the last part of their module's name, with all parts of it."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for path in paths:
        parts = path.split("/")
        stem = parts.pop().split(".")[0]
        if stem not in _ROOTS or not parts:
            parts.append(stem)
        found[parts[-1]].append((tuple(parts), path))
    return found


def _imported(name: str, path: str, modules: Mapping[str, list[tuple[tuple[str, ...], str]]]) -> list[str]:
    """The file that an import means: the one whose path agrees with most of its parts, if there is only one."""
    whole = [part for part in re.split(r"[./:\\]+", re.sub(r"\.(?:js|ts|jsx|tsx|h|hpp|rb|php|sh)$", "", name)) if part]
    for parts in (whole, whole[:-1]):
        candidates = modules.get(parts[-1], ()) if parts else ()
        ranked = sorted(
            ((_agreement(parts, has), _together(path, target)), target) for has, target in candidates if target != path
        )
        if ranked and (len(ranked) == 1 or ranked[-1][0] > ranked[-2][0]):
            return [ranked[-1][1]] if ranked[-1][0][0] == len(parts) or name.startswith(".") else []
    return []


def _agreement(parts: Sequence[str], has: Sequence[str]) -> int:
    """How many parts agree, counted from the end."""
    count = 0
    for one, other in zip(reversed(parts), reversed(has), strict=False):
        if one != other:
            break
        count += 1
    return count


def _together(path: str, other: str) -> int:
    """How many folders two files share."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count


def rank_files(files: Mapping[str, FileLinks], terms: Terms) -> list[str]:
    """The paths, the most relevant first; the same for the same files and question, whatever their order."""
    files = dict(sorted(files.items()))
    if not files:
        return []
    graph = build_graph(files)
    fits = {path: _fit(path, links, terms) for path, links in files.items()}
    total = sum(fits.values())
    start = {path: fit / total if total else 1 / len(files) for path, fit in fits.items()}
    rank = pagerank(graph, start)
    scores = {path: (rank[path] + start[path]) * _weight(path, terms) for path in files}
    return sorted(files, key=lambda path: (-scores[path], path))


def pagerank(graph: nx.DiGraph, start: Mapping[str, float]) -> dict[str, float]:
    """The PageRank of each node by its weighted edges, personalised to `start` (which sums to 1).

    networkx's own needs numpy and scipy, which are no dependencies of orch.
    """
    outgoing = dict(graph.out_degree(weight="weight"))
    sinks = [node for node, weight in outgoing.items() if not weight]
    rank = dict(start)
    for _ in range(_ROUNDS):
        kept = 1 - _FOLLOW + _FOLLOW * sum(rank[node] for node in sinks)
        new = {node: kept * share for node, share in start.items()}
        for node, target, weight in graph.edges(data="weight"):
            new[target] += _FOLLOW * rank[node] * weight / outgoing[node]
        moved = sum(abs(new[node] - rank[node]) for node in rank)
        rank = new
        if moved < 1e-6:
            break
    return rank


def _fit(path: str, links: FileLinks, terms: Terms) -> float:
    """How well a file fits the question by what it defines, what it is called, and what it uses."""
    if not terms.names:
        return 0.0
    defined = sorted((terms.match(symbol.name) for symbol in links.symbols), reverse=True)[:3]
    folders = len(parts_of(path) & terms.parts)
    named = bool({part.split(".")[0] for part in path.split("/")}.intersection(terms.names))
    used = len(set(terms.names).intersection(links.uses))
    best = sum(match**2 / (at + 1) for at, match in enumerate(defined))
    return best + 4.0 * folders**2 / len(terms.parts or (1,)) + 8.0 * named + used


def _weight(path: str, terms: Terms) -> float:
    """Less for tests, unless they are asked for, and for copies of other people's code."""
    test = 0.3 if _TEST.search(path) and not terms.about_tests else 1.0
    return test * (0.1 if VENDORED.search(path) else 1.0)


def map_files(files: Mapping[str, FileLinks], terms: Terms, limit: int) -> list[tuple[str, list[FileSymbol]]]:
    """The `limit` files that matter most, each with its symbols, the most telling first."""
    used = _users(files, _definers(files))

    def telling(path: str) -> list[FileSymbol]:
        language, again = _language(path), Counter(symbol.name for symbol in files[path].symbols)

        def order(symbol: FileSymbol) -> tuple[float, int]:
            weight = _telling(symbol, terms, used.get((language, symbol.name), 0))
            return -weight / again[symbol.name], symbol.line

        return sorted(files[path].symbols, key=order)

    return [(path, telling(path)) for path in rank_files(files, terms)[:limit]]


def _telling(symbol: FileSymbol, terms: Terms, users: int) -> float:
    """Those asked for first, then those that many files use; classes and functions before methods and variables."""
    kind = _KINDS.get(symbol.kind, 0.3) * (0.3 if symbol.name.startswith("_") else 1.0)
    return 4 * terms.match(symbol.name) + kind * (0.5 + log(1 + users)) / (1 + symbol.qualified.count("."))
