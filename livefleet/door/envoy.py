"""How Envoy is run."""

from pathlib import Path

from .xds.logs import BOOTSTRAP

_WORKERS = "2"
"""Each has connections of its own: as many as on a machine with two cores, wherever it runs."""


def envoy_command(envoy: Path, folder: Path) -> list[str]:
    """Return the command; it is started in the folder of the logs, where its sockets are."""
    command = [str(envoy), "--config-path", str(folder / BOOTSTRAP), "--concurrency", _WORKERS]
    return [*command, "--disable-hot-restart", "-l", "warning"]
