"""A stand-in for Pulumi's language host for Python, which ``pulumi import`` loads although it runs no program.

``python -m tests.real_engine.language_host`` is started by the CLI as a plugin.
"""

import sys
import threading

from workbench.engine.language_host import serving


def main() -> None:
    with serving(lambda: None) as address:
        sys.stdout.write(f"{address.rpartition(':')[2]}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
