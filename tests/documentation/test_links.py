"""Relative links of the documentation lead to files, and their anchors to headings."""

import re
from pathlib import Path

import pytest

from tests.documentation.blocks import PAGES, ROOT

DOCS = [*PAGES, ROOT / "CHANGELOG.md"]


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page: Path, text: str) -> list[str]:
    """Relative links in the text of a page that lead nowhere."""
    wrong = []
    for link in re.findall(r"\]\(<?([^)\s>]+)>?\)", re.sub(r"`[^`\n]*`", "", text)):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a](aws.md#efa)", []),
        ("[a](https://example.com/absent.md)", []),
        ("[a](absent.md)", ["absent.md"]),
        ("[a](aws.md#absent)", ["aws.md#absent"]),
        ("[a](#absent)", ["#absent"]),
    ],
)
def test_a_broken_link_is_found(text: str, wrong: list[str]) -> None:
    assert broken(ROOT / "docs/aws.md", text) == wrong
