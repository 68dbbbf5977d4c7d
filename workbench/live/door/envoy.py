"""How Envoy is run."""

from pathlib import Path

from .xds.files import XdsFiles

_WORKERS = "2"
"""Each has connections of its own: as many as on a machine with two cores, wherever it runs."""


def envoy_command(envoy: Path, files: XdsFiles) -> list[str]:
    """Return the command; it is started in the folder of the logs, where it makes its socket."""
    command = [str(envoy), "--config-path", files.path("bootstrap", ""), "--concurrency", _WORKERS]
    return [*command, "--disable-hot-restart", "-l", "warning"]
