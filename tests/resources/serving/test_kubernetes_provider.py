"""Provider and releases are, to the engine, those of the SDK's classes."""

import re
from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest

from components.resources.prerequisites.chart import HelmRelease
from components.resources.serving.kubernetes_provider import KubernetesProvider
from components.resources.serving.objects import PROVIDER_VERSION, provider_version
from tests.layers.modules import ROOT
from tests.recorded import Entry, deploy


def recorded(program: Callable[[], Any], name: str) -> Entry:
    def run() -> None:
        program()

    return deploy(run)[name]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"context": "c", "enable_server_side_apply": True},
        {"upsert_existing_objects": True, "enable_patch_force": False},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("", ""),
        ("PULUMI_K8S_SUPPRESS_DEPRECATION_WARNINGS", "1"),
        ("PULUMI_K8S_ENABLE_PATCH_FORCE", "TRUE"),
        ("PULUMI_K8S_UPSERT_EXISTING_OBJECTS", "F"),
        ("PULUMI_K8S_DELETE_UNREACHABLE", "yes"),
    ],
)
def test_the_provider_is_that_of_the_sdk(
    settings: dict[str, Any], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, value)
    given = {"kubeconfig": "k", "cluster_identifier": "prod", **settings}
    ours = recorded(lambda: KubernetesProvider("p", **given), "p")
    theirs = recorded(lambda: k8s.Provider("p", **given), "p")
    assert (ours.type, ours.inputs) == (theirs.type, theirs.inputs)


def test_a_kubeconfig_may_be_a_secret_output() -> None:
    entry = recorded(
        lambda: KubernetesProvider("p", kubeconfig=pulumi.Output.secret("k"), cluster_identifier="prod"), "p"
    )
    theirs = recorded(lambda: k8s.Provider("p", kubeconfig=pulumi.Output.secret("k"), cluster_identifier="prod"), "p")
    assert entry.inputs == theirs.inputs


def test_a_release_is_that_of_the_sdk() -> None:
    wire = {
        "chart": "c",
        "version": "1",
        "repositoryOpts": {"repo": "https://charts.example"},
        "name": "n",
        "namespace": "ns",
        "createNamespace": True,
        "values": {"snake_case": {"camelCase": [1]}},
        "atomic": True,
        "skipAwait": None,
        "timeout": 900,
    }

    def theirs() -> None:
        k8s.helm.v3.Release(
            "x",
            chart="c",
            version="1",
            repository_opts=k8s.helm.v3.RepositoryOptsArgs(repo="https://charts.example"),
            name="n",
            namespace="ns",
            create_namespace=True,
            values={"snake_case": {"camelCase": [1]}},
            atomic=True,
            timeout=900,
        )

    ours = recorded(lambda: HelmRelease("x", wire, pulumi.ResourceOptions(version=provider_version())), "x")
    sdk = recorded(theirs, "x")
    assert (ours.type, ours.inputs) == (sdk.type, sdk.inputs)


def test_the_version_without_the_sdk_is_that_of_the_lock_file() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    found = re.search(r"^pulumi-kubernetes==(\S+)", lock, re.MULTILINE)
    assert found
    assert found[1] == PROVIDER_VERSION == provider_version()
