"""The code blocks of the documentation."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "docs/start", "docs/tasks")
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).glob("[!_]*.md"))),
)
"""Without ``_index.md``, whose programs are those of the schema (tests/registry)."""


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
    found = [block for page in PAGES for block in page_blocks(page)]
    return [block for block in found if not languages or block.language in languages]


def page_blocks(page: Path) -> list[Block]:
    """Every block of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page.relative_to(ROOT).as_posix(), text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


def file_name(block: Block) -> str | None:
    """The file that a block is, if its first line is a comment with the name."""
    found = re.match(r"# (\S+\.(?:yaml|py))\n", block.text)
    return found[1] if found else None


def body(block: Block) -> str:
    """A block without the name of its file."""
    return block.text.partition("\n")[2] if file_name(block) else block.text


def is_manifest(block: Block) -> bool:
    return body(block).startswith("apiVersion:")


def is_setting(block: Block) -> bool:
    return block.text.startswith("inference-platform:")


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
