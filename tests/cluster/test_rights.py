"""Who may do what on the simulated cluster."""

import base64
from pathlib import Path

import pytest
import yaml

from tests.cluster.waiting import eventually
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running
from workbench.cluster.pki import Pki

# Rights


def with_token(cluster: Running, token: str) -> Kube:
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token} if token else {}
    return Kube.from_kubeconfig(yaml.safe_dump(config))


def test_nobody_is_not_let_in(cluster: Running) -> None:
    for token in ("", "made-up"):
        with with_token(cluster, token) as stranger, pytest.raises(KubeError) as error:
            stranger.request("GET", "/api/v1/namespaces")
        assert error.value.status == 401


def test_a_certificate_of_another_authority_is_not_let_in(cluster: Running, tmp_path: Path) -> None:
    foreign = Pki(tmp_path / "pki")
    foreign.ensure()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {
        "client-certificate-data": base64.b64encode(foreign.certificate("admin").read_bytes()).decode(),
        "client-key-data": base64.b64encode(foreign.key("admin").read_bytes()).decode(),
    }
    with Kube.from_kubeconfig(yaml.safe_dump(config)) as stranger, pytest.raises(KubeError) as error:
        stranger.request("GET", "/api/v1/namespaces")
    assert error.value.status in (0, 401)


def test_a_service_account_has_no_rights_until_it_is_given_some(cluster: Running, kube: Kube, namespace: str) -> None:
    path = f"{kube.path('v1', 'ServiceAccount', 'default', namespace)}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = kube.request("POST", path, body=request)["status"]["token"]
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "reader", "namespace": namespace}}
    with with_token(cluster, token) as account:
        with pytest.raises(KubeError) as error:
            list(account.list("v1", "Pod", namespace))
        assert (error.value.status, error.value.reason) == (403, "Forbidden")
        role = {**rbac, "kind": "Role", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]}
        subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
        binding = {**rbac, "kind": "RoleBinding", "roleRef": reference, "subjects": [subject]}
        kube.apply(role, manager="test")
        kube.apply(binding, manager="test")

        def may() -> bool:
            try:
                return list(account.list("v1", "Pod", namespace)) == []
            except KubeError:
                return False

        eventually(may, "the right to list pods")
        with pytest.raises(KubeError, match="secrets is forbidden"):
            list(account.list("v1", "Secret", namespace))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/namespaces/default/configmaps"),
        ("DELETE", "/api/v1/nodes/gpu-1"),
        ("DELETE", "/api/v1/namespaces/default"),
        ("GET", "/apis/apps/v1/deployments"),
    ],
)
def test_kwok_may_only_play_nodes_and_pods(cluster: Running, cluster_folder: Path, method: str, path: str) -> None:
    with Kube.from_kubeconfig(cluster_folder / "cluster/kwok.kubeconfig") as kwok:
        with pytest.raises(KubeError) as error:
            kwok.request(method, path)
        assert error.value.status == 403
        assert "workbench-kwok" in error.value.message
        assert isinstance(kwok.request("GET", "/api/v1/nodes"), dict)


def test_pods_get_tokens_that_the_server_honours(cluster: Running, kube: Kube) -> None:
    """Admission adds the projected token volume, as in any cluster."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "with-token", "namespace": "default"},
        "spec": {"containers": [{"name": "a", "image": "b"}]},
    }
    made = kube.request("POST", "/api/v1/namespaces/default/pods", params={"dryRun": "All"}, body=pod)
    names = [volume["name"] for volume in made["spec"]["volumes"]]
    assert any(name.startswith("kube-api-access-") for name in names)
