"""From objects to what Envoy is told: translated when they change, filled anew whenever pods do."""

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
    """What is behind the door now.

    Attributes:
        slices: EndpointSlices by namespace and name of their Service.
        backends: Loopback address by address of a pod (``GET /backends``).
        stand_ins: Where Services answer whose pods nobody plays, or that the cluster does not have: those of routers.
    """

    slices: Mapping[_Place, tuple[Object, ...]] = field(default_factory=dict)
    backends: Mapping[str, str] = field(default_factory=dict)
    stand_ins: Mapping[ServicePort, Address] = field(default_factory=dict)


class EnvoyConfigurator:
    """What the Envoy of a door is started with and told.

    Args:
        folder: Where its bootstrap is; it is made.
        logs: Where Envoy is started, and logs.
        egctl: Envoy Gateway's program.
        port: The port on loopback by name of the listener.
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
        """Tell everything; say whether anything of the configuration is new.

        Args:
            objects: The rendered objects of the door.
            services: Services of the cluster.
            secrets: Secrets that the objects name.
            behind: What is behind the door.

        Raises:
            TranslationError: Envoy Gateway does not take the objects; what was there before stays.
        """
        given = tuple(objects)
        known = [plain_service(each) for each in services]
        kept = [plain_secret(each) for each in secrets]
        digest = _digest(given, known, kept)
        if digest == self._digest:
            return False
        private_folder(self._folder)
        plain = translated(given)
        # Whose names are resolved are nothing to Envoy Gateway: they may come later, and cost no translation.
        direct = routed_services(plain)
        named = [each for each in known if _place(each) in direct]
        translation = self._translated([*plain, *named, *kept])
        by_place = {_place(each): each for each in known}
        localizer = Localizer(by_place, self._port, str(self._logs / ACCESS))
        xds = altered(translation.xds, given, self._processor) if ai_routes(given) else translation.xds
        old, self._local = self._local, localizer.localized(xds, translation.assignments)
        self._localizer, self._services, self.problems = localizer, by_place, translation.problems
        self._tell_certificates(self._local, kept)
        self.follow(behind)
        self._put(self._local, old)
        bootstrap = bootstrap_of(translation.bootstrap, SOCKET, XDS_SOCKET)
        write_private(self._folder / BOOTSTRAP, json.dumps(bootstrap, sort_keys=True, indent=1).encode())
        self._digest = digest
        return True

    def _translated(self, objects: list[Object]) -> Translation:
        """Translate, unless that was done last: it takes Envoy Gateway a second or two."""
        digest = _digest(objects)
        if self._last is None or self._last[0] != digest:
            self._last = digest, translate(self._egctl, objects, self._logs)
        return self._last[1]

    def follow(self, behind: DoorBackends) -> list[PodPort]:
        """Tell the endpoints that there are now; return the pods at whose address nobody listens yet."""
        missing: list[PodPort] = []

        def listening(place: ServicePort) -> list[Address]:
            at = (place.namespace, place.name)
            pods = pods_of(place, self._services.get(at), behind.slices.get(at, ()))
            found = [(pod, pod.on_loopback(behind.backends)) for pod in pods]
            here = [address for _, address in found if address]
            if not here and place in behind.stand_ins:
                return [behind.stand_ins[place]]
            missing.extend(pod for pod, address in found if address is None)
            return here

        if self._localizer and self._local:
            self.server.tell("eds", self._localizer.filled(self._local, listening))
        return missing

    def _put(self, local: Local, old: Local | None) -> None:
        """Tell what is new before what refers to it, and take away what is old when nothing does any more.

        That is the order of Envoy's own protocol (xDS REST and gRPC protocol, "Eventual consistency considerations").
        """
        tell, version = self.server.tell, self.server.version
        clusters, listeners = local.xds["clusters"], local.xds["listeners"]
        left = [each for each in old.xds["clusters"] if each["name"] not in _names(clusters)] if old else []
        # Connections inside the proxy to a Service that is not behind the door any more.
        still = [each for each in old.xds["listeners"] if each["name"] not in _names(listeners)] if old else []
        before = _names(old.xds["routes"]) if old else set()
        tell("cds", [*clusters, *left])
        self._admin.settle(version("cds"), "")
        tell("rds", [each for each in local.xds["routes"] if each["name"] not in before])
        tell("lds", [*listeners, *still])
        self._admin.settle(version("cds"), version("lds"))
        tell("rds", local.xds["routes"])
        self._admin.settle(version("cds"), version("lds"))
        tell("lds", listeners)
        tell("cds", clusters)

    def _tell_certificates(self, local: Local, secrets: Iterable[Object]) -> None:
        """Tell the certificates that listeners name: Envoy Gateway would send them, egctl leaves them out."""
        pairs = {"/".join(_place(each)): each.get("data") or {} for each in secrets}
        for name in local.certificates:
            data = pairs.get(name, {})
            pair = {"certificateChain": data.get("tls.crt", ""), "privateKey": data.get("tls.key", "")}
            certificate = {key: {"inlineBytes": value} for key, value in pair.items()}
            self.server.tell("sds", [{"@type": _CERTIFICATE, "name": name, "tlsCertificate": certificate}])


def _names(resources: Iterable[Object]) -> set[str]:
    return {each["name"] for each in resources}


def _place(each: Object) -> _Place:
    metadata = each["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def plain_service(service: Object) -> Object:
    """Return what the door has to know of a Service: what is left out changes without being of interest."""
    namespace, name = _place(service)
    spec = {
        key: service["spec"][key] for key in ("clusterIP", "clusterIPs", "ports", "type") if key in service["spec"]
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def plain_secret(secret: Object) -> Object:
    """Return what the door has to know of a Secret."""
    namespace, name = _place(secret)
    metadata = {"name": name, "namespace": namespace}
    # Envoy Gateway takes certificates from Secrets of their own type alone.
    kind = {"type": secret["type"]} if "type" in secret else {}
    return {"apiVersion": "v1", "kind": "Secret", **kind, "metadata": metadata, "data": secret.get("data") or {}}
