"""What well-known programs do with their arguments.

Each judge takes a program's arguments and gives one role for each. Only clear cases are listed: a program that is not
known here looks at every file it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Literal

from core.ledger.wrappers import command_at, program

Role = Literal["look", "aside", "text", "shell", "code", "search"]
"""`look`: the file is looked at. `aside`: it is written, filed away or only talked about. `text`: names nothing.
`shell`, `code`: a program in a shell's or another language, `search`: text in which names stand anywhere; these are to
be read in their turn."""

Judge = Callable[[Sequence[str]], list[Role]]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FILING = _set("""
    cp mv rm touch chmod chown chgrp mkdir rmdir ln unlink install rsync scp truncate shred tee sponge mktemp trash
    trash-put srm rename setfacl chattr dos2unix unix2dos mkfifo fallocate zip rar 7z make ninja gmake
    copy move del erase ren xcopy robocopy out-file tee-object set-content add-content clear-content remove-item
    copy-item move-item new-item rename-item export-csv export-clixml
""")
"""Programs that write or file away whatever they name."""
TALKING = _set("echo printf print : true false cd pushd popd write-host write-output logger set-location")
"""Programs whose arguments are text."""
SEARCHERS = _set("grep egrep fgrep zgrep rg ag ack pcregrep select-string findstr")
SHELLS = _set("bash sh zsh dash ksh fish ssh eval source . pwsh powershell")
INTERPRETERS = re.compile(
    r"i?python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|ts-node|tsx|ruby|perl|php|rscript|r|julia|lua|[gm]?awk"
)

_PACKERS = _set("gzip pigz bzip2 pbzip2 xz zstd lz4 compress gunzip bunzip2 unxz unzstd uncompress")
_GIT_FILING = _set("""
    add commit mv checkout rm restore reset switch stash push pull fetch clone init tag branch merge rebase
    cherry-pick clean update-index lfs worktree
