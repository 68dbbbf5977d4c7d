"""The code blocks of the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))


@dataclass(frozen=True, slots=True)
class Block:
    """One block, and where it stands."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """Every block in one of the languages, or in any."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(page.relative_to(ROOT).as_posix(), line, match[1], match[2]))
    return [block for block in found if not languages or block.language in languages]


def commands(text: str) -> list[str]:
    """What is typed in a console: what follows a prompt, and what a comment beside it offers instead."""
    typed = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    offered = [match[1] for line in typed if (match := re.search(r"# or: (.*)", line))]
    return [line.partition("  #")[0].strip() for line in (*typed, *offered)]


def inline_commands() -> list[str]:
    """Commands of ours that stand within sentences and tables."""
    spans = [span for page in PAGES for span in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))]
    parts = [part.strip().removeprefix("python -m ") for span in spans for part in span.split("&&")]
    return sorted({part for part in parts if part.startswith(("workbench ", "make "))})
