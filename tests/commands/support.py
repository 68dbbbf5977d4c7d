"""The command line as its users run it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def workbench(
    *arguments: str | Path,
    text: str | bytes = b"",
    cwd: Path = ROOT,
    encoding: str = "utf-8",
    columns: int = 200,
) -> subprocess.CompletedProcess[str]:
    """Run a command; what it reads from stdin is ``text``."""
    command = [sys.executable, "-m", "workbench", *map(str, arguments)]
    given = text.encode() if isinstance(text, str) else text
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, cwd=cwd, env=env, input=given, capture_output=True, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())
