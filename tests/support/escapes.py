"""Attempts to get out of the sandbox: to write, read, connect, signal or reach the kernel where a command must not."""

from __future__ import annotations

from typing import Literal, NamedTuple

from orchestrator.sandbox import Level
from orchestrator.seccomp_calls import architecture, numbers

Needs = Literal["", "root", "x86_64", "tmux", "inherited", "terminal"]


class Escape(NamedTuple):
    """`program` is bash or (after a first line `python`) Python. `needs`: what the attempt takes to work at all."""

    name: str
    tries: str
    program: str
    level: Level = "workspace"
    network: bool = False
    needs: Needs = ""
    rare: bool = False
    """Whether kernels differ in it, so that it may not work outside the sandbox either."""

    @property
    def is_python(self) -> bool:
        return self.program.startswith("python\n")


_CALLS = numbers(machine.column) if (machine := architecture()) else {}
PRELUDE = f"""
import ctypes, errno, os, sys
E = os.environ
N = {_CALLS!r}
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(name, *arguments):
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return libc.syscall(ctypes.c_long(N[name]), *given)
def reached(result, *answers):
    code = ctypes.get_errno() if result < 0 else 0
    if result >= 0 or code in answers:
        print("REACHED", result, code)
        return True
    sys.exit(os.strerror(code))
def at(name):
    return (E["OUT"] + "/" + name).encode()
"""
"""What attempts in Python start with: `reached` takes a result, and the errors that only a call let through gives."""

_SLOW_TO_IMPORT = ("fcntl", "mmap", "signal", "socket", "struct", "time")


def argv(escape: Escape, python: str) -> list[str]:
    """How an attempt is run; `python` is the interpreter."""
    if escape.is_python:
        program = escape.program.removeprefix("python\n")
        needed = "".join(f"import {name}\n" for name in _SLOW_TO_IMPORT if f"{name}." in program)
        return [python, "-S", "-E", "-c", needed + PRELUDE + program]
    return ["bash", "-c", escape.program]


