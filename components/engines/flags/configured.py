"""Converts a map of flags and values to arguments, such as ``{max_model_len: 131072, trust-remote-code: true}``.

The meaning of a value depends on the flag: ``true`` turns on a switch, but is written as a value if the flag takes
JSON. Unknown flags are written as most servers accept them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .rows import BOOL, SWITCH, Flag, Form
from .splitting import is_flag
from .tables import LLAMA, EngineFlags, flags_of

_ON, _OFF = ("true", "on", "yes", "1"), ("false", "off", "no", "0")
_PLAIN = 1e21
"""Whole numbers below this limit are written without an exponent, as in ECMAScript."""
_UNKNOWN = Form("string")


def words_of_config(engine: str, tag: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the arguments for a map from flags to values, each with the key it was generated from.

    Args:
        engine: Name of the engine.
        tag: Version tag of its image (:meth:`..registry.Engine.version_tag`).
        config: Keys are flags without ``--``, with dashes or underscores; sorted by code points, as in Kthena.
    """
    return [(word, key) for key in sorted(config) for word in flag_words(engine, tag, flag_of_key(key), config[key])]


def flag_of_key(key: str) -> str:
    """Return the flag of a key: ``--max-model-len`` for ``max_model_len``."""
    return f"--{key.replace('_', '-')}"


def flag_words(engine: str, tag: str, flag: str, value: object) -> tuple[str, ...]:
    """Return the arguments for a flag with a JSON value.

    ``""`` writes only the flag; ``false`` writes the negative form of the flag, or nothing if it is off by default;
    null writes nothing. Values that the flag does not accept are written nevertheless, so that the lint reports them.

    Args:
        engine: Name of the engine.
        tag: Version tag of its image (:meth:`..registry.Engine.version_tag`).
        flag: Such as ``--max-model-len``.
        value: A JSON value.
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
    text = _text(value)
    if isinstance(value, Sequence) and not isinstance(value, str) and known:
        if form.nargs is not None and form.nargs != "?":
            return (flag, *map(_text, value))
        if form.repeat:
            return tuple(word for item in value for word in (flag, _text(item)))
        return (flag, text)
    if table and table.style != LLAMA and is_flag(table, text):
        return (f"{flag}={text}",)  # in a word of its own, the value would be parsed as a flag
    return (flag, text)


def _truth(
    flag: str,
    known: Flag | None,
    form: Form,
    table: EngineFlags | None,
    *,
    on: bool,
) -> tuple[str, ...]:
    """Write a boolean, which switches express by their presence and other flags by a value."""
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


def _text(value: object) -> str:
    """Format a value: numbers exactly, lists and objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _PLAIN:
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
