"""What commands would do: the tables of programs, git and its configuration, paths, and what is forbidden."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.command_rules import Judged, Surroundings, judge_command
from orchestrator.command_rules.git_config import Unclear, parse_config

AROUND = Surroundings(Path("/w/repo"), Path("/w/repo/src"), Path("/home/u"), {"GIT_CONFIG_GLOBAL": ""})


def judged(text: str, around: Surroundings = AROUND) -> Judged:
    return judge_command(text, around)


def level(text: str, around: Surroundings = AROUND) -> str:
    return judged(text, around).level


READ_ONLY = r"""
ls -la src | head -20
cat a.txt b.txt 2>/dev/null || true
cd src && git diff HEAD~1 -- a.py
git log --oneline -20 --format='%h %s' --since="2 weeks ago"
git -C sub diff
git --no-pager log
git -c color.ui=never status
git -c core.pager=cat log
git branch -a
git branch --list 'a*'
git branch --contains HEAD
git tag -l 'v*'
git stash list
git stash show -p stash@{0}
git remote -v
git remote show -n origin
git config --get user.name
git config user.name
git config --list
git worktree list
git reflog show
git for-each-ref --format='%(refname)'
git cat-file -p HEAD:a.py
git grep -n foo -- '*.py'
git show HEAD:src/a.py
git rev-parse --show-toplevel
find . -name "*.py" -not -path "./x/*" | xargs grep -n foo
find . -type f -exec grep -l x {} +
find src/* -maxdepth 1 -printf '%p\n'
sed -n '1,20p;/a/,$p' a.txt
sed -e 's/[0-9]\+/x/g' -e '/^$/d' a.txt
sed 's|a/b|c|;y/abc/xyz/;$!N' a.txt
awk -F: -v n=3 'NR>1 && /x/ {print $2, $n}' a.txt
awk '{ if ($1 > 3) s += $1 / 2 } END { print s }' a.txt
sort -k2,2 -t, a.txt | uniq -c | sort -rn
rg -n 'foo' -g '*.ts' src
fd -e py foo
jq '.a[] | select(.b == "c")' f.json
tar tzf a.tgz
tar -tvf a.tar
unzip -l a.zip
gzip -l a.gz
xxd -l 64 a.bin
for f in *.py; do echo "$f"; wc -l "$f"; done
while read -r line; do echo "$line"; done < a.txt
[ -f a ] && [ "$x" = b ] || [[ -d c && $y == d* ]]
test -n "$x" && printf '%s\n' "$x"
x=5; DIR=src; ls "$DIR"
export LANG=C; LC_ALL=C sort a.txt
bash -c 'ls; pwd'
sh -c 'cat a.txt'
eval 'ls -l'
env ls
env LC_ALL=C sort a.txt
timeout 5 ls
nice -n 5 ls
command -v git
type ls
python3 --version
javac -version
date +%s
date -d yesterday +%F
ps aux
set -euo pipefail; ls
cat <<< "$x"
diff <(sort a) <(sort b)
ls > /dev/null 2>&1
echo x >&2
/usr/bin/ls
ls *.py
sort -- *.txt
git log -- $x
cut -d, -f"$n" a.csv
sleep 1; true; : ; exit 0
"""


@pytest.mark.parametrize("text", READ_ONLY.strip().splitlines())
def test_what_only_reads_is_recognised(text: str) -> None:
    assert judged(text) == judged(text)._replace(level="read-only", why=(), writes=(), network=False, forbidden="")


WRITES = r"""
rm -rf build
mkdir -p a/b
sed -i s/a/b/ f
sed -n -i.bak p f
sed --in-pl s/a/b/ f
sort -o x y
sort -uo x y
sort --out=x y
uniq a b
xxd a b
yq -i . f
date -s x
find . -delete
find . -fprintf x %p
find . -exec rm {} \;
find . | xargs rm
dd if=a of=b
tee x < a
tar xf a.tar
tar -czf a.tgz b
gzip a
unzip a.zip
echo x > f
echo x >> f
echo x >| f
ls &> f
ls >& f
: <> f
git commit -m x
git branch topic
git branch -D topic
git branch -v foo
git tag v1
git stash
git config a.b c
git config --global --add safe.directory /x
git remote add o u
git diff --output=x
git log --outp=x
git checkout -- .
git push
env rm x
timeout -s KILL 5 rm x
bash -c 'ls; rm x'
eval "rm x"
command rm x
\rm x
sysctl -w a=b
kill 1
chmod +x a
git reflog expire --all
git worktree add x
"""


@pytest.mark.parametrize("text", WRITES.strip().splitlines())
def test_what_writes_is_told(text: str) -> None:
    found = judged(text)
    assert found.level == "writes" and found.why


UNKNOWN = r"""
make
npm test
python x.py
python -c 'print(1)'
python --version x
./ls
/tmp/ls
$x y
"$x" y
{ls,x} y
l{s,} y
env
printenv
export -p
set
declare -p
env FOO=1 ls
FOO=1 ls
PATH=. ls
PATH=.; ls
IFS=x; ls
export LD_PRELOAD=x
LD_PRELOAD=./a.so ls
GIT_PAGER=./evil git log
HOME=. git status
RIPGREP_CONFIG_PATH=x rg a
rg --pre ./x foo
rg --pre=./x foo
rg --hostname-bin x foo
rg -z foo
fd -x rm
fd . --exec-batch rm
tree -R -L 1
tree -Ho a b
file -C
ldd a
less a
man a
tar tf a --to-command=x
tar --checkpoint=1 --checkpoint-action=exec=x -tf a
tar tf host:a
tar -tf a -I ./x
sort -T /x a
sort --compress-program=./x a
sort *
sort $x
find $x
find *
find . -name *.py
find . -exec sh -c 'cat {}' \;
find . -execdir cat {} \;
find . -ok cat {} \;
find . -frobnicate
xargs sed -n 1p
xargs -I{} {} x
sudo ls
watch ls
parallel ls ::: a
nohup
sed 'w out' f
sed '/a/w out' f
sed -n '/a/{p;w out
}' f
sed 's/a/b/w out' f
sed 's/a/b/e' f
sed '1e touch x' f
sed 'r x' f
sed -f x f
sed s/[/]/x/ f
sed 's/[]/]/;s/w f/x/' f
sed "$x" f
sed -n 1p "$x"
awk '{print > "x"}' f
awk '{print | "sh"}' f
awk 'BEGIN{system("rm x")}'
awk 'BEGIN{"date" | getline d}'
awk 'BEGIN{for (k in ENVIRON) print k}'
awk '{ print /"/ > "f"; y = /"/ }' f
awk '{ if (1) /"/ ; print > "f"; if (1) /"/ }' f
awk -f x f
gawk -i inplace '{print}' f
awk "$x" f
git
git foo
git -c core.fsmonitor=x status
git -c alias.x='!rm x' x
git --exec-path=. status
git --config-env=a=b status
git -C "$x" status
git -p log
git status *
git log $x
git log --format=%GG
git log --format="$x"
git log --show-signature
git diff --ext-diff
git cat-file --textconv HEAD:x
git cat-file --filters HEAD:x
git grep -O x
git grep --open-files-in-pager=x y
git ls-remote
git submodule status
git help log
jq env f
jq -n '$ENV.KEY'
ps auxe
ps -eo pid,environ
echo $((x))
echo $((a[$(rm x)]))
echo ${x@P}
echo ${!x}
[[ -v 'a[$(rm x)]' ]]
[[ $x -eq 1 ]]
test -v 'a[$(rm x)]'
[ "$a" "$b" ]
[ ( "$a" "$b" ) ]
printf -v 'a[$(rm x)]' y
printf '%n' 'a[$(rm x)]'
printf "$x"
let 'a[$(rm x)]=1'
MAGIC=./m; export MAGIC; file a
declare -x MAGIC=./m; file a
cd -P ..; git status
pytest --version
declare 'a[$(rm x)]=1'
read 'a[$(rm x)]'
read PATH
unset 'a[$(rm x)]'
source x
. x
trap 'rm x' EXIT
alias ls='rm x'
shopt -s expand_aliases
set -a; A=1
hash -p ./evil ls
enable -f ./x y
bash x.sh
bash -x -c ls
zsh -c ls
sh -c "echo \$'\\'; rm x; \\''"
for PATH in .; do ls; done
cd "$x"; git status
while true; do git status; cd ..; done
cat < "$x"
cat <&"$x"
hostname x
ip link set x down
base64 -o x y
date 0101
curl x
openssl x
"""


@pytest.mark.parametrize("text", UNKNOWN.strip().split("\n"))
def test_what_is_not_known_to_only_read_is_not_read_only(text: str) -> None:
    found = judged(text)
    assert found.level != "read-only" and found.why


def test_a_composition_is_as_bad_as_its_worst_part() -> None:
    assert [level(text) for text in ("ls; ls", "ls; make", "ls; make; rm x")] == ["read-only", "unknown", "writes"]


# --- what is told of each command ------------------------------------------------------------------------------------


def test_commands_are_told_for_rules_and_people() -> None:
    commands = judged("/bin/rm  -r  'a b' && \\git status --short; A=1 ls $x").commands
    assert [(each.text, each.words, each.plain) for each in commands] == [
        ("rm -r 'a b'", ("/bin/rm", "-r", "a b"), True),
        ("git status --short", ("git", "status", "--short"), True),
        ("A=1 ls $x", ("ls", "$x"), False),
    ]


def test_what_wrappers_run_is_a_command_of_its_own() -> None:
    assert [each.text for each in judged("timeout 5 env LC_ALL=C nice sort a | xargs -n1 rm").commands] == [
        "timeout 5 env LC_ALL=C nice sort a",
        "env LC_ALL=C nice sort a",
        "nice sort a",
        "sort a",
        "xargs -n1 rm",
        "rm …",
    ]
    assert [each.text for each in judged("bash -c 'ls; rm x'").commands] == ["bash -c 'ls; rm x'", "ls", "rm x"]


def test_paths_are_absolute_and_follow_cd() -> None:
    found = judged("cat a ~/b /c < d > e; cp f g h; mv i j; dd if=k of=l; sort -o m n")
    assert set(found.reads) >= {"/w/repo/src/a", "/home/u/b", "/c", "/w/repo/src/d", "/w/repo/src/f", "/w/repo/src/k"}
    names = {path.rpartition("/")[2] for path in found.writes}
    assert names == {"e", "h", "i", "j", "l", "m"}
    moved = judged("cd .. && cat x")
    assert set(moved.reads) >= {"/w/repo/x", "/w/repo/src/x"}, "a `cd` can fail"


def test_the_network_is_told() -> None:
    for text in ("curl x", "git fetch", "ssh h ls", "pip install x", "cat < /dev/tcp/h/80"):
        assert judged(text).network and level(text) != "read-only", text
    assert not judged("git status").network


# --- PATH and the environment ----------------------------------------------------------------------------------------


def test_a_program_that_the_workspace_brings_is_not_trusted(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "ls"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    inside = Surroundings(tmp_path, tmp_path, Path("/home/u"), {"PATH": f"{tool.parent}:/usr/bin:/bin"})
    assert level("ls", inside) == "unknown"
    assert level("cat a", inside) == "read-only"
    assert level("ls", inside._replace(env={"PATH": f"/usr/bin:/bin:{tool.parent}"})) == "read-only"
    for path in (".:/usr/bin", ":/usr/bin", "bin:/usr/bin"):
        assert level("ls", inside._replace(env={"PATH": path})) == "unknown", path


def test_the_environment_counts() -> None:
    for name, text in (
        ("BASH_FUNC_ls%%", "ls"),
        ("GIT_EXTERNAL_DIFF", "git diff"),
        ("GIT_TRACE2_EVENT", "git status"),
        ("GIT_DIR", "git status"),
        ("GIT_CONFIG_PARAMETERS", "git status"),
        ("RIPGREP_CONFIG_PATH", "rg a"),
        ("TAR_OPTIONS", "tar tf a"),
        ("BASH_ENV", "bash -c ls"),
        ("CDPATH", "cd a; ls"),
    ):
        assert level(text) == "read-only"
        assert level(text, AROUND._replace(env={**AROUND.env, name: "/x/y"})) == "unknown", name
    assert level("MINE=1; ls", AROUND._replace(env={"MINE": "0"})) == "unknown", "it would be passed on"


# --- git's configuration ---------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Surroundings:
    root, home = tmp_path / "repo", tmp_path / "home"
    (root / "sub").mkdir(parents=True)
    home.mkdir()
    (root / "a.txt").write_text("a\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "1"]):
        subprocess.run(["git", *arguments], cwd=root, env=env, check=True)
    return Surroundings(
        root, root, home, {"PATH": "/usr/bin:/bin", **{key: env[key] for key in ("HOME", "GIT_CONFIG_NOSYSTEM")}}
    )


def config(path: Path) -> Callable[[str], None]:
    def add(text: str) -> None:
        with path.open("a") as file:
            file.write(text)

    return add


@pytest.mark.parametrize(
    ("setting", "stopped", "still"),
    [
        ("[core]\nfsmonitor = ./evil", "git status", "git log"),
        ("[Core]\n\tFSMonitor = true", "git diff", "git rev-parse HEAD"),
        ("[diff]\nexternal = ./evil", "git diff", "git diff --no-ext-diff"),
        ('[diff "x"]\ntextconv = ./evil', "git show", "git diff --no-textconv"),
        ('[diff "x"]\ntextconv = ./evil', "git blame a.txt", "git ls-files"),
        ('[diff "x"]\ncommand = ./evil', "git log -p", "git branch"),
        ('[filter "x"]\nclean = ./evil', "git status", "git log"),
        ('[filter "x"]\nprocess = ./evil', "git diff", "git show"),
        ("[log]\nshowSignature = yes", "git log", "git diff"),
        ("[pretty]\nx = %GG", "git log --pretty=x", "git diff"),
        ('[remote "o"]\npromisor = true', "git show", "ls"),
        ("[core]\npager = ./evil", "git log", "GIT_PAGER=cat git log"),
        ("[pager]\nlog = ./evil", "git log", "GIT_PAGER=cat git log"),
        ('[hook "x"]\ncommand = ./evil', "git status", "git log"),
        ("[core", "git log", "ls"),
        ("[core]\n=x", "git status", "ls"),
    ],
)
def test_a_key_that_runs_something_counts_where_it_is_used(
    repository: Surroundings, setting: str, stopped: str, still: str
) -> None:
    assert level(stopped, repository) == "read-only"
    config(repository.workspace / ".git" / "config")(f"\n{setting}\n")
    found = judged(stopped, repository)
    assert found.level == "unknown"
    assert "configuration" in found.why[0]
    assert level(still, repository) == "read-only"
    assert level(f"git -C sub {stopped.removeprefix('git ')}", repository) == "unknown"
    assert level(f"cd sub && {stopped}", repository) == "unknown"


def test_keys_are_found_wherever_git_finds_them(repository: Surroundings) -> None:
    evil = "[core]\nfsmonitor = ./evil\n"
    root, home = repository.workspace, repository.home
    for path, text in (
        (home / ".gitconfig", evil),
        (home / ".config" / "git" / "config", evil),
        (root / ".git" / "config.worktree", evil),
        (home / ".gitconfig", '[includeIf "gitdir:/nowhere/"]\npath = ~/more\n'),
    ):
        (home / "more").write_text(evil)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        assert level("git status", repository) == "unknown", path
        path.unlink()
    assert level("git status", repository) == "read-only"
    named = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsMonitor", "GIT_CONFIG_VALUE_0": "./evil"}
    assert level("git status", repository._replace(env={**repository.env, **named})) == "unknown"
    usual = {**named, "GIT_CONFIG_KEY_0": "gc.auto", "GIT_CONFIG_VALUE_0": "0"}
    assert level("git status", repository._replace(env={**repository.env, **usual})) == "read-only"


def test_other_work_trees_and_bare_repositories_are_found(repository: Surroundings) -> None:
    root = repository.workspace
    tree = root.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=root, check=True, env=dict(repository.env))
    there = repository._replace(workspace=tree, cwd=tree)
    assert level("git status", there) == "read-only"
    bare = root / "docs"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text("[core]\nfsmonitor = ./evil\n")
    assert level("git status", repository) == "read-only"
    assert level("cd docs && git status", repository) == "unknown", "a folder that looks like a repository is one"
    assert level("git --git-dir=docs status", repository) == "unknown"
    config(root / ".git" / "config")("[core]\nfsmonitor = ./evil\n")
    assert level("git status", there) == "unknown", "work trees share their configuration"


def test_submodules_count_with_their_own_configuration(repository: Surroundings) -> None:
    root, env = repository.workspace, dict(repository.env)
    module = root / "vendored"
    module.mkdir()
    (module / "f").write_text("f\n")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e@f", "commit", "-qm", "1"],
    ):
        subprocess.run(["git", *arguments], cwd=module, env=env, check=True)
    subprocess.run(["git", "add", "vendored"], cwd=root, env=env, check=True, stderr=subprocess.DEVNULL)
    assert level("git status", repository) == "read-only"
    config(module / ".git" / "config")("[core]\nfsmonitor = ./evil\n")
    assert "submodule vendored" in judged("git status", repository).why[0]
    assert level("git log", repository) == "read-only"


def test_a_hook_that_git_status_runs_counts_unless_the_index_is_left_alone(repository: Surroundings) -> None:
    hook = repository.workspace / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    assert level("git status", repository) == "read-only"
    hook.chmod(0o755)
    assert level("git status", repository) == "unknown"
    assert level("GIT_OPTIONAL_LOCKS=0 git status", repository) == "read-only"
    assert level("git --no-optional-locks status", repository) == "read-only"
    assert level("git log", repository) == "read-only"


def test_the_usual_setup_of_git_lfs_is_no_danger_but_a_changed_one_is(repository: Surroundings) -> None:
    usual = (
        '[filter "lfs"]\nclean = git-lfs clean -- %f\nsmudge = git-lfs smudge -- %f\nprocess = git-lfs filter-process\n'
    )
    own, users = repository.workspace / ".git" / "config", repository.home / ".gitconfig"
    users.write_text(usual)
    assert level("git status", repository) == "read-only"
    before = own.read_text()
    for text in (usual, '[lfs "extension.x"]\nclean = ./evil\n'):
        config(own)(text)
        assert level("git status", repository) == "unknown", text
        own.write_text(before)
    users.write_text(usual.replace("git-lfs clean", "./git-lfs clean"))
    assert level("git status", repository) == "unknown"


def test_a_configuration_that_cannot_be_read_is_not_taken_for_empty(repository: Surroundings) -> None:
    path = repository.workspace / ".git" / "config"
    path.unlink()
    os.mkfifo(path)
    found = judged("git status", repository)
    assert found.level == "unknown" and "cannot be read" in found.why[0]


def test_the_configuration_is_parsed_as_git_does(tmp_path: Path) -> None:
    """git itself says what a file holds."""
    text = (
        '[a]\n\tb = 1 # c\n\tB = "x # y" ; z\n d\n[A "s.S\\"q"] e=\\\n  f\\tg\n[a.T]h = " i "\n'
        '\n; c\n[core] pager = less \\\n  -R\n[x]y =\n[n "o p"]\tq\t=\tr s\t\n'
    )
    path = tmp_path / "config"
    path.write_text(text)
    done = subprocess.run(
        ["git", "config", "--file", str(path), "--list", "-z"], check=True, capture_output=True, text=True
    )
    expected = [
        (key, value if mark else "true")
        for key, mark, value in (row.partition("\n") for row in done.stdout.split("\0")[:-1])
    ]
    assert parse_config(text) == expected
    for wrong in ("[a", "a=b", "[a]\n=b", '[a]\nb = "c', "[a]\nb c", "[a]\n1b = c"):
        with pytest.raises(Unclear):
            parse_config(wrong)


# --- what is forbidden -----------------------------------------------------------------------------------------------

FORBIDDEN = r"""
rm -rf /
rm -fr /*
rm -r -f ~
rm -rf ~/
rm -rf "$HOME"
rm -rf $HOME/*
rm -rf ..
rm -rf ../..
rm -rf /etc
rm -rf /usr/
rm -rf //
rm -rf /.
rm --recursive --force /
rm --rec /
rm -rf x --no-preserve-root
\rm -rf /
/bin/rm -rf /
sudo rm -rf /
env A=1 rm -rf /
timeout 5 nice rm -rf /
xargs rm -rf /
bash -c "rm -rf /"
sh -c 'cd x; rm -rf /*'
eval "rm -rf /"
true && (rm -rf /)
echo $(rm -rf /)
f() { rm -rf /; }; f
rm -rf / ; echo 'a
find / -delete
find / -exec rm {} +
mv ~ x
chmod -R 777 /
chown -R me /etc
mkfs.ext4 /dev/sda1
dd if=/dev/zero of=/dev/sda
cat x > /dev/nvme0n1
tee /dev/sda < x
cp x /dev/sdb
wipefs -a x
fdisk x
shutdown now
sudo reboot
init 0
systemctl poweroff
kill -9 -1
RM -rf /
:(){ :|:& };:
bomb() { bomb | bomb & }; bomb
echo b > /proc/sysrq-trigger
"""


@pytest.mark.parametrize("text", FORBIDDEN.strip().splitlines())
def test_what_must_never_run(text: str) -> None:
    found = judged(text)
    assert found.forbidden and found.level != "read-only"


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf build",
        "rm -rf ./*",
        "rm -rf /tmp/x",
        "rm -rf /w/repo/build",
        "rm /etc",
        "find / -name x",
        "find . -delete",
        "chmod -R 755 src",
        "chmod 777 /",
        "dd if=/dev/zero of=x",
        "echo x > /dev/null",
        "kill -9 123",
        "kill -1 123",
        "fdisk -l",
        "systemctl status x",
        "f() { ls; }; f",
        "echo 'rm -rf /'",
        "grep -r 'mkfs' .",
        "git log --grep='rm -rf /'",
        "find / -name core -delete",
        "echo shutdown",
        "mv a /tmp",
        "sed 's/:(){/x/' f",
    ],
)
def test_what_is_bad_or_only_talks_of_it_is_not_forbidden(text: str) -> None:
    assert judged(text).forbidden == ""
