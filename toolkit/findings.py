"""Findings as messages for the screen."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .screen import Message

if TYPE_CHECKING:
    from components.contract.findings.sarif import ReportedFinding

_PLAIN = ("contract", "settings")
"""Rules that only refer to the message. Their ids are not printed: they cannot be looked up or ignored."""


def messages_of(findings: "Iterable[ReportedFinding]") -> list[Message]:
    """Return findings as messages: their cause, and what to do."""
    return [_message(finding) for finding in findings]


def _message(finding: "ReportedFinding") -> Message:
    from components.contract.findings.advice import advice

    cause, step = advice(finding.reason, str(finding.rule))
    if not step and finding.severity != "note" and finding.rule not in _PLAIN:
        step = f"`workbench explain --finding {finding.rule}` describes it"
    title = f"{finding.kind}/{finding.name}" if finding.kind else ""
    return Message(
        severity="ignored" if finding.ignored else str(finding.severity),
        rule="" if finding.rule in _PLAIN else str(finding.rule),
        place=f"{finding.file}:{finding.line}" if finding.line else finding.file,
        subject=" ".join(filter(None, (title, finding.path))),
        cause=cause,
        help=finding.ignored or step,
    )
