"""The edge of the command line, in a process of its own: what nobody foresaw is one line and a file."""

import os
import runpy
import stat
import subprocess
import sys
from pathlib import Path

import pulumi
import pytest

from components.contract.texts.hidden import hidden

ROOT = Path(__file__).parents[2]
SECRET = "hf_" + "aB3" * 11
COMMAND = """
import sys
from pathlib import Path
from workbench.edge import run
from workbench.errors import WorkbenchError

def command():
    {body}

run(command)
"""


def run(body: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose body is this."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    program = [sys.executable, "-c", COMMAND.format(body=body)]
    return subprocess.run(program, cwd=folder, env=given, capture_output=True, text=True, check=False)


def kept(done: subprocess.CompletedProcess[str], folder: Path) -> Path:
    """The file that a line names."""
    assert done.returncode == 70
    (line,) = done.stderr.splitlines()
    assert "please report it to the project" in line
    return folder / line.rpartition("with ")[2]


def test_what_nobody_foresaw_is_one_line_and_a_file(tmp_path: Path) -> None:
    done = run(f"raise KeyError('a\\nb\\x1b[31m TOKEN={SECRET}')", tmp_path)
    assert "unexpected error: KeyError: " in done.stderr
    assert "\x1b" not in done.stderr
    file = kept(done, tmp_path)
    assert file.parent == tmp_path / ".workbench/errors"
    assert "Traceback (most recent call last)" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in file.parents[:2]} == {0o700}
    assert SECRET not in file.read_text() + done.stderr


def test_where_nothing_can_be_written_the_file_is_elsewhere_or_printed(tmp_path: Path) -> None:
    (tmp_path / ".workbench").write_text("not a folder")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = run("1 / 0", tmp_path, TMPDIR=str(elsewhere))
    assert kept(done, tmp_path).is_relative_to(elsewhere)
    program = "import tempfile; tempfile.mkdtemp = lambda **_: open('/nowhere/at/all'); 1 / 0"
    done = run(program, tmp_path)
    assert (done.returncode, "Traceback (most recent call last)" in done.stderr) == (70, True)
    assert "unexpected error: ZeroDivisionError: division by zero. This is a defect" in done.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("raise WorkbenchError('a\\nb\\x1b[31m', exit_code=2)", 2, "a\nb\\x1b[31m\n"),
        (f"raise WorkbenchError('found {SECRET}')", 1, f"found {hidden(SECRET)}\n"),
        ("raise MemoryError", 1, "not enough memory; pass fewer or smaller files at a time\n"),
        ("open('nothing\\u202e')", 1, "nothing\\u202e: No such file or directory\n"),
        ("raise SystemExit(3)", 3, ""),
        ("print('\\udcff\\u202e')", 0, ""),
        ("raise KeyboardInterrupt", 130, "cancelled\n"),
    ],
)
def test_what_is_foreseen_is_a_message(body: str, code: int, message: str, tmp_path: Path) -> None:
    done = run(body, tmp_path)
    assert (done.returncode, done.stderr) == (code, message)
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_fails_is_no_problem_of_the_output(tmp_path: Path) -> None:
    done = run("raise ConnectionRefusedError(111, 'Connection refused')", tmp_path)
    kept(done, tmp_path)
    assert "the output" not in done.stderr


def printed(size: int, output: int, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """A command that prints so many letters into an open file."""
    program = [sys.executable, "-c", COMMAND.format(body=f"print('x' * {size})")]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(program, cwd=folder, env=environ, stdout=output, stderr=subprocess.PIPE, check=False)


@pytest.mark.parametrize("size", [10, 10_000_000])
def test_a_reader_that_has_read_enough_is_no_error(size: int, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = printed(size, write, tmp_path)
    os.close(write)
    assert (done.stderr, done.returncode) == (b"", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [10, 10_000_000])
def test_a_full_disk_behind_the_output(size: int, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = printed(size, full.fileno(), tmp_path)
    assert done.stderr == b"the output cannot be written: No space left on device\n"
    assert done.returncode == 1


def test_commands_and_the_program_go_through_it(tmp_path: Path) -> None:
    broken = "import components.families as f; f.kinds = lambda: 1 / 0; "
    call = "import sys; sys.argv = ['workbench', 'crds']; from workbench.cli import main; main()"
    command = [sys.executable, "-c", broken + call]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert kept(done, tmp_path).is_file()


def test_the_program_of_a_stack_says_so_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # The program owns its process, and changes these for good.
    monkeypatch.setattr("pulumi.log.debug", pulumi.log.debug)
    monkeypatch.setattr("gc.disable", lambda: None)
    monkeypatch.setattr("stacks.program.read", lambda: 1 / 0)
    with pytest.raises(pulumi.RunError, match=r"unexpected error: ZeroDivisionError.*please report it"):
        runpy.run_path(str(ROOT / "__main__.py"))
    (file,) = (tmp_path / ".workbench/errors").iterdir()
    assert "ZeroDivisionError" in file.read_text()

    def refuse() -> None:
        raise pulumi.RunError("models: is required")

    monkeypatch.setattr("stacks.program.read", refuse)
    with pytest.raises(pulumi.RunError, match=r"\Amodels: is required\Z"):
        runpy.run_path(str(ROOT / "__main__.py"))
