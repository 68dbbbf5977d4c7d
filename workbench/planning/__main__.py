"""``python -m workbench.planning STACK [PROGRAM]``: print a snapshot of the current folder as JSON.

Another revision of the workbench runs this to compare with this one; ``ability`` holds the version of the format.
PROGRAM is the folder of the program to run, if not the current folder.
"""

import os
import sys
import threading
from pathlib import Path

from components.plan.review.wire import written

from ..edge import run
from .snapshot import take
from .traffic import VARIABLE, VirtualPlan


def main() -> None:
    threading.Thread(target=_exit_with_caller, daemon=True).start()
    program = Path(sys.argv[2]) if sys.argv[2:] else None
    file = os.environ.get(VARIABLE)
    virtual = VirtualPlan() if file else None
    snapshot = take(Path.cwd(), sys.argv[1], program, virtual)
    if file and virtual:
        Path(file).write_bytes(virtual.fleet.as_json() if virtual.fleet else b"")
    sys.stdout.buffer.write(written(snapshot))


def _exit_with_caller() -> None:
    """Exit when the reader closes the pipe."""
    while os.read(0, 1):  # not sys.stdin, whose lock would block the exit of the process
        pass
    os._exit(1)


if __name__ == "__main__":
    run(main)
