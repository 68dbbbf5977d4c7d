"""Configure Envoy from objects: translate them when they change, and update the endpoints whenever pods do."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.private import private_folder, write_private

from ...fleet import Object
from ..ai.alteration import altered
from ..ai.translation import ai_routes, translated
from ..envoy import ACCESS, BOOTSTRAP, SOCKET, XDS_SOCKET, EnvoyAdmin, socket_path
from .egctl import Translation, translate
from .loopback import Local, Localizer, bootstrap_of
from .server import XdsServer
from .services import Address, PodPort, ServicePort, pods_of, routed_services

_Place = tuple[str, str]
_CERTIFICATE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"


@dataclass(frozen=True, slots=True)
class DoorBackends:
    """The current backends of the gateway.

    Attributes:
        slices: EndpointSlices by namespace and name of their Service.
        backends: Loopback address by address of a pod (``GET /backends``).
        stand_ins: Addresses of Services whose pods are not simulated, or that the cluster lacks: those of routers.
    """

    slices: Mapping[_Place, tuple[Object, ...]] = field(default_factory=dict)
    backends: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[ServicePort, Address] = field(default_factory=dict)


class EnvoyConfigurator:
    """Writes Envoy's bootstrap and serves its configuration.

    Args:
        folder: Folder of the bootstrap; created if missing.
        logs: Working directory of Envoy, with its logs and sockets.
        egctl: Envoy Gateway's program.
        port: Returns the loopback port of a listener, by its name.
        processor: Loopback address of the external processor.
    """

    def __init__(self, folder: Path, logs: Path, egctl: Path, port: Callable[[str], int], processor: Address) -> None:
        self.server = XdsServer(socket_path(logs / XDS_SOCKET))
        self._folder = folder
        self.problems: tuple[str, ...] = ()
        self._logs, self._egctl, self._port, self._processor = logs, egctl, port, processor
        self._admin = EnvoyAdmin(logs / SOCKET)
        self._services: Mapping[_Place, Object] = {}
        self._localizer: Localizer | None = None
        self._local: Local | None = None
        self._digest = ""
        self._last: tuple[str, Translation] | None = None

    def configure(
        self, objects: Iterable[Object], services: Iterable[Object], secrets: Iterable[Object], behind: DoorBackends
    ) -> bool:
        """Serve the configuration of the objects; return whether it changed.

        Args:
            objects: The rendered objects of the gateway.
            services: Services of the cluster.
            secrets: Secrets that the objects reference.
            behind: The backends.

        Raises:
            TranslationError: Envoy Gateway rejects the objects; the previous configuration stays.
        """
        rendered = tuple(objects)
        service_objects = [plain_service(service) for service in services]
        secret_objects = [plain_secret(secret) for secret in secrets]
        digest = _digest(rendered, service_objects, secret_objects)
        if digest == self._digest:
            return False
        private_folder(self._folder)
        gateway_objects = translated(rendered)
        # Envoy Gateway needs only the Services that routes reference. Those that a Backend names by DNS may appear
        # later, without a new translation.
        routed = routed_services(gateway_objects)
        routed_objects = [service for service in service_objects if _place(service) in routed]
        to_translate = [*gateway_objects, *routed_objects, *secret_objects]
        # Envoy Gateway takes a second or two: do not translate the same objects twice in a row.
        translated_digest = _digest(to_translate)
        if self._last is None or self._last[0] != translated_digest:
            self._last = translated_digest, translate(self._egctl, to_translate, self._logs)
        _, translation = self._last
        by_place = {_place(service): service for service in service_objects}
        localizer = Localizer(by_place, self._port, str(self._logs / ACCESS))
        xds = altered(translation.xds, rendered, self._processor) if ai_routes(rendered) else translation.xds
        old, self._local = self._local, localizer.localized(xds, translation.assignments)
        self._localizer, self._services, self.problems = localizer, by_place, translation.problems
        self._tell_certificates(self._local, secret_objects)
        self.follow(behind)
        self._put(self._local, old)
        bootstrap = bootstrap_of(translation.bootstrap, SOCKET, XDS_SOCKET)
        write_private(self._folder / BOOTSTRAP, json.dumps(bootstrap, sort_keys=True, indent=1).encode())
        self._digest = digest
        return True

    def follow(self, behind: DoorBackends) -> list[PodPort]:
        """Serve the current endpoints; return the pods that do not listen on loopback yet."""
        missing: list[PodPort] = []

        def listening(place: ServicePort) -> list[Address]:
            key = (place.namespace, place.name)
            pods = pods_of(place, self._services.get(key), behind.slices.get(key, ()))
            by_pod = [(pod, pod.on_loopback(behind.backends)) for pod in pods]
            addresses = [address for _, address in by_pod if address]
            if not addresses and place in behind.stand_ins:
                return [behind.stand_ins[place]]
            missing.extend(pod for pod, address in by_pod if address is None)
            return addresses

        if self._localizer and self._local:
            self.server.tell("eds", self._localizer.filled(self._local, listening))
        return missing

    def _put(self, local: Local, old: Local | None) -> None:
        """Add resources before others refer to them, and remove them once nothing refers to them any more."""
        # The order of the xDS REST and gRPC protocol, "Eventual consistency considerations".
        tell, version = self.server.tell, self.server.version
        clusters, listeners = local.xds["clusters"], local.xds["listeners"]
        old_clusters = [each for each in old.xds["clusters"] if each["name"] not in _names(clusters)] if old else []
        # Internal listeners of Services that the gateway no longer routes to: requests may still use them.
        old_listeners = (
            [each for each in old.xds["listeners"] if each["name"] not in _names(listeners)] if old else []
        )
        old_routes = _names(old.xds["routes"]) if old else set()
        tell("cds", [*clusters, *old_clusters])
        self._admin.settle(version("cds"), "")
        tell("rds", [route for route in local.xds["routes"] if route["name"] not in old_routes])
        tell("lds", [*listeners, *old_listeners])
        self._admin.settle(version("cds"), version("lds"))
        tell("rds", local.xds["routes"])
        self._admin.settle(version("cds"), version("lds"))
        tell("lds", listeners)
        tell("cds", clusters)

    def _tell_certificates(self, local: Local, secrets: Iterable[Object]) -> None:
        """Serve the certificates of the listeners, which Envoy Gateway would serve but egctl leaves out."""
        pairs = {"/".join(_place(secret)): secret.get("data") or {} for secret in secrets}
        for name in local.certificates:
            data = pairs.get(name, {})
            pair = {"certificateChain": data.get("tls.crt", ""), "privateKey": data.get("tls.key", "")}
            certificate = {key: {"inlineBytes": value} for key, value in pair.items()}
            self.server.tell("sds", [{"@type": _CERTIFICATE, "name": name, "tlsCertificate": certificate}])


def _names(resources: Iterable[Object]) -> set[str]:
    return {resource["name"] for resource in resources}


def _place(body: Object) -> _Place:
    metadata = body["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def plain_service(service: Object) -> Object:
    """Return a Service without the fields that the gateway ignores, so that their changes cause no translation."""
    namespace, name = _place(service)
    spec = {
        key: service["spec"][key] for key in ("clusterIP", "clusterIPs", "ports", "type") if key in service["spec"]
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def plain_secret(secret: Object) -> Object:
    """Return a Secret without the fields that the gateway ignores."""
    namespace, name = _place(secret)
    metadata = {"name": name, "namespace": namespace}
    # Envoy Gateway takes certificates only from Secrets of type kubernetes.io/tls.
    kind = {"type": secret["type"]} if "type" in secret else {}
    return {"apiVersion": "v1", "kind": "Secret", **kind, "metadata": metadata, "data": secret.get("data") or {}}
