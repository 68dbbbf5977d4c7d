"""``python -m workbench.planning STACK``: a snapshot of this folder as JSON on stdout.

For another version that compares with this one: the form of what is written is numbered in ``ability``.
"""

import sys
from pathlib import Path

from components.review.wire import written

from ..edge import run
from .snapshot import take


def main() -> None:
    """Write the snapshot."""
    sys.stdout.buffer.write(written(take(Path.cwd(), sys.argv[1])))


if __name__ == "__main__":
    run(main)
