"""Detects secrets in values and texts, and masks or replaces them. All callers share these rules.

A value is a secret because of its name (``HF_TOKEN``, ``--api-key``, ``clientSecret``; :mod:`.secret_names`), its
form (``hf_...``, a private key, a password in a URL), or its position in a command (``curl -u``;
:mod:`.secret_commands`).
References are not secrets: ``$(HF_TOKEN)``, a path, the name of a Secret.

Reports show less than that: only what is known to be harmless (:mod:`.harmless`). Everything else is replaced by its
length and a digest (:mod:`.hidden`).

- :func:`is_literal_secret`: whether a value with a given name is a secret, from :mod:`.literal_secrets`;
- :func:`masked`, :func:`masked_text`: a value or a text as reports show it;
- :func:`show_values`: turns that off for a terminal;
- :func:`replace_secrets`, :func:`replace_in_object`: a value with each secret replaced by a callback;
- :func:`secret_texts`: the secrets themselves, for messages that quote values in another format.
"""

import bisect
import functools
import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import yaml

from .harmless import is_harmless, is_plain, suspect_spans
from .hidden import HIDDEN, hidden
from .literal_secrets import FORMED, FORMS, HARMLESS, REFERENCE, SECRET_TEXT, is_literal_secret
from .positions import harmless_at, harmless_only, texts_in
from .secret_commands import STARTS_COMMAND, credential_words, script_credentials
from .secret_names import is_header, names_credential, names_secret

__all__ = [
    "SECRET_TEXT",
    "is_literal_secret",
    "masked",
    "masked_at",
    "masked_text",
    "names_secret",
    "quoted_texts",
    "replace_in_object",
    "replace_secrets",
    "secret_texts",
    "show_values",
]

Replace = Callable[[Any, Any], Any]
"""Returns the replacement of a secret, or of a value that contains one, given the value and its masked form."""

_NAMED = re.compile(
    r"token|key|pass|pwd|secret|credential|auth|cookie|masterauth|sig=|signature|login|" + STARTS_COMMAND,
    re.IGNORECASE,
)
_STEM = r"(?:token|key|pass|pwd|secret|credential|auth|cookie)"
_NAME = rf"(?<![\w$-])(?<!\$\{{)(?=[\w-]*?{_STEM})(?P<name>-{{0,2}}+[A-Za-z_][\w-]*+)"
_PROSE = re.compile(rf"{_NAME}(?:=|['\"]?(?::\s*|,\s*)(?=['\"]))", re.IGNORECASE)
"""A name and its separator in messages: ``NAME=value``, ``"name": "value"`` and ``'--flag', 'value'``."""
_SCRIPT = re.compile(
    rf"{_NAME}(?:(?P<equals>=(?!=)|['\"]\][ \t]*=(?!=)[ \t]*)|(?P<comma>['\"],[ \t]*)(?=['\"])"
    r"|(?P<mark>\\?['\"]?)(?P<colon>[ \t]*:[ \t]*)(?P<open>\\?['\"])?"
    r"|(?P<spaced>[ \t]+=(?!=)[ \t]*)|(?P<xml>>)|(?P<after>\s+)(?=[^\s=-]))",
    re.IGNORECASE,
)
"""The same in files that programs read: also ``name: value``, ``name = value``, ``["name"] = value``,
``--flag value`` and ``<name>value<``."""
_QUERY = re.compile(
    r"[?&;](?P<name>sig|signature|[\w.-]*-signature|sas|code|auth|key|access_key|pwd|pass)=(?P<value>[^\s&'\";#]+)",
    re.IGNORECASE,
)
"""Parameters of URLs that hold a secret, though their names often do not elsewhere."""
_VALUE = re.compile(r"\"[^\"]*\"?|'[^']*'?|[^\s\"';&|,)]+")
_WORD = re.compile(r"(?:\$\([^()]*\)|`[^`]*`|\"(?:\\.|[^\"\\])*\"?|'[^']*'?|\\.|[^\s\"';&|()\\`])+", re.DOTALL)
"""A word of a shell command."""
_LINE_START = re.compile(r"(?:^|[\n\r])[ \t]*(?:-[ \t]+|#+[ \t]*|export[ \t]+|set[ \t]+)?['\"]?\Z")
_HEADER_LEAD = re.compile(
    r"(?:(?<![\w-])-[A-Za-z]{0,8}H|--header|(?:set|add|extra)_?header)[ \t=]*\\?['\"]?\Z", re.IGNORECASE
)
_QUOTED = re.compile(r"[\"']\Z")
_SENTENCE = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "cannot", "comes", "do", "does", "for"),
        *("from", "has", "have", "if", "in", "is", "it", "its", "may", "must", "not", "of", "on", "one"),
        *("only", "or", "see", "set", "should", "shown", "the", "this", "that", "to", "unless", "use"),
        *("used", "uses", "was", "what", "when", "where", "which", "who", "will", "with", "without"),
        *("you", "your"),
    }
)
"""Words that distinguish a sentence from a passphrase of several words."""
_DESCRIBED = frozenset(
    {
        *("required", "optional", "string", "str", "int", "integer", "boolean", "bool", "object"),
        *("secret", "token", "password", "key", "any", "unset", "missing", "invalid", "expired", "valid"),
    }
)
"""Words that follow a name and a colon in descriptions and logs."""
_VERSION = re.compile(r"v?\d[\w.-]*|latest|main|stable|dev|nightly", re.IGNORECASE)
_NETRC = re.compile(r"\b(?:login|machine)\s+\S+\s+(?:login\s+\S+\s+)?password\s+(?P<value>\S+)")
_DEFAULT = re.compile(r"\$\{(?P<name>\w+):?[-=](?P<value>[^{}]+)\}")
_DIRECTIVE = re.compile(r"(?m)^\s*(?:requirepass|masterauth)\s+(?P<value>\S+)")
_ENOUGH = 4096
"""Maximum number of characters of a value that are examined, which bounds the time of the regular expressions."""
_LONGEST_DOCUMENT = 1 << 16
_HIDDEN = "<secret>"
"""Replaces ``[secret]`` and hidden texts before parsing YAML, which would read the brackets as a list."""
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*\w")
_SECRET_DOCUMENT = re.compile(r"\bkind['\"]?:\s*['\"]?Secret\b")


