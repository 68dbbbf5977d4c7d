"""Generated clusters: whatever they consist of, each model is found exactly once."""

import json
from collections import Counter
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from components.fleet.objects import Object
from tests.inspecting.objects import an_object, container, deployment, group, hpa, live, node, pod, service
from workbench.inspecting.formats import InspectFormat, write
from workbench.inspecting.inspection import inspect
from workbench.inspecting.reading import read_files
from workbench.inspecting.snapshot import ClusterSnapshot, Identity, identity_of

Cluster = tuple[list[Object], list[Identity]]
IDLE = container(name="web", image="nginx:1.29", args=[])
LLMAZ, KTHENA = "inference.llmaz.io/v1alpha1", "workload.serving.volcano.sh/v1alpha1"


def _plain(name: str) -> Cluster:
    body = live(deployment(name))
    between = live(an_object("apps/v1", "ReplicaSet", f"{name}-1"), body)
    return [body, between, pod(between, f"{name}-1-x", "n"), service(name, name)], [identity_of(body)]


def _scaled(name: str) -> Cluster:
    body = live(deployment(name, kind="StatefulSet", serviceName=name))
    return [body, live(hpa(body)), pod(body, f"{name}-0", "n")], [identity_of(body)]


def _group(name: str) -> Cluster:
    body = live(group(name))
    leaders = live(deployment(name, kind="StatefulSet"), body)
    leader = pod(leaders, f"{name}-0", "n")
    return [body, leaders, leader], [identity_of(body)]


def _llmaz(name: str) -> Cluster:
    top = live(an_object(LLMAZ, "Playground", name, modelClaim={"modelName": name}))
    middle = live(an_object(LLMAZ, "Service", name), top)
    workload = live(group(name, size=1), middle)
    return [top, middle, workload, pod(workload, f"{name}-0", "n")], [identity_of(top)]


def _llmkube(name: str) -> Cluster:
    top = live(an_object("inference.llmkube.dev/v1alpha1", "InferenceService", name, modelRef=name))
    weights = live(an_object("inference.llmkube.dev/v1alpha1", "Model", name, source="https://x/a.gguf"))
    return [top, weights, live(deployment(name), top)], [identity_of(top)]


def _kthena(name: str) -> Cluster:
    top = live(an_object(KTHENA, "ModelBooster", name))
    middle = live(an_object(KTHENA, "ModelServing", f"{name}-0"), top)
    return [top, middle, pod(middle, f"{name}-0-leader-0-0", "n")], [identity_of(top)]


def _variant(name: str) -> Cluster:
    body = live(deployment(name))
    reference = {"kind": "Deployment", "name": name}
    variant = an_object("llmd.ai/v1alpha1", "VariantAutoscaling", name, scaleTargetRef=reference, modelID=name)
    return [body, live(variant), live(hpa(body, "wva_desired_replicas"))], [identity_of(body)]


def _kserve(name: str) -> Cluster:
    predictor = {"model": {"modelFormat": {"name": "huggingface"}, "storageUri": f"hf://{name}"}}
    top = live(an_object("serving.kserve.io/v1beta1", "InferenceService", f"{name}-kserve", predictor=predictor))
    return [top, live(deployment(f"{name}-predictor"), top)], [identity_of(top)]


def _unread(name: str) -> Cluster:
    owner = live(an_object("apps/v1", "DaemonSet", name))
    pods = [pod(owner, f"{name}-{number}", "n") for number in range(2)]
    return [*pods], [identity_of(owner)]


def _other(name: str) -> Cluster:
    body = live(deployment(f"{name}-web", IDLE))
    # It holds accelerators, so that it is listed, as not known.
    return [body, pod(body, f"{name}-web-1", "n", IDLE)], [identity_of(body)]


KINDS: list[Callable[[str], Cluster]] = [
    _plain,
    _scaled,
    _group,
    _llmaz,
    _llmkube,
    _kthena,
    _variant,
    _kserve,
    _unread,
    _other,
]
FLEETS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["models", "other"])), max_size=12)


@given(FLEETS, st.randoms(use_true_random=False))
def test_every_model_is_found_exactly_once(fleet, shuffled) -> None:
    objects, expected = [node("n", "g5.2xlarge")], list[Identity]()
    for number, (kind, namespace) in enumerate(fleet):
        made, models = kind(f"m{number}")
        for body in made:
            body["metadata"]["namespace"] = namespace
        objects += made
        expected += [(group_name, of_kind, namespace, name) for group_name, of_kind, _, name in models]
    shuffled.shuffle(objects)
    result = inspect(ClusterSnapshot(tuple(objects), source="cluster"))
    assert Counter(model.identity for model in result.models) == Counter(expected)
    assert set(Counter(model.identity for model in result.models).values()) <= {1}
    for form in InspectFormat:
        assert write(result, form)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "a", "vllm/vllm-openai:v1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["containers", "image", "template", "spec", "name", "replicas"]), inner)
    ),
    max_leaves=12,
)
SHAPES = [
    deployment("a"),
    group("a"),
    hpa(deployment("whole"), name="a"),
    an_object("v1", "Pod", "a", containers=[container()]),
    an_object("v1", "Service", "a", selector={"app": "whole"}),
    an_object("serving.kserve.io/v1beta1", "InferenceService", "a", predictor={"model": {}}),
    an_object("serving.kserve.io/v1alpha1", "LLMInferenceService", "a", template={}, prefill={}, model={}),
    an_object(LLMAZ, "Playground", "a", modelClaim={}),
]


@given(data=st.data())
def test_files_of_any_form_are_read(data, tmp_path_factory) -> None:
    """Invalid objects in a file do not end the inspection of the others."""
    body = data.draw(st.sampled_from(SHAPES))
    spec = dict(body["spec"])
    for key in data.draw(st.lists(st.sampled_from(sorted(spec)), min_size=1, max_size=2)):
        spec[key] = data.draw(ANYTHING)
    file = tmp_path_factory.mktemp("any") / "objects.yaml"
    whole = deployment("whole")
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [{**body, "spec": spec}, whole]}))
    snapshot, unreadable = read_files([file])
    result = inspect(snapshot, unreadable)
    assert identity_of(whole) in [model.identity for model in result.models]
    assert write(result, InspectFormat.TEXT)
