"""Fields of Kubernetes that are newer than the types which the definitions of a release embed.

Expected values are those of upstream's CustomResourceDefinitions at the tags, and of k8s.io/api in their go.mod.
"""

from typing import Any, NamedTuple

import pytest

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.problems import field_path
from components.contract.schema.crds import crd
from components.families import kinds
from components.families.migration import Batch, MigratedDocument, drop_losses, migrate, unfit
from components.fleet.words import Realization
from tests.fleets import Object, errors, fleet_of, open_model, playground

KINDS = kinds()
CONTAINER: Object = {"name": "c", "image": "i"}
CLAIM: Object = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
KTHENA = ("97b99f41", "v0.1.0", "v0.2.0", "v0.3.0", "v0.4.0", "v1.0.0")
LLMAZ = ("v0.1.0", "v0.1.1", "79d833c", "v0.1.2", "v0.1.3", "v0.1.4", "3c13ff3")


def serving(**spec: Any) -> Object:
    pod = {"containers": [CONTAINER], **spec}
    role = {"name": "a", "workerReplicas": 0, "entryTemplate": {"spec": pod}}
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "metadata": {"name": "s"},
        "spec": {"schedulerName": "volcano", "template": {"roles": [role]}},
    }


def with_claim(metadata: Object) -> Object:
    return serving(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": metadata, **CLAIM}}}])


def scaled(behavior: Object) -> Object:
    metric = {
        "type": "Pods",
        "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}},
    }
    trigger = {"hpa": {"metrics": [metric], "behavior": behavior}}
    return playground("p", model="m", elasticConfig={"minReplicas": 1, "maxReplicas": 3, "scaleTrigger": trigger})


def with_variable(source: Object) -> Object:
    return playground("p", model="m", backendRuntimeConfig={"envs": [{"name": "A", "valueFrom": source}]})


class Case(NamedTuple):
    manifest: Object
    path: str
    releases: tuple[str, ...]
    """The releases whose definitions have the field."""


POD = "spec.template.roles[0].entryTemplate.spec"
VARIABLE: Object = {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}
NOTED: Object = {"userAnnotations": {"a.b/c": "d"}}
CERTIFICATE: Object = {"signerName": "a.example/b", "keyType": "ED25519"}
CASES = {
    "tolerance up": Case(
        scaled({"scaleUp": {"tolerance": "0.2"}}),
        "spec.elasticConfig.scaleTrigger.hpa.behavior.scaleUp.tolerance",
        ("3c13ff3",),
    ),
    "tolerance down": Case(
        scaled({"scaleDown": {"tolerance": "0.2"}}),
        "spec.elasticConfig.scaleTrigger.hpa.behavior.scaleDown.tolerance",
        ("3c13ff3",),
    ),
    "policies": Case(
        scaled({"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}),
        "",
        (LLMAZ[0], *LLMAZ[2:]),
    ),
    "variable of a file": Case(with_variable(VARIABLE), "spec.backendRuntimeConfig.envs[0].valueFrom.fileKeyRef", ()),
    "variable of a secret": Case(with_variable({"secretKeyRef": {"name": "s", "key": "k"}}), "", LLMAZ),
    "schedulingGroup": Case(serving(schedulingGroup={"podGroupName": "x"}), f"{POD}.schedulingGroup", ()),
    "hostnameOverride": Case(serving(hostnameOverride="h"), f"{POD}.hostnameOverride", KTHENA[2:]),
    "stopSignal": Case(
        serving(os={"name": "linux"}, containers=[{**CONTAINER, "lifecycle": {"stopSignal": "SIGUSR1"}}]), "", KTHENA
    ),
    "restartPolicyRules": Case(
        serving(
            initContainers=[
                {
                    **CONTAINER,
                    "name": "b",
                    "restartPolicy": "Never",
                    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
                }
            ]
        ),
        f"{POD}.initContainers[0].restartPolicyRules",
        KTHENA[2:],
    ),
    "podCertificate": Case(
        serving(volumes=[{"name": "v", "projected": {"sources": [{"podCertificate": CERTIFICATE}]}}]),
        f"{POD}.volumes[0].projected.sources[0].podCertificate",
        KTHENA[2:],
    ),
    "annotations of a certificate": Case(
        serving(
            volumes=[
                {
                    "name": "v",
                    "projected": {"sources": [{"podCertificate": CERTIFICATE | NOTED}]},
                }
            ]
        ),
        f"{POD}.volumes[0].projected.sources[0].podCertificate.userAnnotations",
        (),
    ),
    "labels of an ephemeral claim": Case(
        serving(
            volumes=[
                {"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, **CLAIM}}}
            ]
        ),
        f"{POD}.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels",
        (),
    ),
    "an ephemeral claim": Case(with_claim({}), "", KTHENA),
}


@pytest.mark.parametrize("name", CASES)
def test_a_field_is_known_to_the_releases_that_embed_it(name: str) -> None:
    manifest, path, having = CASES[name]
    kind = KINDS.find(manifest["apiVersion"], manifest["kind"])
    assert kind is not None
    assert check(manifest, kind)[1] == []
    for release in kind.releases.names:
        problems = check(manifest, kind.at(release))[1]
        unknown = [field_path(where) for where, reason in problems if reason.startswith("unknown field")]
        if release in having:
            assert unknown == [], release
        elif path:
            # v0.1.1 of llmaz lacks scaleTrigger.
            assert [path.startswith(field) for field in unknown] == [True], release
        assert not path or _defines(kind.at(release), path) == (release in having), release


def _defines(kind: Kind, path: str) -> bool:
    """Whether the definition of a release has a field."""
    schema = crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for part in path.replace("[0]", ".0").split("."):
        schema = schema["items"] if part == "0" else schema.get("properties", {}).get(part)
        if schema is None:
            return False
    return True


def test_conversions_list_a_field_that_vanishes() -> None:
    document = MigratedDocument(scaled({"scaleUp": {"tolerance": "0.2"}}))
    batch = Batch([document])
    kind = KINDS.find(document.value["apiVersion"], "Playground")
    assert kind is not None
    migrate(batch, KINDS, kind.releases, (), "3c13ff3", "v0.1.4")
    ((title, path, reason),) = batch.losses
    assert (title, path) == ("Playground/p", CASES["tolerance up"].path)
    assert "since Kubernetes 1.33" in reason
    assert drop_losses(document, KINDS, "v0.1.4") == []
    assert document.value["spec"]["elasticConfig"]["scaleTrigger"]["hpa"]["behavior"] == {"scaleUp": {}}
    assert list(unfit(document.value, KINDS, "v0.1.4")) == []


@pytest.mark.parametrize("realization", Realization)
def test_without_a_release_the_operator_refuses_the_field(realization: Realization) -> None:
    documents = (open_model("m"), scaled({"scaleUp": {"tolerance": "0.2"}}))
    problems = errors(fleet_of(*documents, realizations={"llmaz": realization}))
    paths = [problem.path for problem in problems]
    assert paths == ([] if realization.is_native else [CASES["tolerance up"].path])