def masked(value: Any, name: str = "", *, files: bool = True) -> Any:  # noqa: ANN401  any JSON value
    """Return a value as reports show it: texts that may be secrets as their length and digest.

    Args:
        value: The value.
        name: Its name, if it has one.
        files: Whether to hide the files of ConfigMaps as a whole, instead of the secrets that are found in them.
    """
    if _shows_values:
        return value
    harmless = harmless_only(value, hidden, files=files)
    return _without_random(replace_secrets(harmless, lambda _, masked_value: masked_value, name))


def masked_at(value: Any, path: Sequence[str | int], *, kind: str = "", name: str = "") -> Any:  # noqa: ANN401
    """Return a part of an object as reports show it.

    Args:
        value: The part.
        path: Where it is: keys, indexes, and names of items.
        kind: Kind of the object.
        name: Name of the variable or header that it is the value of, if the path has only the index.
    """
    if _shows_values:
        return value
    if kind == "Secret" and path and path[0] != "metadata":
        return _all(value, lambda _, masked_value: masked_value)
    harmless = harmless_at(value, path, kind, name, hidden)
    key = name or next((str(step) for step in reversed(path) if step != "value" and not str(step).isdigit()), "")
    shown = replace_secrets(harmless, lambda _, masked_value: masked_value, key)
    return _without_random(shown, path[-1] if path else "")


_shows_values = False


def show_values() -> None:
    """Show all values in the reports of this process, for a terminal that nobody else reads."""
    global _shows_values
    _shows_values = True


def _without_random(value: Any, key: object = "") -> Any:  # noqa: ANN401  any JSON value
    """Hide the parts of texts that look random, and the parameters of addresses."""
    if isinstance(value, str):
        return value if str(key).rpartition("/")[2] in _IDENTIFIERS else _hidden_spans(value, suspect_spans(value))
    if isinstance(value, dict):
        replaced = {name: _without_random(inner, name) for name, inner in value.items()}
        return value if all(map(operator.is_, value.values(), replaced.values())) else replaced
    if isinstance(value, list | tuple):
        items = [_without_random(item, key) for item in value]
        return value if all(map(operator.is_, value, items)) else items
    return value


