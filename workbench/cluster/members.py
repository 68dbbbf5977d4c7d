"""Command lines of the members of the control plane, all of which listen on loopback only."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolkit.ports import LOOPBACK
from toolkit.process import flags

from .pki import FRONT_PROXY, SERVICE_IP, Pki

SERVICE_RANGE = SERVICE_IP.rpartition(".")[0] + ".0/16"
POD_RANGE = "10.244.0.0/16"
KWOK_SELECTOR = "kwok.x-k8s.io/node=fake"


@dataclass(frozen=True, slots=True)
class Layout:
    """The files and ports of a cluster."""

    folder: Path
    pki: Pki
    ports: Mapping[str, int]

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://{LOOPBACK}:{self.ports['kube-apiserver']}"

    @property
    def scheduling(self) -> Path:
        """Configuration of the scheduler."""
        return self.folder / "scheduler.json"

    def kubeconfig(self, identity: str) -> Path:
        """Kubeconfig of one member."""
        return self.folder / f"{identity}.kubeconfig"


SCHEDULERS = ("default-scheduler", "volcano")
"""Supported scheduler names. Unlike real Volcano, the simulated one does not gang-schedule: pods start one by one."""
PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def _etcd(layout: Layout, _: Path) -> list[str]:
    client, peer = (f"https://{LOOPBACK}:{layout.ports[name]}" for name in ("etcd", "etcd-peer"))
    tls = {"cert-file": layout.pki.certificate("etcd"), "key-file": layout.pki.key("etcd")}
    return [
        *flags({"name": "workbench", "data-dir": layout.folder / "etcd"}),
        *flags({"listen-client-urls": client, "advertise-client-urls": client}),
        *flags({"listen-peer-urls": peer, "initial-advertise-peer-urls": peer}),
        *flags({"initial-cluster": f"workbench={peer}"}),
        *flags({**tls, "trusted-ca-file": layout.pki.etcd_authority, "client-cert-auth": "true"}),
        *flags({f"peer-{name}": value for name, value in tls.items()}),
        *flags({"peer-trusted-ca-file": layout.pki.etcd_authority, "peer-client-cert-auth": "true"}),
        # Do not wait for the disk on every write: losing the last second after a power failure is acceptable here.
        *flags({"unsafe-no-fsync": "true", "log-level": "warn"}),
    ]


def _apiserver(layout: Layout, _: Path) -> list[str]:
    return flags(
        {
            "etcd-servers": f"https://{LOOPBACK}:{layout.ports['etcd']}",
            "etcd-cafile": layout.pki.etcd_authority,
            "etcd-certfile": layout.pki.certificate("etcd-client"),
            "etcd-keyfile": layout.pki.key("etcd-client"),
            "bind-address": LOOPBACK,
            "advertise-address": LOOPBACK,
            "endpoint-reconciler-type": "none",
            "secure-port": layout.ports["kube-apiserver"],
            "tls-cert-file": layout.pki.certificate("server"),
            "tls-private-key-file": layout.pki.key("server"),
            "client-ca-file": layout.pki.authority,
            "anonymous-auth": "false",
            "authorization-mode": "Node,RBAC",
            # As kubeadm and managed clusters set it: samples of servers on several nodes have privileged containers.
            "allow-privileged": "true",
            "service-cluster-ip-range": SERVICE_RANGE,
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": layout.pki.service_account_key,
            "service-account-signing-key-file": layout.pki.service_account_key,
            "profiling": "false",
            # These flags authenticate users to aggregated API servers. Without them, requests arrive there as
            # system:anonymous, and APIServices never become available. The authority is published in ConfigMap
            # kube-system/extension-apiserver-authentication (kubernetes.io: "Configure the Aggregation Layer").
            "requestheader-client-ca-file": layout.pki.front_proxy_authority,
            "requestheader-allowed-names": FRONT_PROXY.user,
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "proxy-client-cert-file": layout.pki.certificate(FRONT_PROXY.file),
            "proxy-client-key-file": layout.pki.key(FRONT_PROXY.file),
        }
    )


def _controller_manager(layout: Layout, _: Path) -> list[str]:
    return flags(
        {
            **_client(layout, "controller-manager"),
            "secure-port": layout.ports["kube-controller-manager"],
            "service-account-private-key-file": layout.pki.service_account_key,
            "root-ca-file": layout.pki.authority,
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            "kube-api-qps": 500,
            "kube-api-burst": 1000,
            # Deployments of many models at once are common here; the defaults sync five at a time.
            "concurrent-deployment-syncs": 20,
            "concurrent-replicaset-syncs": 20,
            "concurrent-service-endpoint-syncs": 20,
        }
    )


def _scheduler(layout: Layout, _: Path) -> list[str]:
    return flags(
        {
            **_client(layout, "scheduler"),
            "secure-port": layout.ports["kube-scheduler"],
            "config": layout.scheduling,
            # Here, preempted pods disappear at once, and the preemptor may then hang: kubernetes/kubernetes#141694.
            "feature-gates": "SchedulerAsyncPreemption=false",
        }
    )


def scheduling(layout: Layout) -> bytes:
    """Return the scheduler's configuration, with a profile for each supported scheduler name."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(layout.kubeconfig("scheduler")), "qps": 500, "burst": 1000},
        "profiles": [{"schedulerName": name} for name in SCHEDULERS],
    }
    return json.dumps(config, indent=1).encode()


def _kwok(layout: Layout, stages: Path) -> list[str]:
    return flags(
        {
            "kubeconfig": layout.kubeconfig("kwok"),
            "manage-nodes-with-annotation-selector": KWOK_SELECTOR,
            "node-ip": LOOPBACK,
            "cidr": POD_RANGE,
            "node-lease-duration-seconds": 40,
            "config": stages,
        }
    )


def _client(layout: Layout, identity: str) -> dict[str, object]:
    config = layout.kubeconfig(identity)
    return {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": LOOPBACK,
        "tls-cert-file": layout.pki.certificate("server"),
        "tls-private-key-file": layout.pki.key("server"),
        "profiling": "false",
    }


MEMBERS: Mapping[str, Callable[[Layout, Path], list[str]]] = {
    "etcd": _etcd,
    "kube-apiserver": _apiserver,
    "kube-controller-manager": _controller_manager,
    "kube-scheduler": _scheduler,
    "kwok": _kwok,
}
"""Command lines by member in start order; they stop in reverse order."""
