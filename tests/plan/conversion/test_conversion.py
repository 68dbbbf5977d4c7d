"""Resources in the kinds of another family: what is proved to be the same, and what is listed as different."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from components.families import FAMILIES, objects
from components.families.adoption import AdoptedWorkload
from components.families.kthena.family import Kthena
from components.fleet.options import Options, PodOverrides
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.conversion.convert import Conversion, adopting_families, convert_family
from components.plan.rendering import render_fleet
from tests.families.llmaz.generated import CPU, playgrounds, waiting
from tests.families.llmaz.services import template, two
from tests.fleets import GPU, SAMPLES, Object, errors, open_model, playground, service
from tests.tries import tries

G5: Object = {**GPU, "params": {"INSTANCE-TYPE": "g5.xlarge"}}


def converted(*documents: Object, family: str = "kthena", **options: Any) -> Conversion:
    manifests = objects(documents)
    assert not manifests.problems, list(map(str, manifests.problems))
    return convert_family(manifests.resources, Options(**options), family)


def sample(name: str) -> list[Object]:
    return list(yaml.safe_load_all((SAMPLES / f"{name}.yaml").read_text(encoding="utf-8")))


def paths(conversion: Conversion) -> list[str]:
    return [re.sub(r"^\S+: ", "", difference.path) for difference in conversion.differences]


def kinds(conversion: Conversion) -> list[str]:
    return [body["kind"] for body in conversion.documents]


ROUTED = ["ModelServing", "ModelServer", "ModelRoute"]
TO_KTHENA: dict[str, tuple[list[str], list[str]]] = {
    "hostpath": (ROUTED, []),
    "huggingface": (ROUTED, []),
    "modelscope": (ROUTED, []),
    "objstore-oss": (ROUTED, []),
    "runai-streamer-files": (ROUTED, []),
    "runai-streamer-s3": (ROUTED, []),
    "sglang": (ROUTED, []),
    "speculative-vllm": (ROUTED, []),
    # Kthena's router reaches vLLM and SGLang only, and the served name of others is that of their own arguments.
    "llamacpp": (["ModelServing"], ["endpoints.0.model"]),
    "speculative-llamacpp": (["ModelServing"], ["endpoints.0.model"]),
    "ollama": (["ModelServing"], ["endpoints.0.model"]),
    "tgi": (["ModelServing"], ["endpoints.0.model"]),
    "tensorrt-llm": (["ModelServing"], []),
    # A policy has no metrics of Kubernetes itself.
    "hpa": (["ModelServing"], ["workloads.server.autoscaler", "endpoints.0.model"]),
    # llmaz's Service listens on 8080 and the server on 40000.
    "multi-nodes": (ROUTED, ["endpoints.0.port"]),
}


@pytest.mark.parametrize("name", TO_KTHENA)
def test_samples_become_model_servings(name: str) -> None:
    conversion = converted(*sample(name))
    assert (kinds(conversion), paths(conversion)) == TO_KTHENA[name]
    assert not conversion.problems


def test_the_table_has_every_sample_of_llmaz_alone() -> None:
    assert {path.stem for path in SAMPLES.glob("*.yaml")} - set(TO_KTHENA) == {"envoy-ai-gateway"}


LLMKUBE_LACKS = {
    "workloads.server.pods.leader.containers.server.resources.limits.cpu",
    "workloads.server.pods.leader.containers.server.resources.limits.memory",
    "workloads.server.pods.leader.priorityClassName",
}


@pytest.mark.parametrize("name", ["huggingface", "llamacpp", "tgi", "hostpath"])
def test_what_llmkube_lacks_is_listed(name: str) -> None:
    conversion = converted(*sample(name), family="llmkube")
    assert kinds(conversion) == ["Model", "InferenceService"]
    assert set(paths(conversion)) >= LLMKUBE_LACKS
    assert all("image" not in path.rpartition(".")[2] for path in paths(conversion))


@pytest.mark.parametrize("name", ["ollama", "multi-nodes", "runai-streamer-s3"])
def test_what_llmkube_cannot_express_has_no_manifest(name: str) -> None:
    conversion = converted(*sample(name), family="llmkube")
    assert not conversion.documents
    (difference,) = conversion.differences
    assert "none of the family's kinds can express it" in str(difference.after)


def test_a_file_of_a_hub_gets_the_runtime_that_fetches_it() -> None:
    *_, served = converted(*sample("llamacpp"), family="llmkube").documents
    assert served["spec"]["runtime"] == "llamacpp"
    assert served["spec"]["extraArgs"] == ["-fa"]


def test_a_repository_is_loaded_by_the_server_itself() -> None:
    model, served = converted(*sample("huggingface"), family="llmkube").documents
    assert model["spec"]["source"] == "facebook/opt-125m"
    assert served["spec"]["runtime"] == "generic"
    assert "facebook/opt-125m" in served["spec"]["args"]
    assert {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} == {variable["name"] for variable in served["spec"]["env"]}


# -- autoscalers, groups, and what the environment adds


def test_a_metric_of_the_engine_becomes_a_policy() -> None:
    trigger = {"hpa": {"metrics": [waiting("vllm")]}}
    elastic = {"minReplicas": 2, "maxReplicas": 5, "scaleTrigger": trigger}
    conversion = converted(open_model(flavors=[G5]), playground(elasticConfig=elastic))
    assert kinds(conversion) == [*ROUTED, "AutoscalingPolicy", "AutoscalingPolicyBinding"]
    assert paths(conversion) == []


def test_a_metric_that_a_policy_lacks_is_listed() -> None:
    trigger = {"hpa": {"metrics": [waiting("vllm"), CPU]}}
    elastic = {"minReplicas": 2, "maxReplicas": 5, "scaleTrigger": trigger}
    conversion = converted(open_model(), playground(elasticConfig=elastic))
    assert paths(conversion) == ["workloads.server.autoscaler.metrics[Resource cpu]"]


def test_a_group_keeps_its_pods_and_variables() -> None:
    flavor = {"name": "f", "limits": {"nvidia.com/gpu": 8}, "params": {"INSTANCE-TYPE": "p4d.24xlarge", "PP": "2"}}
    conversion = converted(open_model(flavors=[flavor]), playground())
    assert paths(conversion) == []
    serving = conversion.documents[0]
    role = serving["spec"]["template"]["roles"][0]
    assert role["workerReplicas"] == 1
    text = json.dumps(serving)
    assert "ENTRY_ADDRESS" in text
    assert "LWS_" not in text


def test_subgroups_and_topology_are_listed() -> None:
    group = two(size=4, subGroupPolicy={"subGroupSize": 2})
    annotations = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"}
    conversion = converted(open_model(), service(annotations=annotations, workloadTemplate=group))
    path = "workloads.server.topology[leaderworkerset.sigs.k8s.io/exclusive-topology]"
    assert {path, "workloads.server.subGroupPolicy"} <= set(paths(conversion))


def test_what_the_environment_adds_stays_out_of_the_manifest() -> None:
    overrides = PodOverrides(labels={"team": "a"}, service_account_name="own", node_selector={"pool": "b"})
    conversion = converted(open_model(), playground(), overrides=overrides)
    assert paths(conversion) == []
    assert "team" not in json.dumps(conversion.documents)


def test_labels_by_which_llmaz_finds_its_pods_are_left_out() -> None:
    labels = {"labels": {"own": "label"}}
    group = {"workerTemplate": {"metadata": labels, **template()}}
    conversion = converted(open_model(), service(workloadTemplate=group))
    (role,) = conversion.documents[0]["spec"]["template"]["roles"]
    assert role["entryTemplate"]["metadata"] == labels
    assert "llmaz" not in json.dumps(conversion.documents)


def test_notes_tell_what_is_around_the_pods() -> None:
    (item,) = converted(open_model(), playground()).converted
    assert [(note.path, note.before, note.after) for note in item.notes] == [
        ("server.kind", "Deployment", "LeaderWorkerSet")
    ]


def test_with_the_operator_a_single_pod_is_replaced() -> None:
    realizations = {"kthena": Realization.OPERATOR}
    conversion = converted(open_model(), playground(), realizations=realizations)
    assert conversion.documents[0]["spec"]["recoveryPolicy"] == "ServingGroupRecreate"


# -- what is converted


def test_models_and_runtimes_are_unused_afterwards() -> None:
    conversion = converted(*sample("huggingface"), family="kthena")
    assert [source.title for source in conversion.unused] == ["OpenModel/opt-125m"]


def test_a_resource_with_an_error_is_reported_and_stays() -> None:
    conversion = converted(open_model(), playground("a"), playground("b", model="missing"))
    assert [item.source.name for item in conversion.converted] == ["a"]
    assert not conversion.unused
    assert [problem.name for problem in conversion.problems] == ["b"]


def test_what_cannot_be_expressed_stays_with_its_model() -> None:
    flavor = {"name": "h100", "limits": {"nvidia.com/gpu": 8}, "params": {"TP": "8", "PP": "2"}}
    documents = (open_model("big", flavors=[flavor]), playground("p", model="big"), open_model(), playground("a"))
    conversion = converted(*documents, family="llmkube")
    assert [(item.source.name, bool(item.documents)) for item in conversion.converted] == [("p", False), ("a", True)]
    assert not conversion.unused


def test_what_a_resource_that_stays_names_is_kept() -> None:
    cluster = {"metadata": {"name": "other"}, "apiVersion": "inference.llmkube.dev/v1alpha1"}
    model: Object = {**cluster, "kind": "Model", "spec": {"source": "https://h.example.org/x.gguf"}}
    served: Object = {**cluster, "kind": "InferenceService", "spec": {"modelRef": "other", "resources": {"cpu": "1"}}}
    adapter: Object = {
        **cluster,
        "kind": "LoRAAdapter",
        "spec": {"inferenceServiceRef": {"name": "other"}, "name": "other", "path": "/a"},
    }
    alone = converted(model, served)
    assert [source.title for source in alone.unused] == ["Model/other"]
    assert not converted(model, served, adapter).unused


@settings(max_examples=tries(100))
@given(st.lists(playgrounds(), min_size=1, max_size=2), st.sampled_from(adopting_families()))
def test_each_resource_is_converted_kept_or_unused(fleets: list[list[Object]], family: str) -> None:
    """What stays finds everything that it refers to, as before."""
    unique = {(body["kind"], body["metadata"]["name"]): body for fleet in fleets for body in fleet}
    manifests = objects(list(unique.values()))
    before = render_fleet(manifests.resources)
    conversion = convert_family(manifests.resources, family=family)
    replaced = {id(item.source) for item in conversion.converted if item.documents}
    unused = set(map(id, conversion.unused))
    assert not replaced & unused
    staying = [source for source in manifests.resources if id(source) not in replaced | unused]
    assert all(item.documents or item.differences for item in conversion.converted)
    known = {(problem.kind, problem.name, problem.reason) for problem in before.problems}
    after = render_fleet(staying)
    assert {(problem.kind, problem.name, problem.reason) for problem in errors(after)} <= known


def test_other_families_stay_where_only_one_is_left() -> None:
    model: Object = {
        "apiVersion": "inference.llmkube.dev/v1alpha1",
        "kind": "Model",
        "metadata": {"name": "k"},
        "spec": {"source": "org/name"},
    }
    served = {
        **model,
        "kind": "InferenceService",
        "spec": {"modelRef": "k", "runtime": "vllm", "skipModelInit": True},
    }
    served["spec"]["resources"] = {"gpu": 1}
    resources = objects([open_model(), playground(), model, served]).resources
    both = convert_family(resources, family="kthena")
    one = convert_family(resources, family="kthena", leaving=["llmaz"])
    assert [item.source.name for item in both.converted] == ["p", "k"]
    assert [item.source.name for item in one.converted] == ["p"]


def test_only_families_that_adopt_can_be_converted_to() -> None:
    assert adopting_families() == ("llmkube", "kthena")
    with pytest.raises(
        ValueError, match=r"cannot convert to 'ktena'; did you mean 'kthena'\? \(available: llmkube, kt"
    ):
        convert_family((), family="ktena")


def test_a_document_that_the_family_rejects_is_a_difference() -> None:
    name = "n" * 60  # too long for the labels of Kthena's pods
    conversion = converted(open_model(), playground(name))
    assert [path for path in paths(conversion) if path == "problems"]


# -- the proof finds whatever is changed


def _container(body: Object) -> Object:
    containers: list[Object] = body["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]["containers"]
    return containers[0]


def _pod(body: Object) -> Object:
    pod: Object = body["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]
    return pod


CHANGES: dict[str, tuple[str, Callable[[Object], object]]] = {
    "image": ("ModelServing", lambda b: _container(b).update(image="vllm/vllm-openai:v0.7.2")),
    "an argument more": ("ModelServing", lambda b: _container(b)["args"].append("--enforce-eager")),
    "an argument less": ("ModelServing", lambda b: _container(b)["args"].__delitem__(slice(-2, None))),
    "a value of an argument": ("ModelServing", lambda b: _container(b)["args"].__setitem__(1, "/elsewhere")),
    "command": ("ModelServing", lambda b: _container(b).update(command=["vllm", "serve"])),
    "a variable": ("ModelServing", lambda b: _container(b)["env"][0].update(value="other")),
    "a variable less": ("ModelServing", lambda b: _container(b).pop("env")),
    "a limit": ("ModelServing", lambda b: _container(b)["resources"]["limits"].update(memory="9Gi")),
    "a request": ("ModelServing", lambda b: _container(b)["resources"]["requests"].update(cpu="3")),
    "a probe": ("ModelServing", lambda b: _container(b)["livenessProbe"].update(periodSeconds=11)),
    "no probe": ("ModelServing", lambda b: _container(b).pop("readinessProbe")),
    "hook": ("ModelServing", lambda b: _container(b).pop("lifecycle")),
    "port": ("ModelServing", lambda b: _container(b)["ports"][0].update(containerPort=8081)),
    "affinity": ("ModelServing", lambda b: _pod(b).pop("affinity")),
    "toleration": ("ModelServing", lambda b: _pod(b).update(tolerations=[{"operator": "Exists"}])),
    "grace period": ("ModelServing", lambda b: _pod(b).update(terminationGracePeriodSeconds=10)),
    "loader": ("ModelServing", lambda b: _pod(b).pop("initContainers")),
    "shared memory": ("ModelServing", lambda b: _pod(b)["volumes"][0]["emptyDir"].update(sizeLimit="1Gi")),
    "model name": ("ModelRoute", lambda b: b["spec"].update(modelName="other")),
    "lower bound": ("AutoscalingPolicyBinding", lambda b: b["spec"]["scalingConfiguration"].update(minReplicas=1)),
    "upper bound": ("AutoscalingPolicyBinding", lambda b: b["spec"]["scalingConfiguration"].update(maxReplicas=9)),
    "target": ("AutoscalingPolicy", lambda b: b["spec"]["metrics"][0].update(targetValue="6")),
    "pace": ("AutoscalingPolicy", lambda b: b["spec"]["behavior"]["scaleDown"].update(percent=50)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_listed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, apply = CHANGES[change]
    original = Kthena.adopt

    def changed(self: Kthena, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:
        bodies = json.loads(json.dumps(original(self, adopted, options)))
        apply(next(body for body in bodies if body["kind"] == kind))
        return tuple(bodies)

    trigger = {"hpa": {"metrics": [waiting("vllm")]}}
    documents = (
        open_model(flavors=[G5]),
        playground(
            backendRuntimeConfig={"envs": [{"name": "A", "value": "1"}], "args": ["--seed", "7"]},
            elasticConfig={"minReplicas": 2, "maxReplicas": 5, "scaleTrigger": trigger},
        ),
    )
    assert paths(converted(*documents)) == []
    monkeypatch.setattr(Kthena, "adopt", changed)
    assert paths(converted(*documents)) != []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["--seed", "7", "--enforce-eager"], ["--enforce-eager", "--seed", "7"]),
        (["--max-model-len", "4096"], ["--max-model-len=4096"]),
        (["--max_model_len", "4096"], ["--max-model-len", "4096"]),
    ],
)
def test_the_order_and_spelling_of_arguments_may_differ(
    before: list[str], after: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Kthena.adopt

    def changed(self: Kthena, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:
        bodies = json.loads(json.dumps(original(self, adopted, options)))
        args = _container(bodies[0])["args"]
        args[-len(before) :] = after
        return tuple(bodies)

    monkeypatch.setattr(Kthena, "adopt", changed)
    assert paths(converted(open_model(), playground(backendRuntimeConfig={"args": before}))) == []


# -- whatever is generated


@settings(max_examples=tries(150))
@given(playgrounds())
def test_everything_that_differs_is_listed(documents: list[Object]) -> None:
    """Compares the raw objects, which the proof reads in a form of its own."""
    manifests = objects(documents)
    before = render_fleet(manifests.resources)
    if errors(before):
        return
    for family in adopting_families():
        conversion = convert_family(manifests.resources, family=family)
        if not conversion.documents:
            assert conversion.differences
            continue
        after = render_fleet(objects(conversion.documents).resources)
        notes = [note.path for item in conversion.converted for note in item.notes]
        listed = "\n".join([*paths(conversion), *notes])
        old, new = _facts(before), _facts(after)
        for fact, words in _WORDS.items():
            if old.get(fact) != new.get(fact):
                assert re.search(words, listed), (family, fact, old.get(fact), new.get(fact), listed)
        if family == "kthena":
            allowed = r"endpoints\.0\.model|autoscaler|problems"
            assert all(re.search(allowed, path) for path in paths(conversion)), listed


_WORDS = {
    "image": r"\.image|workloads.server$",
    "args": r"\.run",
    "env": r"\.env",
    "resources": r"\.resources",
    "affinity": r"affinity|nodeSelector|nodes",
    "probes": r"Probe",
    "hpa": r"autoscaler",
    "endpoints": r"endpoints",
    "tolerations": r"oleration",
    "volumes": r"volumes|initContainers|mounts|Mounts",
    "loaders": r"initContainers",
    "grace": r"terminationGracePeriodSeconds",
}


def _facts(fleet: Fleet) -> Object:
    """Read what must not change from the objects themselves."""
    (workload,) = fleet.workloads
    body = workload[1].body["spec"]
    pod = (body.get("template") or body.get("leaderWorkerTemplate", {}).get("workerTemplate"))["spec"]
    container = pod["containers"][0]
    resources = container.get("resources") or {}
    own = {"GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX"}
    return {
        "image": container["image"],
        "args": sorted(map(str, container.get("args") or [])),
        "env": {v["name"]: v for v in container.get("env") or [] if v["name"] not in own},
        # The API server defaults requests to limits.
        "resources": (
            resources.get("limits"),
            {**(resources.get("limits") or {}), **(resources.get("requests") or {})},
        ),
        "affinity": _node_labels(pod),
        "tolerations": sorted(map(json.dumps, pod.get("tolerations") or [])),
        "volumes": sorted(json.dumps(volume | {"name": ""}) for volume in pod.get("volumes") or []),
        "loaders": [
            (each["image"], each.get("command"), each.get("args")) for each in pod.get("initContainers") or []
        ],
        "grace": pod.get("terminationGracePeriodSeconds"),
        "probes": [container.get(f"{name}Probe") for name in ("startup", "liveness", "readiness")],
        "hpa": [
            (s.minimum, s.maximum, sorted(map(json.dumps, s.hpa["spec"].get("metrics") or [])))
            for _, s in fleet.autoscalers
        ],
        "endpoints": [(e.api, e.model, e.port, e.path) for _, e in fleet.endpoints],
    }


def _node_labels(pod: Object) -> list[Object]:
    node = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = (node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or [{}]
    return [
        {**(pod.get("nodeSelector") or {}), **{e["key"]: e["values"][0] for e in term.get("matchExpressions") or []}}
        for term in required
    ]


def test_every_family_that_adopts_is_listed() -> None:
    assert {family.name for family in FAMILIES} > set(adopting_families())
