"""git: which of its commands only read, with which options, and what in its configuration makes them do more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from orchestrator.command_rules.git_config import SIGNATURE
from orchestrator.command_rules.git_repository import Use, danger
from orchestrator.command_rules.names import names_in
from orchestrator.command_rules.options import Options, Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown, values, writing
from orchestrator.shell_syntax import Word

_DIFF = """-puszaRwbWBMCcmt -U: -l: -S: -G: -I: -O: --patch --no-patch --unified: --raw --stat? --numstat --shortstat
    --dirstat? --cumulative --summary --patch-with-stat --patch-with-raw --compact-summary --name-only --name-status
    --submodule? --color? --no-color --color-moved? --no-color-moved --color-words? --word-diff? --word-diff-regex:
    --no-renames --rename-empty --check --full-index --binary --abbrev? --find-renames? --find-copies?
    --find-copies-harder --diff-filter: --pickaxe-all --pickaxe-regex --relative? --no-relative --text
    --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines
    --ignore-matching-lines: --inter-hunk-context: --function-context --exit-code --quiet --no-ext-diff --no-textconv
    --ignore-submodules? --src-prefix: --dst-prefix: --no-prefix --default-prefix --line-prefix: --minimal --patience
    --histogram --diff-algorithm: --anchored: --indent-heuristic --no-indent-heuristic --cached --staged --merge-base
    --combined-all-paths --cc --stat-width: --stat-name-width: --stat-count: --output> --break-rewrites?
    --diff-merges: --no-diff-merges --remerge-diff --dd --no-index --ours --theirs --base -0123"""
_HISTORY = """-# -n: -iEFPgr -L: --max-count: --skip: --since: --after: --until: --before: --author: --committer:
    --grep: --grep-reflog: --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings
    --perl-regexp --basic-regexp --merges --no-merges --min-parents: --max-parents: --first-parent --not --all
    --branches? --tags? --remotes? --glob: --exclude: --reflog --cherry-pick --cherry-mark --left-right --left-only
    --right-only --cherry --walk-reflogs --merge --boundary --simplify-by-decoration --full-history --dense --sparse
    --simplify-merges --ancestry-path? --show-pulls --date-order --author-date-order --topo-order --reverse --pretty?
    --format: --abbrev-commit --no-abbrev-commit --oneline --encoding: --expand-tabs? --no-expand-tabs --notes?
    --no-notes --relative-date --date: --parents --children --graph --no-graph --decorate? --no-decorate
    --decorate-refs: --decorate-refs-exclude: --source --mailmap --use-mailmap --no-mailmap --log-size --follow
    --full-diff --clear-decorations --count --timestamp --objects --header --no-walk? --root --show-linear-break?
    --no-merge-base --since-as-filter: --no-max-parents --no-min-parents --exclude-first-parent-only"""
_LISTING = """--contains? --no-contains? --merged? --no-merged? --points-at: --sort: --format: --color? --no-color
    --column? --no-column -i --ignore-case --omit-empty"""
_NOTHING = Use()
_EVERYTHING = Use(work_tree=True, patch=True, textconv=True)
_WORK_TREE = Use(work_tree=True)
_LOG = Use(patch=True, textconv=True, history=True)


class Command(NamedTuple):
    """A command of git that reads with these options. `loose`: with any option."""

    options: str
    use: Use = _NOTHING
    loose: bool = False


_COMMANDS: Mapping[str, Command] = {
    "status": Command(
        """-sbzv -u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules?
        --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --show-stash""",
        Use(work_tree=True, patch=True, textconv=True),
    ),
    "log": Command(f"{_DIFF} {_HISTORY}", _LOG),
    "whatchanged": Command(f"{_DIFF} {_HISTORY}", _LOG),
    "show": Command(f"{_DIFF} {_HISTORY}", _LOG),
    "reflog": Command(f"{_DIFF} {_HISTORY}", _LOG),
    "rev-list": Command(
        f"{_HISTORY} --disk-usage? --use-bitmap-index --no-object-names --objects-edge", Use(history=True)
    ),
    "shortlog": Command(f"{_HISTORY} -s -n -e -c -w? --summary --numbered --email --group:", Use(history=True)),
    "diff": Command(_DIFF, _EVERYTHING),
    "diff-tree": Command(f"{_DIFF} -rv --root --no-commit-id --always --pretty? --format: --oneline", _LOG),
    "diff-index": Command(_DIFF, _EVERYTHING),
    "diff-files": Command(f"{_DIFF} -q", _EVERYTHING),
    "range-diff": Command(f"{_DIFF} --creation-factor: --no-dual-color --left-only --right-only", _LOG),
    "blame": Command(
        """-ltsefnwcpbMC -L: --porcelain --line-porcelain --show-email --show-name --show-number --date: --root
        --reverse --first-parent --since: --ignore-rev: --ignore-revs-file< --contents< --abbrev? --incremental
        --color-lines --color-by-age --score-debug --show-stats""",
        Use(work_tree=True, textconv=True),
    ),
    "annotate": Command("-ltsefnwcpbMC -L:", Use(work_tree=True, textconv=True)),
    "ls-files": Command(
        """-cdmoiskuztvf -x: -X< --cached --deleted --modified --others --ignored --stage --killed --unmerged
        --directory --no-empty-directory --eol --deduplicate --exclude: --exclude-from< --exclude-per-directory:
        --exclude-standard --error-unmatch --with-tree: --full-name --abbrev? --format: --debug""",
        _WORK_TREE,
    ),
    "ls-tree": Command(
        "-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:"
    ),
    "cat-file": Command(
        """-tsepzZ --batch? --batch-check? --batch-all-objects --unordered --buffer --allow-unknown-type
        --follow-symlinks"""
    ),
    "rev-parse": Command("", loose=True),
    "describe": Command(
        """--all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always
        --first-parent --dirty? --broken?""",
        _WORK_TREE,
    ),
    "grep": Command(
        """-# -aiIrwvhHEGFPnlLzocpWq -e: -f< -A: -B: -C: -m: --text --ignore-case --word-regexp --invert-match
        --full-name --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column
        --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color
        --break --heading --show-function --context: --after-context: --before-context: --function-context --and --or
        --not --all-match --quiet --cached --untracked --no-index --no-exclude-standard --exclude-standard
        --max-depth: --threads: --max-count: --no-recursive --recursive""",
        _WORK_TREE,
    ),
    "name-rev": Command("--tags --refs: --exclude: --all --name-only --no-undefined --always"),
    "merge-base": Command("-a --all --octopus --is-ancestor --independent --fork-point"),
    "for-each-ref": Command(f"{_LISTING} --count: --exclude: --shell --perl --python --tcl"),
    "show-ref": Command(
        "-dsq --head --tags --heads --branches --dereference --hash? --abbrev? --verify --quiet --exists"
    ),
    "show-branch": Command(
        "-ar --all --remotes --current --topo-order --date-order --sparse --list --no-name --sha1-name"
    ),
    "count-objects": Command("-vH --verbose --human-readable"),
    "cherry": Command("-v --abbrev?"),
    "check-ignore": Command("-vqzn --verbose --quiet --stdin --no-index --non-matching", _WORK_TREE),
    "check-attr": Command("-az --all --stdin --cached", _WORK_TREE),
    "check-ref-format": Command("--branch --normalize --allow-onelevel --refspec-pattern"),
    "branch": Command(f"{_LISTING} -arvql --all --remotes --verbose --abbrev? --no-abbrev --show-current --list"),
    "tag": Command(f"{_LISTING} -l -n? --list"),
    "version": Command("--build-options"),
}
_OPERANDS_WHERE_LISTING: Mapping[str, tuple[str, ...]] = {
    "branch": ("--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"),
    "tag": ("--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n"),
}
"""The options with which operands are patterns; without them a branch or tag of that name would be made."""
_WRITING = names_in(
    """add am apply archive backfill bisect branch bundle checkout checkout-index cherry-pick clean clone commit
    commit-graph commit-tree config fast-import fetch filter-branch format-patch gc hash-object index-pack init
    maintenance merge merge-file merge-index mktag mktree mv notes pack-objects pack-refs prune prune-packed pull push
    read-tree rebase reflog remote repack replace replay rerere reset restore revert rm sparse-checkout stage stash
    submodule switch symbolic-ref tag unpack-objects update-index update-ref update-server-info worktree write-tree"""
)
_ONLINE = frozenset(
    ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule", "send-email", "fetch-pack", "send-pack")
)
_PLAIN_GLOBAL = names_in(
    """--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs
    --no-replace-objects --no-lazy-fetch --no-advice"""
)
_HARMLESS_KEYS = re.compile(
    r"""(?:color\..*|advice\..*|column\..*|core\.quotepath|core\.abbrev|log\.(?:date|decorate)|diff\.renames|diff\.renamelimit)=.*
    |core\.pager=(?:cat|less)?|core\.fsmonitor=(?:false|0|no|off)?|(?:color|advice|column)\..*""",
    re.VERBOSE | re.IGNORECASE,
)


class _Global(NamedTuple):
    """git's own options, in front of its command."""

    words: tuple[Word, ...]
    folders: tuple[Path, ...]
    problem: str = ""
    git_dir: Path | None = None
    locks_off: bool = False


