"""The command line as its users run it."""

import os
import subprocess
from pathlib import Path

from tests import preloaded

ROOT = Path(__file__).parents[2]


def workbench(
    *arguments: str | Path,
    text: str | bytes = b"",
    cwd: Path = ROOT,
    encoding: str = "utf-8",
    columns: int = 200,
) -> subprocess.CompletedProcess[str]:
    """Run a command; what it reads from stdin is ``text``."""
    given = text.encode() if isinstance(text, str) else text
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    return preloaded.run(*arguments, cwd=cwd, env=env, given=given)
