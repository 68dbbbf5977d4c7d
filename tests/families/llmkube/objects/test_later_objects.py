"""Objects of fields that later releases added: placement, exposure, caches, drafts and devices."""

from typing import Any

import pytest

from components.fleet.options import ModelCache
from tests.families.llmkube.support import (
    EXISTS,
    G5,
    Object,
    container,
    gpu,
    isvc,
    model,
    objects,
    pod,
    problem,
    served,
)
from tests.fleets import errors, fleet_of, warnings

NODES: Object = {"nodeSelector": G5}
AFFINITY: Object = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": next(iter(G5)), "operator": "In", "values": ["g5.12xlarge"]}]}
            ]
        }
    }
}


def types(*documents: Object) -> list[str | None]:
    """Return the instance types of the nodes that the only service needs."""
    (workload,) = served(*documents).workloads
    (demand,) = workload.pods
    return [choice.instance_type for choice in demand.choices]


def with_sharing(**sharing: Any) -> Object:
    return {**NODES, "resources": {"gpuSharing": sharing}}


@pytest.mark.parametrize(
    ("service", "hardware", "resource", "tolerated"),
    [
        ({}, gpu(1), "nvidia.com/gpu", "nvidia.com/gpu"),
        ({}, gpu(1, resourceName="example.com/gpu"), "example.com/gpu", "example.com/gpu"),
        ({}, gpu(1, tolerationKey="example.com/taint"), "nvidia.com/gpu", "example.com/taint"),
        ({}, gpu(1, "vulkan", vendor="amd"), "devic.es/dri-render", "devic.es/dri-render"),
        ({}, gpu(1, "rocm"), "amd.com/gpu", "amd.com/gpu"),
        (with_sharing(mode="exclusive"), gpu(1), "nvidia.com/gpu", "nvidia.com/gpu"),
        (with_sharing(mode="shared"), gpu(1, "rocm"), "amd.com/gpu", "amd.com/gpu"),
    ],
)
def test_devices(service: Object, hardware: Object, resource: str, tolerated: str) -> None:
    made = pod(isvc(**{**service, "nodeSelector": {}}), model(hardware=hardware))
    (runner,) = made["containers"]
    assert runner["resources"]["limits"] == {resource: 1}
    assert {**EXISTS, "key": tolerated} in made["tolerations"]


def test_a_part_of_a_gpu_is_its_own_resource() -> None:
    sharing = with_sharing(mode="partitioned", profile="1g.6gb")
    (runner,) = pod(isvc(**{**sharing, "nodeSelector": {}}), model(hardware=gpu(1)))["containers"]
    assert runner["resources"]["limits"] == {"nvidia.com/mig-1g.6gb": 1}


@pytest.mark.parametrize(
    ("sharing", "hardware", "path"),
    [
        ({"mode": "shared"}, gpu(1), "spec.resources.gpuSharing.mode"),
        ({"mode": "shared"}, gpu(2, "rocm"), "spec.resources.gpuSharing.mode"),
        ({"mode": "partitioned", "profile": "1g.6gb"}, gpu(1, "rocm"), "spec.resources.gpuSharing.mode"),
        ({"mode": "partitioned", "profile": "large"}, gpu(1), "spec.resources.gpuSharing.profile"),
    ],
)
def test_what_cannot_be_shared_is_refused(sharing: Object, hardware: Object, path: str) -> None:
    fleet = fleet_of(isvc(resources={"gpuSharing": sharing}), model(hardware=hardware))
    assert path in [p.path for p in errors(fleet)]


def test_claims_of_devices_are_in_the_pod_and_its_container() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    documents = isvc(), model(hardware={"accelerator": "cuda", "gpu": {"resourceClaims": claims}})
    made = pod(*documents)
    assert made["resourceClaims"] == claims
    assert made["containers"][0]["resources"]["claims"] == [{"name": "gpu"}]
    assert any("unknown here" in p.reason for p in warnings(fleet_of(*documents)))


def test_placement_and_volumes() -> None:
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
    service = isvc(
        affinity=AFFINITY,
        topologySpreadConstraints=spread,
        extraVolumes=[{"name": "scratch", "emptyDir": {}}],
        extraVolumeMounts=[{"name": "scratch", "mountPath": "/scratch"}],
        revisionHistoryLimit=3,
        resources={"ephemeralStorage": "20Gi"},
    )
    deployment = objects(service, model())["Deployment"]["spec"]
    made = deployment["template"]["spec"]
    assert deployment["revisionHistoryLimit"] == 3
    assert made["affinity"] == AFFINITY
    assert [each["topologyKey"] for each in made["topologySpreadConstraints"]] == ["zone"]
    assert {"name": "scratch", "emptyDir": {}} in made["volumes"]
    assert {"name": "scratch", "mountPath": "/scratch"} in made["containers"][0]["volumeMounts"]
    assert made["containers"][0]["resources"]["requests"]["ephemeral-storage"] == "20Gi"


def test_an_affinity_for_an_instance_type_chooses_the_nodes() -> None:
    assert types(isvc(affinity=AFFINITY), model(hardware=gpu(4))) == ["g5.12xlarge"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"extraVolumeMounts": [{"name": "a", "mountPath": "/a"}]}, "spec.extraVolumeMounts[0].name"),
        ({"extraVolumes": [{"name": "model-cache", "emptyDir": {}}]}, "spec.extraVolumes[0].name"),
    ],
)
def test_volumes_that_the_api_server_rejects(fields: Object, path: str) -> None:
    assert problem(isvc(**fields), model()).path == path


