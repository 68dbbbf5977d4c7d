"""An interrupted plan leaves neither processes nor folders behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.planning.repositories import repository
from tests.commands.support import ROOT

WAITING = """
import os, pathlib, time
if os.environ.get("TMPDIR") and str(pathlib.Path.cwd()).startswith(os.environ["TMPDIR"]):
    place = pathlib.Path({place!r})
    place.with_suffix(".new").write_text(str(os.getpid()))
    place.with_suffix(".new").rename(place)
    time.sleep(120)
"""
"""Begins the program: in the files of the base it waits, where the tests find it."""


def eventually(true: Callable[[], bool], seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.05)
    return true()


def runs(number: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks /proc for processes")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_signals(tmp_path: Path, number: signal.Signals, code: int) -> None:
    project, place, scratch = repository(tmp_path / "project"), tmp_path / "pid", tmp_path / "scratch"
    scratch.mkdir()
    program = project / "__main__.py"
    program.write_text(WAITING.format(place=str(place)) + program.read_text())
    command = [sys.executable, "-m", "workbench", "plan", "--stack", "dev", "--cwd", str(project), "--base", "HEAD"]
    env = {**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A job in the background of a script ignores SIGINT, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:
        assert eventually(place.exists)
        child = int(place.read_text())
        assert runs(child)
        running.send_signal(number)
        _, complaint = running.communicate(timeout=30)
    assert running.returncode == code
    assert eventually(lambda: not runs(child))
    if number is not signal.SIGKILL:  # after which nobody is there to clear up; the process ends all the same
        assert complaint == b"cancelled; nothing was changed\n"
        assert list(scratch.iterdir()) == []
