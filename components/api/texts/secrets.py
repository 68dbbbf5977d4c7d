"""What a secret looks like, and how it is kept out of sight: the one place that every caller asks.

A value is a secret by the name that it has (``HF_TOKEN``, ``--api-key``, ``clientSecret``) or by its own form
(``hf_...``, a private key, a password in a URL). What only refers to one is none: ``$(HF_TOKEN)``, a path, the name
of a Secret.

- :func:`is_literal_secret`: whether a value of this name is one;
- :func:`masked`, :func:`masked_text`: a value or a text as it may be shown;
- :func:`replace_secrets`, :func:`replace_in_object`: the same value, each secret replaced by what the caller makes of
  it;
- :func:`secret_texts`: the texts that must not be shown, for messages that quote them in their own way.
"""

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SECRET_TEXT = "[secret]"  # noqa: S105  what is shown instead of one

Replace = Callable[[Any, str], Any]
"""Makes something of a secret, or of a text with one in it: given the value, and how it may be shown."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = frozenset(
    {"password", "passwords", "passwd", "passphrase", "pwd", "apikey", "credential", "credentials"}
)
_KEYS = frozenset({"api", "access", "account", "auth", "encryption", "master", "private", "secret", "ssh"})
_HARMLESS = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null", "empty", SECRET_TEXT})
"""Switches, and what clients write where a server wants no key."""
_REFERENCE = re.compile(r"\$\(\w[\w.-]*\)|\$\{?\w+\}?|(/[a-z0-9._-]+)+|[a-z0-9]+://[^\s@]*|<[^<>]*>|%[^%]+%")
"""A variable, a path, an address without a password, a place to fill in, or what a proxy's log puts in its place."""

_FORMS = re.compile(
    r"(?P<pem>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z))"
    r"|(?<![\w-])(?:"
    r"hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{8,}"  # Hugging Face; hf_transfer is a library
    r"|sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic and those who copy them
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}"  # Google
    r"|nvapi-[\w-]{20,}"  # NVIDIA
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r")"
    r"|(?<=://)(?P<user>[^\s/:@'\"]*:)(?P<password>[^\s/@'\"]+)(?=@)"
    r"|(?P<scheme>\b[Bb]earer )(?P<bearer>[\w.~+/=-]{8,})",
    re.DOTALL,
)
_FORMED = re.compile(r"-----|hf_|sk-|A[KS]IA|gh[a-z]_|github_|glpat-|xox|AIza|ya29|nvapi-|eyJ|://[^/]*@|earer ")
"""What a text has that is worth a closer look."""
_NAMED = re.compile(r"token|key|passw|passphrase|pwd|secret|credential", re.IGNORECASE)
_NAME = r"(?<![\w$-])(?=[\w-]*?(?:token|key|passw|passphrase|pwd|secret|credential))(?P<name>-{0,2}+[A-Za-z_][\w-]*+)"
_PROSE = re.compile(rf"{_NAME}(?:=|['\"]?(?::\s*|,\s*)(?=['\"]))", re.IGNORECASE)
"""What leads to a value in ``NAME=value``, ``"name": "value"`` and ``'--flag', 'value'``, as messages quote them."""
_SCRIPT = re.compile(rf"{_NAME}(?:=|['\"]?:\s*(?=['\"])|(?<=\w)\s+(?=[^\s=-]))", re.IGNORECASE)
"""The same, and ``--flag value``: in prose the word that follows a flag is the next word."""
_VALUE = re.compile(r"\"[^\"]*\"?|'[^']*'?|[^\s\"';&|,)]+")
_ENOUGH = 4096
"""Characters of a value that tell whether it is a secret."""


@functools.lru_cache(maxsize=1 << 14)
def names_secret(name: str) -> bool:
    """Whether a variable, flag or field of this name holds a secret, and not the name or the place of one."""
    words = [word.lower() for word in _WORDS.findall(str(name).rpartition("/")[2])]
    if words[-1:] == ["id"] and words[-3:-1] == ["access", "key"]:
        return True
    if not words or words[-1] in _PASSWORDS:
        return bool(words)
    variable = name.isupper() or name.startswith("-") or "_" in name
    if words[-1] == "token":
        return True
    if words[-1] == "secret":  # in manifests a field of this name says which Secret
        return variable or words[-2:-1] == ["client"]
    if words[-1] in ("key", "keys"):
        return len(words) > 1 and (words[-2] in _KEYS or (variable and words[-1] == "key"))
    return False


