"""``python -m workbench``, and the command ``workbench`` of the published package."""

import atexit
import gc
import os
import signal
import sys
from types import FrameType

_COMMAND_LINE = ("cryptography", "rich", "typer")
"""What the components alone do not need."""


_INTERRUPTED = 130


def _cancelled(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"cancelled\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run a command, or say what to install first."""
    # During imports and after a command there is nothing to clean up. Python would print a traceback there, and end
    # by the signal instead of with 130. A process that ignores interrupts, as under nohup, continues to ignore them.
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
