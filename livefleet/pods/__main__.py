"""``python -m livefleet.pods <state-dir>``: started by ``up``, stopped by ``down``."""

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from toolkit.kube import Kube

from ..folder import LiveFolder
from .process import IDENTITY, PodsProcess


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state_dir", type=Path)
    parser.add_argument("--answers", type=float, default=1.0)
    parser.add_argument("--starts", type=float, default=60.0)
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    folder = LiveFolder(options.state_dir.resolve())
    folder.make()
    asyncio.run(_run(folder, (options.answers, options.starts)))


async def _run(folder: LiveFolder, speeds: tuple[float, float]) -> None:
    from ..apis.dispatch import answer

    kube = Kube.from_kubeconfig(folder.state_dir / "cluster" / f"{IDENTITY}.kubeconfig")
    running = asyncio.ensure_future(PodsProcess(folder, kube, answer, speeds).run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    try:
        await running
    except asyncio.CancelledError:
        logging.info("ended")


if __name__ == "__main__":
    main()
