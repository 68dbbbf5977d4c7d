"""``python -m workbench``, and the console script ``workbench`` of the published package."""

import atexit
import gc
import os
import signal
from types import FrameType

_INTERRUPTED = 130


def _cancelled(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"cancelled\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run a command."""
    # During imports and after a command there is nothing to clean up, but Python would print a traceback and die
    # from the signal instead of exiting with 130. A process that ignores SIGINT, as under nohup, keeps ignoring it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _cancelled)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    # Imports create tens of thousands of objects and no garbage; looking for it takes 5 % of a short command.
    gc.disable()
    from .cli import main as run

    run()


if __name__ == "__main__":
    main()
