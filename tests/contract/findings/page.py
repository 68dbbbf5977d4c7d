"""The sections of ``docs/findings.md``, one per rule: ``make findings-page`` writes them from the registry."""

import textwrap
from collections.abc import Iterator

from components.contract.findings.registry import RuleInfo, rules
from tests.layers.modules import ROOT

PAGE = ROOT / "docs/findings.md"
START = "<!-- Written by `make findings-page` from components/contract/findings/registry.yaml: edit that instead. -->"
_WIDTH = 120


def written_by_hand() -> str:
    """Return what stands before the sections."""
    return PAGE.read_text(encoding="utf-8").partition(START)[0]


def sections() -> str:
    """Return the sections as they should be."""
    return "\n".join(line for each in rules().values() for line in _section(each))


def _section(each: RuleInfo) -> Iterator[str]:
    use = "may be ignored" if each.may_be_ignored else "cannot be ignored"
    yield from (f"### {each.id}", "", f"{each.title}. *{each.severity.capitalize()}, {use}.*", "")
    yield from (textwrap.fill(each.help, _WIDTH, break_long_words=False, break_on_hyphens=False), "")


def page() -> str:
    """Return the whole page as it should be."""
    return f"{written_by_hand()}{START}\n\n{sections()}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
