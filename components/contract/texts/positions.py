"""Hides the values of variables, headers, arguments and files in an object, unless they are known to be harmless."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .harmless import is_harmless, is_path, is_plain, is_shell_word, knows_flag, most_values
from .hidden import HIDDEN

Hide = Callable[[str], str]
"""Takes a text that must not be shown, and returns the text that reports contain instead."""

_VARIABLES = frozenset({"env", "envs", "environment", "extraEnv", "extraEnvs", "envVars"})
_ARGUMENTS = frozenset({"args", "command", "cmd", "arguments", "entrypoint"})
_HEADERS = frozenset({"headers", "requestHeaderModifier", "responseHeaderModifier"})
_MODIFIERS = frozenset({"set", "add"})
"""Fields of a header modifier with headers; elsewhere, ``add`` lists capabilities."""
_SCHEMAS = "CustomResourceDefinition"
"""A kind whose fields describe variables and arguments, and hold none."""
_FILES = frozenset({"userData", "userDataBase64", "user_data", "user_data_base64"})
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_SHORT_FLAG = 4
"""Most characters of a flag with one dash, which may be joined with its value, as in ``-psecret``."""
_LONGEST_FLAG = 60
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_WORD = re.compile(r"(?:\$\([^()]*\)|`[^`]*`|\"(?:\\.|[^\"\\])*\"?|'[^']*'?|\\.|[^\s\"';&|()<>\\`])+", re.DOTALL)
"""A word of a shell command."""
_PROGRAM = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,40}\d{0,2}(?:\.\d{1,2})?")
_SPACE = re.compile(r"[ \t]+")
_MODEL = re.compile(r"(?:hf|modelscope|s3|gs|oss|oci|ollama|pvc|host)://\S+|[\w.-]+/[\w.-]+(?::[\w.-]+)?", re.ASCII)
"""The id or the address of a model, the only positional argument of engines."""


def harmless_only(value: Any, hide: Hide, *, files: bool = True) -> Any:  # noqa: ANN401  any JSON value
    """Return a value with the texts in it that are not known to be harmless as ``hide`` returns them.

    Only variables, headers, arguments and files are examined; a value without any is returned itself.

    Args:
        value: The value.
        hide: Returns the replacement of a hidden text.
        files: Whether to hide the files of ConfigMaps too, which this project may have written itself.
    """
    if isinstance(value, list):
        return _unchanged(value, [harmless_only(item, hide, files=files) for item in value])
    if not isinstance(value, dict) or value.get("kind") == _SCHEMAS:
        return value
    is_file_map = files and value.get("kind") == "ConfigMap"
    result: dict[Any, Any] = {}
    for key, inner in value.items():
        if isinstance(inner, str):
            is_file = key in _FILES or key == _LAST_APPLIED
            result[key] = hide(inner) if is_file and inner and not HIDDEN.fullmatch(inner) else inner
            if _takes_arguments(key):
                result[key] = _script(inner, hide)
        elif not isinstance(inner, dict | list):
            result[key] = inner
        elif key in _FILES or key == _LAST_APPLIED:
            result[key] = _leaves(inner, hide)
        elif is_file_map and key in ("data", "binaryData") and isinstance(inner, dict):
            result[key] = {name: _file(text, hide) for name, text in inner.items()}
        elif key in _VARIABLES:
            result[key] = _named_values(inner, hide, header=False)
        elif _takes_arguments(key):
            if isinstance(inner, list):
                result[key] = _arguments(inner, hide)
            else:
                result[key] = _flags_in_map(inner, hide, files=files)
        elif isinstance(key, str) and (key in _HEADERS or key.endswith("Headers")):
            result[key] = _named_values(inner, hide, header=True)
        else:
            result[key] = harmless_only(inner, hide, files=files)
    return value if all(result[key] is inner for key, inner in value.items()) else result


def _takes_arguments(key: object) -> bool:
    return isinstance(key, str) and (key in _ARGUMENTS or key.lower().endswith("args"))


def _leaves(value: Any, hide: Hide) -> Any:  # noqa: ANN401
    """Hide the texts in a map or a list where the API expects a text; its keys are shown."""
    if isinstance(value, dict):
        return {key: _leaves(inner, hide) for key, inner in value.items()}
    if isinstance(value, list):
        return _unchanged(value, [_leaves(item, hide) for item in value])
    return hide(value) if isinstance(value, str) and not is_harmless(value.strip(), "") else value


def _flags_in_map(flags: dict[Any, Any], hide: Hide, *, files: bool) -> dict[Any, Any]:
    """Hide the values of flags in a map, as in the values of charts."""
    if flags.keys() <= {"name", "flags"}:  # llmaz until v0.1.0: a named list of arguments
        name, words = flags.get("name"), flags.get("flags")
        shown = {
            "name": name if isinstance(name, str) and is_plain(name) else _leaves(name, hide),
            "flags": _arguments(words, hide) if isinstance(words, list) else _leaves(words, hide),
        }
        return {key: shown[key] for key in flags}
    return {
        name: _named(value, f"--{name}", hide, header=False)
        if isinstance(value, str)
        else harmless_only(value, hide, files=files)
        for name, value in flags.items()
    }


def _unchanged(old: list[Any], new: list[Any]) -> list[Any]:
    return old if all(a is b for a, b in zip(old, new, strict=True)) else new


def _named_values(value: Any, hide: Hide, *, header: bool) -> Any:  # noqa: ANN401
    """Hide values in a list of names with their values, or a map of them."""
    if isinstance(value, list):
        result = []
        for item in value:
            if isinstance(item, str):
                item = _assignment(item, hide)
            elif isinstance(item, dict) and "value" in item:
                name = item.get("name") if isinstance(item.get("name"), str) else ""
                item = {**item, "value": _named(item["value"], str(name), hide, header=header)}
            else:
                item = harmless_only(item, hide) if isinstance(item, dict) else _leaves(item, hide)
            result.append(item)
        return result
    if isinstance(value, dict):
        if header and not _MODIFIERS.isdisjoint(value):
            return {key: _named_values(inner, hide, header=header) for key, inner in value.items()}
        return {key: _named(inner, str(key), hide, header=header) for key, inner in value.items()}
    return value


def _named(value: Any, name: str, hide: Hide, *, header: bool) -> Any:  # noqa: ANN401
    """Hide a value with a name."""
    if isinstance(value, str):
        return value if is_harmless(value.strip(), name, header=header) else _text(value, name, hide)
    if header and isinstance(value, dict):
        return {key: _named(inner, name, hide, header=header) for key, inner in value.items()}  # a match of a route
    if isinstance(value, dict | list) and value:
        return hide(json.dumps(value, default=str))  # the API server accepts only texts
    if isinstance(value, bool | dict | list) or value is None or is_harmless(str(value), name):
        return value
    return hide(str(value))


def _text(value: str, name: str, hide: Hide) -> str:
    """Hide a value that is not harmless as a whole; of a list, only the items that are not."""
    words = value.split(",")
    if len(words) > 1 and "\n" not in value and all(is_harmless(word.strip(), name) for word in words):
        return value
    return hide(value)


def _file(text: Any, hide: Hide) -> Any:  # noqa: ANN401
    if not isinstance(text, str) or is_harmless(text.strip(), ""):
        return text
    return hide(text)


def _arguments(words: list[Any], hide: Hide) -> list[Any]:
    """Hide words of a command line, such as the values of unknown flags."""
    result: list[Any] = []
    flag = ""
    for word in words:
        if not isinstance(word, str):
            shown = word if word is None or is_harmless(str(word), flag) else hide(str(word))
            result.append(shown if isinstance(word, int | float | None) else _leaves(word, hide))
            continue
        shown_word, flag = _argument(word, flag, hide, is_first=not result)
        result.append(shown_word)
    return _unchanged(words, result)


def _argument(word: str, flag: str, hide: Hide, *, is_first: bool = False) -> tuple[str, str]:
    """Return how a word of a command line is shown, and the flag whose values follow."""
    if word[:1] == "-" and word not in ("-", "--") and not is_harmless(word, ""):
        name, equals, value = word.partition("=")
        if not _is_flag(name):
            name, _, value = word.partition(" ")
            is_shown = value and _is_flag(name) and is_harmless(value, name)  # one argument that should be two
            return (word if is_shown else hide(word)), ""
        if not equals:
            return word, "" if most_values(name) == 0 else name
        return (word if is_harmless(value, name) else f"{name}={hide(value)}"), ""
    if any(map(str.isspace, word)):
        if is_harmless(word, flag):
            return word, flag
        return (_script(word, hide) if flag in _SCRIPT_FLAGS else hide(word)), ""
    if is_harmless(word, flag) or (not flag and _is_positional(word, is_first=is_first)):
        return word, "" if most_values(flag) == 1 else flag
    if flag in ("-m", *_SCRIPT_FLAGS) and is_plain(word):
        return word, ""
    assigned = _ASSIGNED.fullmatch(word)
    if not flag and assigned and assigned["value"].strip("=") and is_plain(assigned["name"]):
        name, value = assigned["name"], assigned["value"]
        return (word if is_harmless(value, name) else f"{name}={hide(value)}"), ""
    return hide(word), "" if most_values(flag) == 1 else flag


_SCRIPT_FLAGS = ("-c", "-ec", "-exc", "-lc", "-euc", "-eu", "-ex", "-e")


def _is_flag(name: str) -> bool:
    """Whether a word is a flag alone, without a value or a secret that is joined to it."""
    if not _FLAG.fullmatch(name) or len(name) > _LONGEST_FLAG or not is_plain(name):
        return False
    return name.startswith("--") or len(name) <= _SHORT_FLAG or knows_flag(name)


def _is_positional(word: str, *, is_first: bool) -> bool:
    """Whether a word without a flag is a program, a path or the id of a model."""
    if is_shell_word(word) or is_path(word):
        return True
    if is_first and _PROGRAM.fullmatch(word):
        return is_plain(word)
    return _MODEL.fullmatch(word) is not None and is_plain(word)


def _assignment(text: str, hide: Hide) -> str:
    """Hide the value in ``NAME=value``."""
    assigned = _ASSIGNED.fullmatch(text)
    if assigned is None:
        return text if is_harmless(text.strip(), "") else hide(text)
    return (
        text if is_harmless(assigned["value"], assigned["name"]) else f"{assigned['name']}={hide(assigned['value'])}"
    )


def _script(text: str, hide: Hide) -> str:
    """Hide the words of a script that are not known to be harmless; adjacent ones as one."""
    pieces: list[str] = []
    end = hidden_from = 0
    is_hidden = False
    flag, is_first = "", True

    def close(at: int) -> None:
        nonlocal is_hidden
        if is_hidden:
            pieces.append(hide(text[hidden_from:at]))
        is_hidden = False

    for match in _WORD.finditer(text):
        between, word = text[end : match.start()], match[0]
        if "\n" in between or any(mark in between for mark in ";&|("):
            flag, is_first = "", True
        shown, flag = _script_word(word, flag, hide, is_first=is_first)
        is_first = False
        if shown == word or shown != hide(word):
            close(end)
            pieces += [between, shown]
        elif is_hidden and _SPACE.fullmatch(between):
            pass
        else:
            close(end)
            pieces.append(between)
            hidden_from, is_hidden = match.start(), True
        end = match.end()
    close(end)
    pieces.append(text[end:])
    return "".join(pieces)


def _script_word(word: str, flag: str, hide: Hide, *, is_first: bool) -> tuple[str, str]:
    inner = word
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        inner = word[1:-1]
    if any(map(str.isspace, inner)):
        return (word, flag) if is_harmless(inner, flag) else (hide(word), "")
    # The first word of a command is a program, whose name a script rarely keeps secret; a random one is hidden.
    shown, flag = _argument(inner, flag, hide, is_first=is_first)
    return (word if shown == inner else hide(word) if shown == hide(inner) else shown), flag


def texts_in(text: str) -> Iterator[str]:
    """Yield the parts of a hidden text that messages may quote alone: its words, and the values of JSON in it."""
    yield from (match[0].strip("'\"") for match in _WORD.finditer(text))
    if text.lstrip()[:1] in ("{", "["):
        try:
            pending = [json.loads(text)]
        except (ValueError, RecursionError):
            return
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, list):
                pending += value
            elif isinstance(value, str):
                yield value


def harmless_at(value: Any, path: Sequence[str | int], kind: str, name: str, hide: Hide) -> Any:  # noqa: ANN401
    """Do the same for a part of an object.

    Args:
        value: The part.
        path: Its keys, indexes and names of items, as in ``spec.containers[main].env[HF_HOME].value``.
        kind: Kind of the object.
        name: Name of the variable or header, if the path has only its index.
        hide: Returns the replacement of a hidden text.
    """
    steps = [str(step) for step in path]
    for place, step in enumerate(() if kind == _SCHEMAS else steps):
        below = steps[place + 1 :]
        if step in _VARIABLES or step in _HEADERS or step.endswith("Headers"):
            below = [part for part in below if part not in _MODIFIERS]
            is_value = below[1:] == ["value"] or (len(below) == 1 and not isinstance(value, dict | list))
            if is_value:
                own = name or (below[0] if not below[0].isdigit() else _UNKNOWN)
                return _named(value, own, hide, header=step not in _VARIABLES)
            wrapped = [value] if isinstance(value, dict) and "value" in value else value
            shown = harmless_only({step: wrapped}, hide)[step]
            return shown[0] if wrapped is not value else shown
        if _takes_arguments(step) and not isinstance(value, list | dict):
            # Without the word before, the value of a flag cannot be told from a positional argument.
            return value if _is_lone(str(value)) else hide(str(value))
        if kind == "ConfigMap" and step in ("data", "binaryData") and place == 0:
            return (
                {key: _file(text, hide) for key, text in value.items()}
                if isinstance(value, dict)
                else _file(value, hide)
            )
    if kind == _SCHEMAS:
        return value
    last = steps[-1] if steps else ""
    return harmless_only({last: value}, hide)[last]


_UNKNOWN = "password"
"""The name of a variable whose name is unknown: it may be that of a secret."""


def _is_lone(word: str) -> bool:
    """Whether a word of a command line is harmless without the words before it."""
    return _is_flag(word) if word.startswith("-") else is_harmless(word, "") or _is_positional(word, is_first=False)
