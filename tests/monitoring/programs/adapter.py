"""The real prometheus-adapter as an aggregated API server of the simulated cluster."""

import base64
import http.client
import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.monitoring.programs.certificate import Certificate, self_signed
from tests.monitoring.programs.daemon import eventually, running
from workbench.cluster.cluster import Running, free_ports
from workbench.cluster.pki import LOOPBACK
from workbench.kube import Kube, KubeError
from workbench.live.loop.rules import adapter_config

Json = dict[str, Any]
NAMESPACE, NAME = "monitoring", "prometheus-adapter"
CUSTOM, EXTERNAL = "custom.metrics.k8s.io", "external.metrics.k8s.io"
VERSIONS: Mapping[str, Sequence[str]] = {"rules": ("v1beta1", "v1beta2"), "externalRules": ("v1beta1",)}
"""What the adapter serves per kind of rule."""
_GROUPS = {"rules": CUSTOM, "externalRules": EXTERNAL}
_MANAGER = "test"
_RELIST = "1s"
_MAX_AGE = "1m"
"""How far back it looks for series: a pod that just ended is still listed, but has no value any more."""
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Adapter:
    """The running program, asked through the API server as the autoscaler does."""

    kube: Kube
    log: Path

    def pods(self, namespace: str, metric: str, version: str = "v1beta1", **selector: str) -> dict[str, str]:
        """Return the value per pod of a custom metric, as quantities; no pods where it is not known (yet)."""
        path = f"/apis/{CUSTOM}/{version}/namespaces/{namespace}/pods/*/{metric}"
        items = self._items(path, "labelSelector", selector)
        return {each["describedObject"]["name"]: each["value"] for each in items}

    def external(self, namespace: str, metric: str, **selector: str) -> list[str]:
        """Return the values of an external metric, as quantities; none where it is not known (yet)."""
        path = f"/apis/{EXTERNAL}/v1beta1/namespaces/{namespace}/{metric}"
        return [each["value"] for each in self._items(path, "labelSelector", selector)]

    def metrics(self, group: str = CUSTOM, version: str = "v1beta1") -> set[str]:
        """Return what discovery lists, such as ``pods/vllm_num_requests_waiting``; nothing until it answers."""
        try:
            listed = self.kube.request("GET", f"/apis/{group}/{version}")
        except KubeError as error:
            # The API server asks the adapter now and then, and answers for it until it has found it well.
            if error.status == http.client.SERVICE_UNAVAILABLE:
                return set()
            raise
        return {each["name"] for each in listed.get("resources") or ()}

    def _items(self, path: str, parameter: str, selector: Mapping[str, str]) -> list[Json]:
        wanted = ",".join(f"{name}={value}" for name, value in selector.items())
        try:
            found = self.kube.request("GET", path, params={parameter: wanted} if wanted else None)
        except KubeError as error:
            if error.status == http.client.NOT_FOUND:
                return []
            raise
        items: list[Json] = found["items"]
        return items


@contextmanager
def adapting(
    program: Path, folder: Path, cluster: Running, kube: Kube, prometheus: str, rules: Mapping[str, Any]
) -> Iterator[Adapter]:
    """Run the adapter with the chart value ``rules``, registered with the cluster until the end.

    Args:
        program: the adapter.
        folder: for its files.
        cluster: whose API server proxies to it.
        kube: a client of that cluster with every right.
        prometheus: the URL of Prometheus.
        rules: the chart's ``rules``: ``default`` (false), ``custom`` and ``external``.
    """
    config = adapter_config(rules)
    files = {name: folder / name for name in ("config.json", "kubeconfig", "adapter.log")}
    files["config.json"].write_text(json.dumps(config))
    for obj in _rights():
        kube.apply(obj, manager=_MANAGER)
    files["kubeconfig"].write_text(_kubeconfig(cluster, kube))
    certificate = self_signed(folder, NAME, serves=[f"{NAME}.{NAMESPACE}.svc"])
    (port,) = free_ports(1)
    command = [str(program), *_flags(files, certificate, port, prometheus)]
    services = _services(config, port, certificate)
    with running(command, files["adapter.log"], lambda: _listens(port)):
        try:
            for service in services:
                kube.apply(service, manager=_MANAGER)
            for service in services[1:]:
                _await_available(kube, service["metadata"]["name"])
            yield Adapter(kube, files["adapter.log"])
        finally:
            # An API that nobody serves keeps every namespace from being deleted.
            for service in reversed(services):
                kube.delete(service["apiVersion"], service["kind"], service["metadata"]["name"], NAMESPACE)


def _flags(files: Mapping[str, Path], certificate: Certificate, port: int, prometheus: str) -> list[str]:
    kubeconfig = files["kubeconfig"]
    return [
        f"--config={files['config.json']}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={certificate.certificate}",
        f"--tls-private-key-file={certificate.key}",
        f"--lister-kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--prometheus-url={prometheus}",
        f"--metrics-relist-interval={_RELIST}",
        f"--metrics-max-age={_MAX_AGE}",
        "--v=4",
    ]


def _rights() -> list[Json]:
    """The account of the chart, and what its templates bind to it."""
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    read = ["get", "list", "watch"]

    def binding(kind: str, name: str, role: tuple[str, str], namespace: str | None = None) -> Json:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        reference = {"apiGroup": _RBAC, "kind": role[0], "name": role[1]}
        return {
            "apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, "roleRef": reference,
            "subjects": [subject],
        }  # fmt: skip

    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": f"{NAME}-resource-reader"},
            "rules": [
                {"apiGroups": [""], "resources": ["namespaces", "pods", "services", "configmaps"], "verbs": read}
            ],
        },
        binding("ClusterRoleBinding", f"{NAME}-resource-reader", ("ClusterRole", f"{NAME}-resource-reader")),
        binding("ClusterRoleBinding", f"{NAME}-system-auth-delegator", ("ClusterRole", "system:auth-delegator")),
        binding(
            "RoleBinding", f"{NAME}-auth-reader", ("Role", "extension-apiserver-authentication-reader"), "kube-system"
        ),
    ]


def _kubeconfig(cluster: Running, kube: Kube) -> str:
    """The cluster's kubeconfig, with a token of the adapter's own account."""
    path = f"{kube.path('v1', 'ServiceAccount', NAME, NAMESPACE)}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = kube.request("POST", path, body=request)["status"]["token"]
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    return yaml.safe_dump(config)


def _services(config: Mapping[str, Any], port: int, certificate: Certificate) -> list[Json]:
    """The Service, and an APIService per group and version that the rules call for.

    The aggregator goes to the name of an ExternalName service, which may be the loopback interface; addresses of
    loopback in an EndpointSlice are refused by validation.
    """
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }
    bundle = base64.b64encode(certificate.certificate.read_bytes()).decode()
    return [service] + [
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{version}.{_GROUPS[kind]}"},
            "spec": {
                "group": _GROUPS[kind],
                "version": version,
                "service": {"name": NAME, "namespace": NAMESPACE, "port": port},
                "caBundle": bundle,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }
        for kind, versions in VERSIONS.items()
        if kind in config
        for version in versions
    ]


def _await_available(kube: Kube, name: str) -> None:
    said: list[str] = []

    def available() -> bool:
        status = kube.get("apiregistration.k8s.io/v1", "APIService", name).get("status", {})
        said[:] = [each.get("message", "") for each in status.get("conditions", [])]
        return any(each["type"] == "Available" and each["status"] == "True" for each in status.get("conditions", []))

    try:
        eventually(available, f"APIService {name} available")
    except AssertionError as error:
        raise AssertionError(f"{error}: {' '.join(said)}") from None


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