_WRITES = (
    Escape("new-file", "a redirect makes a file outside", 'echo x > "$OUT/new"'),
    Escape("append", "a redirect appends to a file outside", 'echo x >> "$OUT/old"'),
    Escape("truncate", "`truncate` empties a file outside", 'truncate -s 0 "$OUT/old"'),
    Escape("truncate-call", "truncate(2) by name", 'python\nos.truncate(at("old"), 0)'),
    Escape(
        "truncate-by-reading",
        "a file outside is opened for reading, and cut short",
        'python\nos.open(at("old"), os.O_RDONLY | os.O_TRUNC)',
    ),
    Escape("remove", "`rm` outside", 'rm -f "$OUT/old"'),
    Escape("remove-folder", "`rmdir` outside", 'rmdir "$OUT/sub"'),
    Escape("new-folder", "`mkdir` outside", 'mkdir "$OUT/made"'),
    Escape("move-in", "a file outside is moved into the workspace", 'mv "$OUT/old" .'),
    Escape("move-out", "a file of the workspace is moved out", 'mv src/a.txt "$OUT/"'),
    Escape("rename-outside", "a file outside gets another name", 'mv "$OUT/old" "$OUT/new"'),
    Escape("replace", "rename(2) over a file outside", 'python\nos.replace("src/a.txt", at("old"))'),
    Escape(
        "exchange",
        "renameat2(2) exchanges a file with one outside",
        "python\n"
        "swap = ctypes.CDLL(None, use_errno=True).renameat2\n"
        'sys.exit(swap(-100, b"src/a.txt", -100, at("old"), 2) and os.strerror(ctypes.get_errno()))',
    ),
    Escape("hard-link", "a hard link to a file outside, written through", 'ln "$OUT/old" l && echo x > l'),
    Escape("symlink", "a symbolic link to a file outside, written through", 'ln -s "$OUT/old" l && echo x > l'),
    Escape("folder-link", "a symbolic link to a folder outside", 'ln -s "$OUT" d && echo x > d/new'),
    Escape(
        "link-race",
        "a link that changes between a folder inside and one outside",
        (
            'mkdir real; ln -s real d; (for i in {1..40}; do ln -sfn "$OUT" d; ln -sfn real d; done) &'
            ' for i in {1..400}; do echo x > d/new; done 2>/dev/null; wait; ln -sfn "$OUT" d; echo x > d/new'
        ),
    ),
    Escape("link-outside", "a symbolic link is made outside", 'ln -s /etc "$OUT/link"'),
    Escape("pipe-outside", "a named pipe is made outside", 'mkfifo "$OUT/pipe"'),
    Escape("device-node", "a device node in the workspace", "mknod disk b 7 0", needs="root", rare=True),
    Escape("character-node", "a character device outside", 'mknod "$OUT/null" c 1 3', needs="root"),
    Escape("socket-outside", "a UNIX socket is bound outside", 'python\nsocket.socket(1).bind(at("sock"))'),
    Escape("copy", "`cp` over a file outside", 'cp src/a.txt "$OUT/old"'),
    Escape("dd", "`dd` into a file outside", 'dd if=/dev/zero of="$OUT/old" bs=1 count=1 conv=notrunc status=none'),
    Escape("sed", "`sed -i` outside", 'sed -i s/old/new/ "$OUT/old"'),
    Escape("tee", "`tee` outside", 'echo x | tee "$OUT/new"'),
    Escape("install", "`install` outside", 'install -m 755 src/a.txt "$OUT/tool"'),
    Escape(
        "tar",
        "an archive with .. in it",
        "tar -cPf t.tar src/../../outside/old; rm src/a.txt; tar -xPf t.tar --overwrite",
    ),
    Escape("git-init", "a repository is made outside", 'git init -q "$OUT/repo"'),
    Escape("git-worktree", "a worktree outside", 'git commit -qm x --allow-empty; git worktree add -q "$OUT/tree"'),
    Escape("git-config", "the user's git settings", "git config --global core.pager evil"),
    Escape(
        "git-hook-path",
        "a hook that git runs writes outside",
        (
            "mkdir h; printf '#!/bin/sh\\necho x > \"$OUT/new\"\\n' > h/pre-commit; chmod +x h/pre-commit;"
            " git -c core.hooksPath=h commit -qm x --allow-empty"
        ),
    ),
    Escape(
        "orch-settings",
        "orch's own configuration is written",
        "echo 'sandbox: {enabled: false}' > ~/.orch-home/config.yaml",
    ),
    Escape("shell-startup", "a line in ~/.bashrc", "echo evil >> ~/.bashrc"),
    Escape("ssh-key", "a key in ~/.ssh/authorized_keys", "echo key >> ~/.ssh/authorized_keys"),
    Escape(
        "autostart", "a user service", "mkdir -p ~/.config/systemd/user && echo x > ~/.config/systemd/user/x.service"
    ),
    Escape("proc-root", "through /proc/self/root", 'echo x > "/proc/self/root$OUT/new"'),
    Escape("proc-cwd", "through /proc/self/cwd", "echo x > /proc/self/cwd/../outside/new"),
    Escape("proc-victim-cwd", "through another process's folder", 'echo x > "/proc/$VICTIM/cwd/new"'),
    Escape(
        "folder-descriptor",
        "through a descriptor of the folder outside",
        ('python\nfd = os.open(E["OUT"], os.O_PATH)\nos.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=fd)'),
    ),
    Escape(
        "reopen",
        "a file opened for reading is opened again for writing",
        ('python\nfd = os.open(at("old"), os.O_RDONLY)\nos.write(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY), b"x")'),
    ),
    Escape(
        "inherited",
        "a folder that orch has open, by its number",
        ('python\nos.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=int(E["LEAKED"]))'),
        needs="inherited",
    ),
    Escape(
        "unnamed-file",
        "an unnamed file outside is given a name",
        (
            'python\nfd = os.open(E["OUT"], os.O_TMPFILE | os.O_WRONLY)\n'
            'libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, at("new"), 0x400)'
        ),
        rare=True,
    ),
    Escape(
        "memory-program",
        "a program that exists in memory only",
        (
            'python\nfd = os.memfd_create("t")\nos.write(fd, open("/usr/bin/touch", "rb").read())\n'
            'os.execve(fd, ["touch", at("new")], E)'
        ),
    ),
    Escape(
        "library",
        "a library loaded before others",
        (
            "printf '#include <stdio.h>\n#include <stdlib.h>\n#include <fcntl.h>\n"
            "__attribute__((constructor)) void f(void)"
            '{char b[999]; sprintf(b, "%%s/new", getenv("OUT")); creat(b, 420);}\''
            " > e.c && gcc -shared -fPIC -w -o e.so e.c && LD_PRELOAD=$PWD/e.so /bin/true"
        ),
    ),
    Escape("background", "a process that outlives the command", "(setsid sh -c 'echo x > \"$OUT/new\"' &); sleep 0.2"),
    Escape("xargs", "a command run by another", 'echo "$OUT/new" | xargs touch'),
    Escape("find-delete", "`find -delete` outside", 'find "$OUT" -name old -delete'),
    Escape("interpreter", "Python writes", 'python\nopen(at("new"), "w").write("x")'),
    Escape(
        "kernel-setting",
        "a setting of the kernel is opened for writing",
        ('python\nreached(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))'),
        needs="root",
        rare=True,
    ),
    Escape(
        "device-setting",
        "a setting below /sys is opened for writing",
        ('python\nreached(os.open("/sys/kernel/mm/transparent_hugepage/enabled", os.O_WRONLY))'),
        needs="root",
        rare=True,
    ),
    Escape(
        "kill-preference",
        "another process's setting below /proc",
        "python\nreached(os.open(f\"/proc/{E['VICTIM']}/oom_score_adj\", os.O_WRONLY))",
        rare=True,
    ),
    Escape(
        "kernel-message",
        "the kernel's log is opened for writing",
        'python\nreached(os.open("/dev/kmsg", os.O_WRONLY))',
        needs="root",
        rare=True,
    ),
    Escape(
        "network-device",
        "a network device of one's own (tun)",
        'python\nreached(os.open("/dev/net/tun", os.O_RDWR))',
        needs="root",
        rare=True,
    ),
    Escape(
        "control-group",
        "a group of processes with limits of its own (cgroup)",
        "mkdir /sys/fs/cgroup/orch-test-$ORCH && rmdir /sys/fs/cgroup/orch-test-$ORCH && echo REACHED",
        needs="root",
        rare=True,
    ),
    Escape(
        "raw-disk",
        "the disk is read past the file system",
        (
            "python\n"
            'name = open("/proc/partitions").read().split()[7]\n'
            'reached(len(os.read(os.open("/dev/" + name, os.O_RDONLY), 512)))'
        ),
        needs="root",
        rare=True,
    ),
    Escape(
        "kernel-memory",
        "the kernel's memory is opened",
        'python\nreached(os.open("/proc/kcore", os.O_RDONLY))',
        needs="root",
        rare=True,
    ),
)

