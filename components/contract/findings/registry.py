"""Titles and descriptions of all rules, loaded on first use."""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..problems import Severity
from ..tables import load_table
from .ids import FINAL, RuleId

DOCUMENT = "docs/findings.md"
"""Page of the documentation with a section for each rule."""


class RuleInfo(NamedTuple):
    """The description of a rule.

    Attributes:
        title: What was found, in a few words.
        severity: How bad a finding is at its worst.
        help: What it means, and what to do.
    """

    id: RuleId
    title: str
    severity: Severity
    help: str

    @property
    def may_be_ignored(self) -> bool:
        """Whether an annotation or a setting may ignore findings of it."""
        return self.id not in FINAL

    @property
    def anchor(self) -> str:
        """The section of the documentation: its heading is the id."""
        return f"{DOCUMENT}#{self.id}"


@functools.cache
def rules() -> Mapping[RuleId, RuleInfo]:
    """Return every rule, in the order of the registry."""
    rows = load_table(__package__, "registry.yaml")
    return MappingProxyType(
        {
            RuleId(name): RuleInfo(RuleId(name), row["title"], Severity(row["severity"]), row["help"])
            for name, row in rows.items()
        }
    )


def rule(id_: RuleId) -> RuleInfo:
    """Return what a rule means."""
    return rules()[id_]
