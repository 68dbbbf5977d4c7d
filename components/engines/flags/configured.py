"""Writes flags and values that somebody gives as a map, such as ``{max_model_len: 131072, trust-remote-code: true}``.

What a value means depends on the flag: ``true`` turns a switch on, and is a word of its own where JSON is expected. A
flag that the engine's table lacks gets what most servers take.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .rows import BOOL, SWITCH, Flag, Form
from .splitting import is_flag
from .tables import LLAMA, EngineFlags, flags_of

_ON, _OFF = ("true", "on", "yes", "1"), ("false", "off", "no", "0")
_PLAIN = 1e21
"""Up to here a number without a fraction is written without an exponent, as ECMAScript does."""
_UNKNOWN = Form("string")


def words_of_config(engine: str, tag: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the arguments of a map from flags to values, each word with the key that it was made of.

    Args:
        engine: Name of the engine.
        tag: Tag of its image, as far as it tells the engine's version.
        config: Keys are flags without ``--``, with dashes or underscores. They are written in the order of their
            code points, as Kthena orders them.
    """
    return [(word, key) for key in sorted(config) for word in flag_words(engine, tag, flag_of_key(key), config[key])]


def flag_of_key(key: str) -> str:
    """Return the flag of a key: ``--max-model-len`` for ``max_model_len``."""
    return f"--{key.replace('_', '-')}"


def flag_words(engine: str, tag: str, flag: str, value: object) -> tuple[str, ...]:
    """Return how a flag is written with a value: a string, number, truth value, list or object, as JSON has them.

    ``""`` is the flag alone; ``false`` is what turns the flag off, or nothing where the flag is off unless it is
    there; a null is nothing. A value is written even where the flag cannot take it, for a check to see.

    Args:
        engine: Name of the engine.
        tag: Tag of its image, as far as it tells the engine's version.
        flag: Such as ``--max-model-len``.
        value: What it is given.
    """
    table = flags_of(engine)
    known = table.find(flag) if table else None
    form = known.form_in(table.version(tag)) if table and known else _UNKNOWN
    if value is None:
        return ()
    if isinstance(value, bool):
        return _truth(flag, known, form, table, on=value)
    if value == "":
        return (flag,)
    if isinstance(value, Sequence) and not isinstance(value, str) and known:
        return _several(flag, [_text(item) for item in value], _text(value), form)
    return _with_value(flag, _text(value), table)


def _truth(
    flag: str,
    known: Flag | None,
    form: Form,
    table: EngineFlags | None,
    *,
    on: bool,
) -> tuple[str, ...]:
    """Write a truth value, which a flag has by being there or takes as a word."""
    if known is None or form.type == SWITCH:
        return (flag,) if on else ()
    if form.type == BOOL:
        name = table.dashed(flag) if table else flag
        return (flag,) if on else (known.name if name in known.negatives else known.off or flag,)
    words = _ON if on else _OFF
    word = next(filter(form.choice, words), None)
    if form.nargs == "?" and (on or not word):
        return (flag,) if on else ()
    return (flag, word or words[0])


def _several(flag: str, items: Sequence[str], whole: str, form: Form) -> tuple[str, ...]:
    """Write a list: as several values, as several uses of the flag, or as JSON."""
    if form.nargs is not None and form.nargs != "?":
        return (flag, *items)
    if form.repeat:
        return tuple(word for item in items for word in (flag, item))
    return (flag, whole)


def _with_value(flag: str, text: str, table: EngineFlags | None) -> tuple[str, ...]:
    """Write a flag and its value, in one word where the value would be taken for a flag."""
    if table and table.style != LLAMA and is_flag(table, text):
        return (f"{flag}={text}",)
    return (flag, text)


def _text(value: object) -> str:
    """Write a value: numbers exactly, lists and objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _PLAIN:
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