_ATTRIBUTES = (
    Escape(
        "own-set-user-id",
        "a program that others would run as the user (set-user-ID)",
        (
            'python\nimport subprocess\nopen("tool", "w").close()\n'
            'made = lambda: os.open("other", os.O_CREAT | os.O_WRONLY, 0o4755)\n'
            'for how in (made, lambda: os.chmod("tool", 0o4755)):\n'
            "    try: how()\n    except OSError as error: print(error)\n"
            'print("REACHED" if any(os.stat(each).st_mode & 0o4000 for each in os.listdir(".")) else "")'
        ),
    ),
    Escape("chmod", "permissions of a file outside, when only reading", 'chmod 777 "$OUT/old"', level="read-only"),
    Escape("chown", "the owner of a file outside", 'chown 1234 "$OUT/old"', level="read-only", needs="root"),
    Escape("touch-time", "the time of a file outside", 'python\nos.utime(at("old"), (1, 1))', level="read-only"),
    Escape(
        "fchmod",
        "permissions through a descriptor",
        ('python\nos.fchmod(os.open(at("old"), os.O_RDONLY), 0o777)'),
        level="read-only",
    ),
    Escape(
        "chmod-newest",
        "permissions by the newest call for it",
        ('python\nreached(call("fchmodat2", -100, at("old"), 0o777, 0))'),
        level="read-only",
        rare=True,
    ),
    Escape(
        "attribute",
        "an extended attribute of a file outside",
        'python\nos.setxattr(at("old"), "user.x", b"1")',
        rare=True,
    ),
    Escape(
        "file-flags",
        "the flags of a file outside (chattr)",
        (
            "python\n"
            'fd = os.open(at("old"), os.O_RDONLY)\n'
            'now = struct.unpack("q", fcntl.ioctl(fd, 0x80086601, bytes(8)))[0]\n'
            'fcntl.ioctl(fd, 0x40086602, struct.pack("q", now | 0x40))'
        ),
        rare=True,
    ),
)

