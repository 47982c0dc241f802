"""The rule for each program, and programs whose words need a look of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orchestrator.command_rules.awk_program import judge_awk
from orchestrator.command_rules.builtins import builtin_rule
from orchestrator.command_rules.find import judge_find
from orchestrator.command_rules.git_commands import judge_git
from orchestrator.command_rules.names import names_in
from orchestrator.command_rules.options import Table, read_options
from orchestrator.command_rules.readers import judge_reader, readers
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown, values, writing
from orchestrator.command_rules.sed_script import judge_sed
from orchestrator.command_rules.wrappers import wrapper
from orchestrator.command_rules.writers import is_writer, judge_writer
from orchestrator.shell_syntax import Word

_VERSIONED = names_in(
    """python python3 node git gcc g++ cc clang clang++ make cmake java javac ruby perl php bash jq rg fd tar sed gawk
    grep find docker curl zsh ninja less vim nvim ssh openssl sqlite3 psql mysql redis-server"""
)
"""Programs that print their version and do nothing else: none that fetches another version, or loads plugins, first."""
_ONLINE = names_in(
    """curl wget ssh scp sftp ftp telnet nc ncat netcat socat ping ping6 traceroute dig host nslookup whois http https
    xh aws gcloud az gh glab hub docker podman kubectl helm npm npx yarn pnpm bun pip pip3 pipx uv poetry cargo go gem
    bundle composer mvn gradle brew apt apt-get rsync openssl nmap mosh rclone terraform ansible vagrant deno"""
)
_PS = re.compile(r"-?[auxfjhlw]+\Z|-[AefFlLjH]+\Z|\d+\Z")
_PS_TABLE = Table.of("-p: -C: -u: -U: -o: --pid: --ppid: --sort: --no-headers --no-heading --user: --format: --forest")
_XXD = re.compile(r"-(?:a|b|e|i|u|E|p|ps|plain)\Z")
_XXD_VALUED = re.compile(r"-(?:c|g|l|o|s)(?:0x[0-9a-fA-F]+|\d+)?\Z")
_TAR = re.compile(r"-?[tvfzjJ]*t[tvfzjJ]*\Z")
_IP = re.compile(
    r"(?:-(?:4|6|br|brief|s|o|j|d|c|p|color) )*(?:a|addr|address|l|link|r|route|n|neigh)(?: show| list| ls)?\Z"
)
_DATE = Table.of("-uRjI -d: -r: --date: --utc --universal --rfc-email --rfc-3339: --iso-8601? --reference< -s! --set!")


def rule_for(case: Case) -> Ruling:
    """What the command does by itself."""
    if case.name in _VERSIONED and (ruling := _version(case)):
        return ruling
    rule = builtin_rule(case.name) or wrapper(case.name) or _RULES.get(case.name)
    if rule:
        return rule(case)
    if reader := readers().get(case.name):
        return judge_reader(case, reader)
    if is_writer(case.name):
        return judge_writer(case)
    return unknown(f"`{case.name}` is not known to only read", _operands(case), network=case.name in _ONLINE)


def _operands(case: Case) -> tuple[Word, ...]:
    return tuple(word for word in case.words if word.value is not None and not word.value.startswith("-"))


def _version(case: Case) -> Ruling | None:
    """`X --version` as the whole command; the same word among others proves nothing (B110)."""
    texts = values(case.words)
    flags = {"java": ("--version", "-version"), "javac": ("--version", "-version"), "ssh": ("-V",)}.get(
        case.name, ("--version",)
    )
    return reading() if texts is not None and len(texts) == 1 and texts[0] in flags else None


def _ps(case: Case) -> Ruling:
    """ps without the environment of processes, which may hold keys."""
    texts = values(case.words)
    if texts is None or any("env" in text.lower() for text in texts):
        return unknown("`ps` may print the environment of processes")
    left = tuple(word for word in case.words if not _PS.match(word.value or ""))
    options = read_options(left, _PS_TABLE)
    if options.problem or options.operands:
        return unknown(options.problem or "`ps` with these words may print the environment of processes")
    return reading()


def _xxd(case: Case) -> Ruling:
    texts = values(case.words)
    if texts is None:
        return unknown("a second operand of `xxd` would be written")
    operands, at = [], 0
    while at < len(texts):
        text = texts[at]
        found = _XXD_VALUED.match(text)
        if found and len(text) == 2:
            if not re.fullmatch(r"\+?-?(?:0x[0-9a-fA-F]+|\d+)", texts[at + 1] if at + 1 < len(texts) else ""):
                return unknown(f"`xxd {text}` has no number")
            at += 1
        elif not found and not _XXD.match(text):
            if text.startswith("-") and text != "-":
                return unknown(f"the option `{text}` of `xxd` is not known")
            operands.append(case.words[at])
        at += 1
    if len(operands) > 1:
        return writing("the second file of `xxd` is written", tuple(operands[1:]), tuple(operands[:1]))
    return reading(*operands)


def _date(case: Case) -> Ruling:
    options = read_options(case.words, _DATE)
    if options.writes:
        return writing("`date` sets the clock")
    if options.problem:
        return unknown(options.problem)
    if any(not word.prefix.startswith("+") or word.splits for word in options.operands):
        return unknown("`date` with an operand sets the clock")
    return reading()


def _tar(case: Case) -> Ruling:
    """Only the listing of an archive on this machine."""
    texts = values(case.words)
    if texts is None or not texts:
        return unknown("`tar` is not known to only list")
    if case.around.env.get("TAR_OPTIONS") or "TAR_OPTIONS" in case.set_here:
        return unknown("TAR_OPTIONS gives `tar` more options")
    if not _TAR.match(texts[0]) or any(text.startswith("-") for text in texts[1:]):
        bundle = texts[0].lstrip("-")
        why = "`tar` other than `tar -tf FILE` is not known to only list"
        return writing(why) if re.match(r"[a-zA-Z]*[xcruA]", bundle) else unknown(why)
    if any(":" in text for text in texts):
        return unknown("`tar` may go to another machine")
    return reading(*case.words[1:])


def _unzip(case: Case) -> Ruling:
    options = read_options(case.words, Table.of("-lvtpqZ1"))
    if case.around.env.get("UNZIP") or case.around.env.get("UNZIPOPT") or case.set_here:
        return unknown("the environment gives `unzip` more options")
    if options.problem or not options.has("-l", "-v", "-t", "-p", "-Z"):
        return unknown(options.problem) if options.problem else writing("`unzip` writes files")
    return reading(*options.operands)


def _gzip(case: Case) -> Ruling:
    options = read_options(case.words, Table.of("-ltvqcd --list --test --verbose --quiet --stdout --decompress"))
    if case.around.env.get("GZIP") or case.set_here:
        return unknown("GZIP gives `gzip` more options")
    if options.problem:
        return unknown(options.problem, options.operands)
    if not options.has("-l", "-t", "-c", "--list", "--test", "--stdout"):
        return writing("`gzip` replaces files", options.operands)
    return reading(*options.operands)


def _ip(case: Case) -> Ruling:
    texts = values(case.words)
    return reading() if texts and _IP.match(" ".join(texts)) else unknown("`ip` is not known to only show")


def _sysctl(case: Case) -> Ruling:
    texts = values(case.words)
    if texts is not None and any("=" in text or text in ("-w", "--write", "-p", "--load") for text in texts):
        return writing("`sysctl` changes the kernel")
    return unknown("`sysctl` is not known to only read")


def _prints_environment(case: Case) -> Ruling:
    return unknown(f"`{case.name}` prints the environment, which may hold keys")


_RULES: Mapping[str, Callable[[Case], Ruling]] = {
    "find": judge_find, "sed": judge_sed, "gsed": judge_sed, "awk": judge_awk, "gawk": judge_awk, "mawk": judge_awk,
    "nawk": judge_awk, "git": judge_git, "ps": _ps, "xxd": _xxd, "date": _date, "tar": _tar, "unzip": _unzip,
    "gzip": _gzip, "ip": _ip, "sysctl": _sysctl, "printenv": _prints_environment,
}  # fmt: skip
