"""Which language a file is in: by its name, else by its `#!` line. Nothing is imported until a grammar is asked for."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

Family = Literal["code", "docs", "notebook", "script", "data"]
"""`code` has a grammar; `script` is code without one, read by words; `data` is everything else."""


@dataclass(frozen=True, slots=True)
class Language:
    """`function` of `package` gives the grammar; `sigil`: `$name` is a use of `name`."""

    name: str
    family: Family
    package: str = ""
    function: str = "language"
    rules: str = ""
    sigil: bool = False


def _code(name: str, package: str = "", function: str = "language", rules: str = "", sigil: bool = False) -> Language:
    return Language(name, "code", f"tree_sitter_{package or name}", function, rules or name, sigil)


DOCS = Language("docs", "docs")
DATA = Language("data", "data")
NOTEBOOK = Language("notebook", "notebook")
SCRIPT = Language("script", "script")
SIGIL_SCRIPT = Language("script", "script", sigil=True)
PYTHON = _code("python")
JAVASCRIPT = _code("javascript")
TYPESCRIPT = _code("typescript", "typescript", "language_typescript", "javascript")
TSX = _code("tsx", "typescript", "language_tsx", "javascript")
BASH = _code("bash", sigil=True)
GO = _code("go")
RUST = _code("rust")
JAVA = _code("java")
C = _code("c")
CPP = _code("cpp", rules="c")
RUBY = _code("ruby", sigil=True)
PHP = _code("php", "php", "language_php", sigil=True)
C_SHARP = _code("c_sharp")

LANGUAGES = (PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, BASH, GO, RUST, JAVA, C, CPP, RUBY, PHP, C_SHARP)
"""All that have a grammar."""

_SUFFIXES: tuple[tuple[Language, str], ...] = (
    (PYTHON, "py pyi pyw pyx pxd pxi"),
    (JAVASCRIPT, "js mjs cjs jsx es6"),
    (TYPESCRIPT, "ts mts cts"),
    (TSX, "tsx"),
    (BASH, "sh bash zsh ksh bats ebuild"),
    (GO, "go"),
    (RUST, "rs"),
    (JAVA, "java"),
    (C, "c h"),
    (CPP, "cc cpp cxx c++ hpp hh hxx h++ ipp tpp inl cu cuh ino"),
    (RUBY, "rb rake gemspec ru podspec rbi"),
    (PHP, "php phtml php3 php5 php7"),
    (C_SHARP, "cs csx"),
    (DOCS, "md markdown mdx rst txt text adoc asciidoc org textile rdoc pod tex"),
    (NOTEBOOK, "ipynb"),
    (
        SCRIPT,
        "kt kts swift scala lua sql ex exs erl dart vue svelte groovy gradle jl r m mm zig nim hs ml mli clj cljs el"
        " lisp proto graphql cmake vb f90 f95 pas d v sv vhd sol cr coffee fs fsx html htm erb ejs hbs j2 jinja jinja2",
    ),
    (SIGIL_SCRIPT, "mk pl pm t ps1 psm1 fish env yml yaml tcl awk dockerfile bat cmd conf"),
)
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES for suffix in suffixes.split()}
_NAMES: tuple[tuple[Language, str], ...] = (
    (PYTHON, "sconstruct sconscript wscript"),
    (RUBY, "rakefile gemfile vagrantfile guardfile podfile brewfile fastfile"),
    (BASH, ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile pkgbuild"),
    (SIGIL_SCRIPT, "makefile gnumakefile dockerfile containerfile .env"),
    (SCRIPT, "cmakelists.txt jenkinsfile build workspace"),
    (
        DOCS,
        "readme changes changelog history news authors contributors contributing copying license licence notice"
        " install todo security",
    ),
    (DATA, "robots.txt"),
)
_BY_NAME = {name: language for language, names in _NAMES for name in names.split()}
_REQUIREMENTS = re.compile(r"(requirements|constraints).*\.txt$")
_SHEBANG = re.compile(
    r"#!.*?\b(python|node|deno|bun|bash|zsh|ksh|dash|sh|ruby|php|perl|fish|lua|tclsh|awk)[\d.]*(?:\s|$)"
)
_BY_INTERPRETER = {
    "python": PYTHON,
    "node": JAVASCRIPT,
    "deno": TYPESCRIPT,
    "bun": TYPESCRIPT,
    "ruby": RUBY,
    "php": PHP,
    **dict.fromkeys(("bash", "zsh", "ksh", "dash", "sh"), BASH),
    **dict.fromkeys(("perl", "fish", "tclsh", "awk"), SIGIL_SCRIPT),
    "lua": SCRIPT,
}
_CPP_HEADER = re.compile(
    r"^[ \t]*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:)", re.M
)


def language_by_name(path: str) -> Language | None:
    """The language that the name of a file tells; `None` for a name without a known suffix."""
    name = path.rsplit("/", 1)[-1].lower()
    return _BY_NAME.get(name) or _by_suffix(name)


def language_of(path: str, text: str) -> Language:
    """The language of the file at `path` that holds `text`."""
    language = language_by_name(path)
    if language is None:
        found = _SHEBANG.match(text[:200])
        return _BY_INTERPRETER[found[1]] if found else DATA
    if language is C and path.lower().endswith(".h") and _CPP_HEADER.search(text):
        return CPP
    if language is TYPESCRIPT and text[:200].lstrip().startswith("<"):
        return DATA  # a Qt translation file
    return language


def _by_suffix(name: str) -> Language | None:
    if _REQUIREMENTS.match(name):
        return DATA
    stem, dot, suffix = name.rpartition(".")
    if stem in ("dockerfile", "makefile"):
        return SIGIL_SCRIPT
    return _BY_SUFFIX.get(suffix) if dot else None


@cache
def grammar_of(language: Language) -> Grammar:
    """The grammar of a language of the family `code`; its package is imported at the first call."""
    from tree_sitter import Language as Grammar

    return Grammar(getattr(importlib.import_module(language.package), language.function)())
