"""``python -m workbench.planning STACK``: a snapshot of this folder as JSON on stdout.

For another version that compares with this one: the form of what is written is numbered in ``ability``. A second
argument is the folder of the program to run, where that is not the one in this folder.
"""

import os
import sys
import threading
from pathlib import Path

from components.plan.review.wire import written

from ..edge import run
from .snapshot import take


def main() -> None:
    """Write the snapshot."""
    threading.Thread(target=_end_with_caller, daemon=True).start()
    program = Path(sys.argv[2]) if sys.argv[2:] else None
    sys.stdout.buffer.write(written(take(Path.cwd(), sys.argv[1], program)))


def _end_with_caller() -> None:
    """End when nobody is there any more who would read the snapshot: its end of the pipe is closed then."""
    while os.read(0, 1):  # not a stream of Python's, which would be locked when the process ends
        pass
    os._exit(1)


if __name__ == "__main__":
    run(main)
