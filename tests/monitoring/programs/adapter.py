"""The real prometheus-adapter as an aggregated API server of the simulated cluster."""

import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from livefleet.daemons import listens
from livefleet.loop.adapter import IDENTITY, AdapterFiles, adapter_config, command
from livefleet.loop.registration import CUSTOM, EXTERNAL, await_available, grant, register, withdraw
from tests.monitoring.programs.daemon import running
from toolkit.kube import Kube, KubeError
from toolkit.ports import free_ports
from workbench.cluster.cluster import Running

Json = dict[str, Any]
_RELIST = "1s"


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
    files, log = AdapterFiles.written(folder, config), folder / "adapter.log"
    kubeconfig = cluster.kubeconfig.parent / "cluster" / f"{IDENTITY}.kubeconfig"
    (port,) = free_ports(1)
    grant(kube)
    with running(
        [*command(program, files, kubeconfig, port, prometheus, _RELIST), "--v=4"], log, lambda: listens(port)
    ):
        try:
            register(kube, config, port, files.certificate)
            await_available(kube)
            yield Adapter(kube, log)
        finally:
            withdraw(kube)
