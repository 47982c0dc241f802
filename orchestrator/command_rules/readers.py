"""Programs that only read, whatever their operands, with the options that keep it so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

from orchestrator.command_rules.options import Options, Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown, writing

Operands = Literal["files", "data", "pattern", "none", "one"]


class Reader(NamedTuple):
    """`loose`: no option that the program has, in any version, makes it do more than read."""

    loose: bool
    operands: Operands
    table: Table


_LOOSE = """
ls,dir,vdir files -I: -w: -T: --block-size: --hide: --ignore: --width: --tabsize: --sort? --time? --color? --format?
cat,tac files
head,tail files -# -n: -c: -s: --lines: --bytes: --pid: --sleep-interval:
wc files --files0-from<
echo,true,false,:,sleep,pwd,whoami,nproc,arch,tty,logname,uname,id,groups,times data
basename,dirname,seq,expr,factor,numfmt,cal,uptime,free,pathchk data
realpath files --relative-to: --relative-base:
readlink,cksum,sum,md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum,b2sum,expand,unexpand files -w: -i:
stat files -c: -f: --format: --printf: -t:
cut files -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --output-delimiter:
tr data
nl files -b: -d: -f: -h: -i: -l: -n: -s: -v: -w:
rev,fold,fmt files -w: --width: -p: -g:
paste files -d: --delimiters:
join files -1: -2: -a: -e: -j: -o: -t: -v:
comm files --output-delimiter:
cmp files -i: -n: --ignore-initial: --bytes:
od,hexdump files -A: -j: -N: -t: -w? -S: -e: -f< -n: -s:
du files -d: -B: -t: -X< --max-depth: --exclude: --threshold: --block-size: --exclude-from< --files0-from< --time?
df files -B: -t: -x: --block-size: --type: --exclude-type: --output?
grep,egrep,fgrep pattern -# -e: -f< -m: -A: -B: -C: -d: -D: --regexp: --file< --max-count: --after-context:
grep,egrep,fgrep pattern --before-context: --context? --include: --exclude: --exclude-dir: --exclude-from< --color?
jq pattern -f< -L< --indent: --from-file<
grep,egrep,fgrep pattern --label: --binary-files? --directories? --devices?
"""
_STRICT = """
sort files -bcCdfghiMnRrsuVz -k: -t: -S: --key: --field-separator: --buffer-size: --parallel: --batch-size: --sort?
sort files --check? --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort --stable
sort files --general-numeric-sort --month-sort --random-sort --dictionary-order --ignore-leading-blanks --merge -m
sort files --zero-terminated --debug --files0-from< -o> --output>
uniq one -cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars:
uniq one --all-repeated? --group? --zero-terminated
diff,diff3 files -abBcdeEiNnpqrstTuwyZ -C: -U: -I: -F: -W: -x: -X< -L: --brief --recursive --unified? --context?
diff,diff3 files --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --side-by-side --width:
diff,diff3 files --exclude: --exclude-from< --label: --color?
diff,diff3 files --new-file --text --minimal --suppress-common-lines --normal
diff,diff3 files --report-identical-files --strip-trailing-cr --no-dereference --show-c-function --from-file< --to-file<
diff,diff3 files --unchanged-line-format: --old-line-format: --new-line-format: --line-format: --tabsize: --ed --rcs
file files -bhikLnNprsv0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --no-pad --raw
file files -e: -F: -P: --separator: --exclude: --keep-going --extension
tree files @ -adfFpshugDNQtrciJX -L: -P: -I: --charset: --dirsfirst --noreport --du --prune --gitignore --filelimit:
tree files --inodes --matchdirs --ignore-case --si --sort? -v -U --metafirst -C -n -A -S -l -x -q -H: -T:
base64,base32 files -d -w: --decode --wrap:
shuf files -enrz -i: -n: -o> --head-count: --input-range: --output> --echo --repeat
pgrep data -aflxcnov -u: -P:
getconf data
locale data -a -m
which data -a --all
strings files -afnw -n: -t: -e: --all --bytes: --radix: --encoding: -# --print-file-name
column files -tnexJR -s: -c: -o: -N: -d -l: --table --separator: --output-separator: --table-columns: --json
tsort,look files
yq pattern -rPCMeyYcS -p: -o: --prettyPrint --raw-output -i! --inplace! --in-place! --yaml-output --input-format:
yq pattern --output-format: -s! --split-exp!
nm files -aACDgpruSnvlP -f: --demangle? --dynamic
nm files --defined-only --extern-only --undefined-only --size-sort --numeric-sort
readelf files -aehlSsdrnVWwIgtAcDu --all --headers --file-header --program-headers --sections --symbols --dynamic
readelf files --syms --relocs --wide --notes -x: -p: --hex-dump: --string-dump:
objdump files -adDhxfprRstTCwzF -j: -M: --disassemble
objdump files --syms --section-headers --all-headers --section: --no-show-raw-insn
size files -ABdoxt --format: --radix:
zcat files -f
bzcat,xzcat,lzcat files -q
zipinfo files -12smlvhtTz
lsblk none -afiJlmnpPrSt -o: --output: --json --fs
lscpu,lsmod none -aeJpxy
hostname none -AdfiIsy --all-fqdns --domain --fqdn --ip-address --all-ip-addresses --short -b! -F! --boot! --file!
fd,fdfind pattern -HIuUsigaldLp0q -e: -t: -d: -E: -j: -S: -c: -o: -1 --hidden --no-ignore --no-ignore-vcs --follow
fd,fdfind pattern --type: --extension: --exclude: --max-depth:
fd,fdfind pattern --min-depth: --glob --regex --fixed-strings --absolute-path
fd,fdfind pattern --case-sensitive --ignore-case --full-path --print0 --max-results: --size: --changed-within:
fd,fdfind pattern --changed-before: --color: --quiet --list-details --unrestricted -F
fd,fdfind pattern --base-directory: --search-path: --exact-depth: --strip-cwd-prefix? --relative-path
rg pattern -# -0abcFhHiILlnNopPqSsuUvVwx. -e: -f< -g: -t: -T: -m: -A: -B: -C: -d: -E: -j: -M: -r: --regexp: --file<
rg pattern --glob: --iglob: --type: --type-not: --max-count: --after-context: --before-context: --context: --max-depth:
rg pattern --files --files-with-matches --files-without-match --count --count-matches --ignore-case --smart-case
rg pattern --case-sensitive --fixed-strings --word-regexp --line-regexp
rg pattern --line-number --no-line-number --hidden --no-ignore
rg pattern --no-ignore-vcs --multiline --multiline-dotall --only-matching --invert-match --json --stats --sort: --sortr:
rg pattern --vimgrep --heading --no-heading --column --color: --colors: --max-columns: --max-columns-preview --trim
rg pattern --with-filename --no-filename --null --pcre2 --engine: --passthru --replace: --text --type-list --type-add:
rg pattern --unrestricted --follow --one-file-system --threads: --encoding: --crlf --no-messages --no-config --quiet
rg pattern --ignore-file< --no-ignore-parent --no-ignore-global --no-ignore-dot
rg pattern --max-filesize: --debug --binary --byte-offset
"""
_ENVIRONMENT = re.compile(r"\benv\b|ENV")
_ENVIRONMENT_VARIABLES = {
    "rg": "RIPGREP_CONFIG_PATH",
    "zcat": "GZIP",
    "gzip": "GZIP",
    "zgrep": "GZIP",
    "zipinfo": "ZIPINFO",
    "xzcat": "XZ_OPT",
    "objdump": "DEBUGINFOD_URLS",
    "readelf": "DEBUGINFOD_URLS",
    "nm": "DEBUGINFOD_URLS",
    "file": "MAGIC",
}
"""Variables by which a program takes more options, or files that hold some."""


@cache
def readers() -> Mapping[str, Reader]:
    """The table, by the name of the program."""
    return {**_parsed(_LOOSE, loose=True), **_parsed(_STRICT, loose=False)}


def _parsed(text: str, *, loose: bool) -> dict[str, Reader]:
    rows: dict[str, tuple[Operands, list[str]]] = {}
    for names, operands, options in _rows(text):
        for name in names.split(","):
            rows.setdefault(name, (operands, []))[1].append(options)
    return {name: Reader(loose, operands, Table.of(" ".join(options))) for name, (operands, options) in rows.items()}


def _rows(text: str) -> Iterator[tuple[str, Operands, str]]:
    for line in text.strip().splitlines():
        names, operands, *options = line.split(maxsplit=2)
        yield names, operands, options[0] if options else ""  # type: ignore[misc]  # the texts above hold no other word


def judge_reader(case: Case, reader: Reader) -> Ruling:
    """A program of the table."""
    options = read_options(case.words, reader.table, loose=reader.loose)
    if case.name == "jq" and any(_ENVIRONMENT.search(word.source) for word in case.words):
        return unknown("the program of `jq` looks at the environment, which may hold keys")
    variable = _ENVIRONMENT_VARIABLES.get(case.name, "")
    if variable and (variable in case.set_here or case.around.env.get(variable)):
        return unknown(f"{variable} gives `{case.name}` more options")
    if options.writes:
        return _writes(case, options)
    if options.problem:
        return unknown(options.problem, options.operands)
    return _operands(case, reader, options)


def _writes(case: Case, options: Options) -> Ruling:
    changed = options.files(">")
    in_place = any(each.takes == "!" for each in options.given)
    return writing(
        f"`{case.name}` writes with `{options.writes}`",
        (*changed, *(options.operands if in_place else ())),
        () if in_place else options.operands,
    )


def _operands(case: Case, reader: Reader, options: Options) -> Ruling:
    operands = options.operands
    if reader.operands == "one" and (len(operands) > 1 or any(word.splits or word.many for word in operands)):
        return writing(f"the second file of `{case.name}` is written", operands[1:], operands[:1])
    if reader.operands == "none" and operands:
        return unknown(f"`{case.name}` with operands is not known", operands)
    if reader.operands == "data":
        return reading(*options.files("<"))
    if reader.operands == "pattern" and not options.has("-e", "--regexp", "-f", "--file", "--files", "--type-list"):
        operands = operands[1:]
    return reading(*operands, *options.files("<"))
