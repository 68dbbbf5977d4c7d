"""Each citation of a document in the sources leads to a section that the repository has."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT

UPSTREAM = ROOT / "docs/upstream"
DECISIONS = ROOT / "docs/decisions"
PAGES = {
    "kthena": "kthena.md",
    "llmkube": "llmkube.md",
    "llmaz": "llmaz.md",
    "wva": "wva.md",
    "lws": "lws-hpa.md",
    "lws-hpa": "lws-hpa.md",
    "aws-gpu": "aws-gpu.md",
}
_SECTION = r"(?:[VDA]-?\d+|\d+(?:\.\d+)*)"
_SECTIONS = rf"{_SECTION}(?:(?:,| and| to|-| or) ?{_SECTION})*"
CITATION = re.compile(
    rf"\b(?P<page>{'|'.join(PAGES)}) specs?\b(?:,? sections?)?,? (?P<sections>{_SECTIONS})", re.IGNORECASE
)
DECISION = re.compile(r"(?<!design )\bdecisions? (\d{1,4})\b", re.IGNORECASE)
CITING = (".py", ".yaml", ".csv", ".md")


def sections_of(page: Path) -> set[str]:
    """The numbers of a page's headings, of the items below each, and of its rules, checks and defects."""
    found = set()
    heading = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"#+ (\d+(?:\.\d+)*)", line):
            heading = match[1]
            found.add(heading)
        elif match := re.match(r"\| ([VDA]-?\d+) \|", line):
            found.add(match[1])
        elif match := re.match(r"(?:\| )?(\d+)(?:\.| \|) ", line):
            found.add(f"{heading}.{match[1]}")
    return found


SECTIONS = {name: sections_of(UPSTREAM / file) for name, file in PAGES.items()}
RECORDS = {int(file.name[:4]) for file in DECISIONS.glob("[0-9]*.md")}


def unresolved(text: str) -> Iterator[str]:
    """Citations in a text that lead nowhere."""
    for match in CITATION.finditer(text):
        known = SECTIONS[match["page"].lower()]
        yield from (match[0] for section in re.findall(_SECTION, match["sections"]) if section not in known)
    yield from (match[0] for match in DECISION.finditer(text) if int(match[1]) not in RECORDS)


def test_citations_lead_to_sections() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in tracked.stdout.split("\0") if name.endswith(CITING)]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.is_file() and file != Path(__file__)}
    assert sum(len(CITATION.findall(text)) for text in texts.values()) > 200
    wrong = {
        file.relative_to(ROOT).as_posix(): found for file, text in texts.items() if (found := [*unresolved(text)])
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(Kthena spec 3.2)", []),
        ("(Kthena spec 1.2 and 1.4: V1, V2)", []),
        ("(Kthena spec D-06)", []),
        ("(Kthena spec 33.2)", ["Kthena spec 33.2"]),
        ("(Kthena spec D-99)", ["Kthena spec D-99"]),
        ("(LLMKube spec 2, 4.33, 8)", ["LLMKube spec 2, 4.33, 8"]),
        ("(WVA spec 8.3 to 8.5)", []),
        ("aws-gpu spec section 3", []),
        ("([decision 57](x))", []),
        ("decision 9999", ["decision 9999"]),
    ],
)
def test_a_citation_that_leads_nowhere_is_found(text: str, wrong: list[str]) -> None:
    assert list(unresolved(text)) == wrong
