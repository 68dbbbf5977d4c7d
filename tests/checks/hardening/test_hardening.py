"""What environments ask of workloads: exact fields, and that a template's own word is kept."""

import copy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.hardening.pods import HOME, image_user, image_users
from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity, Priority
from components.checks.hardening.workloads import harden, restricted_exemptions
from components.engines.registry import engines
from components.families.llmaz.loaders import LOADER_IMAGE
from components.families.llmaz.shipped import shipped, shipped_names
from components.fleet.options import ModelCache
from components.fleet.words import Edition, Realization
from tests.checks.hardening.hardened import (
    ALL,
    ELASTIC,
    RESTRICTED,
    TWO_NODES,
    Object,
    engine,
    hardened,
    kinds,
    model,
    rendered,
    written,
)
from tests.fleets import GPU, fleet_of, open_model, playground, runner, service


def test_by_default_nothing_changes() -> None:
    for item in (model(), model("vllm"), rendered(open_model(flavors=TWO_NODES), playground())):
        assert harden(item, Hardening()) == item


@given(
    st.sampled_from(PodSecurity),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, *Priority]),
    st.sampled_from(["single", "group", "elastic"]),
)
def test_what_is_given_is_not_changed_and_twice_is_once(
    level: PodSecurity, budgets: bool, spread: bool, priority: Priority | None, shape: str
) -> None:
    item = SHAPES[shape]
    before = copy.deepcopy(item.objects)
    options = Hardening(level, budgets, spread, priority)
    made = harden(item, options)
    assert item.objects == before
    again = harden(replace(made, others=item.others), options)
    assert again == made


SHAPES = {
    "single": model(),
    "group": rendered(open_model(flavors=TWO_NODES), playground(replicas=2)),
    "elastic": model(spec=ELASTIC),
}


def test_an_image_that_allows_it_meets_restricted() -> None:
    """The fields are those of the Pod Security Standards, profile restricted."""
    spec = hardened(model())
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    expected = {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "capabilities": {"drop": ["ALL"]},
    }
    assert [c["securityContext"] for c in (*spec["initContainers"], *spec["containers"])] == [expected, expected]
    assert restricted_exemptions(harden(model(), RESTRICTED)) == ()


def test_users_other_than_root_have_a_home_that_they_can_write() -> None:
    spec = hardened(model())
    assert {"name": "home", "emptyDir": {}} in spec["volumes"]
    for container in (*spec["initContainers"], *spec["containers"]):
        assert {"name": "home", "mountPath": HOME} in container["volumeMounts"]
        assert {"name": "HOME", "value": HOME} in container["env"]
    assert [v["name"] for v in spec["volumes"]].count("home") == 1