def judge_git(case: Case) -> Ruling:
    """git with all its words, in the folders where it may run."""
    before = _read_global(case)
    words = before.words
    if not before.problem and values(words) in (["--version"], ["-v"], ["--exec-path"], ["--html-path"]):
        return reading()
    name = words[0].value if words else None
    if name is None:
        return unknown(before.problem or "the command of `git` is not known before it runs")
    found = _judge_command(name, case, before)
    if before.problem and found.level == "read-only":
        return found._replace(level="unknown", why=before.problem)
    return found


def _read_global(case: Case) -> _Global:
    found = _Global(case.words, case.folders or ())
    if case.folders is None:
        found = found._replace(problem="the folder in which `git` would run is not known")
    while found.words and (text := found.words[0].value) is not None and text.startswith("-") and len(text) > 1:
        if text in _PLAIN_GLOBAL:
            found = found._replace(words=found.words[1:], locks_off=found.locks_off or text == "--no-optional-locks")
        elif text in ("--version", "-v", "--exec-path", "--html-path"):
            break
        else:
            found = _valued_global(case, found, text)
    return found


def _valued_global(case: Case, found: _Global, text: str) -> _Global:
    """One of git's own options with a value, which may follow after `=` or as the next word."""
    name, equals, value = text.partition("=")
    rest = found.words[1:]
    if not equals and name in ("-C", "-c", "--git-dir", "--work-tree", "--namespace"):
        value, rest = (rest[0].value or "" if rest else ""), rest[1:]
    if not value:
        return found._replace(words=rest, problem=f"`git {name}` has a value that is not known before it runs")
    if name == "-C":
        return found._replace(words=rest, folders=tuple(folder / value for folder in found.folders))
    if name == "--git-dir" and len(found.folders) == 1:
        return found._replace(words=rest, git_dir=found.folders[0] / value)
    if name == "-c" and _HARMLESS_KEYS.fullmatch(value):
        return found._replace(words=rest)
    return found._replace(words=rest, problem=f"`git {name}` can make git run programs or work elsewhere")