""")
_COPYING = {
    "docker": _set("cp"),
    "podman": _set("cp"),
    "kubectl": _set("cp"),
    "gsutil": _set("cp mv rm rsync"),
    "rclone": _set("copy move sync copyto moveto delete deletefile"),
    "dvc": _set("add push pull remove move"),
    "s3": _set("cp mv rm sync"),
    "storage": _set("cp mv rm rsync"),
}
_IN_PLACE = re.compile(r"-[A-Za-z]*i(?:\.\w+)?|-i[^f]*|--in-?place(?:=.*)?|inplace")
_PROGRAM = re.compile(r"-[A-Za-z0]*[ceE]|-p|--eval|--print|-command|eval", re.IGNORECASE)
_PATTERN = re.compile(r"-[A-Za-z]*[ef]|--regexp|--file|-pattern", re.IGNORECASE)
_PAYLOAD = re.compile(r"-d|--data(?:-raw|-binary|-urlencode)?|--json|-H|--header")
_VALUED_BY_SSH = _set("-i -p -l -o -F -J -L -R -D -W -b -c -E -e -I -m -O -Q -S -w")
_VALUED_BY_GREP = _set("-A -B -C -m -e -f -g -t -T -d -D --regexp --file --glob --type --max-count --context")
_VALUED_BY_AWK = _set("-F -v -f -i --include --file --field-separator")
_VALUED_BY_SED = _set("-e -f -l --expression --file")
_VALUED_BY_GIT = _set("-C -c --git-dir --work-tree")


def judge(words: Sequence[str], at: int = -1) -> list[Role]:
    """Roles of the words of a simple command, by what its program does; `at`: where that stands, if it is known."""
    at = command_at(words)[0] if at < 0 else at
    known = judge_of(program(words[at])) if at < len(words) else None
    if known is None:
        return _all("look", words)
    return _all("look", words[: at + 1]) + known(words[at + 1 :])


def files_away(words: Sequence[str]) -> bool:
    """Whether a simple command only writes or files away what it is given."""
    at, _ = command_at(words)
    return at < len(words) and program(words[at]) in FILING


@lru_cache(maxsize=512)
def judge_of(name: str) -> Judge | None:
    """Who judges the arguments of a program; None: it looks at all of them."""
    return _JUDGES.get(name) or (_interpreter if INTERPRETERS.fullmatch(name) else None)


def _all(role: Role, args: Sequence[str]) -> list[Role]:
    return [role] * len(args)


def _operands(args: Sequence[str], valued: frozenset[str]) -> list[int]:
    """Indices of the words that are neither options nor values of the options in `valued`."""
    found, skip = [], False
    for index, arg in enumerate(args):
        if skip:
            skip = False
        elif arg.startswith("-") and len(arg) > 1:
            skip = arg in valued
        else:
            found.append(index)
    return found


def _file_away(args: Sequence[str]) -> list[Role]:
    return _all("aside", args)


def _talk(args: Sequence[str]) -> list[Role]:
    return _all("text", args)


def _ssh(args: Sequence[str]) -> list[Role]:
    rest = _operands(args, _VALUED_BY_SSH)[1:]
    return _command_in(args, rest[0]) if rest else _all("look", args)


def _eval(args: Sequence[str]) -> list[Role]:
    return _command_in(args, 0) if args else []


def _shell(args: Sequence[str]) -> list[Role]:
    for index, arg in enumerate(args[:-1]):
        if re.fullmatch(r"-[a-z]*c|-command", arg, re.IGNORECASE):
            return [*_all("look", args[: index + 1]), "shell", *_all("look", args[index + 2 :])]
    return _all("look", args)


def _command_in(args: Sequence[str], at: int) -> list[Role]:
    """The words from `at` on are a command: as one word a program text, else words already."""
    roles = _all("look", args[:at])
    if " " in args[at] or len(args) == at + 1:
        return [*roles, "shell", *_all("look", args[at + 1 :])]
    return roles + judge(args[at:])


def _interpreter(args: Sequence[str]) -> list[Role]:
    roles = _all("look", args)
    for index, arg in enumerate(args[:-1]):
        if _PROGRAM.fullmatch(arg) or (arg == "-r" and "(" in args[index + 1]):  # -r: code to PHP, a module to Node
            roles[index + 1] = "code"
        elif not arg.startswith("-"):
            break
    return roles


def _editor(args: Sequence[str]) -> list[Role]:
    """perl and ruby: with -i they edit in place."""
    options = [arg for arg in args[:4] if arg.startswith("-")]
    return _all("aside", args) if any(map(_IN_PLACE.fullmatch, options)) else _interpreter(args)


def _awk(args: Sequence[str]) -> list[Role]:
    return _program_first(args, "code", _VALUED_BY_AWK, ("-f", "--file"))


def _sed(args: Sequence[str]) -> list[Role]:
    return _program_first(args, "text", _VALUED_BY_SED, ("-e", "-f", "--expression", "--file"))


def _program_first(args: Sequence[str], role: Role, valued: frozenset[str], given_by: Sequence[str]) -> list[Role]:
    """The first operand is a program, unless an option brings it; edits in place look at nothing."""
    if any(map(_IN_PLACE.fullmatch, args)):
        return _all("aside", args)
    roles = _all("look", args)
    operands = _operands(args, valued)
    given = [index for index, arg in enumerate(args[:-1]) if arg in given_by]
    for index in given:
        roles[index + 1] = "look" if args[index] in {"-f", "--file"} else role
    if operands and not given:
        roles[operands[0]] = role
    return roles


def _jq(args: Sequence[str]) -> list[Role]:
    """The first operand is a filter; `--arg name value` and the like come before it."""
    if {"-i", "--inplace"} & set(args):
        return _all("aside", args)
    roles = _all("look", args)
    index = 0
    while index < len(args) and args[index] not in {"-f", "--from-file"}:
        arg = args[index]
        if arg in {"--arg", "--argjson", "--slurpfile", "--rawfile"}:
            index += 3
        elif arg.startswith("-"):
            index += 2 if arg == "--indent" else 1
        else:
            roles[index] = "text"
            break
    return roles


def _search(args: Sequence[str]) -> list[Role]:
    """The pattern is looked for in files, it names none itself."""
    roles = _all("look", args)
    given = [index for index, arg in enumerate(args[:-1]) if arg[:1] == "-" and _PATTERN.fullmatch(arg)]
    for index in given:
        roles[index + 1] = "look" if args[index].endswith(("f", "file")) else "aside"
    operands = _operands(args, _VALUED_BY_GREP)
    if operands and not given and not any(arg.startswith(("--files", "--regexp=")) for arg in args):
        roles[operands[0]] = "aside"
    return roles


def _git(args: Sequence[str]) -> list[Role]:
    operands = _operands(args, _VALUED_BY_GIT)
    verb = args[operands[0]] if operands else ""
    if verb in _GIT_FILING:
        return _all("aside", args)
    if verb == "grep":
        head = operands[0] + 1
        return _all("look", args[:head]) + _search(args[head:])
    return _all("look", args)


def _find(args: Sequence[str]) -> list[Role]:
    if "-delete" in args:
        return _all("aside", args)
    for index, arg in enumerate(args):
        if arg in {"-exec", "-execdir", "-ok", "-x", "--exec", "-X"}:
            inner = args[index + 1 :]
            return _all("aside" if files_away(inner) else "look", args[: index + 1]) + judge(inner)
    return _all("look", args)


def _curl(args: Sequence[str]) -> list[Role]:
    roles = _all("look", args)
    for index, arg in enumerate(args[:-1]):
        if re.fullmatch(r"-[a-zA-Z]*[oDc]|--cookie-jar|--dump-header|--trace", arg):
            roles[index + 1] = "aside"
        elif _PAYLOAD.fullmatch(arg) and not args[index + 1].startswith("@"):
            roles[index + 1] = "text"
    return roles


def _wget(args: Sequence[str]) -> list[Role]:
    written = {index + 1 for index, arg in enumerate(args) if re.fullmatch(r"-[a-zA-Z]*[Oo]|-a", arg)}
    return ["aside" if index in written else "look" for index in range(len(args))]


def _dd(args: Sequence[str]) -> list[Role]:
    return ["aside" if arg.startswith("of=") else "look" for arg in args]


def _xxd(args: Sequence[str]) -> list[Role]:
    """The second file is written."""
    roles = _all("look", args)
    files = [index for index, arg in enumerate(args) if "." in arg and arg[0] != "-"]
    for index in files[1:]:
        roles[index] = "aside"
    return roles


def _tar(args: Sequence[str]) -> list[Role]:
    """Packing files away is no look, listing and unpacking an archive is one at the archive."""
    modes = [arg for index, arg in enumerate(args) if index == 0 or re.fullmatch(r"-[a-zA-Z]+", arg)]
    packs = any(re.fullmatch(r"-?[a-zA-Z]*[cru][a-zA-Z]*", mode) for mode in modes)
    return _all("aside" if packs or {"--create", "--append", "--update"} & set(args) else "look", args)


def _pack(args: Sequence[str]) -> list[Role]:
    prints = any(re.fullmatch(r"-[a-zA-Z0-9]*[clt][a-zA-Z0-9]*|--stdout|--list|--test", arg) for arg in args)
    return _all("look" if prints else "aside", args)


def _formatter(args: Sequence[str]) -> list[Role]:
    return _all("aside" if {"--write", "-w", "--fix"} & set(args) else "look", args)


def _copying(verbs: frozenset[str], args: Sequence[str]) -> list[Role]:
    copies = any(arg in verbs for arg in args[:2]) and "-" not in args
    return _all("aside" if copies else "look", args)


def _cloud(args: Sequence[str]) -> list[Role]:
    """`aws s3 …` and `gcloud storage …`."""
    for index, arg in enumerate(args):
        if arg in {"s3", "storage"}:
            return _all("look", args[: index + 1]) + _copying(_COPYING[arg], args[index + 1 :])
    return _all("look", args)


_JUDGES: dict[str, Judge] = {
    **dict.fromkeys(FILING, _file_away),
    **dict.fromkeys(TALKING, _talk),
    **dict.fromkeys(SHELLS, _shell),
    **{name: partial(_copying, verbs) for name, verbs in _COPYING.items()},
    **dict.fromkeys(("perl", "ruby"), _editor),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("jq", "yq", "gojq"), _jq),
    **dict.fromkeys(SEARCHERS, _search),
    **dict.fromkeys(_PACKERS, _pack),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("tar", "bsdtar"), _tar),
    **dict.fromkeys(("prettier", "eslint"), _formatter),
    **dict.fromkeys(("aws", "gcloud"), _cloud),
    "ssh": _ssh,
    "eval": _eval,
    "git": _git,
    "curl": _curl,
    "wget": _wget,
    "dd": _dd,
    "xxd": _xxd,
}
