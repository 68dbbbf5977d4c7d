"""`adopt --kubeconfig` with AWS: the models of a cluster and the cluster around them become one stack."""

import base64
import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from botocore.client import BaseClient  # type: ignore[import-untyped]
from typer.testing import CliRunner, Result

from tests.adopting import support
from tests.adopting.aws import one_cluster
from tests.adopting.aws.one_cluster import SOME_IDS
from tests.adopting.aws.test_sources import Calls
from tests.adopting.support import PROGRAM, Object, everything, identity
from tests.clouds.aws.moto.moto_cloud import MotoCloud
from toolkit.kube import Kube
from toolkit.kubeconfig import ClusterEntry, read_cluster_entry
from workbench.adopting.aws.identity import check_same_cluster, existing_cluster
from workbench.adopting.aws.inventory import FoundCluster
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.deploying.call import Deployer, StackCall
from workbench.engine.display import Display
from workbench.errors import WorkbenchError

NAMESPACE = "adopt-on-aws"
CLUSTER_READ = ("aws:eks/cluster:Cluster", one_cluster.NAME)


AUTOSCALER: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "scaling-aws-cluster-autoscaler",
        "namespace": "kube-system",
        "labels": {"app.kubernetes.io/name": "aws-cluster-autoscaler", "helm.sh/chart": "cluster-autoscaler-9.50.1"},
    },
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "scaling"}},
        "template": {
            "metadata": {"labels": {"app": "scaling"}},
            "spec": {"containers": [{"name": "scaling", "image": "registry.example.com/mirror/autoscaler:v1.35.0"}]},
        },
    },
}
"""As its chart names it (kubernetes/autoscaler, charts/cluster-autoscaler/templates/_helpers.tpl)."""


@pytest.fixture(scope="module")
def fleet(kube: Kube) -> Iterator[None]:
    """A model of llmaz, and Deployments that kubectl, Helm and a GitOps controller applied."""
    support.install_kinds(kube)
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    kube.request("POST", "/api/v1/namespaces", params={"fieldManager": support.KUBECTL}, body=body)
    resources = support.resources_of("qwen-cpu.yaml", NAMESPACE)
    for name, apply in (("a", support.client_side), ("b", support.by_helm), ("c", support.server_side)):
        apply(kube, support.deployment(name, NAMESPACE))
        apply(kube, support.service(name, NAMESPACE))
    for resource in resources:
        support.client_side(kube, resource)
    support.by_helm(kube, AUTOSCALER)
    yield
    kube.delete("apps/v1", "Deployment", AUTOSCALER["metadata"]["name"], "kube-system")
    for resource in resources:
        metadata = resource["metadata"]
        kube.delete(resource["apiVersion"], resource["kind"], metadata["name"], metadata.get("namespace"))
    kube.delete("v1", "Namespace", NAMESPACE)


@pytest.fixture
def on_aws(cluster: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterEntry]:
    """An account in memory whose EKS cluster has the endpoint and the CA of the real API server."""
    entry = read_cluster_entry(cluster.kubeconfig)
    with MotoCloud(one_cluster.REGION) as cloud:
        one_cluster.create(cloud.client)
        Calls(monkeypatch, addons=["metrics-server", "eks-pod-identity-agent"])
        call = BaseClient._make_api_call

        def with_endpoint(client: Any, operation: str, params: Any) -> Any:
            answer = call(client, operation, params)
            if operation == "DescribeCluster":
                authority = base64.b64encode(entry.authority).decode()
                answer["cluster"] |= {"endpoint": entry.server, "certificateAuthority": {"data": authority}}
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", with_endpoint)
        yield entry


ARGUMENTS = ("-n", NAMESPACE, "--stack", "prod", "--aws", one_cluster.NAME, "--region", one_cluster.REGION)


