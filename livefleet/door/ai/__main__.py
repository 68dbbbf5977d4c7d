"""Run the external processor: ``python -m livefleet.door.ai CONFIG PORT``."""

import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path

from .server import serve


def main() -> None:
    """Serve until the process is ended."""
    file, port = sys.argv[1:]

    async def run() -> None:
        task = asyncio.ensure_future(serve(Path(file), "127.0.0.1", int(port)))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())


if __name__ == "__main__":
    main()
