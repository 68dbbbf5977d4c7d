"""Checks the value of an engine's flag: its type, its range, and whether the version supports it."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...contract.findings.ids import RuleId
from ...contract.problems import Severity, did_you_mean
from ..versions import Version
from .rows import ENUM, Form
from .tables import ARGPARSE, EngineFlags

_FILLED_LATER = re.compile(r"\$\([\w.-]+\)|\{\{.*\}\}")
_HUMAN = r"\d+(?:\.\d+)?[kKmMgGtT]"
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
_NONE = ("", "None")
"""Values that vLLM treats as "not set"."""
_SHOWN = 12
_SHORT = 4
"""Digits of a number that people write with a suffix."""
_WORDS = {
    "int": "a whole number",
    "human": "a whole number, optionally with a suffix such as k or M,",
    "float": "a number",
    "json": "JSON",
    "json_or_string": "JSON or a plain string",
    "string": "a string",
}


class ValueFault(NamedTuple):
    """A problem with a value; ``error`` if the engine rejects it, else ``warning``."""

    severity: Severity
    reason: str
    rule: RuleId = RuleId.FLAGS_MALFORMED


def is_filled_later(text: str) -> bool:
    """Return whether Kubernetes (``$(NAME)``) or a template replaces part of a text later."""
    return _FILLED_LATER.search(text) is not None


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in the value of a flag; None if it is anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def value_fault(name: str, text: str, form: Form, table: EngineFlags, version: Version | None) -> ValueFault | None:
    """Return the problem of a value of the flag ``name``, or None."""
    if is_filled_later(text) or (table.dotted and text in _NONE):
        return None
    if form.type == ENUM:
        return _choice_fault(name, text, form, version)
    if _is_valid(text, form, table):
        return None
    remedy = _share_of(text, form) or _accepted(text, form, table)
    return ValueFault(Severity.ERROR, f"{name} must be {expected_value(form, version)}, found {text!r}; {remedy}")


def _share_of(text: str, form: Form) -> str:
    """Return what to write in place of a percentage for a flag that takes a share; empty for other values."""
    digits = text.strip().removesuffix("%")
    if form.type != "float" or form.max != 1 or not digits.isdecimal() or not 1 < int(digits[:4]) <= 100:
        return ""
    return f"write {int(digits[:4]) / 100:g}: it is a share, not a percentage"


def _accepted(text: str, form: Form, table: EngineFlags) -> str:
    """Return what to write: the number in the text if it is one that the flag takes, or an example."""
    if form.type in ("json", "json_or_string"):
        return """write JSON such as '{"key": "value"}'"""
    number = re.search(r"\d+(\.\d+)?" if form.type == "float" else r"\d+", text)
    if form.type == "human":
        # A suffix is a thousand or 1024, so that the two examples are no conversion of each other.
        digits = number[0] if number and number[0].strip("0") and len(number[0]) <= _SHORT else "16"
        return f"write a number such as 16384, or one with a single suffix such as {digits}k"
    plain = re.sub(r"[\s,_'\"]", "", text)
    examples = [plain, *([number[0]] if number else []), "0.9", "8", "1", "0"]
    examples += [f"{bound:g}" for bound in (form.min, form.max) if bound is not None]
    valid = [example for example in examples if example not in ("", text) and _is_valid(example, form, table)]
    return f"write {'' if valid[0] == plain else 'a number such as '}{valid[0]}" if valid else "write a number"


def expected_value(form: Form, version: Version | None) -> str:
    """Describe the values that a flag accepts in a version, for messages."""
    if form.type == ENUM:
        return f"one of {_some_of(form.allowed(version))}"
    bounds = (("from", form.min), ("above", form.above), ("to", form.max), ("below", form.below))
    limits = "".join(f" {word} {bound:g}" for word, bound in bounds if bound is not None)
    return f"{_WORDS[form.type]}{limits}{''.join(f' or {word}' for word in form.words)}".rstrip(",")


def _choice_fault(name: str, text: str, form: Form, version: Version | None) -> ValueFault | None:
    allowed = form.allowed(version)
    choice = form.choice(text)
    if choice is None:
        hint = did_you_mean(text, allowed) or "; use one of them"
        reason = f"{name} must be {expected_value(form, version)}, found {text!r}{hint}"
        return ValueFault(Severity.WARNING if form.open else Severity.ERROR, reason)
    if not choice.span.includes(version):
        when = "no longer accepts" if choice.span.is_after(version) else "does not accept"
        hint = did_you_mean(text, allowed) or "; use one of them"
        reason = f"{name} {when} {text!r} in this version, only {_some_of(allowed)}{hint}"
        return ValueFault(Severity.ERROR, reason, RuleId.FLAGS_UNSUPPORTED)
    if choice.span.is_deprecated(version):
        others = [value for value in allowed if value != choice.value]
        return ValueFault(
            Severity.WARNING,
            f"{text!r} is deprecated as a value of {name}; use one of {_some_of(others)}",
            RuleId.FLAGS_DEPRECATED,
        )
    return None


def _some_of(values: Sequence[str]) -> str:
    rest = len(values) - _SHOWN
    return ", ".join(values[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _is_valid(text: str, form: Form, table: EngineFlags) -> bool:
    if form.type == "string" or text in form.words:
        return True
    if form.type == "json_or_string" and not text.lstrip().startswith("{"):
        return True
    if form.type in ("json", "json_or_string"):
        return _is_json(text)
    try:
        if form.type == "human" and re.fullmatch(_HUMAN, text.strip()):
            number = float(text.strip()[:-1])
        elif form.type == "float":
            number = float(text)
        else:
            # Python's int accepts underscores between digits, and so does argparse; other parsers reject them.
            number = int(text if table.style == ARGPARSE else text.replace("_", "?"))
    except ValueError:
        return False
    return (
        (form.min is None or number >= form.min)
        and (form.max is None or number <= form.max)
        and (form.above is None or number > form.above)
        and (form.below is None or number < form.below)
    )


def _is_json(text: str) -> bool:
    """Return whether a text is JSON, in which vLLM also accepts numbers with a suffix, such as ``80g``."""
    parts = _QUOTED.split(text)
    parts[::2] = [re.sub(rf"\b{_HUMAN}\b", "0", part) for part in parts[::2]]
    try:
        json.loads("".join(parts))
    except ValueError:
        return False
    return True