def test_a_suspended_service_has_no_replicas_and_no_autoscaler() -> None:
    scaling = {"minReplicas": 1, "maxReplicas": 3}
    made = objects(isvc(suspend=True, autoscaling=scaling), model())
    assert made["Deployment"]["spec"]["replicas"] == 0
    assert "HorizontalPodAutoscaler" not in made
    assert "HorizontalPodAutoscaler" in objects(isvc(autoscaling=scaling), model())


def test_the_port_of_nodes() -> None:
    made = objects(isvc(endpoint={"type": "NodePort", "nodePort": 30080}), model())
    assert made["Service"]["spec"]["ports"][0]["nodePort"] == 30080
    assert problem(isvc(endpoint={"nodePort": 30080}), model(), severity="warning").path == "spec.endpoint.nodePort"


@pytest.mark.parametrize(
    ("cache", "volume"),
    [
        ({"claimName": "models"}, {"name": "model-cache", "persistentVolumeClaim": {"claimName": "models"}}),
        ({"persistence": "Ephemeral"}, {"name": "model-storage", "emptyDir": {"sizeLimit": "20Gi"}}),
    ],
)
@pytest.mark.parametrize("shared", [None, ModelCache(claim="shared")])
def test_a_service_may_name_its_cache(cache: Object, volume: Object, shared: ModelCache | None) -> None:
    service = isvc(modelCache=cache, resources={"ephemeralStorage": "20Gi"})
    made = objects(service, model(), cache=shared)
    volumes = made["Deployment"]["spec"]["template"]["spec"]["volumes"]
    assert [v.get("persistentVolumeClaim", v.get("emptyDir")) for v in volumes] == [
        volume.get("persistentVolumeClaim", volume.get("emptyDir"))
    ]
    assert "PersistentVolumeClaim" not in made


@pytest.mark.parametrize(
    ("draft", "flag"),
    [
        (model("d", source="https://example.com/d.gguf"), "/models/"),
        (model("d", source="pvc://drafts/d.gguf"), "/draft/model-source/d.gguf"),
    ],
)
def test_a_draft_comes_with_the_model(draft: Object, flag: str) -> None:
    made = pod(isvc(speculativeDecoding={"type": "draft-simple", "draftModelRef": "d"}), model(), draft)
    (runner,) = made["containers"]
    args = runner["args"]
    path = next(args[index + 1] for index, word in enumerate(args) if word in ("--model-draft", "--spec-draft-model"))
    assert flag in path
    names = [each["name"] for each in made["initContainers"]]
    assert len(names) == len(set(names)) == (2 if "models" in flag else 1)
    assert len({v["name"] for v in made["volumes"]}) == len(made["volumes"])
    mounts = {mount["mountPath"] for mount in runner["volumeMounts"]}
    assert any(path.startswith(f"{mount}/") for mount in mounts)


def test_a_draft_on_the_claim_of_the_model_shares_its_mount() -> None:
    served = model(source="pvc://models/m.gguf"), model("d", source="pvc://models/d.gguf")
    made = pod(isvc(speculativeDecoding={"type": "draft-simple", "draftModelRef": "d"}), *served)
    assert len(made["volumes"]) == 1
    assert "/model-source/d.gguf" in made["containers"][0]["args"]


def test_a_draft_that_does_not_exist_is_refused() -> None:
    service = isvc(speculativeDecoding={"type": "draft-simple", "draftModelRef": "d"})
    assert problem(service, model()).path == "spec.speculativeDecoding.draftModelRef"


def test_several_files_of_a_repository_are_loaded() -> None:
    files = ["q/a-00001-of-00002.gguf", "q/a-00002-of-00002.gguf"]
    made = pod(isvc(), model(source="hf://org/repo@v1", files=files, mmproj="mmproj.gguf"))
    (loader,) = made["initContainers"]
    env = {each["name"]: each.get("value") for each in loader["env"]}
    assert env["MODEL_ADDRESS"] == "https://huggingface.co/org/repo/resolve/v1"
    assert env["MODEL_FILES"].split("\n") == [*files, "mmproj.gguf"]
    args = made["containers"][0]["args"]
    assert args[args.index("--model") + 1].endswith(files[0])
    assert args[args.index("--mmproj") + 1].endswith("/mmproj.gguf")


@pytest.mark.parametrize("name", ["../a.gguf", "/a.gguf", "a\nb.gguf"])
def test_files_stay_below_the_source(name: str) -> None:
    fleet = fleet_of(isvc(), model(source="hf://org/repo", files=[name]))
    assert errors(fleet)


def test_a_bucket_needs_its_secret() -> None:
    assert problem(isvc(), model(source="s3://bucket/m.gguf")).path == "spec.modelRef"
    made = pod(isvc(), model(source="s3://bucket/m.gguf", sourceSecretRef={"name": "keys"}))
    (loader,) = made["initContainers"]
    assert {"secretRef": {"name": "keys"}} in loader.get("envFrom", [])
    assert "envFrom" not in made["containers"][0]


def test_sglang_is_started_with_what_it_needs() -> None:
    service = isvc(runtime="sglang", skipModelInit=True, endpoint={"port": 30000}, **NODES)
    documents = service, model(source="org/repo", hardware=gpu(4))
    runner = container(*documents)
    assert runner["args"][:2] == ["--model-path", "org/repo"]
    assert runner["resources"]["limits"] == {"nvidia.com/gpu": 4}
    assert types(*documents) == ["g5.12xlarge"]


def test_sglang_scales_on_its_own_metric() -> None:
    service = isvc(runtime="sglang", skipModelInit=True, autoscaling={"maxReplicas": 3}, endpoint={"port": 30000})
    scaler = objects(service, model(source="org/repo", hardware=gpu(1)))["HorizontalPodAutoscaler"]
    assert scaler["spec"]["metrics"][0]["pods"]["metric"]["name"].startswith("sglang")
