"""Secrets as positional or flag arguments of known commands: ``curl -u me:password``, ``redis-cli -a password``."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class _Program(NamedTuple):
    """Arguments of a program that are credentials.

    Attributes:
        flags: Flags whose value is a secret, or ``user:password``.
        joined: Flags whose value may follow without a space.
        grouped: Whether flags of one letter may share a dash, as in ``curl -su``.
        subcommand: Subcommand without which the flags have another meaning, as in ``docker run -p``.
        after: Words that positional secrets follow, as in ``mc alias set``.
        places: Positions of the secrets after these words, from 1.
    """

    flags: frozenset[str] = frozenset()
    joined: tuple[str, ...] = ()
    grouped: bool = False
    subcommand: str = ""
    after: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


def _with_flags(*names: str, joined: str = "", grouped: bool = False, subcommand: str = "") -> _Program:
    return _Program(frozenset(names), tuple(joined.split()), grouped, subcommand)


_LOGIN = _with_flags("-p", "--password", subcommand="login")
_PROGRAMS: Mapping[str, _Program] = {
    # https://curl.se/docs/manpage.html
    "curl": _with_flags(
        *("-u", "--user", "-U", "--proxy-user", "--oauth2-bearer", "--pass", "-b", "--cookie"),
        joined="-u -U",
        grouped=True,
    ),
    "wget": _with_flags("--password", "--http-password", "--ftp-password", "--proxy-password"),
    "http": _with_flags("-a", "--auth"),
    "https": _with_flags("-a", "--auth"),
    "redis-cli": _with_flags("-a", "--pass"),
    "sshpass": _with_flags("-p", joined="-p"),
    "mysql": _with_flags("--password", joined="-p"),
    "mariadb": _with_flags("--password", joined="-p"),
    "mysqldump": _with_flags("--password", joined="-p"),
    "mysqladmin": _with_flags("--password", joined="-p"),
    "docker": _LOGIN,
    "podman": _LOGIN,
    "nerdctl": _LOGIN,
    "skopeo": _with_flags("-p", "--password", "--creds", "--src-creds", "--dest-creds"),
    "crane": _LOGIN,
    "oras": _LOGIN,
    "helm": _LOGIN,
    "mongosh": _with_flags("-p", "--password"),
    "etcdctl": _with_flags("--user", "--password"),
    "unzip": _with_flags("-P"),
    "zip": _with_flags("-P", "--password"),
    "openssl": _with_flags("-passin", "-passout", "-k", "-K"),
    "aws": _Program(after=("configure", "set"), places=(2,)),
    # mc alias set NAME URL ACCESSKEY SECRETKEY (https://min.io/docs/minio/linux/reference/minio-mc/mc-alias-set.html)
    "mc": _Program(after=("alias", "set"), places=(3, 4)),
}
_SECRET_SETTINGS = ("aws_secret_access_key", "aws_session_token", "aws_access_key_id")
_ALTERNATIVES = "|".join(sorted(map(re.escape, _PROGRAMS), key=len, reverse=True))
STARTS_COMMAND = rf"(?<![\w-])(?:{_ALTERNATIVES})\s"
"""A pattern of the beginning of such a command, in lower or upper case."""
_COMMAND = re.compile(rf"(?<![\w.-])(?P<program>{_ALTERNATIVES})(?=\s)")
_SHELL_WORD = re.compile(
    r"(?:[ \t]|\\\n)+|(?P<word>(?:\$\([^()]*\)|`[^`]*`|\"(?:\\.|[^\"\\])*\"?|'[^']*'?|\\[^\n]|[^\s\"';&|()\\`])+)",
    re.S,
)
"""A space, or a word of a shell; anything else ends the command."""
_MOST_WORDS = 400


def script_credentials(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets in the commands of a script."""
    end = 0
    for command in _COMMAND.finditer(text):
        if command.start() < end:
            continue
        words: list[str] = [command["program"]]
        offsets = [command.start()]
        end = command.end()
        while len(words) < _MOST_WORDS and (match := _SHELL_WORD.match(text, end)):
            end = match.end()
            if match["word"] is not None:
                words.append(match["word"])
                offsets.append(match.start("word"))
        for index, start in credential_words([word.strip("'\"") for word in words]).items():
            word = words[index]
            quoted = word[0] in "'\"" and len(word) > 1 and word[-1] == word[0]
            yield offsets[index] + quoted + start, offsets[index] + len(word) - quoted


def credential_words(words: Sequence[Any]) -> dict[int, int]:
    """Return the indexes of the words of a command that hold a secret, each with the offset at which it begins.

    Args:
        words: The program and its arguments. Other lists, such as of an unknown program, have no such words.
    """
    if len(words) < 2 or not isinstance(words[0], str):
        return {}
    program = _PROGRAMS.get(words[0].rpartition("/")[2])
    if program is None or (program.subcommand and program.subcommand not in words):
        return {}
    starts: dict[int, int] = {}
    for index, word in enumerate(words[1:], start=1):
        if not isinstance(word, str):
            continue
        previous = str(words[index - 1])
        if program.grouped and previous[:1] == "-" and previous[1:].isalpha():
            previous = f"-{previous[-1]}"
        name, equals, _ = word.partition("=")
        if previous in program.flags and _is_secret(previous, word):
            starts[index] = 0
        elif equals and name in program.flags:
            starts[index] = len(name) + 1
        else:
            for flag in program.joined:
                value = word.removeprefix(flag)
                if value not in ("", word) and not word.startswith("--") and _is_secret(flag, value):
                    starts[index] = len(flag)
    if program.after:
        starts |= _positional(program, words)
    return starts


def _is_secret(flag: str, word: str) -> bool:
    """Whether the value of a flag holds a secret, unlike a user without password or the file of a cookie."""
    if flag in ("-u", "--user", "-U", "--proxy-user", "--creds", "--src-creds", "--dest-creds"):
        return ":" in word.strip(":")
    if flag in ("-b", "--cookie"):
        return "=" in word
    return True


def _positional(program: _Program, words: Sequence[Any]) -> dict[int, int]:
    indexes = [index for index, word in enumerate(words) if isinstance(word, str) and not word.startswith("-")]
    names = [words[index] for index in indexes]
    for at in range(len(names) - len(program.after)):
        if tuple(names[at : at + len(program.after)]) == program.after:
            first = at + len(program.after) - 1
            if names[0] == "aws" and names[first + 1].rpartition(".")[2] not in _SECRET_SETTINGS:
                return {}
            return {indexes[first + step]: 0 for step in program.places if first + step < len(indexes)}
    return {}
