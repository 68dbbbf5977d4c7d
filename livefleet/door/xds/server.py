"""Tells Envoy its configuration, as Envoy Gateway's own server does: one stream for everything (xDS, ADS).

Requests and answers are those of Envoy's "xDS REST and gRPC protocol", state of the world. Files would do as well,
but Envoy watches each with an inotify instance of its own, of which a user has 128.
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
_WHOLE = ("cds", "lds")
"""Kinds of which Envoy is told all there are; of others those that it asks for."""
_STREAMS = 8
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class XdsResource:
    """A resource, and what tells it from others of the name."""

    body: Message
    version: str


@dataclass(slots=True)
class _Told:
    """What a stream was told of a kind."""

    names: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    nonce: str = ""
    is_answered: bool = False
    is_known: bool = False


class XdsServer:
    """What Envoy is told. All methods may be called from several threads.

    Attributes:
        refused: Why Envoy did not take what it was told last, by kind.

    Args:
        socket: Where it listens: a path, which the folder protects.
    """

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self.refused: dict[str, str] = {}
        self._resources: dict[str, dict[str, XdsResource]] = {}
        self._streams: set[queue.SimpleQueue[Message | None]] = set()
        self._lock = threading.Lock()
        self._server: grpc.Server | None = None

    def start(self) -> None:
        """Listen."""
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
        """Listen no more, and end what is open: Python waits for the threads."""
        if self._server:
            self._server.stop(0)
        with self._lock:
            for stream in self._streams:
                stream.put(None)

    def tell(self, kind: str, resources: Iterable[Object]) -> None:
        """Tell resources: all of a kind, or those by their names, which stay until they are told anew."""
        found = {_name(each): _resource(each) for each in resources}
        with self._lock:
            known = {} if kind in _WHOLE else self._resources.get(kind, {})
            merged = known | found
            if merged == self._resources.get(kind):
                return
            self._resources[kind] = merged
            for stream in self._streams:
                stream.put(protocol.DiscoveryRequest())  # look again

    def version(self, kind: str) -> str:
        """Return the version of what is told of a kind."""
        with self._lock:
            return _version(self._resources.get(kind, {}))

    def _stream(self, requests: Iterator[Message], _: object) -> Iterator[Message]:
        """Answer one Envoy until it goes away."""
        events: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        known: dict[str, _Told] = {}

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
                self._take(request, known)
                for kind in _ORDER:
                    if kind in known:
                        yield from self._news(kind, known[kind])
        finally:
            with self._lock:
                self._streams.discard(events)

    def _take(self, request: Message, known: dict[str, _Told]) -> None:
        """Note what a stream asks for, and whether it took what it was told."""
        kind = _TYPES.get(request.type_url)
        if kind is None:
            return
        at = known.setdefault(kind, _Told())
        if request.response_nonce != at.nonce:
            return  # of an answer before the last
        if request.HasField("error_detail"):
            self.refused[kind] = request.error_detail.message
            _LOG.warning("Envoy refused %s: %s", kind, request.error_detail.message)
        elif at.nonce and not at.is_known:
            self.refused.pop(kind, None)
        if at.is_known or not at.nonce:
            # Asked again for what it has: a cluster was made anew, and wants its endpoints once more.
            at.versions.clear()
            at.is_answered = False
        at.is_known = True
        at.names = tuple(request.resource_names)

    def _news(self, kind: str, at: _Told) -> Iterator[Message]:
        """Yield what a stream has not been told of a kind; nothing before anything is known of it."""
        with self._lock:
            known = self._resources.get(kind)
        if known is None:
            return
        wanted = known if kind in _WHOLE else {name: known[name] for name in at.names if name in known}
        versions = {name: each.version for name, each in wanted.items()}
        changed = [name for name, version in versions.items() if at.versions.get(name) != version]
        if kind in _WHOLE:
            if at.is_answered and versions == at.versions:
                return
            changed = list(wanted)
        elif not changed:
            return
        at.versions, at.is_answered, at.is_known = versions, True, False
        at.nonce = str(int(at.nonce or 0) + 1)
        yield protocol.DiscoveryResponse(
            version_info=_version(wanted),
            resources=[wanted[name].body for name in changed],
            type_url=next(url for url, each in _TYPES.items() if each == kind),
            nonce=at.nonce,
        )


_ORDER = ("cds", "eds", "sds", "lds", "rds")


def _name(resource: Object) -> str:
    found: str = resource["clusterName"] if "clusterName" in resource else resource["name"]
    return found


def _resource(resource: Object) -> XdsResource:
    version = hashlib.sha256(json.dumps(resource, sort_keys=True).encode()).hexdigest()[:16]
    return XdsResource(packed(resource), version)


def _version(resources: dict[str, XdsResource]) -> str:
    parts = sorted((name, each.version) for name, each in resources.items())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