_READ_ONLY = (
    Escape(
        "workspace-write", "a redirect in the workspace, when only reading", "echo x > src/a.txt", level="read-only"
    ),
    Escape("workspace-new", "a new file in the workspace", "touch new.txt", level="read-only"),
    Escape("workspace-remove", "`rm -rf` in the workspace", "rm -rf src", level="read-only"),
    Escape("workspace-commit", "a commit", "git commit -qm x --allow-empty", level="read-only"),
    Escape("workspace-index", "the index of git", "git add src", level="read-only"),
    Escape("workspace-mode", "permissions in the workspace", "chmod 600 src/a.txt", level="read-only"),
    Escape(
        "build", "a compiler writes its output", "echo 'int main(){return 0;}' | gcc -x c - -o a.out", level="read-only"
    ),
    Escape(
        "pager",
        "a pager set by the repository",
        ('git -c core.pager="touch pwned" -p log --all; git -c core.fsmonitor="touch pwned;" status'),
        level="read-only",
    ),
    Escape("environment-file", "the workspace's .env is read", "cat .env", level="read-only"),
    Escape(
        "shared-memory-file",
        "a file in /dev/shm, when only reading",
        (
            'python\nname = "/dev/shm/orch-test-" + E["ORCH"]\nos.open(name, os.O_CREAT)\n'
            'os.unlink(name)\nprint("REACHED")'
        ),
        level="read-only",
    ),
)

_SECRETS = (
    Escape("read-key", "`cat` of a private key", "cat ~/.ssh/id_ed25519"),
    Escape("read-netrc", "`curl file://` of ~/.netrc", 'curl -s "file://$HOME/.netrc"'),
    Escape("read-orch", "orch's own configuration", "cat ~/.orch-home/config.yaml"),
    Escape("read-linked", "a secret folder that is a link", "cat ~/.aws/credentials"),
    Escape("read-link-target", "the place that the link leads to", "cat ~/dotfiles/aws/credentials"),
    Escape("copy-key", "the key is copied into the workspace", "cp ~/.ssh/id_ed25519 k && cat k"),
    Escape("hard-link-key", "a hard link to the key", "ln ~/.ssh/id_ed25519 k && cat k"),
    Escape("move-key", "the folder of keys is moved into the workspace", "mv ~/.ssh keys && cat keys/id_ed25519"),
    Escape("link-key", "a symbolic link to the key", "ln -s ~/.ssh/id_ed25519 k && cat k"),
    Escape("archive-home", "an archive of the home folder", "tar -cf h.tar -C ~ . ; grep -a s3cret h.tar"),
    Escape("search-home", "a search through the home folder", "grep -r s3cret ~"),
    Escape("git-diff-key", "git shows the key as a difference", "git diff --no-index /dev/null ~/.ssh/id_ed25519"),
    Escape("proc-root-key", "through /proc/self/root", 'cat "/proc/self/root$HOME/.ssh/id_ed25519"'),
    Escape("dotdot-key", "through .. from the workspace", "cat ../home/./.ssh/../.ssh/id_ed25519"),
    Escape("victim-folder", "through the folder of another process", 'cat "/proc/$VICTIM/cwd/id_ed25519"'),
    Escape("victim-root", "through the root of another process", 'cat "/proc/$VICTIM/root$HOME/.ssh/id_ed25519"'),
    Escape("victim-file", "a deleted file that another process has open", "cat /proc/$VICTIM/fd/3"),
    Escape("victim-environment", "the environment of another process", "cat /proc/$VICTIM/environ"),
    Escape(
        "bind-key",
        "the folder of keys is mounted elsewhere",
        "mkdir mounted; mount --bind ~/.ssh mounted; cat mounted/*",
        needs="root",
    ),
    Escape(
        "by-handle",
        "a file by its handle, past every path",
        (
            "python\n"
            "class Handle(ctypes.Structure):\n"
            '    _fields_ = (("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128))\n'
            "handle, mount = Handle(128), ctypes.c_int()\n"
            'key = (E["HOME"] + "/.ssh/id_ed25519").encode()\n'
            "libc.name_to_handle_at(-100, key, ctypes.byref(handle), ctypes.byref(mount), 0)\n"
            'here = os.open(E["W"], os.O_RDONLY)\n'
            'fd = call("open_by_handle_at", here, ctypes.byref(handle), os.O_RDONLY)\n'
            "print(os.read(fd, 99) if fd >= 0 else os.strerror(ctypes.get_errno()))"
        ),
        needs="root",
        rare=True,
    ),
)

