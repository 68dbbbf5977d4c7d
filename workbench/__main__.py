"""``python -m workbench``, and the command ``workbench`` of the published package."""

import sys

_COMMAND_LINE = ("cryptography", "rich", "typer")
"""What the components alone do not need."""


def main() -> None:
    """Run a command, or say what to install first."""
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        if error.name not in _COMMAND_LINE:
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'inference-platform[workbench]'")
    run()


if __name__ == "__main__":
    main()
