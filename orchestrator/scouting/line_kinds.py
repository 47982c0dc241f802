"""What a line of code does with a name, told from the line alone, for the things that no parser is asked about."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from orchestrator.scouting.places import PlaceKind

_DECLARING = (
    r"def|class|function\*?|func(?:\s*\([^)]*\))?|fn|fun|struct|enum|interface|trait|type|module|namespace|"
    r"macro_rules!|"
    r"#define|sub|typedef|union|record|object|protocol"
)
_DECLARES = rf"(?:{_DECLARING})"
_DEFINES = rf"(?:{_DECLARING}|const|let|var|static|val)"
_IMPORTS = re.compile(
    r"\s*(?:from\s+\S+\s+import\b|import\b|#\s*include\b|use\s|using\s|require\b|export\s.*\bfrom\b|package\s)|"
    r"\brequire\("
)
_COMMENT = re.compile(r"\s*(?:#(?!include|define|\[)|//|/\*|\*|--\s|;|<!--)")
_ASSIGN = r"\s*(?::[^=]+)?(?:[-+*/%&|^]|//|\*\*|<<|>>|\?\?|\|\||&&|:)?=(?![=>])"
_DOC_ENDINGS = frozenset({".md", ".rst", ".txt", ".adoc"})


def _word(name: str) -> str:
    return rf"(?<![\w$]){re.escape(name)}(?![\w$])"


def kind_of_line(text: str, name: str, path: str = "") -> PlaceKind:
    """A guess from the words of the line; `other` when they say nothing."""
    word = _word(name)
    if PurePosixPath(path).suffix in _DOC_ENDINGS:
        return "doc"
    if _COMMENT.match(text):
        return "comment"
    if re.search(rf"{_DEFINES}\s+{word}", text):
        return "definition"
    if _IMPORTS.match(text) or _IMPORTS.search(text):
        return "import"
    if re.search(rf"{word}\s*(?:::<.*?>)?\(", text):
        return "call"
    return "reference" if re.search(word, text) else "other"


def defines_function_or_class(text: str, name: str) -> bool:
    """Whether the line declares `name` as one, as against a variable, a parameter or an attribute."""
    word = _word(name)
    if re.search(rf"\b{_DECLARES}\s+(?:\w+\s*(?:::|\.)\s*)*{word}", text):
        return True
    return re.search(rf"{word}\s*[:=]\s*(?:async\s+)?(?:function\b|class\b|\([^()]*\)\s*=>|\w+\s*=>)", text) is not None


def declaration_rank(text: str, name: str) -> int:
    """How much of a definition the line is, 0 the most: of a function or class, a plain variable, one with a type, an
    attribute, anything else, a mere announcement."""
    word = _word(name)
    if defines_function_or_class(text, name):
        return 4 if text.endswith(";") and re.search(rf"{word}\s*\(", text) else 0
    plain = r"\s*(?:(?:export|const|let|var|static|final|public|private|pub)\s+)*(?:\w+\s*=\s*)*"
    if re.match(rf"{plain}{word}\s*=(?!=)", text):
        return 1
    if re.match(rf"{plain}{word}\s*:", text):
        return 2
    if assigns(text, name):
        return 3
    return 5 if text.endswith(";") else 4


def assigns(text: str, name: str) -> bool:
    """Whether the line sets `name`: `x = 1`, `self.x += 1`, `x: int = 1`, `x, y = f()`, `x++`."""
    word = _word(name)
    return (
        re.search(rf"{word}(?:\[[^\]]*\])?{_ASSIGN}", text) is not None
        or re.search(rf"{word}\s*(?:\+\+|--)|(?:\+\+|--)\s*{word}", text) is not None
        or re.match(rf"\s*(?:[\w.$*]+\s*,\s*)*[\w.$*]*{word}\s*(?:,\s*[\w.$*]+\s*)*=(?!=)", text) is not None
    )


def raises(text: str, name: str) -> bool:
    """Whether the line raises or throws `name`."""
    return re.search(rf"\b(?:raise|throw|throws|panic!?|fail)\b.*{_word(name)}", text) is not None


def catches(text: str, name: str) -> bool:
    """Whether the line catches exceptions of the type `name`, or asks whether a caught one is of it."""
    word = _word(name)
    return any(re.search(pattern.replace("NAME", word), text) for pattern in _CATCHES)


def imports_module(text: str, name: str) -> bool:
    """Whether the line imports a module by the path `name`, in quotes: `require("name")`, `from "name/part"`."""
    return (
        re.search(rf"(?:\brequire\(|\bimport\(?|\bfrom|#\s*include)\s*['\"<]{re.escape(name)}['\"/>]", text) is not None
    )


def extends(text: str, name: str) -> bool:
    """Whether the line declares a type that has `name` as its base, interface, trait or mixin."""
    if name not in text:
        return False
    marked = _TOKEN.sub(lambda found: _MARK if found.group() == name else found.group(), text)
    return _MARK in marked and any(re.search(pattern, marked) for pattern in _EXTENDS)


def declared_type(text: str) -> str:
    """The name of the type that the line declares, or gives a trait; empty when it declares none."""
    found = re.search(r"\bimpl\b.*\bfor\s+(?:&?(?:mut\s+)?)([A-Za-z_]\w*)", text)
    found = found or re.search(
        r"\b(?:class|interface|struct|enum|trait|protocol|record|object|type)\s+([A-Za-z_$][\w$]*)", text
    )
    return found[1] if found else ""


_CATCHES = (
    r"^\s*except\*?\b.*NAME",  # Python
    r"\bsuppress\(.*NAME",
    r"\bcatch\s*\(.*NAME",  # Java, C#, PHP, C++
    r"^\s*(?:\}\s*)?catch\b[^(]*NAME",  # Swift, Scala
    r"\brescue\b.*NAME",  # Ruby
    r"\binstanceof\s+(?:[\w$]+\.)*NAME",  # JavaScript
)
_TOKEN = re.compile(r"[\w$]+")
_MARK = "\x01"
"""Put in the place of the name, so that the patterns are the same for all names and compiled once."""
_EXTENDS = (
    r"\bclass\s+[\w$]+\s*(?:\[.*?\])?\s*\(.*\x01",  # Python
    r"\b(?:class|interface|enum|record|trait)\b.*\b(?:extends|implements|with)\b.*\x01",  # JavaScript, Java, PHP, Scala
    r"\b(?:class|struct|interface|record|enum|protocol|extension|object)\s+[\w<>, "
    r"]+(?:\(.*\))?\s*(?:final\s*)?:(?!:).*\x01",  # C++, C#, Kotlin
    r"\bimpl\b(?:\s*<.*?>)?\s+(?:[\w:]+::)?\x01(?:<.*>)?\s+for\b",  # Rust
    r"\btrait\s+\w+(?:<.*>)?\s*:.*\x01",
    r"#\[derive\(.*\x01",
    r"\bclass\s+[\w:]+\s*<\s*[\w:]*\x01",  # Ruby
    r"^\s*(?:include|extend|prepend)\s+[\w:]*\x01\s*$",
    r"\bclass\b[^{]*\bextends\b[^{]*\x01",
    r"=\s*class\b.*\bextends\b.*\x01",
)
