"""What upstream's samples exercise (llmaz spec 5), as small manifests: each must work here, broken there or not."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from components.families import kinds, load
from components.fleet.nodes.fit import fit
from components.fleet.options import ModelCache, Options
from components.fleet.rendered import Fleet
from components.fleet.words import Edition, WorkloadChoice
from components.plan.rendering import render_fleet
from tests.fleets import SAMPLES, endpoint_of, errors

NAMES = sorted(path.stem for path in SAMPLES.glob("*.yaml"))
MULTI_NODE = "multi-nodes"


def rendered(sample: str, **options: Any) -> Fleet:
    manifests = load([SAMPLES / f"{sample}.yaml"])
    assert not manifests.problems
    fleet = render_fleet(manifests.resources, Options(**options))
    assert not errors(fleet)
    assert not fit(fleet)
    return fleet


def bodies(sample: str, **options: Any) -> dict[str, dict[str, Any]]:
    return {body["kind"]: body for item in rendered(sample, **options).rendered for body in item.objects}


def test_the_table_of_the_spec_is_covered() -> None:
    assert len(NAMES) >= 16


@pytest.mark.parametrize("sample", NAMES)
@pytest.mark.parametrize(
    "options",
    [{}, {"workload": WorkloadChoice.LWS}, {"runtimes": Edition.CURRENT}, {"cache": ModelCache(claim="weights")}],
)
def test_samples_become_valid_objects(sample: str, options: dict[str, Any]) -> None:
    fleet = rendered(sample, **options)
    assert fleet.rendered
    for body in (body for item in fleet.rendered for body in item.objects):
        if body["kind"] == "LeaderWorkerSet":
            kinds().by_name("LeaderWorkerSet").model.model_validate(body)
        else:
            kubernetes_validate.validate(body, "1.36", strict=True)


@pytest.mark.parametrize("sample", NAMES)
def test_lists_that_kubernetes_keys_by_name_hold_each_name_once(sample: str) -> None:
    """The API server refuses doubles under server-side apply; upstream makes some (llmaz spec 2.6)."""
    for item in rendered(sample).rendered:
        template = item.objects[0]["spec"]
        group = template.get("leaderWorkerTemplate")
        specs = (
            [group[part]["spec"] for part in ("leaderTemplate", "workerTemplate") if part in group]
            if group
            else [template["template"]["spec"]]
        )
        for spec in specs:
            unique([v["name"] for v in spec.get("volumes", [])])
            for container in [*spec.get("initContainers", []), *spec["containers"]]:
                unique([e["name"] for e in container.get("env", [])])
                unique([m["mountPath"] for m in container.get("volumeMounts", [])])
                mounted = {m["name"] for m in container.get("volumeMounts", [])}
                assert mounted <= {v["name"] for v in spec.get("volumes", [])}


def unique(names: list[str]) -> None:
    assert sorted(names) == sorted(set(names))


def test_hpa_sample() -> None:
    made = bodies("hpa")
    scaler = made["HorizontalPodAutoscaler"]["spec"]
    assert scaler["scaleTargetRef"]["name"] == "hpa-sample"
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (1, 3)
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels["llmaz.io/model-name"] == "qwen2-0--5b-gguf"


def test_multi_node_sample() -> None:
    made = bodies(MULTI_NODE)
    spec = made["LeaderWorkerSet"]["spec"]
    assert (spec["replicas"], spec["leaderWorkerTemplate"]["size"]) == (2, 2)
    assert made["Service"]["spec"]["ports"][0]["targetPort"] == 40000
    leader = spec["leaderWorkerTemplate"]["leaderTemplate"]
    assert leader["metadata"]["labels"]["role"] == "leader"
    assert leader["metadata"]["annotations"] == {"llmaz.io/inference-service-flavors": "h100"}
    token = [e for e in leader["spec"]["initContainers"][0]["env"] if e["name"] == "HUGGING_FACE_HUB_TOKEN"]
    assert [e["valueFrom"]["secretKeyRef"]["name"] for e in token] == ["own-secret"]


def test_streaming_sample() -> None:
    runner = bodies("runai-streamer-s3")["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert runner["args"][1] == "s3://models/deepseek-r1-distill-qwen-1-5b"
    assert [e["name"] for e in runner["env"]] == [
        "RUNAI_STREAMER_S3_ENDPOINT",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    ]


def test_ollama_sample() -> None:
    (item,) = rendered("ollama").rendered
    assert endpoint_of(item).model == "qwen2:0.5b"
