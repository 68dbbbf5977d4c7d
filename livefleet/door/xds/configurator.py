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
from .loopback import Local, Localizer, bootstrap_of
from .server import XdsServer
from .services import Address, PodPort, ServicePort, pods_of, routed_services
from .translator import Translation, translate

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
        translator: Envoy Gateway's program.
        port: Returns the loopback port of a listener, by its name.
        processor: Loopback address of the external processor.
    """

    def __init__(
        self, folder: Path, logs: Path, translator: Path, port: Callable[[str], int], processor: Address
    ) -> None:
        self.server = XdsServer(socket_path(logs / XDS_SOCKET))
        self._folder = folder
        self.problems: tuple[str, ...] = ()
        self._logs, self._translator, self._port, self._processor = logs, translator, port, processor
        self._admin = EnvoyAdmin(logs / SOCKET)
        self._services: Mapping[_Place, Object] = {}
        self._localizer: Localizer | None = None
        self._local: Local | None = None
        self._digest = ""
        self._last: tuple[str, Translation] | None = None

    def configure(
        self, objects: Iterable[Object], services: Iterable[Object], secrets: Iterable[Object], backends: DoorBackends
    ) -> bool:
        """Serve the configuration of the objects; return whether it changed.

        Args:
            objects: The rendered objects of the gateway.
            services: Services of the cluster.
            secrets: Secrets that the objects reference.
            backends: The current backends.

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
        # Only Services that routes reference. Envoy Gateway does not read those that a Backend names by DNS: they may
        # appear later without a new translation.
        routed = routed_services(gateway_objects)
        routed_objects = [service for service in service_objects if _place(service) in routed]
        to_translate = [*gateway_objects, *routed_objects, *secret_objects]
        # A change of another Service needs no translation, which runs it as a subprocess.
        translated_digest = _digest(to_translate)
        if self._last is None or self._last[0] != translated_digest:
            self._last = translated_digest, translate(self._translator, to_translate)
        _, translation = self._last
        by_place = {_place(service): service for service in service_objects}
        localizer = Localizer(by_place, self._port, str(self._logs / ACCESS))
        xds = altered(translation.xds, rendered, self._processor) if ai_routes(rendered) else translation.xds
        old, self._local = self._local, localizer.localized(xds, translation.assignments)
        self._localizer, self._services, self.problems = localizer, by_place, translation.problems
        self._serve_certificates(self._local, secret_objects)
        self.follow(backends)
        self._serve(self._local, old)
        bootstrap = bootstrap_of(translation.bootstrap, SOCKET, XDS_SOCKET)
        write_private(self._folder / BOOTSTRAP, json.dumps(bootstrap, sort_keys=True, indent=1).encode())
        self._digest = digest
        return True

    def follow(self, backends: DoorBackends) -> list[PodPort]:
        """Serve the current endpoints; return the pods that do not listen on loopback yet."""
        missing: list[PodPort] = []

        def listening(place: ServicePort) -> list[Address]:
            key = (place.namespace, place.name)
            pods = pods_of(place, self._services.get(key), backends.slices.get(key, ()))
            by_pod = [(pod, pod.on_loopback(backends.backends)) for pod in pods]
            addresses = [address for _, address in by_pod if address]
            if not addresses and place in backends.stand_ins:
                return [backends.stand_ins[place]]
            missing.extend(pod for pod, address in by_pod if address is None)
            return addresses

        if self._localizer and self._local:
            self.server.set_resources("eds", self._localizer.filled(self._local, listening))
        return missing

    def _serve(self, local: Local, old: Local | None) -> None:
        """Add resources before others refer to them, and remove them once no other refers to them.

        Otherwise requests fail during the update ("make before break": xDS protocol, "Eventual consistency
        considerations").
        """
        serve, version = self.server.set_resources, self.server.version
        clusters, listeners, routes = (local.xds[kind] for kind in ("clusters", "listeners", "routes"))
        old_clusters = _without(clusters, old.xds["clusters"]) if old else []
        # Internal listeners of Services that the gateway no longer routes to: requests may still use them.
        old_listeners = _without(listeners, old.xds["listeners"]) if old else []
        serve("cds", [*clusters, *old_clusters])
        self._admin.settle(version("cds"), "")
        # New routes come with the listeners, which wait for them. Changed ones come afterwards: their clusters may
        # connect to new internal listeners.
        serve("rds", _without(old.xds["routes"], routes) if old else routes)
        serve("lds", [*listeners, *old_listeners])
        self._admin.settle(version("cds"), version("lds"))
        serve("rds", routes)
        self._admin.settle(version("cds"), version("lds"))
        serve("lds", listeners)
        serve("cds", clusters)

    def _serve_certificates(self, local: Local, secrets: Iterable[Object]) -> None:
        """Serve the certificates of the listeners.

        Envoy Gateway would serve them too, but the translator prints what ``egctl`` does, and that leaves them out
        (v1.9.0 ``internal/cmd/egctl/translate.go``, constructConfigDump).
        """
        pairs = {"/".join(_place(secret)): secret.get("data") or {} for secret in secrets}
        for name in local.certificates:
            data = pairs.get(name, {})
            pair = {"certificateChain": data.get("tls.crt", ""), "privateKey": data.get("tls.key", "")}
            certificate = {key: {"inlineBytes": value} for key, value in pair.items()}
            self.server.set_resources("sds", [{"@type": _CERTIFICATE, "name": name, "tlsCertificate": certificate}])


def _without(others: Iterable[Object], resources: Iterable[Object]) -> list[Object]:
    """Return the resources whose names the others do not have."""
    names = {other["name"] for other in others}
    return [resource for resource in resources if resource["name"] not in names]


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
    # Envoy Gateway takes certificates only from Secrets of type kubernetes.io/tls (v1.9.0
    # internal/gatewayapi/validate.go).
    kind = {"type": secret["type"]} if "type" in secret else {}
    return {"apiVersion": "v1", "kind": "Secret", **kind, "metadata": metadata, "data": secret.get("data") or {}}