@pytest.fixture
def token(cluster: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `aws` command whose `eks get-token` answers with the credentials of the local cluster; it logs its calls."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    user = config["users"][0]["user"]
    names = {"clientCertificateData": "client-certificate", "clientKeyData": "client-key"}
    status = {
        key: base64.b64decode(user[f"{name}-data"]).decode()
        if f"{name}-data" in user
        else (cluster.kubeconfig.parent / user[name]).read_text()
        for key, name in names.items()
        if f"{name}-data" in user or name in user
    }
    status |= {"token": user["token"]} if "token" in user else {}
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    (folder / "credential.json").write_text(json.dumps({"kind": "ExecCredential", "status": status}))
    command = folder / "aws"
    command.write_text(f'#!/bin/sh\necho "$@" >> {log}\ncat {folder}/credential.json\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["adopt", *map(str, words)])


def test_one_command_adopts_models_and_cluster(
    kube: Kube, cluster: Running, fleet: None, on_aws: ClusterEntry, token: Path, tmp_path: Path
) -> None:
    before, folder = identity(everything(kube, NAMESPACE)), tmp_path / "fleet"
    done = run(folder, "--kubeconfig", cluster.kubeconfig, *ARGUMENTS)
    assert done.exit_code == 0, done.output
    assert "the first `up` would create on AWS" not in done.output
    config = yaml.safe_load((folder / "Pulumi.prod.yaml").read_text())["config"]
    settings = {key.removeprefix("inference-platform:"): value for key, value in config.items()}
    assert "kubeconfig" not in settings
    assert (settings["cloud"], settings["clusterName"]) == ("aws", one_cluster.NAME)
    assert settings["gpuNodes"]["types"]["g5.2xlarge"]["existingGroups"] == ["a10g"]
    assert settings["realizations"] == {"llmaz": "operator"}
    # From the add-ons of EKS and from the API groups of the server.
    assert {"metrics-server", "llmaz", "cluster-autoscaler"} <= {*settings["prerequisites"]["present"]}
    (folder / "__main__.py").write_text(PROGRAM)

    engine = stack(folder, on_aws)
    screen = StringIO()
    engine._display = Display(screen)
    engine.preview()
    assert f" {len(settings['adopted']['objects'])} to import" in screen.getvalue()
    assert "=> " not in screen.getvalue(), screen.getvalue()
    assert stack(folder, on_aws).up().ok
    assert identity(everything(kube, NAMESPACE)) == before
    assert stack(folder, on_aws).up().changed == 0
    assert identity(everything(kube, NAMESPACE)) == before
    assert f"--region us-east-1 eks get-token --cluster-name {one_cluster.NAME}" in token.read_text()

    path = folder / "models" / NAMESPACE / "b.yaml"
    path.write_text(path.read_text().replace("v0.10.0", "v0.10.1"))
    assert stack(folder, on_aws).up().ok
    after = identity(everything(kube, NAMESPACE))
    assert {key for key in before if before[key] != after[key]} == {"Deployment/b"}


def stack(folder: Path, entry: ClusterEntry) -> Any:
    """The local engine, which knows what the program would read of the cluster on AWS."""
    cluster = FoundCluster(one_cluster.NAME, one_cluster.REGION, one_cluster.VERSION, "vpc-0a", endpoint=entry.server)
    options = {"wait": False, "existing": existing_cluster(cluster, entry)}
    return StackCall("prod", Deployer.LOCAL, "", folder, options).local()


def test_the_import_file_has_the_provider_of_the_stack(
    kube: Kube, cluster: Running, fleet: None, on_aws: ClusterEntry, tmp_path: Path
) -> None:
    folder = tmp_path / "fleet"
    assert run(folder, "--kubeconfig", cluster.kubeconfig, *ARGUMENTS).exit_code == 0
    resources: list[Object] = json.loads((folder / ".workbench/import.prod.json").read_text())["resources"]
    by_name = {resource["name"]: resource for resource in resources}
    (provider,) = [each for each in resources if each["type"] == "pulumi:providers:kubernetes"]
    parent = by_name[provider["parent"]]
    # The component of the cluster owns the provider (components/resources/aws/cluster.py).
    assert (provider["logicalName"], parent["logicalName"]) == ("cluster", "cluster")
    assert (parent["type"], parent["component"]) == ("inference-platform:index:Cluster", True)
    assert {key: provider["inputs"][key] for key in ("clusterIdentifier", "enablePatchForce")} == {
        "clusterIdentifier": "us-east-1/prod",
        "enablePatchForce": "true",
    }
    config = json.loads(provider["inputs"]["kubeconfig"])
    assert config["clusters"][0]["cluster"] == {
        "server": on_aws.server,
        "certificate-authority-data": base64.b64encode(on_aws.authority).decode(),
    }
    objects = [each for each in resources if each["type"].startswith("kubernetes:")]
    assert objects
    assert {each["provider"] for each in objects} == {provider["name"]}
    assert not [each for each in resources if each["type"].startswith("aws:")]


def test_what_runs_and_the_node_groups_are_imported_together(
    cluster: Running, fleet: None, on_aws: ClusterEntry, tmp_path: Path
) -> None:
    """With the command that keeps the groups protected until the first `up`."""
    folder = tmp_path / "fleet"
    done = run(folder, "--kubeconfig", cluster.kubeconfig, *ARGUMENTS, "--own", "node-groups")
    assert done.exit_code == 0, done.output
    settings = yaml.safe_load((folder / "Pulumi.prod.yaml").read_text())["config"]
    types = settings["inference-platform:gpuNodes"]["types"].values()
    owned = {group["name"] for settings_of_type in types for group in settings_of_type["ownedGroups"]}
    assert settings["inference-platform:adopted"]["objects"]
    resources: list[Object] = json.loads((folder / ".workbench/import.prod.json").read_text())["resources"]
    ids = {resource["id"] for resource in resources if resource["type"] == "aws:eks/nodeGroup:NodeGroup"}
    assert owned == {"a10g", "l4-spot"}
    assert ids == {f"{one_cluster.NAME}:{name}" for name in owned}
    assert any(resource["type"].startswith("kubernetes:") for resource in resources)
    assert "Import the node groups and what runs with the Pulumi CLI" in done.output
    assert "pulumi import" in done.output
    assert "--protect=false" not in done.output


def test_a_dry_run_names_what_another_cluster_is(
    cluster: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of Terraform describes another cluster than the kubeconfig."""
    state = one_cluster.terraform(SOME_IDS)
    values = state["values"]["root_module"]["resources"][0]["values"]
    values |= {"endpoint": "https://0AB.gr7.us-east-1.eks.amazonaws.com", "certificate_authority": [{"data": "Q0E="}]}
    path = tmp_path / "state.json"
    path.write_text(json.dumps(state))
    done = run(tmp_path / "fleet", "--kubeconfig", cluster.kubeconfig, "--terraform", path, "--dry-run")
    assert isinstance(done.exception, WorkbenchError)
    entry = read_cluster_entry(cluster.kubeconfig)
    assert f"cluster {entry.name} at {entry.server} is not the EKS cluster prod in us-east-1 at " in str(
        done.exception
    )
    assert "https://0AB.gr7.us-east-1.eks.amazonaws.com" in str(done.exception)
    assert not (tmp_path / "fleet").exists()


PEM = b"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"
CA = base64.b64encode(PEM).decode()
ENDPOINT = "https://0ABCDEF.gr7.us-east-1.eks.amazonaws.com"


@pytest.mark.parametrize(
    ("endpoint", "authority", "server", "own", "same"),
    [
        (ENDPOINT, CA, ENDPOINT, PEM, True),
        (ENDPOINT, "", ENDPOINT.replace("0ABCDEF", "0abcdef") + ":443/", b"", True),
        (ENDPOINT, CA, "https://localhost:8443", PEM.strip(), True),
        ("", CA, "https://localhost:8443", PEM, True),
        (ENDPOINT, CA, ENDPOINT + ":6443", b"other", False),
        (ENDPOINT, CA, "https://localhost:8443", b"other", False),
        (ENDPOINT, "", "https://localhost:8443", PEM, False),
        (ENDPOINT, "!", "https://localhost:8443", b"", False),
        (ENDPOINT, "", "https://localhost:no", b"", False),
    ],
)
def test_the_cluster_is_compared_by_address_and_authority(
    endpoint: str, authority: str, server: str, own: bytes, *, same: bool
) -> None:
    cluster = FoundCluster("prod", "us-east-1", "1.35", "vpc-0a", endpoint=endpoint, authority=authority)
    entry = ClusterEntry("mine", server, own)
    if same:
        assert check_same_cluster(cluster, entry, "cluster prod") == ""
        return
    with pytest.raises(WorkbenchError, match=f"cluster mine at {server} is not the EKS cluster prod"):
        check_same_cluster(cluster, entry, "cluster prod")


def test_a_source_without_the_endpoint_is_noted() -> None:
    note = check_same_cluster(
        FoundCluster("prod", "us-east-1", "1.35", "vpc-0a"), ClusterEntry("a", "https://b"), "f"
    )
    assert note.startswith("not checked: whether https://b, cluster a of the kubeconfig, is the EKS cluster prod")
