"""``python -m workbench``, and the console script ``workbench`` of the published package."""

import atexit
import gc
import os
import signal
import sys
from types import FrameType

_COMMAND_LINE = ("cryptography", "rich", "typer")
"""Dependencies of the extra ``workbench`` that every command needs."""


_INTERRUPTED = 130


def _cancelled(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"cancelled\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run a command, or name the missing dependency."""
    # During imports and after a command there is nothing to clean up, but Python would print a traceback and die
    # from the signal instead of exiting with 130. A process that ignores SIGINT, as under nohup, keeps ignoring it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _cancelled)
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    # Imports create tens of thousands of objects and no garbage; looking for it takes 5 % of a short command.
    gc.disable()
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        if error.name not in _COMMAND_LINE:
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'inference-platform[workbench]'")
    run()


if __name__ == "__main__":
    main()
