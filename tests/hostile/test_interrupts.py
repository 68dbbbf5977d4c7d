"""An interrupt at any moment of a command ends it with 130: while it is imported, at work, and at its end."""

import os
import signal
import subprocess
import sys

import pytest

from tests.layers.modules import ROOT

MODEL = ROOT / "stacks/models/qwen-chat.yaml"
RUN = """
import atexit, gc, os, signal, sys
where, kept = sys.argv[1], sys.argv[2] == "ignored"
if kept:
    signal.signal(signal.SIGINT, signal.SIG_IGN)

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

class Importing:
    def find_spec(self, name, path=None, target=None):
        if name == where:
            interrupt()

class Stream:
    def __init__(self, stream): self.stream = stream
    def __getattr__(self, name): return getattr(self.stream, name)
    def flush(self):
        interrupt()
        self.stream.flush()

sys.meta_path.insert(0, Importing())
if where == "flush":
    sys.stdout = Stream(sys.stdout)
elif where == "freeze":
    gc.freeze = interrupt
elif where == "atexit":
    atexit.register(interrupt)
import runpy
sys.argv = ["workbench", *sys.argv[3:]]
runpy.run_module("workbench", run_name="__main__")
"""


def run(where: str, *words: str, ignored: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", RUN, where, "ignored" if ignored else "", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    # A background job of a shell ignores interrupts, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "where",
    [
        "workbench.cli",
        "typer",
        "workbench.manifests",
        "yaml",
        "components.families",
        "flush",
        "freeze",
    ],
)
def test_an_interrupt_ends_with_130(where: str) -> None:
    done = run(where, "validate", str(MODEL))
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "cancelled"
    assert "Traceback" not in done.stderr


def test_a_command_that_ignores_interrupts_goes_on() -> None:
    done = run("typer", "validate", str(MODEL), ignored=True)
    assert done.returncode == 0, done.stderr


def test_after_the_end_an_interrupt_changes_nothing() -> None:
    """Python puts the system's own handling back before it ends: the process would be killed."""
    done = run("atexit", "validate", str(MODEL))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
