"""Where a server has its paths."""

from .command_line import CommandLine
from .settings import Setting


def path_prefix(line: CommandLine) -> str:
    """Return what stands before every path of the server, such as ``/chat``; empty unless it is told one."""
    given = (line.value_of(Setting.API_PREFIX) or "").strip("/")
    return f"/{given}" if given else ""
