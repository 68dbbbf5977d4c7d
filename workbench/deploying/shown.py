"""What is shown of a stack: its tables, where its models answer on this machine, and its outputs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livefleet import LiveFolder, call_lines

from .call import StackCall

if TYPE_CHECKING:
    from rich.console import Console

    from livefleet import LiveFleet

LOOPBACK = "loopback"
"""Key beside the outputs, with the addresses on this machine."""
_ADDRESS = len("http://127.0.0.1:65535/v1")
_SIMULATED = (
    "Answers are simulated: no model runs. Texts are made up, and times are estimates from profiles of the models or "
    "from the memory bandwidth of their nodes."
)


def show_stack(outputs: Mapping[str, Any], call: StackCall) -> None:
    """Print the tables of a stack, and where its models answer on this machine."""
    from rich.console import Console

    from ..engine.project import ProjectFiles, section
    from ..table import WIDE, show

    files = ProjectFiles(call.cwd, call.stack)
    setting = section(files.stored(), files.settings).get(f"{files.name}:kubeconfig", "")
    show(outputs, call.kubeconfig or str(call.cwd / str(setting)))
    folder = LiveFolder(call.state_dir)
    fleet = None if call.kubeconfig else folder.running_fleet(call.stack)
    if fleet and fleet.endpoints:
        out = Console(highlight=False)
        if not out.is_terminal:
            out.width = WIDE
        show_addresses(fleet, folder, out)


def show_addresses(fleet: "LiveFleet", folder: LiveFolder, out: "Console") -> None:
    """Print where models answer on this machine, and lines that call them."""
    from rich.table import Column, Table

    from ..table import add_row

    addresses = folder.addresses()
    # An address is copied: it stays whole, whatever there is room for.
    address = Column("address", min_width=_ADDRESS, overflow="fold")
    names = (Column(name, overflow="fold") for name in ("endpoint", "model"))
    table = Table(*names, address, box=None, title="On this machine (simulated)")
    table.title_justify = "left"
    for each in sorted(fleet.endpoints, key=lambda each: each.title):
        url = addresses.endpoints.get(each.title, "-")
        played = f" (for a {each.stand_in})" if each.stand_in else ""
        add_row(table, each.title, each.model, f"no answer: {each.why}" if each.why else url + played)
    if addresses.door:
        add_row(table, "gateway", "each of them", addresses.door_api)
    out.print(table)
    out.print(_SIMULATED, soft_wrap=True, markup=False)
    for line in call_lines(fleet, folder, Path.cwd()):
        out.print(f"{line.what}:", soft_wrap=True, markup=False)
        out.print(f"  {line.line}", soft_wrap=True, markup=False)


def with_addresses(outputs: Mapping[str, Any], call: StackCall) -> dict[str, Any]:
    """Return outputs with the addresses on this machine under a key of its own, where something answers there."""
    folder = LiveFolder(call.state_dir)
    fleet = folder.running_fleet(call.stack)
    if fleet is None or LOOPBACK in outputs:
        return dict(outputs)
    found = folder.addresses()
    added = {
        "simulated": True,
        "endpoints": found.endpoints,
        "door": found.door_api,
        "prometheus": found.prometheus,
    }
    return {**outputs, LOOPBACK: {key: value for key, value in added.items() if value}}
