"""The URL paths of a server."""

from .command_line import CommandLine
from .settings import Setting


def path_prefix(line: CommandLine) -> str:
    """Return the prefix of every path of the server, such as ``/chat``; empty by default."""
    prefix = (line.value_of(Setting.API_PREFIX) or "").strip("/")
    return f"/{prefix}" if prefix else ""
