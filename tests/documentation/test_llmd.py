"""The page about llm-d: the note that it shows is what is printed, and its table has every sample."""

import re
import subprocess
import sys

from tests.documentation.blocks import ROOT, blocks

PAGE = "docs/llmd.md"
SAMPLES = ROOT / "stacks/variants"


def test_the_note_that_is_shown_is_what_is_printed() -> None:
    (shown,) = [" ".join(block.text.split()) for block in blocks("") if block.page == PAGE and not block.language]
    words = [
        sys.executable,
        "-m",
        "workbench",
        "validate",
        "stacks/variants",
        "--stack",
        "local",
        "--output",
        "lines",
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    assert shown in done.stdout.splitlines() + done.stderr.splitlines()


def test_every_sample_is_in_the_table() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| an? ", (ROOT / PAGE).read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(file.stem for file in SAMPLES.glob("*.yaml"))
