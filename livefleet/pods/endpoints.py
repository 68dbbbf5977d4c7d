"""A loopback port for every endpoint of the outputs, as a stand-in for its Service.

Like kube-proxy, it chooses a Ready pod for each connection. Unlike kube-proxy, it moves a connection whose pod
terminates to another pod before its next request.
"""

import json
import random
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from toolkit.ports import free_ports
from toolkit.private import write_private

from ..fleet import LiveFleet, ServedEndpoint
from .ports import Loopback, LoopbackConnection, LoopbackPort
from .runtime import PodRuntime
from .serving import ServingPod, unavailable

_SEED = 0
_ATTEMPTS = 5
"""Another process may take a port between the search for a free one and its use."""


class EndpointPorts:
    """The ports of the endpoints, which are stable across restarts.

    Args:
        file: File with the port numbers.
    """

    def __init__(self, hub: Loopback, runtime: PodRuntime, file: Path) -> None:
        self._hub, self._runtime, self._file = hub, runtime, file
        self._endpoints: dict[str, ServedEndpoint] = {}
        self._ports: dict[str, LoopbackPort] = {}
        self._random = random.Random(_SEED)  # noqa: S311 - spreads connections

    async def apply_fleet(self, fleet: LiveFleet) -> None:
        """Open the ports of the fleet's endpoints, and close all others."""
        self._endpoints = {endpoint.title: endpoint for endpoint in fleet.endpoints}
        for title in self._ports.keys() - self._endpoints.keys():
            self._ports.pop(title).end()
        try:
            stored = json.loads(self._file.read_text())
            numbers = {str(title): int(number) for title, number in stored.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            numbers = {}
        reserved = set(numbers.values())
        for title in sorted(self._endpoints.keys() - self._ports.keys()):
            self._ports[title] = await self._open(title, numbers.get(title, 0), reserved)
        numbers |= {title: port.number for title, port in self._ports.items()}
        write_private(self._file, json.dumps(numbers, indent=1, sort_keys=True).encode())

    def close(self) -> None:
        for port in self._ports.values():
            port.end()

    def urls(self) -> dict[str, str]:
        return {
            title: f"http://{port.address}{urlsplit(self._endpoints[title].url).path}"
            for title, port in sorted(self._ports.items())
        }

    async def _open(self, title: str, number: int, reserved: set[int]) -> LoopbackPort:
        """Open a port: that of the last time, or a free one that is no endpoint of another stack."""
        port = LoopbackPort(lambda request, connection: self._answer(title, request, connection))
        for attempt in range(_ATTEMPTS):
            try:
                await port.open(self._hub, number or free_ports(1, reserved)[0])
            except OSError:  # another process took it
                if attempt == _ATTEMPTS - 1:
                    raise
                number = 0
            else:
                break
        return port

    async def _answer(self, title: str, request: web.Request, connection: LoopbackConnection) -> web.StreamResponse:
        current = connection.pod
        if isinstance(current, ServingPod) and not current.terminating:
            return await current.answer(request)
        endpoint = self._endpoints.get(title)
        balanced = self._balance(endpoint) if endpoint else None
        pod = self._runtime.route(balanced, request) if balanced else None
        connection.assign(pod)
        if pod is None:
            return unavailable(self._unavailable_reason(title, endpoint))
        return await pod.answer(request)

    def _unavailable_reason(self, title: str, endpoint: ServedEndpoint | None) -> str:
        if endpoint is None or endpoint.why or not endpoint.workloads:
            why = (endpoint and endpoint.why) or "the stack has none"
            return f"no workload answers at the endpoint {title}: {why}"
        pods = [pod for pod, workload in self._runtime.pods() if workload.key in endpoint.workloads]
        if not pods:
            return f"endpoint {title} has no pods: its workload has no replicas; scale it up, or send requests later"
        pending = sum(not pod["spec"].get("nodeName") for pod in pods)
        return (
            f"no pod of {title} is Ready: of {len(pods)}, {len(pods) - pending} are starting and {pending} Pending; "
            "try again in a moment"
        )

    def _balance(self, endpoint: ServedEndpoint) -> ServingPod | None:
        """Choose a workload by weight among those with Ready pods, then one of its pods."""
        pods: dict[str, list[ServingPod]] = {}
        for pod in self._runtime.ready():
            pods.setdefault(pod.live.workload.key, []).append(pod)
        weights = {key: weight for key, weight in endpoint.workloads.items() if weight > 0 and key in pods}
        if not weights:
            return None
        workload = self._random.choices(list(weights), list(weights.values()))[0]
        return self._random.choice(pods[workload])
