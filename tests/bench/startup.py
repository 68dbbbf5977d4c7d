"""Start-up of short commands, against a Python process that imports only the libraries that they need.

Every process reads compiled bytecode, as an installed package does; the first run of each command writes it.
"""

import sys
import tempfile
from pathlib import Path

from .measure import Contestant, medians

ROOT = Path(__file__).parents[2]
RUNS = 15
MANIFEST = "stacks/models/qwen-chat.yaml"
_LIBRARIES = "import jsonschema_rs, pydantic, typer.main, yaml; pydantic.BaseModel, pydantic.Field"
_EXPLAINED = f"""\
Seconds of whole processes that validate one manifest (`{MANIFEST}`), that print the version, and that import
typer, pydantic, PyYAML and jsonschema-rs and do nothing."""


def measure(runs: int = RUNS) -> dict[str, float]:
    """Return seconds by contestant; each runs once before, so that all code is compiled."""
    workbench = [sys.executable, "-m", "workbench"]
    contestants = [
        Contestant("validate", [*workbench, "validate", MANIFEST], ROOT),
        Contestant("--version", [*workbench, "--version"], ROOT),
        Contestant("libraries", [sys.executable, "-c", _LIBRARIES], ROOT),
    ]
    with tempfile.TemporaryDirectory() as cache:
        # An empty PYTHONDONTWRITEBYTECODE is the same as an unset one.
        env = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        medians(contestants, 1, env)
        return medians(contestants, runs, env)


def table() -> str:
    """Return the table."""
    taken = measure()
    head = "| one manifest | validate | --version | libraries | validate / libraries | --version / libraries |"
    cells = [f"{taken[name]:.2f}" for name in ("validate", "--version", "libraries")]
    ratios = [f"{taken[name] / taken['libraries']:.2f}" for name in ("validate", "--version")]
    return "\n".join(
        [head, "|---|--:|--:|--:|--:|--:|", f"| seconds | {' | '.join([*cells, *ratios])} |", "", _EXPLAINED]
    )


if __name__ == "__main__":
    print(table())  # noqa: T201