_IDENTIFIERS = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "uid",
        "revision",
        "resourceVersion",
        "sha",
        "sha256",
        "digest",
        "fingerprint",
    }
)
"""Fields that hold random texts, which are no secrets."""


def _hidden_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with these spans hidden, but for those within a hidden text."""
    pieces, end = [], 0
    done = [match.span() for match in HIDDEN.finditer(text)]
    for start, stop in sorted(set(spans)):
        if start >= end and not any(first <= start < last for first, last in done):
            pieces += [text[end:start], hidden(text[start:stop])]
            end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


def secret_texts(value: Any, name: str = "") -> frozenset[str]:  # noqa: ANN401  any JSON value
    """Return the secrets in a value: complete values, and parts of texts."""
    secrets: set[str] = set()

    def remember(secret: Any, masked_value: Any) -> object:  # noqa: ANN401  any JSON value
        if isinstance(secret, dict):  # keys that are secrets; the values are replaced one by one
            secrets.update(key for key in secret if isinstance(key, str) and key not in masked_value)
        else:
            secrets.update((str(secret),) if HIDDEN.fullmatch(str(masked_value)) else _parts(str(secret)))
        return secret

    replace_secrets(value, remember, name)
    return frozenset(secrets)


def quoted_texts(value: Any) -> frozenset[str]:  # noqa: ANN401  any JSON value
    """Return the texts in a manifest that messages must hide if they quote them: secrets, and what may be one."""
    texts = set(secret_texts(value))

    def remember(text: str) -> str:
        texts.add(text)
        parts = (*texts_in(text), *map(str.strip, text.splitlines()))
        # A flag in a script is its name, not a value.
        texts.update(
            part
            for part in parts
            if len(part) > _SHORT and not is_harmless(part) and not (_FLAG.fullmatch(part) and is_plain(part))
        )
        return hidden(text)

    harmless_only(value, remember)
    return frozenset(texts)


def masked_text(text: str, known: Iterable[str] = (), *, is_kept: bool = False) -> str:
    """Return a text with known secrets, and parts that look like a secret, as their length and digest.

    Args:
        text: The text.
        known: The secrets.
        is_kept: Whether it is written to a file, which never shows values.
    """
    if _shows_values and not is_kept:
        return text
    text = _known_texts(frozenset(known)).hidden_in(text)
    text = _without(text, _assigned(text, _PROSE)) if _NAMED.search(text) else _without_forms(text)
    return _hidden_spans(text, suspect_spans(text))


class _KnownTexts:
    """Texts that messages must hide, as messages may quote them: whole, or only the beginning.

    Searching takes time in proportion to the message, not to the number of texts: many messages quote one manifest.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        forms = {form for text in texts for form in (text, json.dumps(text)[1:-1], repr(text)[1:-1])}
        forms.discard("")
        words = sorted((form for form in forms if len(form) <= _SHORT), key=lambda form: (-len(form), form))
        # A short one may also be a part of a word.
        alternatives = rf"(?<![\w-])(?P<word>{'|'.join(map(re.escape, words))})(?![\w-])"
        self._words = re.compile(f"{HIDDEN.pattern}|{alternatives}") if words else None
        self._longest = max(map(len, forms), default=0)
        self._starts: dict[str, list[str]] = {}
        """The sorted texts with each beginning."""
        for form in sorted(form for form in forms if len(form) > _SHORT):
            self._starts.setdefault(form[: _SHORT + 1], []).append(form)

    def hidden_in(self, text: str) -> str:
        """Return a text with these hidden."""
        pieces: list[str] = []
        end = 0
        if self._starts:
            for start in range(len(text) - _SHORT):
                group = self._starts.get(text[start : start + _SHORT + 1]) if start >= end else None
                quoted = self._quoted(text, start, group) if group else None
                if quoted:
                    form, length = quoted
                    pieces += [text[end:start], hidden(form)]
                    end = start + length
            text = "".join([*pieces, text[end:]]) if pieces else text
        if self._words is None:
            return text
        return self._words.sub(lambda match: hidden(match[0]) if match["word"] else match[0], text)

    def _quoted(self, text: str, start: int, group: Sequence[str]) -> tuple[str, int] | None:
        """Return the text that is quoted here, and how much of it; the longest of several."""
        rest = text[start : start + self._longest]
        at = bisect.bisect(group, rest)
        # Of sorted texts, the neighbours share the longest beginning with this one.
        near = [(form, _common(form, rest)) for form in group[max(0, at - 1) : at + 1]]
        form, length = max(near, key=lambda pair: pair[1])
        while at and not rest.startswith(group[at - 1]):
            shared = rest[: _common(group[at - 1], rest)]
            at = bisect.bisect(group, shared, 0, at - 1)
        whole = group[at - 1] if at else ""
        if length >= _BEGINNING and length > len(whole):
            return form, length
        return (whole, len(whole)) if whole else None


