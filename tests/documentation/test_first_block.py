"""The first block of the README, literally, in a fresh clone: it starts the fleet, a model answers, and tests run.

The environment is that of this test run, because tests do not install packages. The figures below the block are those
of the same block with empty caches.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT, Block, commands, page_blocks
from workbench.cluster.binaries import unbuilt

README, START = ROOT / "README.md", ROOT / "docs/index.md"
FEW_TESTS = "tests/contract/texts/test_printable.py tests/contract/test_quantity.py"
"""What ``make test`` runs here, because it would run this test too."""
SECONDS = 900
MODEL = "qwen-chat"
MINUTES = re.compile(r"models answer after about \d+ minutes, everything after about \d+")


def first_block(page: Path) -> Block:
    return next(block for block in page_blocks(page) if block.language == "console")


def test_readme_and_start_page_begin_with_the_same_block() -> None:
    typed = commands(first_block(README).text)
    assert [command.split()[:2] for command in typed] == [
        ["git", "clone"],
        ["cd", typed[1].split()[1]],
        ["make", "up"],
        ["make", "test"],
    ]
    assert first_block(START).text == first_block(README).text


@pytest.mark.parametrize("page", [README, START], ids=lambda page: page.name)
def test_minutes_and_a_picture_are_below_the_block(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    below = text[text.index(first_block(page).text) :].partition("\n## ")[0]
    assert MINUTES.search(" ".join(below.split()))
    assert re.search(r"^!\[[^\]]+\]\([\w/]+\.svg\)$", below, re.MULTILINE)


def test_both_pages_have_the_same_minutes() -> None:
    readme, start = (MINUTES.findall(" ".join(page.read_text(encoding="utf-8").split())) for page in (README, START))
    assert len(readme) == 1
    assert readme == start


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    """Where the block puts its clone; the cluster that it starts there is stopped."""
    if (missing := unbuilt()) and not os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
        pytest.skip(f"not built: {', '.join(missing)}")
    if subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("these files are not in a git repository that could be cloned")
    folder = tmp_path / commands(first_block(README).text)[1].split()[1]
    try:
        yield folder
    finally:
        if folder.exists():
            typed(folder, ["make down"], tmp_path)


def typed(folder: Path, lines: list[str], tmp_path: Path) -> str:
    """Type lines into one shell, which ends at the first that fails; return what they print."""
    installed = tmp_path / "installed"
    installed.touch()
    os.utime(installed, (time.time() + SECONDS, time.time() + SECONDS))  # newer than the files of the clone
    variables = {
        "REPOSITORY": str(ROOT),
        "MAKEFLAGS": f"VENV={sys.prefix} INSTALLED={installed}",
        "PYTEST_ADDOPTS": f"-p no:cacheprovider {FEW_TESTS}",
        "INFERENCE_PLATFORM_EXAMPLES": "5",
        "INFERENCE_PLATFORM_SHARD": "",
    }
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTEST_"))}
    done = subprocess.run(
        ["sh", "-e"],
        input="\n".join(lines),
        cwd=folder,
        env=inherited | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


@pytest.mark.control_plane
def test_the_first_block_works_as_it_stands(clone: Path, tmp_path: Path) -> None:
    lines = [line.removeprefix("$ ") for line in first_block(README).text.splitlines()]
    printed = typed(tmp_path, lines, tmp_path)
    assert re.search(r"^=* ?\d+ passed", printed, re.MULTILINE)
    assert "failed" not in printed.splitlines()[-1]
    assert not (clone / ".venv").exists()
    shown = typed(clone, [f"{sys.executable} -m workbench outputs --output json"], tmp_path)
    address = json.loads(shown[shown.index("{") :])["loopback"]["endpoints"][MODEL]
    asked = {"model": "qwen2-7b", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}
    request = urllib.request.Request(
        f"{address}/chat/completions", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    assert answer["choices"][0]["message"]["content"]
    assert "curl -N http://127.0.0.1:" in printed  # of one model; outputs has the addresses of all
    typed(clone, ["make down"], tmp_path)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(request, timeout=60)
