"""The page of the package: its program runs, and its table names what is public."""

import re
import runpy
from pathlib import Path

import pytest

import livefleet

PAGE = Path(livefleet.__file__).with_name("README.md").read_text(encoding="utf-8")


def test_the_program_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "program.py"
    path.write_text(program)
    runpy.run_path(str(path))
    answered, median = capsys.readouterr().out.splitlines()
    found = re.fullmatch(r"(\d+) of (\d+) requests to qwen2-7b were answered", answered)
    assert found
    assert found[1] == found[2] != "0"
    assert re.fullmatch(r"time to the first token, median: \d+\.\d{3} s, simulated", median)


def test_the_table_lists_every_public_name_and_no_other() -> None:
    table = PAGE.partition("## Public names")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(livefleet.SURFACE)


@pytest.mark.parametrize(
    "folder", sorted(re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What is where")[2], re.MULTILINE))
)
def test_every_folder_that_it_names_exists(folder: str) -> None:
    assert (Path(livefleet.__file__).parent / folder).is_dir()


def test_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (Path(livefleet.__file__).parent / link).exists(), link
