"""A control plane whose API server proves to aggregated API servers for whom it speaks."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.monitoring.programs.certificate import self_signed
from workbench.cluster import cluster as cluster_module
from workbench.cluster.binaries import Found
from workbench.cluster.cluster import Running, SimulatedCluster
from workbench.cluster.members import MEMBERS, Layout

API_SERVER, CONTROLLERS = "kube-apiserver", "kube-controller-manager"
LOOK = "2s"
"""How often an autoscaler looks; 15 s by default, and nothing that it decides depends on it."""
_FRONT_PROXY = "front-proxy-client"


def aggregation_flags(folder: Path) -> list[str]:
    """The API server's flags for the aggregation layer, with the certificate that they name.

    Without them every request reaches the aggregated server as ``system:anonymous``, which has no rights there; its
    APIService never becomes available (the aggregator's own check gets 403). The flags also publish the authority in
    the ConfigMap ``kube-system/extension-apiserver-authentication``, where aggregated servers look for it.
    """
    proxy = self_signed(folder, _FRONT_PROXY)
    return [
        f"--requestheader-client-ca-file={proxy.certificate}",
        f"--requestheader-allowed-names={_FRONT_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={proxy.certificate}",
        f"--proxy-client-key-file={proxy.key}",
    ]


@contextmanager
def aggregating(folder: Path, programs: Found) -> Iterator[Running]:
    """Run a control plane of its own with those flags, and with autoscalers that look often."""
    flags = aggregation_flags(folder)
    members: Mapping[str, Callable[[Layout, Path], list[str]]] = {
        **MEMBERS,
        API_SERVER: _with(MEMBERS[API_SERVER], flags),
        CONTROLLERS: _with(MEMBERS[CONTROLLERS], [f"--horizontal-pod-autoscaler-sync-period={LOOK}"]),
    }
    made = SimulatedCluster(folder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster_module, "MEMBERS", members)
            running = made.start(lambda _: programs)
        yield running
    finally:
        made.stop()


def _with(arguments: Callable[[Layout, Path], list[str]], flags: list[str]) -> Callable[[Layout, Path], list[str]]:
    return lambda at, stages: [*arguments(at, stages), *flags]
