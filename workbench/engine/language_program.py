"""A program that stands in for Pulumi's language host for Python, which ``pulumi import`` loads and does not use.

``python -m workbench.engine.language_program`` is started by the CLI as a plugin.
"""

import sys
import threading
from pathlib import Path

from components.contract.texts.outputs import shell_line


def write_host(folder: Path) -> None:
    """Write the program under the name by which the CLI finds it."""
    file = folder / "pulumi-language-python"
    file.write_text(f"#!/bin/sh\nexec {shell_line((sys.executable, '-m', __name__))}\n", encoding="utf-8")
    file.chmod(0o700)


def main() -> None:
    from .language_host import serving

    with serving(lambda: None) as address:
        sys.stdout.write(f"{address.rpartition(':')[2]}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