_NETWORK = (
    Escape("tcp", "a TCP connection", 'python\nsocket.create_connection(("127.0.0.1", int(E["TCP"])))'),
    Escape("bash-tcp", "bash's own /dev/tcp", 'exec 3<>"/dev/tcp/127.0.0.1/$TCP"'),
    Escape("curl", "`curl`", 'curl -s -m 0.2 "http://127.0.0.1:$TCP/"'),
    Escape(
        "tcp6",
        "a TCP connection over IPv6 to IPv4",
        ('python\nsocket.create_connection(("::ffff:127.0.0.1", int(E["TCP"])))'),
        rare=True,
    ),
    Escape("udp", "a UDP datagram", 'python\nsocket.socket(2, 2).sendto(b"x", ("127.0.0.1", int(E["UDP"])))'),
    Escape("bash-udp", "bash's own /dev/udp", 'echo x > "/dev/udp/127.0.0.1/$UDP"'),
    Escape(
        "fast-open",
        "data sent while connecting (TCP fast open)",
        ('python\nsocket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", int(E["TCP"])))'),
        rare=True,
    ),
    Escape(
        "multipath",
        "TCP by another protocol number (MPTCP)",
        ('python\nsocket.socket(2, 1, 262).connect(("127.0.0.1", int(E["TCP"])))'),
        rare=True,
    ),
    Escape(
        "listen",
        "waiting for connections",
        'python\ns = socket.socket()\ns.bind(("127.0.0.1", 0))\ns.listen()\nprint("REACHED")',
    ),
    Escape("raw", "a raw socket", 'python\nsocket.socket(2, 3, 1)\nprint("REACHED")', needs="root"),
    Escape(
        "raw-online",
        "a raw socket, with the network allowed",
        'python\nsocket.socket(2, 3, 1)\nprint("REACHED")',
        network=True,
        needs="root",
    ),
    Escape(
        "packet", "a packet socket", 'python\nsocket.socket(17, 3, 768)\nprint("REACHED")', network=True, needs="root"
    ),
    Escape(
        "kernel-events",
        "a netlink socket of kernel events",
        'python\nsocket.socket(16, 2, 15)\nprint("REACHED")',
        network=True,
    ),
    Escape(
        "crypto-socket",
        "a socket of the kernel's cryptography",
        'python\nsocket.socket(38, 5, 0)\nprint("REACHED")',
        network=True,
        rare=True,
    ),
    Escape(
        "virtual-machine",
        "a socket to the machine that runs this one (vsock)",
        'python\nreached(call("socket", 40, 1, 0))',
        network=True,
        rare=True,
    ),
    Escape("unix", "a daemon's UNIX socket, such as Docker's", 'python\nsocket.socket(1).connect(E["STREAM"])'),
    Escape(
        "unix-online",
        "the same, with the network allowed",
        'python\nsocket.socket(1).connect(E["STREAM"])',
        network=True,
    ),
    Escape("unix-curl", "`curl --unix-socket`", 'curl -s -m 0.2 --unix-socket "$STREAM" http://x/'),
    Escape("unix-datagram", "a datagram to a UNIX socket", 'python\nsocket.socket(1, 2).sendto(b"x", E["DATAGRAM"])'),
    Escape(
        "abstract",
        "an abstract UNIX socket, such as the desktop bus",
        'python\nsocket.socket(1).connect("\\0" + E["ABSTRACT"])',
    ),
    Escape(
        "unix-pair",
        "a connected pair is connected anew to a daemon",
        (
            'python\nsocket.socketpair(1, 2)[0].connect(E["DATAGRAM"])\n'
            'socket.socketpair(1, 2)[0].sendto(b"x", E["DATAGRAM"])'
        ),
    ),
    Escape(
        "tmux",
        "keys typed into the user's tmux",
        ('tmux -S "$TMUX_SOCKET" send-keys \'echo x > "$OUT/new"\' Enter; sleep 0.3'),
        needs="tmux",
    ),
)