def _judge_command(name: str, case: Case, before: _Global) -> Ruling:
    if special := _SPECIAL.get(name):
        found = special(case, before)
        if found:
            return found
    command = _COMMANDS.get(name)
    if command is None:
        return _other(name, before.words[1:])
    options = read_options(before.words[1:], _table(name), loose=command.loose)
    if options.writes:
        return writing(f"`git {name} {options.writes}` writes a file", options.files(">"), options.operands)
    if options.problem:
        return _other(name, before.words[1:], options.problem)
    if odd := _odd_format(options):
        return unknown(odd)
    listing = _OPERANDS_WHERE_LISTING.get(name)
    if listing and options.operands and not options.has(*listing):
        return writing(f"`git {name} NAME` makes one")
    return _in_repository(name, case, before, options, command.use)


@cache
def _table(name: str) -> Table:
    return Table.of(_COMMANDS[name].options)


def _other(name: str, words: tuple[Word, ...], problem: str = "") -> Ruling:
    """A command of git that is not known to only read."""
    online = name in _ONLINE
    if name in _WRITING:
        return writing(f"`git {name}` changes the repository" + (f" ({problem})" if problem else ""), network=online)
    if problem:
        return unknown(f"`git {name}`: {problem}", network=online)
    return unknown(f"`git {name}` is not known to only read; it may be an alias", network=online)


def _odd_format(options: Options) -> str:
    """A format that makes git check signatures, which runs a program."""
    for each in options.given:
        if each.name in ("--format", "--pretty", "--sort") and each.value is not None:
            text = each.value.value
            if text is None:
                return f"the value of `{each.name}` is not known before it runs"
            if SIGNATURE.search(text) or "signature" in text:
                return "a format with signatures runs a program"
        if each.name == "--submodule" and each.value is not None and each.value.value != "short":
            return "`--submodule` shows submodules by their own configuration"
    return ""


