"""Makes shell commands at random: compositions of known parts, and soups of tokens that may mean anything."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

READS = (
    "ls -la",
    "cat a.txt",
    "git status --short",
    "git log --oneline -3",
    "git diff",
    "grep -rn a .",
    "find . -name '*.txt'",
    "wc -l a.txt",
    "head -n 2 a.txt",
    "sed -n '1,2p' a.txt",
    "awk '{print $1}' a.txt",
    "sort a.txt",
    "echo hi",
    "true",
    "printf '%s\\n' x",
    "git show HEAD:a.txt",
    "git branch",
    "stat a.txt",
    "test -f a.txt",
    "[ -d sub ]",
    "pwd",
    "git grep a",
    "git ls-files",
    "git stash list",
    "git tag",
    "diff a.txt sub/b.txt",
    "sort -u a.txt",
    "uniq a.txt",
    "du -sh .",
    "tar -tf x.tar",
    "git blame a.txt",
    "git rev-parse HEAD",
    "basename a.txt",
    "cut -c1 a.txt",
    "tr a b",
    "git -C sub diff",
    "date +%s",
    "git config --get user.name",
    "xargs echo",
    "file a.txt",
    "git describe --always",
    "git remote -v",
)
"""Only read, in the scratch folder of `command_runs`."""

WRITES = (
    "touch x",
    "rm a.txt",
    "sed -i s/a/b/ a.txt",
    "tee x",
    "find . -name a.txt -delete",
    "git branch topic",
    "sort -o x a.txt",
    "mkdir d",
    "mv a.txt z",
    "cp a.txt z",
    "echo hi > x",
    "git checkout -b t",
    "git commit --allow-empty -m m",
    "ln -s a l",
    "chmod 600 a.txt",
    "git tag v1",
    "git config a.b c",
    "dd if=a.txt of=x",
    "truncate -s 0 a.txt",
    "uniq a.txt x",
    "xargs rm < names",
    "find . -exec touch x \\;",
    'python3 -c \'open("x","w")\'',
    "sed -n 'w x' a.txt",
    "ls >> x",
    "awk '{print > \"x\"}' a.txt",
    "git stash",
    "git add .",
    "git diff --output=x",
    "sort --out=x a.txt",
    "cat a.txt | tee x",
    "tar -xf x.tar",
    "git -c core.fsmonitor='touch x' status",
    "env touch x",
    "timeout 5 touch x",
    "bash -c 'touch x'",
    "eval 'touch x'",
    "command touch x",
    "\\touch x",
    "'touch' x",
    'to"uc"h x',
    "/usr/bin/touch x",
    "find . -fprint x",
    "git log --output=x",
    "git -C . branch t",
    ": > x",
    "> x",
    "cat a.txt &> x",
    "install a.txt z",
    "split a.txt",
    "mktemp -p .",
    "nohup touch x",
    "nice touch x",
    "time touch x",
    "exec touch x",
    "printf x >| x",
    "git update-ref refs/heads/t HEAD",
    "xargs -I{} touch {} < names",
    'sh -c "touch x"',
    "git remote add o u",
    "rmdir sub/empty",
    "X=1 touch x",
    "$'touch' x",
)
"""Change files in the scratch folder of `command_runs`."""

_JOINTS = ("; ", " && ", " || ", " | ", " |& ", " & ", "\n", ";", "&&", " ;  ")
_AROUND = (
    "{0}",
    "( {0} )",
    "({0})",
    "{{ {0}; }}",
    "! {0}",
    "if {0}; then true; fi",
    "if true; then {0}; fi",
    "if false; then true; else {0}\nfi",
    "for i in 1; do {0}; done",
    "while {0}; do break; done",
    "until {0}; do break; done",
    "case a in a) {0};; esac",
    "case a in b) true;; *) {0} ;; esac",
    "echo $({0})",
    'echo "$({0})"',
    "cat <({0})",
    'ls "${{v:-$({0})}}"',
    "v=$({0})",
    "echo a$({0})b",
    '[ -n "$({0})" ]',
    "[[ -n $({0}) ]]",
    "cat <<E\n$({0})\nE",
    "cat <<E | wc\n$({0})\nE",
    'cat <<< "$({0})"',
    "echo ${{v#$({0})}}",
    "a=(1 $({0}))",
    "export LANG=$({0})",
    "{0} 2>/dev/null",
    "{0} 2>&1",
    "{0} < a.txt",
    'for i in $({0}); do echo "$i"; done',
    "echo $(echo $({0}))",
    "{0} # comment",
    "cd sub && {0}",
    "true && {{ {0}; }} || false",
    "echo $((1 + $({0} | wc -l)))",
    "{0} > /dev/null",
    "case $({0}) in a) true;; esac",
    "{0} |\ncat",
    "true \\\n && {0}",
)
"""Every one of them runs what stands at `{0}`, or may."""
_BACKQUOTED = ("echo `{0}`", 'echo "`{0}`"')
_VOCABULARY = "".join(
    (
        "ls cat git status log diff branch tag show stash list config find sed awk sort uniq grep head tail echo ",
        "printf test [ ] [[ ]] cd sub a.txt sub/b.txt . .. -n -i -o -e -v -a -r -d -u -p -s -l -c -C -O -w ",
        "--output=x -delete -exec -name {} \\; + x y HEAD main touch tee rm mkdir env xargs timeout 5 bash -c eval ",
        'command exec nohup time ; & && || | |& ( ) { } < > >> <<< 2>&1 >& &> >/dev/null 2>/dev/null $x "$x" $(ls) ',
        "$(touch x) `ls` ${x:-y} \"$(cat a.txt)\" 'a' \"b\" $'c' \\ \" ' # ! if then fi for i in do done while ",
        "case esac *) ;; FOO=1 x=1 PATH=. -- - * *.txt {a,b} ~ $((1+2)) $((x)) \n \t <(ls) >(cat) -la -10 'p' ",
        "s/a/b/ 's/a/b/w x' '1,2p' '{print}' '{print>\"x\"}' --stat --oneline -D -f -m --list --get ",
        "user.name -tf x.tar -1 =~ == -f ${x@P} 'w x' printf -v %s true false : : . source type -9 \\n \\touch ",
        "to\\uch read wc nl tac cut -c1 export declare unset --pre=./x -I --unset -k -t, <<E E tr xxd -z git\\ ",
        "status cp mv ln",
    )
).split(" ")


class Composed(NamedTuple):
    """A command, and whether a part of it writes."""

    text: str
    writes: bool


def composed(random: Random, depth: int = 3) -> Composed:
    """A composition of the parts above."""
    if depth == 0 or random.random() < 0.15:
        writes = random.random() < 0.3
        return Composed(random.choice(WRITES if writes else READS), writes)
    if random.random() < 0.5:
        inner = composed(random, depth - 1)
        around = random.choice(_AROUND if "`" in inner.text or "\\" in inner.text else (*_AROUND, *_BACKQUOTED))
        return Composed(around.format(inner.text), inner.writes)
    parts = [composed(random, depth - 1) for _ in range(random.randint(2, 3))]
    text = parts[0].text
    for part in parts[1:]:
        # A here-document and a comment end at a line break.
        text += ("\n" if "<<E" in text or "#" in text else random.choice(_JOINTS)) + part.text
    return Composed(text, any(part.writes for part in parts))


def mutated(random: Random) -> str:
    """A composition with a few letters or tokens changed."""
    text = composed(random, 2).text
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(text))
        kind = random.random()
        if kind < 0.4:
            text = text[:at] + random.choice(_VOCABULARY) + text[at:]
        elif kind < 0.6:
            text = text[:at] + " " + random.choice(_VOCABULARY) + " " + text[at:]
        elif kind < 0.8:
            text = text[:at] + text[at + random.randint(1, 3) :]
        else:
            text = text[:at] + random.choice("\"'\\`$(){}[]<>|&;#!*?~= \n\tax-") + text[at:]
    return text


def soup(random: Random) -> str:
    """Tokens in any order, most of them with a blank between them."""
    tokens = [random.choice(("ls", "cat", "git", "sed", "find", "sort", "echo", "awk", "xargs", "printf", "[", "uniq"))]
    tokens += [random.choice(_VOCABULARY) for _ in range(random.randint(1, 8))]
    return "".join(token + ("" if random.random() < 0.1 else " ") for token in tokens)