def is_literal_secret(name: str, value: object) -> bool:
    """Whether a value is a secret in clear, by the name that it has or by its own form."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip().strip("'\"")
    if text.lower() in _HARMLESS:
        return False
    return (names_secret(name) and not _REFERENCE.fullmatch(text)) or _has_form(text)


def _has_form(text: str) -> bool:
    found = _FORMS.search(text) if _FORMED.search(text) else None
    return found is not None and found["password"] is None and found[0] == text


def masked(value: Any, name: str = "") -> Any:  # noqa: ANN401  any JSON value
    """Return a value with its secrets as ``[secret]``; ``name`` is the name that it has, if any."""
    return replace_secrets(value, lambda _, shown: shown, name)


def secret_texts(value: Any, name: str = "") -> frozenset[str]:  # noqa: ANN401  any JSON value
    """Return the secrets in a value: whole values, and those inside of texts."""
    found: set[str] = set()

    def remember(secret: object, shown: str) -> object:
        found.update((str(secret),) if shown == SECRET_TEXT else _parts(str(secret)))
        return secret

    replace_secrets(value, remember, name)
    return frozenset(found)


def masked_text(text: str, known: Iterable[str] = ()) -> str:
    """Return a text with what looks like a secret in it, and secrets that are known, as ``[secret]``."""
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) > _SHORT:
            text = text.replace(secret, SECRET_TEXT)
        else:  # a short one occurs inside of words
            text = re.sub(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", SECRET_TEXT, text)
    return _masked(text, _PROSE)


_SHORT = 5


def _masked(text: str, assigned: re.Pattern[str] = _SCRIPT) -> str:
    if _FORMED.search(text):
        text = _FORMS.sub(lambda found: (found["user"] or found["scheme"] or "") + SECRET_TEXT, text)
    if not _NAMED.search(text):
        return text
    shown, end = [], 0
    for start, stop in _assigned(text, assigned):
        shown += [text[end:start], SECRET_TEXT]
        end = stop
    return "".join([*shown, text[end:]])


def _assigned(text: str, assigned: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand in a text that are assigned to a name, without their quotes."""
    end = 0
    for lead in assigned.finditer(text):
        if lead.start() < end:
            continue  # inside of a secret
        if lead[0][-1].isspace() and lead["name"][0] != "-" and ":" not in lead[0]:
            continue  # two words that follow each other
        if not names_secret(lead["name"]):
            continue
        value = _VALUE.match(text, lead.end(), lead.end() + _ENOUGH)
        if value and is_literal_secret(lead["name"], value[0]):
            start, end = (_VALUE.match(text, lead.end()) or value).span()
            quoted = text[start] in "'\""
            closed = quoted and end - start > 1 and text[end - 1] == text[start]
            yield start + quoted, end - closed


def _parts(text: str) -> Iterator[str]:
    for found in _FORMS.finditer(text):
        yield found["password"] or found["bearer"] or found[0]
    for start, end in _assigned(text, _SCRIPT):
        yield text[start:end]


def replace_secrets(value: Any, replace: Replace, name: str = "") -> Any:  # noqa: ANN401  any JSON value
    """Return a value in which each secret, and each text with one in it, is what ``replace`` makes of it."""
    if isinstance(value, str):
        shown = _shown(value, name)
        return value if shown == value else replace(value, shown)
    if isinstance(value, dict):
        return _map(value, replace)
    if isinstance(value, list | tuple):
        return _list(value, replace, name)
    return replace(value, SECRET_TEXT) if names_secret(name) and is_literal_secret(name, value) else value


@functools.lru_cache(maxsize=1 << 13)
def _shown(text: str, name: str) -> str:
    """Return a text as it may be shown where it has this name."""
    return SECRET_TEXT if names_secret(name) and is_literal_secret(name, text) else _masked(text)


def replace_in_object(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    """Do the same for a Kubernetes object, whose identity stays plain, whatever it looks like."""
    replaced = _map({key: inner for key, inner in value.items() if key not in _IDENTITY}, replace)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and "annotations" in metadata:
        annotations = replace_secrets(metadata["annotations"], replace)
        replaced = {**replaced, "metadata": {**metadata, "annotations": annotations}}
    return {**value, **replaced, "kind": value["kind"]} if "kind" in value else {**value, **replaced}


_IDENTITY = ("apiVersion", "metadata")


def _map(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    """Replace in a map; one with nothing to replace is returned as it is, as nearly all are."""
    replaced: dict[str, Any] = {}
    of_secret = value.get("kind") == "Secret"
    for key, inner in value.items():
        if type(inner) is str and key != "value":  # most of what there is, and most of it no secret
            shown = _shown(inner, key)
            new = inner if shown == inner else replace(inner, shown)
        elif of_secret and key in ("data", "stringData"):
            new = _all(inner, replace)
        else:
            new = replace_secrets(inner, replace, _named(value) if key == "value" else str(key))
        if new is not inner:
            replaced[key] = new
    return {**value, **replaced} if replaced else value


def _named(value: dict[str, Any]) -> str:
    """Return the name that stands beside a value, as in an environment variable."""
    return next((value[key] for key in ("name", "key") if isinstance(value.get(key), str)), "value")


def _all(value: Any, replace: Replace) -> Any:  # noqa: ANN401  any JSON value
    """Replace every scalar: what a Secret holds is secret, whatever it looks like."""
    if isinstance(value, dict):
        return {key: _all(inner, replace) for key, inner in value.items()}
    if isinstance(value, list):
        return [_all(inner, replace) for inner in value]
    return value if value is None else replace(value, SECRET_TEXT)


def _list(value: list[Any] | tuple[Any, ...], replace: Replace, name: str) -> list[Any] | tuple[Any, ...]:
    """Replace in a list; in a command line, the value of a flag is the word that follows it."""
    result: list[Any] = []
    flag = ""
    for item in value:
        is_flag = isinstance(item, str) and item.startswith("-")
        result.append(replace_secrets(item, replace, "" if is_flag else flag or name))
        flag = item if is_flag and names_secret(item) else ""
    return result if any(map(operator.is_not, result, value)) else value
