"""Whether a command failed because of the sandbox, read from what it printed: the kernel only says "not permitted"."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator.sandbox import Policy
from orchestrator.secret_files import is_secret

_READ_AT_MOST = 20_000
"""Characters of the output's end; a program says last why it gave up."""

_DENIED = re.compile(
    r"""permission\ denied | access\ (?:is\ )?denied | \bEACCES\b | permissionerror | errno\ 13\b | os\ error\ 13\b
      | keine\ berechtigung | permission\ non\ accordée | permiso\ denegado | permissão\ negada | permesso\ negato
      | toegang\ geweigerd | brak\ dostępu | åtkomst\ nekas | erişim\ engellendi | přístup\ odmítnut
      | отказано\ в\ доступе | відмовлено\ у\ доступі | 許可がありません | 权限不够 | 拒絕不符權限的操作 | 허가\ 거부
      | read-only\ file\ system | \bEROFS\b | errno\ 30\b | nur\ lesbar | schreibgeschützt | lecture\ seule
      | sólo\ lectura | solo\ lectura | somente\ leitura | sola\ lettura | только\ для\ чтения
      | 読み込み専用 | 只读文件系统
      | invalid\ cross-device\ link | \bEXDEV\b""",
    re.IGNORECASE | re.VERBOSE,
)
_NOT_PERMITTED = re.compile(
    r"""operation\ not\ permitted | \bEPERM\b | errno\ 1\b | os\ error\ 1\b | operation\ nicht\ erlaubt
      | opération\ non\ permise | operación\ no\ permitida | operação\ não\ permitida | operazione\ non\ permessa
      | bewerking\ niet\ toegestaan | operacja\ niedozwolona | операция\ не\ позволена | 許可されていない操作
      | 不允许的操作 | 不允許此操作 | 명령을\ 허용하지""",
    re.IGNORECASE | re.VERBOSE,
)
_NETWORK = re.compile(
    r"""could\ not\ resolve | couldn't\ resolve | name\ resolution | name\ or\ service\ not\ known | \bEAI_AGAIN\b
      | \bENOTFOUND\b | getaddrinfo\ (?:failed|E[A-Z]+|for) | gaierror
      | nodename\ nor\ servname | network\ is\ unreachable | \bENETUNREACH\b
      | \bsocket\b.*(?:not\ permitted|EPERM) | (?:not\ permitted|EPERM).*\bsocket\b | newconnectionerror
      | failed\ to\ establish\ a\ new\ connection | dial\ (?:tcp|udp|unix) | unable\ to\ access\ 'https?://
      | failed\ to\ connect\ to | connect\ to\ host | npm\ err(?:or|!)\ network
      | could\ not\ fetch\ url | spurious\ network | /dev/(?:tcp|udp)/
      | temporary\ failure\ resolving | unable\ to\ resolve\ host | clientconnectorerror | urlopen\ error
      | couldn't\ connect\ to\ server
      | lib/python[\d.]*/socket\.py",\ line\ \d+,\ in\ __init__ | uv_interface_addresses
      | java\.net\.\w*exception""",
    re.IGNORECASE | re.VERBOSE,
)
_SERVICE = re.compile(
    r"""connect\ to\ the\ docker\ daemon | could\ not\ open\ a\ connection\ to\ your\ authentication\ agent
      | failed\ to\ connect\ to\ (?:the\ )?(?:system|session|user)?\ ?(?:scope\ )?bus | (?:cannot|can't)\ open\ display
      | connection\ to\ server\ on\ socket""",
    re.IGNORECASE | re.VERBOSE,
)
_SERVICE_REFUSED = re.compile(
    r"""docker\.sock | error\ connecting\ to\ /\S*tmux | gpg-agent | ssh-agent | unix\ (?:domain\ )?socket
      | mysqld?\.sock | watchman | af_unix | unix://""",
    re.IGNORECASE | re.VERBOSE,
)
"""What speaks of a UNIX socket only together with a refusal on the same line."""
_TERMINAL = re.compile(r"pseudo-?terminal|out of pty devices|\bopenpty\b|\bforkpty\b|/dev/ptmx", re.IGNORECASE)
_ENDED = re.compile(r"bad system call|sigsys", re.IGNORECASE)
_BAD_CALL = (159, -31)
"""Exit codes of a command that the kernel ended for a system call of another architecture."""
_NOT_EXECUTABLE = 126
"""The shell's exit code for a file that may not be run; the sandbox lets everything run that can be read."""
_FROM_KERNEL = re.compile(
    rf"""(?:^|[-:\](]\ ?)(?:{_DENIED.pattern}|{_NOT_PERMITTED.pattern})['")\].,]*\s*$
      | errno\ \d+\b | error\((?:1|13|18|30), | os\ error\ \d+\b | \bE(?:ACCES|PERM|ROFS|XDEV)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words of a program that passes on what the kernel said, and not, say, those of a test or of a web page."""

_QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|‘([^’\n]+)’|„([^“\n]+)“|«\s?([^»\n]+?)\s?»")
_BARE = re.compile(r"(?<![\w.])(~?/[^\s'\":,;()<>]+)")


def explain_failure(policy: Policy, exit_code: int | None, output: str) -> str:
    """One line that says what the sandbox probably kept a command from; empty when nothing points to it."""
    if exit_code == 0 or policy.level == "off":
        return ""
    said = output[-_READ_AT_MOST:]
    kept = _kept_from(policy, exit_code, said)
    return f"The sandbox kept it from {kept}; the user may allow this command once outside the sandbox." if kept else ""


def _kept_from(policy: Policy, exit_code: int | None, said: str) -> str:
    if exit_code in _BAD_CALL or _ENDED.search(said):
        return "making system calls of another architecture, or ones that confined commands may not make"
    refused = bool(_DENIED.search(said) or _NOT_PERMITTED.search(said))
    if _SERVICE.search(said) or any(_SERVICE_REFUSED.search(line) for line in said.splitlines() if _is_refusal(line)):
        return "reaching a service of this machine through a UNIX socket"
    if not policy.network and _NETWORK.search(said):
        return "using the network"
    if refused and _TERMINAL.search(said):
        return "opening a pseudo-terminal"
    return _of_files(policy, exit_code, said) if refused else ""


def _is_refusal(line: str) -> bool:
    return bool(_DENIED.search(line) or _NOT_PERMITTED.search(line))


def _of_files(policy: Policy, exit_code: int | None, said: str) -> str:
    """The first file among the refusals that the policy, not the file's own permissions, is the reason for."""
    found_any = from_kernel = False
    for line in said.splitlines():
        if not _is_refusal(line):
            continue
        denied = _DENIED.search(line)
        from_kernel = from_kernel or bool(_FROM_KERNEL.search(line))
        for path in _paths(line, policy.workspace):
            found_any = True
            if exit_code == _NOT_EXECUTABLE and not _is_hidden(policy, path):
                continue
            if reason := _reason(policy, path, whatever_level=denied is not None):
                return reason
    if exit_code == _NOT_EXECUTABLE or not from_kernel or (found_any and policy.level == "workspace"):
        return ""
    if policy.level == "read-only":
        return "changing anything but its temporary folder"
    return "something outside the workspace, or from reaching another process or a setting of the kernel"


def _reason(policy: Policy, path: str, *, whatever_level: bool) -> str:
    if whatever_level and _is_hidden(policy, path):
        return f"reading {path}, a place of secrets"
    if path.startswith("/proc/"):
        return f"reaching {path}"
    if _may_write(policy, path) or _closed_anyway(path):
        return ""
    where = "" if policy.level == "read-only" else " outside the workspace"
    return f"changing {path}{where}"


def _is_hidden(policy: Policy, path: str) -> bool:
    if policy.level == "read-only" and os.path.dirname(path) == str(policy.workspace) and is_secret(path):  # noqa: PTH120
        return True
    return any(path == str(each) or path.startswith(f"{each}/") for each in policy.unreadable)


def _may_write(policy: Policy, path: str) -> bool:
    roots = [policy.temp, *([policy.workspace, *policy.writable] if policy.level == "workspace" else [])]
    return any(path == str(root) or path.startswith(f"{root}/") for root in roots)


def _closed_anyway(path: str) -> bool:
    """Whether the user's own permissions forbid writing there, so that running it outside would not help."""
    if not os.path.lexists(path):
        return not os.access(os.path.dirname(path), os.W_OK)  # noqa: PTH120
    return not os.access(path, os.W_OK) and not os.access(os.path.dirname(path), os.W_OK)  # noqa: PTH120


def _paths(line: str, workspace: Path) -> Iterator[str]:
    """What may be paths in an error message, made absolute: quoted, absolute, or between colons the name of a file."""
    named = [next(filter(None, groups)) for groups in _QUOTED.findall(line)]
    named += _BARE.findall(line)
    named += [part for part in line.split(": ")[1:-1] if os.path.lexists(workspace / part)]
    for name in dict.fromkeys(named):
        yield os.path.normpath(workspace / os.path.expanduser(name))  # noqa: PTH111
