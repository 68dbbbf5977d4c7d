"""Build the programs of the live fleet for a platform: ``python -m livefleet.shipping FOLDER linux arm64``."""

import sys
from pathlib import Path

from toolkit.shipping import ship

from .door.programs import GATEWAY
from .go_tools import inputs
from .groups.part import CONTROLLER
from .loop.programs import ADAPTER, PROMETHEUS

if __name__ == "__main__":
    parts = [(tool.sources, inputs(tool)) for tool in (GATEWAY, PROMETHEUS, ADAPTER, CONTROLLER)]
    ship(Path(sys.argv[1]), sys.argv[2], sys.argv[3], parts)
