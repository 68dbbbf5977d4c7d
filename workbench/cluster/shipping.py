"""Build the control plane for a platform: ``python -m workbench.cluster.shipping FOLDER linux arm64``."""

import sys
from pathlib import Path

from toolkit.shipping import ship

from . import binaries

if __name__ == "__main__":
    ship(Path(sys.argv[1]), sys.argv[2], sys.argv[3], [(binaries.sources(), binaries.inputs())])