def _in_repository(name: str, case: Case, before: _Global, options: Options, use: Use) -> Ruling:
    env = {**case.around.env, **case.set_here}
    if before.locks_off:
        env["GIT_OPTIONAL_LOCKS"] = "0"
    if options.has("--no-ext-diff"):
        use = use._replace(patch=False)
    if options.has("--no-textconv"):
        use = use._replace(textconv=False)
    reads = tuple(part for word in options.operands for part in _paths(word))
    home = Path(env.get("HOME") or case.around.home)
    if not before.problem and (why := danger(before.folders, use, env, home, before.git_dir)):
        return unknown(f"`git {name}`: {why}", reads)
    return Ruling("read-only", reads=(*reads, *options.files("<")))


def _paths(word: Word) -> tuple[Word, ...]:
    """A word that may be a path; of `HEAD:a.py` also the path in it."""
    if word.value is not None and ":" in word.value:
        return word, Word.literal(word.value.rpartition(":")[2])
    return (word,)


# --- commands with commands of their own -----------------------------------------------------------------------------


def _sub(before: _Global) -> tuple[str, tuple[Word, ...]]:
    """The word after git's command, and the rest; empty where there is none."""
    words = before.words[1:]
    if not words or words[0].value is None:
        return ("", words)
    return words[0].value, words[1:]


def _listed(name: str, case: Case, before: _Global, words: tuple[Word, ...], table: str, use: Use = _NOTHING) -> Ruling:
    options = read_options(words, Table.of(table))
    if options.problem or options.writes or (odd := _odd_format(options)):
        return _other(name, words, options.problem or options.writes or odd)
    return _in_repository(name, case, before, options, use)


def _remote(case: Case, before: _Global) -> Ruling:
    sub, words = _sub(before)
    if sub == "get-url":
        return _listed("remote", case, before, words, "--push --all")
    if sub == "show" and any(word.value == "-n" for word in words):
        return _listed("remote", case, before, words, "-n")
    options = read_options(before.words[1:], Table.of("-v --verbose"))
    if options.problem or options.operands:
        return _other("remote", before.words[1:])
    return _in_repository("remote", case, before, options, _NOTHING)


def _stash(case: Case, before: _Global) -> Ruling:
    sub, words = _sub(before)
    if sub == "list":
        return _listed("stash", case, before, words, f"{_DIFF} {_HISTORY}", _LOG)
    if sub == "show":
        return _listed("stash", case, before, words, f"{_DIFF} --include-untracked --only-untracked", _EVERYTHING)
    return _other("stash", words)


def _worktree(case: Case, before: _Global) -> Ruling:
    sub, words = _sub(before)
    if sub == "list":
        return _listed("worktree", case, before, words, "-vz --porcelain --verbose")
    return _other("worktree", words)


def _notes(case: Case, before: _Global) -> Ruling:
    sub, words = _sub(before)
    if sub in ("list", "show"):
        return _listed("notes", case, before, words, "", _LOG)
    return _other("notes", words)


def _reflog(case: Case, before: _Global) -> Ruling | None:
    sub, words = _sub(before)
    if sub in ("expire", "delete", "drop", "write"):
        return _other("reflog", words)
    return None


_CONFIG = """-l -z --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --show-origin
    --show-scope --name-only --null --type: --bool --int --path --bool-or-int --expiry-date --local --global --system
    --worktree --includes --no-includes --default: -f< --file< --blob: --all --value: --regexp --url: --fixed-value"""
_CONFIG_READS = (
    "-l",
    "--list",
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
)


def _config(case: Case, before: _Global) -> Ruling:
    """Reading forms only: one operand reads its key, two set it."""
    words = before.words[1:]
    options = read_options(words, Table.of(_CONFIG))
    if options.problem or any(word.splits or word.many for word in options.operands):
        return _other("config", words, options.problem)
    first = options.operands[0].value if options.operands else None
    modern = first in ("get", "list")
    if not (modern or options.has(*_CONFIG_READS) or len(options.operands) == 1):
        return _other("config", words)
    return _in_repository("config", case, before, options._replace(operands=()), _NOTHING)


_SPECIAL: Mapping[str, Callable[[Case, _Global], Ruling | None]] = {
    "remote": _remote,
    "stash": _stash,
    "worktree": _worktree,
    "notes": _notes,
    "reflog": _reflog,
    "config": _config,
}
