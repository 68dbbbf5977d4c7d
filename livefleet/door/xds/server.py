"""Serve Envoy's configuration over xDS: one stream for all resource types (ADS), like Envoy Gateway's server.

The protocol is the state-of-the-world variant of the "xDS REST and gRPC protocol" (Envoy, docs/root/api-docs/
xds_protocol.rst). Files would be simpler, but Envoy watches each with an inotify instance of its own
(``FilesystemSubscriptionImpl``), and Linux gives a user 128 (``fs.inotify.max_user_instances``).
"""

import hashlib
import json
import logging
import queue
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import grpc  # type: ignore[import-untyped]

from ...fleet import Object
from ..protocol import Message, Package, packed

protocol = Package("envoy.service.discovery.v3")
_METHOD = "StreamAggregatedResources"
_SERVICE = "envoy.service.discovery.v3.AggregatedDiscoveryService"
_TYPES = {
    "type.googleapis.com/envoy.config.cluster.v3.Cluster": "cds",
    "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment": "eds",
    "type.googleapis.com/envoy.config.listener.v3.Listener": "lds",
    "type.googleapis.com/envoy.config.route.v3.RouteConfiguration": "rds",
    "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret": "sds",
}
_WILDCARD = ("cds", "lds")
"""Kinds of which Envoy gets all resources; of the others it gets those that it requests by name."""
_ORDER = ("cds", "eds", "sds", "lds", "rds")
"""Resources before those that refer to them (xDS protocol, "Eventual consistency considerations")."""
_STREAMS = 8
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class XdsResource:
    """A resource and the digest of its content."""

    body: Message
    version: str


@dataclass(slots=True)
class _KindState:
    """The state of a stream for a kind of resources.

    Attributes:
        names: Resources that Envoy requested by name.
        versions: What was sent last, by name.
        nonce: Of the last response.
        is_answered: Whether a response was sent to the current request.
        is_known: Whether Envoy acknowledged or rejected the last response.
    """

    names: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    nonce: str = ""
    is_answered: bool = False
    is_known: bool = False


class XdsServer:
    """An xDS server. All methods are thread-safe.

    Attributes:
        refused: Why Envoy rejected the last response, by kind.

    Args:
        socket: Path of its socket, which the permissions of the folder protect.
    """

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self.refused: dict[str, str] = {}
        self._resources: dict[str, dict[str, XdsResource]] = {}
        self._streams: set[queue.SimpleQueue[Message | None]] = set()
        self._lock = threading.Lock()
        self._server: grpc.Server | None = None

    def start(self) -> None:
        Path(self.socket).unlink(missing_ok=True)
        self._server = grpc.server(ThreadPoolExecutor(_STREAMS, thread_name_prefix="xds"))
        handler = grpc.stream_stream_rpc_method_handler(
            self._stream,
            request_deserializer=protocol.DiscoveryRequest.FromString,
            response_serializer=protocol.DiscoveryResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {_METHOD: handler}),))
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()

    def stop(self) -> None:
        if self._server:
            self._server.stop(0)
        # End the threads of the streams: Python would wait for them at exit.
        with self._lock:
            for stream in self._streams:
                stream.put(None)

    def set_resources(self, kind: str, resources: Iterable[Object]) -> None:
        """Set resources of a kind. Clusters and listeners are replaced as a whole, others by name."""
        updates = {}
        for resource in resources:
            name = resource["clusterName"] if "clusterName" in resource else resource["name"]
            version = hashlib.sha256(json.dumps(resource, sort_keys=True).encode()).hexdigest()[:16]
            updates[name] = XdsResource(packed(resource), version)
        with self._lock:
            current = {} if kind in _WILDCARD else self._resources.get(kind, {})
            merged = current | updates
            if merged == self._resources.get(kind):
                return
            self._resources[kind] = merged
            for stream in self._streams:
                stream.put(protocol.DiscoveryRequest())  # wakes the stream: ``_record`` ignores it

    def version(self, kind: str) -> str:
        """Return the version of all resources of a kind."""
        with self._lock:
            return _version(self._resources.get(kind, {}))

    def _stream(self, requests: Iterator[Message], _: object) -> Iterator[Message]:
        """Serve one Envoy until it disconnects."""
        # One queue for Envoy's requests and for changes of the resources, so that one thread handles both in order.
        events: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        states: dict[str, _KindState] = {}

        def read() -> None:
            try:
                for request in requests:
                    events.put(request)
            except Exception as error:
                _LOG.info("Envoy's stream ended: %s", error)
            events.put(None)

        threading.Thread(target=read, name="xds-read", daemon=True).start()
        with self._lock:
            self._streams.add(events)
        try:
            while (request := events.get()) is not None:
                self._record(request, states)
                for kind in _ORDER:
                    response = self._response(kind, states[kind]) if kind in states else None
                    if response is not None:
                        yield response
        finally:
            with self._lock:
                self._streams.discard(events)

    def _record(self, request: Message, states: dict[str, _KindState]) -> None:
        """Record the resources that a stream requests, and whether it accepted the last response."""
        kind = _TYPES.get(request.type_url)
        if kind is None:
            return
        state = states.setdefault(kind, _KindState())
        if request.response_nonce != state.nonce:
            return  # stale: it acknowledges an earlier response (xDS protocol, "Resource updates")
        if request.HasField("error_detail"):
            self.refused[kind] = request.error_detail.message
            _LOG.warning("Envoy refused %s: %s", kind, request.error_detail.message)
        elif state.nonce and not state.is_known:
            self.refused.pop(kind, None)
        if state.is_known or not state.nonce:
            # Not an acknowledgement, but a request for resources that Envoy may have already: it uses a changed
            # cluster only after a new response with its endpoints, even if they are the same ("Resource warming").
            state.versions.clear()
            state.is_answered = False
        state.is_known = True
        state.names = tuple(request.resource_names)

    def _response(self, kind: str, state: _KindState) -> Message | None:
        """Return the response with the changes of a kind for a stream; None without any."""
        with self._lock:
            resources = self._resources.get(kind)
        if resources is None:
            return None
        if kind not in _WILDCARD:
            resources = {name: resources[name] for name in state.names if name in resources}
        versions = {name: resource.version for name, resource in resources.items()}
        changed = [name for name, version in versions.items() if state.versions.get(name) != version]
        if kind in _WILDCARD:
            if state.is_answered and versions == state.versions:
                return None
            # Of these kinds, Envoy removes what a response does not contain ("Deleting Resources").
            changed = list(resources)
        elif not changed:
            return None
        state.versions, state.is_answered, state.is_known = versions, True, False
        state.nonce = str(int(state.nonce or 0) + 1)
        return protocol.DiscoveryResponse(
            version_info=_version(resources),
            resources=[resources[name].body for name in changed],
            type_url=next(url for url, name in _TYPES.items() if name == kind),
            nonce=state.nonce,
        )


def _version(resources: dict[str, XdsResource]) -> str:
    parts = sorted((name, resource.version) for name, resource in resources.items())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
