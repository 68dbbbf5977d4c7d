"""``python -m livefleet.door <folder of the door> ...``: started by ``up``, ended by ``down``."""

import argparse
import asyncio
import logging
import signal
import sys
from contextlib import suppress
from pathlib import Path

from toolkit.kube import Kube

from ..folder import LiveFolder
from .process import DoorProcess
from .status import IDENTITY


def main() -> None:
    """Run the process until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--translator", type=Path, required=True)
    parser.add_argument("--listen", type=int, required=True)
    parser.add_argument("--processor", type=int, required=True)
    parser.add_argument(
        "--version", default="", help="digest of the code and certificates: a change restarts the process"
    )
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> None:
    folder = LiveFolder(options.folder.resolve().parents[1])
    kube = Kube.from_kubeconfig(folder.state_dir / "cluster" / f"{IDENTITY}.kubeconfig")
    process = DoorProcess(folder, kube, options.translator, (options.listen, options.processor), options.version)
    running = asyncio.ensure_future(process.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


if __name__ == "__main__":
    main()
