"""How each member of the control plane is started. All of them listen on loopback alone."""

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
    """Where everything of one cluster lies, and the ports it listens on."""

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
"""Whom pods may ask for. Volcano starts a group as a whole or not at all; here each of its pods starts by itself."""
PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def _etcd(at: Layout, _: Path) -> list[str]:
    client, peer = (f"https://{LOOPBACK}:{at.ports[name]}" for name in ("etcd", "etcd-peer"))
    tls = {"cert-file": at.pki.certificate("etcd"), "key-file": at.pki.key("etcd")}
    return [
        *flags({"name": "workbench", "data-dir": at.folder / "etcd"}),
        *flags({"listen-client-urls": client, "advertise-client-urls": client}),
        *flags({"listen-peer-urls": peer, "initial-advertise-peer-urls": peer}),
        *flags({"initial-cluster": f"workbench={peer}"}),
        *flags({**tls, "trusted-ca-file": at.pki.etcd_authority, "client-cert-auth": "true"}),
        *flags({f"peer-{name}": value for name, value in tls.items()}),
        *flags({"peer-trusted-ca-file": at.pki.etcd_authority, "peer-client-cert-auth": "true"}),
        # A try-out may lose its last second at a power cut; without this, every write waits for the disk.
        *flags({"unsafe-no-fsync": "true", "log-level": "warn"}),
    ]


def _apiserver(at: Layout, _: Path) -> list[str]:
    return flags(
        {
            "etcd-servers": f"https://{LOOPBACK}:{at.ports['etcd']}",
            "etcd-cafile": at.pki.etcd_authority,
            "etcd-certfile": at.pki.certificate("etcd-client"),
            "etcd-keyfile": at.pki.key("etcd-client"),
            "bind-address": LOOPBACK,
            "advertise-address": LOOPBACK,
            "endpoint-reconciler-type": "none",
            "secure-port": at.ports["kube-apiserver"],
            "tls-cert-file": at.pki.certificate("server"),
            "tls-private-key-file": at.pki.key("server"),
            "client-ca-file": at.pki.authority,
            "anonymous-auth": "false",
            "authorization-mode": "Node,RBAC",
            "service-cluster-ip-range": SERVICE_RANGE,
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": at.pki.service_account_key,
            "service-account-signing-key-file": at.pki.service_account_key,
            "profiling": "false",
            **_aggregation(at),
        }
    )


def _aggregation(at: Layout) -> dict[str, object]:
    """How the API server proves to servers of other APIs for whom it asks.

    Without it each request reaches them as ``system:anonymous``, and their APIServices never become available. The
    authority is published in ConfigMap ``kube-system/extension-apiserver-authentication``, where they look for it
    (kubernetes.io: "Configure the Aggregation Layer").
    """
    return {
        "requestheader-client-ca-file": at.pki.front_proxy_authority,
        "requestheader-allowed-names": FRONT_PROXY.user,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": at.pki.certificate(FRONT_PROXY.file),
        "proxy-client-key-file": at.pki.key(FRONT_PROXY.file),
    }


def _controller_manager(at: Layout, _: Path) -> list[str]:
    return flags(
        {
            **_client(at, "controller-manager"),
            "secure-port": at.ports["kube-controller-manager"],
            "service-account-private-key-file": at.pki.service_account_key,
            "root-ca-file": at.pki.authority,
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            "kube-api-qps": 500,
            "kube-api-burst": 1000,
            # Many models at once are the normal case here; the defaults sync five at a time.
            "concurrent-deployment-syncs": 20,
            "concurrent-replicaset-syncs": 20,
            "concurrent-service-endpoint-syncs": 20,
        }
    )


def _scheduler(at: Layout, _: Path) -> list[str]:
    return flags(
        {
            **_client(at, "scheduler"),
            "secure-port": at.ports["kube-scheduler"],
            "config": at.scheduling,
            # A pod whose victims are gone at once, as here, may be held for ever: kubernetes/kubernetes#141694.
            "feature-gates": "SchedulerAsyncPreemption=false",
        }
    )


def scheduling(at: Layout) -> bytes:
    """Return the scheduler's configuration. It stands in for the scheduler of gangs, too, pod by pod."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": str(at.kubeconfig("scheduler")), "qps": 500, "burst": 1000},
        "profiles": [{"schedulerName": name} for name in SCHEDULERS],
    }
    return json.dumps(config, indent=1).encode()


def _kwok(at: Layout, stages: Path) -> list[str]:
    return flags(
        {
            "kubeconfig": at.kubeconfig("kwok"),
            "manage-nodes-with-annotation-selector": KWOK_SELECTOR,
            "node-ip": LOOPBACK,
            "cidr": POD_RANGE,
            "node-lease-duration-seconds": 40,
            "config": stages,
        }
    )


def _client(at: Layout, identity: str) -> dict[str, object]:
    config = at.kubeconfig(identity)
    return {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": LOOPBACK,
        "tls-cert-file": at.pki.certificate("server"),
        "tls-private-key-file": at.pki.key("server"),
        "profiling": "false",
    }


MEMBERS: Mapping[str, Callable[[Layout, Path], list[str]]] = {
    "etcd": _etcd,
    "kube-apiserver": _apiserver,
    "kube-controller-manager": _controller_manager,
    "kube-scheduler": _scheduler,
    "kwok": _kwok,
}
"""Command lines from the layout and kwok's stages, in the order in which they start; they stop in reverse."""