def test_an_image_that_needs_root_keeps_it_and_loses_the_rest() -> None:
    spec = hardened(model("vllm"))
    assert engine(spec) == {"allowPrivilegeEscalation": False}
    assert spec["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    assert spec["initContainers"][0]["securityContext"]["runAsNonRoot"] is True
    (found,) = restricted_exemptions(harden(model("vllm"), RESTRICTED))
    assert (found.part, found.rule) == ("model-runner", "root")
    assert "kserve/kserve issue 5666" in found.reason


def test_baseline_takes_no_user_away() -> None:
    spec = hardened(model(), Hardening(PodSecurity.BASELINE))
    assert engine(spec) == {"allowPrivilegeEscalation": False}
    assert spec["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    assert spec["automountServiceAccountToken"] is False
    assert "home" not in [v["name"] for v in spec["volumes"]]


@pytest.mark.parametrize(
    ("image", "user"),
    [
        ("ghcr.io/ggerganov/llama.cpp:server", 1000),
        ("mirror.example.com:5000/ggml-org/llama.cpp:server-b6500", 1000),
        ("ghcr.io/ggml-org/llama.cpp@sha256:" + "0" * 64, 1000),
        ("ghcr.io/ggml-org/llama.cpp:server@sha256:" + "0" * 64, 1000),
        ("ollama/ollama", 1000),
        ("docker.io/ollama/ollama:0.12.6", 1000),
        (LOADER_IMAGE, 1000),
        ("ghcr.io/huggingface/text-generation-inference:2.3.1", 1000),
        ("ghcr.io/huggingface/text-generation-inference:3.0.2", 1000),
        ("ghcr.io/huggingface/text-generation-inference:3.1.0", None),
        ("ghcr.io/huggingface/text-generation-inference:3.3.6", None),
        ("ghcr.io/huggingface/text-generation-inference:latest", None),
        ("vllm/vllm-openai:v0.7.3", None),
        ("lmsysorg/sglang:v0.5.4-cu129-amd64", None),
        ("nvcr.io/nvidia/tritonserver:25.03-trtllm-python-py3", None),
        ("example.com/notollama/ollama", None),
        ("example.com/engine:v1", None),
    ],
)
def test_who_an_image_runs_as(image: str, user: int | None) -> None:
    known = image_user(image)
    assert (known.user if known else None) == user


def test_every_shipped_image_is_in_the_table_with_a_reason() -> None:
    loaders = {"curl", "model-loader"}
    assert (
        set(image_users())
        == {*shipped_names(), *loaders}
        == {*(name for name, engine in engines().items() if engine.current_image), *loaders}
    )
    for edition in Edition:
        for name in shipped_names():
            runtime = shipped(name, edition)
            assert runtime
            names = image_users()[name].images
            assert runtime.spec.image.endswith(names), (name, edition)
    for facts in image_users().values():
        assert len(facts.reason) > 40
        assert (facts.user is None) == (facts.group is None)
        assert facts.user != 0


def test_an_unknown_image_is_not_claimed_to_work() -> None:
    item = written(image="example.com/engine:v1")
    assert engine(hardened(item)) == {"allowPrivilegeEscalation": False}
    rules = [(e.part, e.rule) for e in restricted_exemptions(harden(item, RESTRICTED))]
    assert ("model-runner", "root") in rules


def test_a_folder_of_the_node_is_an_exemption() -> None:
    found = restricted_exemptions(harden(written(), RESTRICTED))
    assert [(e.part, e.rule) for e in found] == [("model-volume", "hostPath")]


KEPT: list[tuple[str, Object, Object, Object]] = [
    # name, of the pod, of the container, what the container ends up with
    ("user", {}, {"runAsUser": 65534}, {"runAsUser": 65534, "runAsNonRoot": True}),
    ("root", {}, {"runAsUser": 0}, {"runAsUser": 0}),
    ("may be root", {}, {"runAsNonRoot": False}, {"runAsNonRoot": False}),
    ("pod's user", {"runAsUser": 65534}, {}, {"runAsNonRoot": True}),
    ("pod's root", {"runAsUser": 0}, {}, {}),
    ("pod's word", {"runAsNonRoot": True}, {}, {"runAsUser": 1000, "runAsGroup": 1000}),
    ("pod's group", {"runAsGroup": 7}, {}, {"runAsUser": 1000, "runAsNonRoot": True}),
    (
        "rights",
        {},
        {"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
        {
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "runAsNonRoot": True,
        },
    ),
]


@pytest.mark.parametrize(("pod", "own", "expected"), [r[1:] for r in KEPT], ids=[r[0] for r in KEPT])
def test_what_a_template_says_is_kept(pod: Object, own: Object, expected: Object) -> None:
    parts = {"securityContext": own} if own else {}
    spec = hardened(written({"securityContext": pod} if pod else {}, **parts))
    context = engine(spec)
    drops = {} if not (context.get("runAsNonRoot", pod.get("runAsNonRoot"))) else {"capabilities": {"drop": ["ALL"]}}
    assert context == {"allowPrivilegeEscalation": False, **drops, **expected}
    assert spec["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}, **pod}


@pytest.mark.parametrize(
    "own",
    [{"privileged": True}, {"capabilities": {"add": ["SYS_ADMIN"]}}, {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}],
)
def test_what_the_api_server_refuses_together_is_not_put_together(own: Object) -> None:
    """Validation of SecurityContext: allowPrivilegeEscalation false goes with neither."""
    assert "allowPrivilegeEscalation" not in engine(hardened(written(securityContext=own)))


def test_further_settings_of_a_pod_are_kept() -> None:
    own: Object = {
        "automountServiceAccountToken": True,
        "priorityClassName": "mine",
        "securityContext": {"seccompProfile": {"type": "Unconfined"}, "fsGroup": 5},
        "topologySpreadConstraints": [
            {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
        ],
    }
    spec = hardened(written(own), ALL)
    for key, value in own.items():
        assert spec[key] == value


def test_a_home_of_the_templates_own_is_kept() -> None:
    spec = hardened(written(env=[{"name": "HOME", "value": "/work"}]))
    assert spec["containers"][0]["env"] == [{"name": "HOME", "value": "/work"}]
    assert "home" not in [v["name"] for v in spec["volumes"]]
    assert engine(spec)["runAsNonRoot"] is True


def test_caches_of_an_engine_follow_its_home() -> None:
    spec = hardened(model("tgi"))
    env = {e["name"]: e.get("value") for e in spec["containers"][0]["env"]}
    assert env["HF_HOME"] == f"{HOME}/.cache/huggingface"
    assert env["NUMBA_CACHE_DIR"].startswith(HOME)
    # As user 1000 of group 0, as in the report that it works (issue 3082: docker run --user 1000).
    assert (engine(spec)["runAsUser"], engine(spec)["runAsGroup"]) == (1000, 0)


def test_a_persistent_cache_can_be_written_by_the_loader() -> None:
    spec = hardened(model(cache=ModelCache(claim="weights")))
    context = spec["securityContext"]
    assert (context["fsGroup"], context["fsGroupChangePolicy"]) == (1000, "OnRootMismatch")
    assert "fsGroup" not in hardened(model())["securityContext"], "an emptyDir is open to everybody"


def test_of_a_group_every_pod_is_hardened() -> None:
    made = harden(rendered(open_model(flavors=TWO_NODES), playground()), RESTRICTED)
    group = made.objects[0]["spec"]["leaderWorkerTemplate"]
    for part in ("leaderTemplate", "workerTemplate"):
        assert group[part]["spec"]["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}


def test_resources_for_an_operator_stay_what_they_are() -> None:
    fleet = fleet_of(open_model(flavors=[GPU]), playground(), realization=Realization.OPERATOR)
    item = fleet.rendered[-1]
    assert kinds(item) == ["Playground"]
    assert harden(item, ALL) == item


@pytest.mark.parametrize("dropped", [["NET_RAW"], [], ["NET_RAW", "CHOWN"]])
def test_capabilities_that_a_template_drops_come_on_top_of_all(dropped: list[str]) -> None:
    """``restricted`` refuses a container that does not drop all, so that dropping one alone is no permission."""
    spec = hardened(written(securityContext={"runAsUser": 7, "capabilities": {"drop": dropped, "add": ["CHOWN"]}}))
    assert engine(spec)["capabilities"] == {"drop": ["ALL"], "add": ["CHOWN"]}


def test_a_loader_that_takes_over_a_drop_still_drops_all() -> None:
    template = {
        "workerTemplate": {"spec": {"containers": [runner(securityContext={"capabilities": {"drop": ["NET_RAW"]}})]}}
    }
    made = rendered(open_model(), service(workloadTemplate=template))
    (loader,) = hardened(made)["initContainers"]
    assert loader["securityContext"]["capabilities"] == {"drop": ["ALL"]}