def _common(one: str, other: str) -> int:
    """Return the length of the beginning that two texts share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


@functools.lru_cache(maxsize=8)
def _known_texts(known: frozenset[str]) -> _KnownTexts:
    return _KnownTexts(known)


_FLAG = re.compile(r"--[a-z][a-z_-]*", re.ASCII)
_BEGINNING = 16
"""Least characters of the beginning of a secret that messages hide."""


_SHORT = 5


_LONGEST_CACHED = 512
"""Characters of a value of which the masked text is kept: arguments are shorter, and files would take gigabytes."""


def _masked_value(text: str, name: str) -> str:
    """Return the text of a value with its secrets masked; unlike messages, it is a file, a script or an argument."""
    mask = _masked if len(text) <= _LONGEST_CACHED else _masked.__wrapped__
    return str(mask(text, name))


@functools.lru_cache(maxsize=1 << 13)
def _masked(text: str, name: str) -> str:
    if names_secret(name) and is_literal_secret(name, text):
        return text if HIDDEN.fullmatch(text) else hidden(text)
    inner = _documents(text)
    secrets = secret_texts(inner) if inner is not None else frozenset[str]()
    if secrets:
        result = text
        for secret in sorted(secrets, key=lambda secret: (-len(secret), secret)):
            for line in filter(None, map(str.strip, secret.splitlines())):
                result = re.sub(rf"(?<![\w-]){re.escape(line)}(?![\w-])", hidden(line), result)
                result = result.replace(json.dumps(line)[1:-1], hidden(line)) if len(line) > _SHORT else result
        lines = (line for secret in secrets for line in secret.splitlines() if len(line.strip()) > _SHORT)
        if result == text or any(line.strip() in result for line in lines):
            return hidden(text)  # the text spells a secret differently, such as with escapes
        text = result
    if not _NAMED.search(text):
        return _without_forms(text)
    return _without(text, _assigned(text, _SCRIPT))


@functools.lru_cache(maxsize=1 << 12)
def _formed_key(key: Any) -> bool:  # noqa: ANN401  YAML has keys of any type
    """Tell whether the key of a map has a secret by its form. The same keys recur in every object."""
    return isinstance(key, str) and FORMED.search(key) is not None


def _without_forms(text: str) -> str:
    if not FORMED.search(text):
        return text
    return _hidden_spans(text, _formed(text))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with these spans, and all other secrets in it, hidden; of overlapping ones, the union."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted({*spans, *_formed(text), *_positional(text)}):
        if merged and start < merged[-1][1]:
            start, stop = merged[-1][0], max(merged.pop()[1], stop)
        merged.append((start, stop))
    return _hidden_spans(text, merged)


def _formed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets that are recognized by their form."""
    if FORMED.search(text):
        for match in FORMS.finditer(text):
            group = next((name for name in ("password", "bearer", "encoded") if match[name]), 0)
            yield match.span(group)