_PROCESSES = (
    Escape("kill", "a signal ends another process", 'kill "$VICTIM"; sleep 0.1'),
    Escape("kill-group", "a signal to another group", 'kill -9 -- -"$VICTIM"; sleep 0.1'),
    Escape(
        "kill-thread",
        "a signal to a thread (tgkill)",
        'python\nv = int(E["VICTIM"])\ncall("tgkill", v, v, 9)\ntime.sleep(0.1)',
    ),
    Escape(
        "queue-signal",
        "a queued signal",
        (
            'python\nv = int(E["VICTIM"])\ninfo = ctypes.create_string_buffer(struct.pack("iii", 9, 0, -1), 128)\n'
            'call("rt_sigqueueinfo", v, 9, info)\ntime.sleep(0.1)'
        ),
    ),
    Escape(
        "signal-descriptor",
        "a signal through a process descriptor",
        ('python\nsignal.pidfd_send_signal(os.pidfd_open(int(E["VICTIM"])), 9)\ntime.sleep(0.1)'),
        rare=True,
    ),
    Escape(
        "signal-by-file",
        "a signal sent by the kernel when a pipe has data",
        (
            "python\n"
            "r, w = os.pipe()\n"
            'fcntl.fcntl(r, fcntl.F_SETOWN, int(E["VICTIM"]))\n'
            "fcntl.fcntl(r, 10, 9)\n"
            "fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\n"
            'os.write(w, b"x")\ntime.sleep(0.1)'
        ),
    ),
    Escape("signal-orch", "a signal to orch itself", 'python\nos.kill(int(E["ORCH"]), 0)\nprint("REACHED")'),
    Escape(
        "signal-orch-by-file",
        "a signal to orch itself, sent by the kernel when a pipe has data",
        (
            "python\nr, w = os.pipe()\n"
            'fcntl.fcntl(r, fcntl.F_SETOWN, int(E["ORCH"]))\nfcntl.fcntl(r, 10, signal.SIGURG)\n'
            'fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\nos.write(w, b"x")\ntime.sleep(0.05)'
        ),
    ),
    Escape("priority", "the priority of another process", 'renice -n 15 -p "$VICTIM"'),
    Escape(
        "limits",
        "the limits of another process",
        ('python\nnew = (ctypes.c_ulong * 2)(64, 64)\nreached(call("prlimit64", int(E["VICTIM"]), 7, new, None))'),
    ),
    Escape(
        "affinity-orch",
        "the processors that orch may use",
        ('python\nv = int(E["ORCH"])\nos.sched_setaffinity(v, os.sched_getaffinity(v))\nprint("REACHED")'),
    ),
    Escape(
        "trace",
        "another process is traced",
        'python\nreached(call("ptrace", 16, int(E["VICTIM"]), 0, 0))\ncall("ptrace", 17, int(E["VICTIM"]), 0, 0)',
        rare=True,
    ),
    Escape(
        "trace-reading",
        "the same, when only reading",
        'python\nreached(call("ptrace", 0x4206, int(E["VICTIM"]), 0, 0))',
        level="read-only",
        rare=True,
    ),
    Escape(
        "debugger",
        "a debugger reads the memory of another process",
        ('gdb -p "$VICTIM" -batch -ex "info proc" 2>&1 | grep -q "^cmdline" && echo REACHED'),
        rare=True,
    ),
    Escape(
        "read-memory",
        "the memory of orch is read",
        (
            "python\nb = ctypes.create_string_buffer(64)\n"
            "here = (ctypes.c_ulong * 2)(ctypes.addressof(b), 64)\n"
            'there = (ctypes.c_ulong * 2)(int(E["ADDRESS"]), 64)\n'
            'call("process_vm_readv", int(E["ORCH"]), here, 1, there, 1, 0)\nprint(b.value.decode())'
        ),
        rare=True,
    ),
    Escape(
        "write-memory",
        "the memory of orch is written",
        (
            'python\nb = ctypes.create_string_buffer(b"overwritten")\n'
            "here = (ctypes.c_ulong * 2)(ctypes.addressof(b), 11)\n"
            'there = (ctypes.c_ulong * 2)(int(E["ADDRESS"]), 11)\n'
            'call("process_vm_writev", int(E["ORCH"]), here, 1, there, 1, 0)'
        ),
        rare=True,
    ),
    Escape(
        "proc-memory",
        "the memory of orch through /proc",
        ('python\nfd = os.open(f"/proc/{E[\'ORCH\']}/mem", os.O_RDONLY)\nprint(os.pread(fd, 64, int(E["ADDRESS"])))'),
        rare=True,
    ),
    Escape(
        "proc-thread-memory",
        "the memory of orch through each of its threads",
        (
            "python\n"
            "top = f\"/proc/{E['ORCH']}/task\"\n"
            "for task in os.listdir(top):\n"
            '    fd = os.open(f"{top}/{task}/mem", os.O_RDONLY)\n'
            '    print(os.pread(fd, 64, int(E["ADDRESS"])))'
        ),
        rare=True,
    ),
    Escape(
        "proc-memory-write",
        "the memory of orch is written through /proc",
        (
            "python\nfd = os.open(f\"/proc/{E['ORCH']}/mem\", os.O_WRONLY)\n"
            'os.pwrite(fd, b"overwritten", int(E["ADDRESS"]))'
        ),
        rare=True,
    ),
    Escape(
        "steal-descriptor",
        "an open file of another process is taken over",
        (
            'python\nfd = os.pidfd_open(int(E["VICTIM"]))\n'
            'stolen = call("pidfd_getfd", fd, 3, 0)\nprint(os.pread(stolen, 99, 0))'
        ),
        rare=True,
    ),
    Escape(
        "shared-segment",
        "shared memory of another program is read",
        (
            "python\nlibc.shmat.restype = ctypes.c_void_p\n"
            "at = libc.shmat(int(E['SHM']), None, 0)\nprint(ctypes.string_at(at, 64))"
        ),
        rare=True,
    ),
    Escape(
        "shared-segment-write",
        "shared memory of another program is written",
        (
            "python\nlibc.shmat.restype = ctypes.c_void_p\n"
            "at = libc.shmat(int(E['SHM']), None, 0)\nctypes.memmove(at, b'over', 4)"
        ),
        rare=True,
    ),
    Escape(
        "message-queue",
        "a POSIX message queue",
        (
            'python\nname = b"orch-test-" + E["ORCH"].encode()\n'
            'r = call("mq_open", name, os.O_CREAT | os.O_RDWR, 0o600, None)\ncall("mq_unlink", name)\nreached(r)'
        ),
        rare=True,
    ),
    Escape("other-terminal", "text on another terminal of the user", 'echo x > "$PTS"'),
    Escape(
        "take-terminal",
        "another terminal becomes the command's own, and is written to",
        (
            'python\nfd = os.open(E["PTS"], os.O_RDWR | os.O_NOCTTY)\n'
            "if libc.ioctl(fd, 0x540E, 0): sys.exit(os.strerror(ctypes.get_errno()))\n"
            'open("/dev/tty", "w").write("x")'
        ),
    ),
    Escape(
        "type-into-terminal",
        "keys typed into the terminal (TIOCSTI)",
        ('python\nreached(libc.ioctl(int(E["TERMINAL"]), 0x5412, b"x"))'),
        needs="terminal",
        rare=True,
    ),
    Escape(
        "paste-into-terminal",
        "the selection pasted into the terminal (TIOCLINUX)",
        ('python\nreached(libc.ioctl(int(E["TERMINAL"]), 0x541C, b"\\x06"), errno.EINVAL, errno.ENOTTY)'),
        needs="terminal",
        rare=True,
    ),
)

