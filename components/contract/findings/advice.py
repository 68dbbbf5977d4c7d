"""Separates what is wrong from what to do about it, in the messages of findings.

A message is one text, because exceptions, SARIF and logs show it as one. By convention it names what was found and
what is allowed, and then, after a semicolon or in a sentence of its own, the next step in the imperative: ``must be
at most 8, found 16; lower it``.
"""

import re
from typing import NamedTuple

from .ids import RuleId
from .registry import rule

_VERBS = (
    "add|allow|annotate|apply|ask|assign|attach|avoid|bind|build|bump|call|change|check|choose|"
    "combine|configure|connect|convert|copy|correct|create|declare|define|delete|deploy|describe|"
    "disable|divide|drop|edit|enable|end|enlarge|export|extend|fix|give|grant|increase|indent|"
    "insert|install|join|keep|leave|let|limit|list|look|lower|make|mark|measure|merge|migrate|"
    "mount|move|name|omit|open|pass|pick|place|point|prefix|provide|publish|pull|put|quote|"
    "raise|reduce|register|remove|rename|render|repeat|replace|request|restore|restrict|retry|round|run|save|"
    "scale|see|select|serve|set|share|shorten|simulate|specify|spell|split|start|state|stop|"
    "store|switch|take|tell|try|turn|unset|update|upgrade|use|verify|wait|widen|write"
)
_NEXT_STEP = re.compile(
    r"(?:; |\. )(?=did you mean |or set |`workbench |(?:if [^;,]+, )?"
    # What follows tells an imperative from a noun, as in "; name is required".
    rf"(?:{_VERBS})\b(?!-| (?:is|are|was|by|must|has|have|of)\b))",
    re.IGNORECASE,
)
_PLAIN = (RuleId.CONTRACT, RuleId.SETTINGS)
"""Rules whose description only refers to the message."""


class Advice(NamedTuple):
    """A message in two parts.

    Attributes:
        cause: What is wrong.
        help: What to do; empty if neither the message nor the description of the rule tells.
    """

    cause: str
    help: str


def advice(reason: str, rule_id: str) -> Advice:
    """Separate a message; without a next step, take that of the rule's description.

    Args:
        reason: The message of a finding.
        rule_id: The rule of the finding.
    """
    cause, step = split_message(reason)
    if step or rule_id in _PLAIN or rule_id not in [*RuleId]:
        return Advice(cause, step)
    return Advice(cause, _described(rule_id))


def split_message(reason: str) -> Advice:
    """Separate a message at the first step in the imperative."""
    for match in _NEXT_STEP.finditer(reason):
        before = reason[: match.start()]
        if _is_open(before):
            continue
        return Advice(before.rstrip("."), reason[match.end() :].rstrip("."))
    return Advice(reason.rstrip("."), "")


def _is_open(text: str) -> bool:
    """Whether a text ends inside parentheses or quotes."""
    return text.count("(") > text.count(")") or text.count("`") % 2 == 1


def _described(rule_id: str) -> str:
    """Return the sentences of a rule's description from the first step on."""
    return split_message(rule(RuleId(rule_id)).help).help
