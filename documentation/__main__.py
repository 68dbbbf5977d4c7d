"""``python -m documentation``: build the site into ``.site/public``."""

import argparse
import sys
from pathlib import Path

from .site import build

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Build the site, and return the exit code of Zensical, or 1 for a broken link."""
    parser = argparse.ArgumentParser(prog="python -m documentation", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / ".site", help="Folder for the sources and the site.")
    return build(ROOT, parser.parse_args().output)


if __name__ == "__main__":
    sys.exit(main())
