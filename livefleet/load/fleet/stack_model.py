"""A model of the stack that the live fleet plays: where it answers on this machine, and what it is called."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from toolkit.errors import UserError
from toolkit.private import STATE_DIR

from ...control_client import START, ControlClient, available
from ...fleet import LiveFleet, ServedEndpoint, ServedWorkload
from ...folder import Addresses, LiveFolder

_API = "/v1"


@dataclass(frozen=True, slots=True)
class StackModel:
    """A model of the stack.

    Attributes:
        url: Where it answers on this machine.
        model: What is asked for.
        titles: The resources behind it, as the state of the fleet names them.
        control: Asks the fleet how it is.
        key: For the door; empty without one.
        authority: The certificate that signed the door's; None without one.
    """

    url: str
    model: str
    titles: tuple[str, ...]
    control: ControlClient
    key: str = field(repr=False)
    authority: Path | None


def stack_model(cwd: Path, stack: str, model: str, *, door: bool) -> StackModel:
    """Return where a model of the stack answers.

    Args:
        cwd: Folder of the project.
        stack: The stack.
        model: Key of an endpoint in the outputs, or a name that clients ask for.
        door: Whether through the gateway.

    Raises:
        UserError: the fleet does not run, or has no such model, or several.
    """
    folder = LiveFolder(cwd.resolve() / STATE_DIR)
    fleet = folder.read_fleet()
    if fleet is None:
        raise UserError(f"--model: no live fleet runs in {folder.state_dir}; {START}, or pass --url", 2)
    if fleet.stack != stack:
        raise UserError(f"--stack: the live fleet plays stack {fleet.stack!r}, not {stack!r}", 2)
    endpoint, asked = _found(fleet, model)
    if endpoint.why:
        raise UserError(f"--model: nothing answers for {endpoint.title!r}: {endpoint.why}")
    behind = [each for each in fleet.workloads if f"{each.namespace}/{each.name}" in endpoint.workloads]
    if any(each.embeds for each in behind):
        raise UserError(f"--model: {model!r} makes embeddings; load asks for text", 2)
    addresses = folder.addresses()
    return StackModel(
        url=_through_door(addresses) if door else _own(addresses, endpoint.title),
        model=asked,
        titles=tuple(sorted({each.title for each in behind})) or (endpoint.title,),
        control=ControlClient.of(folder),
        key=_key(folder) if door else "",
        authority=folder.door_authority if door and folder.door_authority.exists() else None,
    )


def _found(fleet: LiveFleet, model: str) -> tuple[ServedEndpoint, str]:
    """Return the endpoint of a model, and the name to ask it for."""
    for endpoint in fleet.endpoints:
        if endpoint.title == model:
            return endpoint, endpoint.model
    workloads = {f"{each.namespace}/{each.name}": each for each in fleet.workloads}
    found = [each for each in fleet.endpoints if each.model == model] or [
        each for each in fleet.endpoints if model in _others(each, workloads)
    ]
    if not found:
        there = available([f"{each.title} ({each.model})" for each in fleet.endpoints])
        raise UserError(f"--model: stack {fleet.stack!r} has no model {model!r}{there}", 2)
    if len(found) > 1:
        titles = ", ".join(each.title for each in found)
        raise UserError(f"--model: several answer to {model!r}; pass one of {titles}", 2)
    return found[0], model


def _others(endpoint: ServedEndpoint, workloads: dict[str, ServedWorkload]) -> set[str]:
    """Return the further names that the engines of an endpoint answer to, such as those of adapters.

    A route to several resources is called after its own model alone.
    """
    behind = [workloads[name] for name in endpoint.workloads if name in workloads]
    return {name for each in behind if each.title == endpoint.title for name in each.models}


def _own(addresses: Addresses, title: str) -> str:
    url = addresses.endpoints.get(title, "")
    if not url:
        raise UserError(f"--model: {title!r} has no address on this machine; {START}")
    return _with_path(url)


def _through_door(addresses: Addresses) -> str:
    if not addresses.door:
        raise UserError("--door: the live fleet has none; set `expose: gateway` in the stack, and run `make up`")
    return _with_path(addresses.door)


def _with_path(url: str) -> str:
    """Return where OpenAI's API begins: every engine that is played has it below ``/v1``."""
    return url.rstrip("/") + ("" if urlsplit(url).path.strip("/") else _API)


def _key(folder: LiveFolder) -> str:
    """Return a key that the door takes; empty where it takes none."""
    try:
        return folder.door_key.read_text().strip()
    except FileNotFoundError:
        return ""