_KERNEL = (
    Escape("user-namespace", "a namespace with all powers", "unshare -Ur true && echo REACHED", rare=True),
    Escape(
        "clone-namespace",
        "the same by clone(2)",
        ('python\nr = call("clone", 0x10000000 | 17, 0, 0, 0, 0)\nif r == 0: os._exit(0)\nreached(r)'),
        rare=True,
    ),
    Escape(
        "clone3-namespace",
        "the same by clone3(2), whose flags are in memory",
        (
            "python\n"
            'a = struct.pack("11Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)\n'
            'r = call("clone3", ctypes.create_string_buffer(a, 88), 88)\nif r == 0: os._exit(0)\nreached(r)'
        ),
        rare=True,
    ),
    Escape("mount", "a file system is mounted over the folder outside", 'mount -t tmpfs none "$OUT"', needs="root"),
    Escape(
        "mount-new",
        "a mount by the newer calls",
        'python\nreached(call("fsopen", b"tmpfs", 0))',
        needs="root",
        rare=True,
    ),
    Escape(
        "mount-clone", "a copy of a mount", 'python\nreached(call("open_tree", -100, b"/", 1))', needs="root", rare=True
    ),
    Escape(
        "pivot-root",
        "the root folder of all is changed",
        'python\nreached(call("pivot_root", b"/nowhere", b"/nowhere"), errno.ENOENT)',
        needs="root",
    ),
    Escape("change-root", "another root folder", 'python\nreached(call("chroot", E["W"].encode()))', needs="root"),
    Escape(
        "join-namespace",
        "the namespace of another process",
        ('python\nreached(call("setns", os.pidfd_open(int(E["VICTIM"])), 0x04000000))'),
        needs="root",
    ),
    Escape(
        "set-user-id",
        "a program of another user with the set-user-ID bit",
        (
            'python\nimport shutil\nshutil.copy("/usr/bin/id", "id")\n'
            'os.chown("id", 65534, -1)\nos.chmod("id", 0o4755)\n'
            'print("REACHED" if b"euid=65534" in os.popen("./id").buffer.read() else "")'
        ),
        needs="root",
    ),
    Escape(
        "io-uring",
        "calls queued past the filter (io_uring)",
        ('python\nreached(call("io_uring_setup", 4, ctypes.create_string_buffer(120)))'),
        rare=True,
    ),
    Escape(
        "old-abi",
        "system calls of another architecture (int 0x80)",
        (
            "python\n"
            "at32 = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, 7)\n"
            "start = ctypes.addressof(ctypes.c_char.from_buffer(at32))\n"
            "path = at('old') + b'\\0'\n"
            "at32[1024:1024 + len(path)] = path\n"
            # push rbx; mov eax, 15 (chmod); mov ebx, path; mov ecx, 0777; int 0x80; pop rbx; ret
            "code = b'\\x53\\xb8\\x0f\\0\\0\\0\\xbb' + struct.pack('<I', start + 1024)\n"
            "code += b'\\xb9\\xff\\x01\\0\\0\\xcd\\x80\\x5b\\xc3'\n"
            "at32[:len(code)] = code\n"
            "ctypes.CFUNCTYPE(ctypes.c_int)(start)()"
        ),
        level="read-only",
        needs="x86_64",
        rare=True,
    ),
    Escape(
        "kernel-program",
        "a program for the kernel (bpf)",
        ('python\nreached(call("bpf", 0, ctypes.create_string_buffer(struct.pack("IIII", 2, 4, 8, 1), 128), 128))'),
        needs="root",
        rare=True,
    ),
    Escape(
        "performance-events",
        "events of the whole machine (perf)",
        (
            'python\na = ctypes.create_string_buffer(struct.pack("II", 1, 128), 128)\n'
            'reached(call("perf_event_open", a, -1, 0, -1, 0))'
        ),
        needs="root",
        rare=True,
    ),
    Escape(
        "page-faults",
        "page faults handled by a program (userfaultfd)",
        'python\nreached(call("userfaultfd", 1))',
        rare=True,
    ),
    Escape(
        "keyring",
        "a key in the user's keyring",
        ('python\nr = call("add_key", b"user", b"orch-test", b"x", 1, -2)\nreached(r)'),
        rare=True,
    ),
    Escape(
        "clock", "the system's clock", 'python\nreached(call("clock_settime", 0, None), errno.EFAULT)', needs="root"
    ),
    Escape(
        "host-name",
        "the name of the machine",
        ('python\nn = os.uname().nodename.encode()\nreached(call("sethostname", n, len(n)))'),
        needs="root",
    ),
    Escape(
        "restart",
        "a restart of the machine, with a wrong magic number",
        ('python\nreached(call("reboot", 1, 2, 3, None), errno.EINVAL)'),
        needs="root",
        rare=True,
    ),
    Escape(
        "kernel-module",
        "a module for the kernel, an empty one",
        ('python\nreached(call("init_module", b"", 0, b""), errno.ENOEXEC, errno.EINVAL, errno.EFAULT)'),
        needs="root",
        rare=True,
    ),
    Escape(
        "other-kernel",
        "another kernel to be started (kexec), from no file",
        'python\nreached(call("kexec_file_load", -1, -1, 0, None, 0), errno.EBADF)',
        needs="root",
        rare=True,
    ),
    Escape(
        "swap",
        "swap space on a file that is not there",
        'python\nreached(call("swapon", b"/nowhere", 0), errno.ENOENT)',
        needs="root",
        rare=True,
    ),
    Escape(
        "kernel-log",
        "the kernel's log",
        'python\nreached(call("syslog", 3, ctypes.create_string_buffer(99), 99))',
        needs="root",
        rare=True,
    ),
    Escape(
        "file-watch",
        "every access to files on the machine (fanotify)",
        'python\nreached(call("fanotify_init", 0, 0))',
        rare=True,
    ),
    Escape(
        "ports", "the machine's input and output ports", 'python\nreached(call("iopl", 3))', needs="x86_64", rare=True
    ),
)

ESCAPES: tuple[Escape, ...] = (*_WRITES, *_ATTRIBUTES, *_READ_ONLY, *_SECRETS, *_NETWORK, *_PROCESSES, *_KERNEL)