def _positional(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets that are recognized by their position: in a URL, a command, or a .netrc file."""
    for match in _QUERY.finditer(text):
        if "://" not in text[max(0, match.start() - _ENOUGH) : match.start()]:
            continue
        value = match["value"]
        if value.lower() in HARMLESS or REFERENCE.fullmatch(value):
            continue
        # Keys of stored objects and country codes are words; a secret has digits, or is long.
        may_be_word = match["name"].lower() in ("key", "code", "auth")
        if not (may_be_word and (value.isalpha() or "/" in value or "." in value)):
            yield match.span("value")
    for pattern in (_NETRC, _DIRECTIVE):
        for match in pattern.finditer(text):
            if not REFERENCE.fullmatch(match["value"].strip("'\"")):
                yield match.span("value")
    for match in _DEFAULT.finditer(text):
        if is_literal_secret(match["name"], match["value"]):
            yield match.span("value")
    for start, end in script_credentials(text):
        word = text[start:end].strip("'\"")
        if word.lower() not in HARMLESS and not all(map(REFERENCE.fullmatch, word.split(":")[-1:])):
            yield start, end


def _assigned(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of secrets that are assigned to a name, without their quotes.

    Args:
        text: The text.
        pattern: ``_PROSE`` for messages, ``_SCRIPT`` for files that programs read.
    """
    end = 0
    for lead in pattern.finditer(text):
        if lead.start() < end:
            continue  # inside a secret
        if not (names_secret(lead["name"]) or names_credential(lead["name"])):
            continue
        span = _quoted_value(text, lead) if pattern is _PROSE else _script_value(text, lead)
        if span is not None and span[0] < span[1]:
            yield span
            end = span[1]


def _quoted_value(text: str, lead: re.Match[str]) -> tuple[int, int] | None:
    value = _VALUE.match(text, lead.end(), lead.end() + _ENOUGH)
    if not value or not is_literal_secret(lead["name"], value[0]):
        return None
    after_comma = lead[0].rstrip().endswith(",")
    if after_comma and names_secret(value[0].strip("'\"")):
        return None  # a list of names
    return _inside(text, *(_VALUE.match(text, lead.end()) or value).span())


def _script_value(text: str, lead: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of the value of a name in a file that programs read; None if it is not a secret."""
    name, start = lead["name"], lead.end()
    if lead["open"]:
        start -= len(lead["open"])
        closing = text.find(lead["open"], lead.end())
        stop = closing if closing >= 0 else len(text)
        inner = text[lead.end() : min(stop, lead.end() + _ENOUGH)]
        return (lead.end(), stop) if is_literal_secret(name, inner) else None
    if lead["xml"]:
        stop = text.find("<", start)
        if text[max(0, lead.start() - 1) : lead.start()] != "<" or stop < 0 or stop - start > _ENOUGH:
            return None
        return (start, stop) if is_literal_secret(name, text[start:stop]) else None
    if lead["after"] and name[0] != "-" and not _HEADER_LEAD.search(text, max(0, lead.start() - 32), lead.start()):
        return None  # two words of a sentence
    before = text[max(0, lead.start() - 64) : lead.start()]
    at_start = _LINE_START.search(before if lead.start() > 64 else "\n" + before) is not None
    if lead["spaced"] and not at_start and text[start : start + 1] not in ("'", '"'):
        return None  # a comparison
    if lead["comma"] and not any(map(str.isdigit, text[start : start + _ENOUGH].split(text[start])[1])):
        return None  # a list of names
    if lead["colon"] is None:
        return _word(text, start, name)
    in_header = _HEADER_LEAD.search(before) is not None
    quoted = _QUOTED.search(before)
    if not (in_header or at_start or quoted or before.rstrip().endswith(("{", ","))):
        return None
    if lead["mark"] or before.rstrip().endswith(("{", ",")):
        return _word(text, start, name)  # an entry of a map on one line
    return _after_colon(text, lead, in_header=in_header, quote=quoted[0] if quoted else "")


def _after_colon(text: str, lead: re.Match[str], *, in_header: bool, quote: str) -> tuple[int, int] | None:
    """Return the span of the value in ``name: value``, which ends with the line or at the quote."""
    name, start = lead["name"], lead.end()
    spaced = lead["colon"][-1:].isspace()
    if in_header and not quote:
        return _word(text, start, name)
    ends = [end for mark in ("\n", "\r", *([quote] if quote else ())) if (end := text.find(mark, start)) >= 0]
    stop = min(ends, default=len(text))
    value = text[start : min(stop, start + _ENOUGH)].partition(" #")[0].rstrip().rstrip("\\,")
    words = value.split()
    if not words or not is_literal_secret(name, value):
        return None
    if not in_header and not is_header(name):
        # Random words are long, and have digits among letters.
        has_letters = any(map(str.isalpha, value))
        is_random = len(value) > _SHORT and not value.isalpha() and has_letters and "/" not in value
        if not spaced and (_VERSION.fullmatch(value) or not is_random):
            return None  # the tag of an image
        if len(words) == 1 and value.lower().rstrip(".") in _DESCRIBED:
            return None
        if len(words) > 1 and not {word.lower().strip(".,;:") for word in words}.isdisjoint(_SENTENCE):
            return None
    if value[0] in "|>" and len(value) < len(">-10"):
        return None  # a block on the following lines, which is read as YAML
    return _inside(text, start, start + len(value) if stop - start <= _ENOUGH else stop)


def _word(text: str, start: int, name: str) -> tuple[int, int] | None:
    value = _WORD.match(text, start, start + _ENOUGH)
    if not value:
        return None
    stop = value.end()
    if stop - start == _ENOUGH:
        stop = (_WORD.match(text, start) or value).end()
    first = text[start]
    if first in "'\"":  # in JSON and in programs, a string ends before a comma or a bracket
        closed = _VALUE.match(text, start)
        if closed and text[closed.end() : closed.end() + 1] in (",", "}", "]", ":", ""):
            stop = closed.end()
    if not is_literal_secret(name, text[start : min(stop, start + _ENOUGH)].rstrip(",}]")):
        return None
    return _inside(text, start, stop - (text[stop - 1] == ",") if stop - start > 1 else stop)


def _inside(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without its quotes."""
    quoted = text[start] in "'\"" and text.find(text[start], start + 1) in (-1, end - 1)
    closed = quoted and end - start > 1 and text[end - 1] == text[start]
    return start + quoted, end - closed


def _parts(text: str) -> Iterator[str]:
    """Yield the secrets in a text."""
    for start, end in _formed(text):
        yield text[start:end]
    if _NAMED.search(text):
        for start, end in (*_assigned(text, _SCRIPT), *_positional(text)):
            yield text[start:end]
    inner = _documents(text)
    if inner is not None:
        yield from secret_texts(inner)


class _Reader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]  # libyaml's, if PyYAML was built with it
    """Reads every scalar as text."""


def _documents(text: str) -> list[Any] | None:
    """Parse a text as JSON or YAML, if it may hold secrets that only its structure reveals."""
    if len(text) > _LONGEST_DOCUMENT or not (_NAMED.search(text) or _SECRET_DOCUMENT.search(text)):
        return None
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            return [json.loads(text)]
        except (ValueError, RecursionError):
            pass
    if "\n" not in text.strip() and start != "{":
        return None
    if ":" not in text or _ALIAS.search(text):
        return None  # aliases may expand without limit
    try:
        values = yaml.load_all(HIDDEN.sub(_HIDDEN, text.replace(SECRET_TEXT, _HIDDEN)), _Reader)
        documents = [value for value in values if isinstance(value, dict | list)]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return documents or None


def replace_secrets(value: Any, replace: Replace, name: str = "") -> Any:  # noqa: ANN401  any JSON value
    """Return a value in which each secret, and each text that contains one, is replaced by ``replace``."""
    if isinstance(value, str):
        masked_value = _masked_value(value, name)
        return value if masked_value == value else replace(value, masked_value)
    if isinstance(value, dict):
        return _map(value, replace, name)
    if isinstance(value, list | tuple):
        return _list(value, replace, name)
    return replace(value, hidden(value)) if names_secret(name) and is_literal_secret(name, value) else value


def replace_in_object(value: dict[str, Any], replace: Replace) -> dict[str, Any]:
    """Do the same for a Kubernetes object, whose apiVersion, kind, name and namespace are never masked."""
    replaced = _map({key: inner for key, inner in value.items() if key not in _IDENTITY}, replace)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        texts = {key: replace_secrets(metadata[key], replace) for key in _NOTES if key in metadata}
        replaced = {**replaced, "metadata": {**metadata, **texts}} if texts else replaced
    return {**value, **replaced, "kind": value["kind"]} if "kind" in value else {**value, **replaced}


_IDENTITY = ("apiVersion", "metadata")
_NOTES = ("annotations", "labels")
_POINTS = frozenset(
    {
        *("name", "key", "path", "file", "ref", "from", "type", "description", "properties", "audience", "kind"),
        *("expirationSeconds", "optional", "valueFrom", "secretName", "existingSecret", "enabled", "mode", "header"),
    }
)
"""Fields of a map with the name of a secret that refers to the secret, or describes it."""


def _map(value: dict[str, Any], replace: Replace, name: str = "") -> dict[str, Any]:
    """Replace secrets in a map; a map without any, as nearly all are, is returned itself.

    The keys and values of a map in place of a secret are secrets (``HF_TOKEN: {abc}`` is a map in YAML), unless the
    map refers to a secret or describes one.
    """
    replaced: dict[str, Any] = {}
    of_secret = value.get("kind") == "Secret"
    holds = (
        bool(name)
        and names_secret(name)
        and not any(
            key in _POINTS or (isinstance(key, str) and key.endswith(("Ref", "Refs", "Name"))) for key in value
        )
    )
    for key, inner in value.items():
        if type(inner) is str and key != "value" and not holds:  # the fast path of most values
            masked_value = _masked_value(inner, key)
            new = inner if masked_value == inner else replace(inner, masked_value)
        elif (of_secret and key in ("data", "stringData")) or (key == "auths" and isinstance(inner, dict)):
            new = _all(inner, replace)
        elif holds:
            new = replace_secrets(inner, replace, name)
        elif key == "args" and isinstance(inner, list) and isinstance(value.get("command"), list):
            new = _list(inner, replace, "", tuple(value["command"]))
        else:
            new = replace_secrets(inner, replace, _named(value) if key in ("value", "Value") else str(key))
        if new is not inner:
            replaced[key] = new
    result = {**value, **replaced} if replaced else value
    if not (holds or any(map(_formed_key, value))):
        return result
    keys: dict[Any, Any] = {}
    for key, inner in value.items():  # YAML has keys of any type
        is_secret = holds and inner is None
        keys[key] = key if not isinstance(key, str) else hidden(key) if is_secret else _without_forms(key)
    if all(map(operator.eq, keys, keys.values())):
        return result
    masked_map = {keys[key]: masked(inner, name if holds else str(key)) for key, inner in value.items()}
    secret: dict[str, Any] = replace(result, masked_map)
    return secret


def _named(value: dict[str, Any]) -> str:
    """Return the name next to a value, as in an environment variable; the key of a toleration is no such name."""
    if "operator" in value or "effect" in value:
        return "value"
    names = ("name", "key", "Name", "Key")
    return next((value[key] for key in names if isinstance(value.get(key), str)), "value")


def _all(value: Any, replace: Replace) -> Any:  # noqa: ANN401  any JSON value
    """Replace every scalar, as in the data of a Secret or the logins of registries."""
    if isinstance(value, dict):
        return {key: _all(inner, replace) for key, inner in value.items()}
    if isinstance(value, list):
        return [_all(inner, replace) for inner in value]
    if value in (None, "", SECRET_TEXT, _HIDDEN) or HIDDEN.fullmatch(str(value)):
        return value
    return replace(value, hidden(value))


def _list(
    value: list[Any] | tuple[Any, ...], replace: Replace, name: str, command: tuple[Any, ...] = ()
) -> list[Any] | tuple[Any, ...]:
    """Replace in a list; in a command line, the value of a flag is the word that follows it.

    Args:
        value: The list.
        replace: Returns the replacement of a secret.
        name: Name of the list.
        command: The command, if the list has its arguments.
    """
    result: list[Any] = []
    flag = ""
    words = credential_words((*command, *value))
    starts = {index - len(command): start for index, start in words.items()}
    for index, item in enumerate(value):
        is_flag = isinstance(item, str) and item.startswith("-")
        if index in starts and isinstance(item, str):
            start = starts[index]
            secret = item[start:]
            is_reference = REFERENCE.fullmatch(secret.rpartition(":")[2]) or HIDDEN.search(secret)
            if secret.lower() not in HARMLESS and not is_reference:
                result.append(replace(item, item[:start] + hidden(secret)))
                flag = ""
                continue
        result.append(replace_secrets(item, replace, "" if is_flag else flag or name))
        flag = item if is_flag and names_secret(item) else ""
    return result if any(map(operator.is_not, result, value)) else value
