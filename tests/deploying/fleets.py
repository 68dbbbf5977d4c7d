"""Small live fleets, as ``up`` writes them."""

from collections.abc import Mapping
from pathlib import Path

from livefleet.fleet import LiveFleet, ServedEndpoint, ServedWorkload, Speaks, Startup, TokenPace
from livefleet.folder import LiveFolder

PACE = TokenPace(alpha=0.01, beta=0.001, prefill=0.0001, batch=4)


def workload(name: str, speaks: Speaks = Speaks.OPENAI, model: str = "", *, embeds: bool = False) -> ServedWorkload:
    """A workload that has the name of its endpoint."""
    return ServedWorkload(
        namespace="models",
        kind="Deployment",
        name=name,
        title=name,
        selector={"app": name},
        container="server",
        engine="",
        version="",
        speaks=speaks,
        port=8000,
        models=(model or name,),
        loaded=model or name,
        paces={"": PACE},
        startup=Startup(1.0, 1.0),
        embeds=embeds,
    )


def endpoint(of: ServedWorkload, *, outside: bool = False) -> ServedEndpoint:
    """Where a workload answers."""
    place = f"{of.namespace}/{of.name}"
    url = f"http://{of.name}.models.svc.cluster.local:8000/v1"
    return ServedEndpoint(of.name, of.models[0], "openai", url, {place: 1.0}, outside)


def fleet_of(*workloads: ServedWorkload, outside: bool = False, stack: str = "local") -> LiveFleet:
    """A fleet with an endpoint for each workload."""
    return LiveFleet(stack, workloads, tuple(endpoint(each, outside=outside) for each in workloads))


def written(folder: Path, fleet: LiveFleet, endpoints: Mapping[str, str] | None = None, door: str = "") -> LiveFolder:
    """What a project has when a fleet is played."""
    live = LiveFolder(folder / ".workbench")
    live.make()
    live.write_fleet(fleet)
    urls = {each.title: f"http://127.0.0.1:{4000 + n}/v1" for n, each in enumerate(fleet.endpoints)}
    live.write_addresses("pods", control="http://127.0.0.1:3999", token="t", endpoints=endpoints or urls)
    if door:
        live.write_addresses("door", door=door)
    return live
