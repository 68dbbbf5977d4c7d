"""A model of the running stack: its address on this machine, and its name for clients."""

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from toolkit.errors import UserError
from toolkit.private import STATE_DIR

from ...control_client import START, ControlClient, available
from ...fleet import LiveFleet, ServedEndpoint
from ...folder import LiveFolder

_API = "/v1"


@dataclass(frozen=True, slots=True)
class StackModel:
    """A model of the stack.

    Attributes:
        url: Base URL of its API on this machine.
        model: Name of the model in requests.
        titles: Names in the outputs of the resources that serve it.
        control: Client of the fleet.
        key: API key for the gateway; empty without one.
        authority: CA certificate of the gateway; None without one.
    """

    url: str
    model: str
    titles: tuple[str, ...]
    control: ControlClient
    key: str = field(repr=False)
    authority: Path | None


def stack_model(cwd: Path, stack: str, model: str, *, door: bool) -> StackModel:
    """Return a model of the running stack.

    Args:
        cwd: Project folder.
        stack: Name of the stack.
        model: Key of an endpoint in the outputs, or a model name that clients request.
        door: Whether to send requests through the gateway.

    Raises:
        UserError: the fleet does not run, or has no such model, or several.
    """
    folder = LiveFolder(cwd.resolve() / STATE_DIR)
    fleet = folder.read_fleet()
    if fleet is None:
        raise UserError(f"--model: no live fleet runs in {folder.state_dir}; {START}, or pass --url", 2)
    if fleet.stack != stack:
        raise UserError(f"--stack: the live fleet plays stack {fleet.stack!r}, not {stack!r}", 2)
    endpoint, requested = _find_endpoint(fleet, model)
    if endpoint.why:
        raise UserError(f"--model: no workload answers at endpoint {endpoint.title!r}: {endpoint.why}")
    workloads = [workload for workload in fleet.workloads if workload.key in endpoint.workloads]
    if any(workload.embeds for workload in workloads):
        raise UserError(f"--model: {model!r} serves embeddings; pass a model that generates text", 2)
    addresses = folder.addresses()
    if door and not addresses.door:
        raise UserError("--door: the live fleet has none; set `expose: gateway` in the stack, and run `make up`")
    url = addresses.door if door else addresses.endpoints.get(endpoint.title, "")
    if not url:
        raise UserError(f"--model: {endpoint.title!r} has no address on this machine; {START}")
    # All simulated engines serve OpenAI's API below /v1; an address without a path does not include it.
    base_url = url.rstrip("/") + ("" if urlsplit(url).path.strip("/") else _API)
    return StackModel(
        url=base_url,
        model=requested,
        titles=tuple(sorted({workload.title for workload in workloads})) or (endpoint.title,),
        control=ControlClient.of(folder),
        key=folder.door_key.read_text().strip() if door and folder.door_key.exists() else "",
        authority=folder.door_authority if door and folder.door_authority.exists() else None,
    )


def _find_endpoint(fleet: LiveFleet, model: str) -> tuple[ServedEndpoint, str]:
    """Return the endpoint of a model, and the model name for requests to it."""
    for endpoint in fleet.endpoints:
        if endpoint.title == model:
            return endpoint, endpoint.model
    workloads = {workload.key: workload for workload in fleet.workloads}

    def engine_models(endpoint: ServedEndpoint) -> set[str]:
        """Return all names that the engines of an endpoint accept, such as those of adapters.

        A route to several resources has the name of its own model only.
        """
        served = [workloads[key] for key in endpoint.workloads if key in workloads]
        return {name for workload in served if workload.title == endpoint.title for name in workload.models}

    matches = [endpoint for endpoint in fleet.endpoints if endpoint.model == model] or [
        endpoint for endpoint in fleet.endpoints if model in engine_models(endpoint)
    ]
    if not matches:
        names = available([f"{endpoint.title} ({endpoint.model})" for endpoint in fleet.endpoints])
        raise UserError(f"--model: stack {fleet.stack!r} has no model {model!r}{names}", 2)
    if len(matches) > 1:
        titles = ", ".join(endpoint.title for endpoint in matches)
        raise UserError(f"--model: several endpoints serve {model!r}; pass one of {titles}", 2)
    return matches[0], model
