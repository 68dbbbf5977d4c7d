"""Rights of rendered pods: no token that nobody asked for, and added containers as restricted as what they serve."""

from typing import Any

import pytest

from components.fleet.options import ModelCache, PodOverrides
from components.fleet.serving import stricter_settings
from components.fleet.words import Realization, WorkloadChoice
from tests.families.llmkube.support import isvc
from tests.families.llmkube.support import model as gguf
from tests.fleets import errors, fleet_of, open_model, playground, runner, service

Json = dict[str, Any]
ACCOUNT = PodOverrides(service_account_name="inference")
DROPPED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    "seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"},
    "runAsUser": 2000,
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
}
TAKEN = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"},
}


def handwritten(context: Json | None = None, **pod: Any) -> list[Json]:
    container = runner(**({} if context is None else {"securityContext": context}))
    template = {"workerTemplate": {"spec": {"containers": [container], **pod}}}
    return [open_model(), service(workloadTemplate=template)]


def pods(documents: list[Json], **options: Any) -> list[Json]:
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet)
    return [template["spec"] for _, workload in fleet.workloads for template in workload.templates]


RENDERED = {
    "playground": [open_model(), playground()],
    "service": handwritten(),
    "inference service": [gguf(), isvc()],
}


@pytest.mark.parametrize("kind", RENDERED)
@pytest.mark.parametrize("options", [{}, {"workload": WorkloadChoice.LWS}, {"cache": ModelCache(claim="weights")}])
def test_no_pod_gets_a_token_that_nobody_asked_for(kind: str, options: Json) -> None:
    assert [pod.get("automountServiceAccountToken") for pod in pods(RENDERED[kind], **options)] == [False]


@pytest.mark.parametrize("kind", RENDERED)
def test_who_names_an_account_gets_what_that_account_says(kind: str) -> None:
    (pod,) = pods(RENDERED[kind], overrides=ACCOUNT)
    assert pod["serviceAccountName"] == "inference"
    assert "automountServiceAccountToken" not in pod


def test_a_template_that_says_otherwise_keeps_its_word() -> None:
    (pod,) = pods(handwritten(automountServiceAccountToken=True))
    assert pod["automountServiceAccountToken"] is True
    (pod,) = pods(handwritten(serviceAccountName="mine"))
    assert "automountServiceAccountToken" not in pod


@pytest.mark.parametrize("kind", RENDERED)
def test_what_an_operator_makes_is_the_operators(kind: str) -> None:
    for pod in pods(RENDERED[kind], realization=Realization.OPERATOR):
        assert "automountServiceAccountToken" not in pod


def test_the_loader_of_a_service_is_denied_what_its_runner_is() -> None:
    (pod,) = pods(handwritten(DROPPED))
    (loader,) = pod["initContainers"]
    assert loader["securityContext"] == TAKEN
    assert pod["containers"][0]["securityContext"] == DROPPED


@pytest.mark.parametrize("context", [None, {}, {"allowPrivilegeEscalation": True}, {"privileged": True}])
def test_a_loader_never_gets_rights_and_nothing_where_nothing_is_denied(context: Json | None) -> None:
    (pod,) = pods(handwritten(context))
    assert "securityContext" not in pod["initContainers"][0]
    assert stricter_settings(context) == {}


def test_the_download_of_an_inference_service_is_denied_what_its_server_is() -> None:
    (pod,) = pods([gguf(), isvc(securityContext=DROPPED)])
    context = pod["initContainers"][0]["securityContext"]
    assert TAKEN.items() <= context.items()
    assert "add" not in context["capabilities"]
    (pod,) = pods([gguf(), isvc(securityContext={"privileged": True})])
    context = pod["initContainers"][0]["securityContext"]
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert "privileged" not in context


# -- only what is stricter

RUNTIME, UNCONFINED, LOCAL = (
    {"type": "RuntimeDefault"},
    {"type": "Unconfined"},
    {"type": "Localhost", "localhostProfile": "p.json"},
)
OTHER = {"type": "Localhost", "localhostProfile": "q.json"}
WEAKER: list[Json] = [
    {"capabilities": {"drop": ["NET_RAW"]}, "seccompProfile": UNCONFINED},
    {"appArmorProfile": UNCONFINED},
    {"seLinuxOptions": {"type": "spc_t"}},
    {"seLinuxOptions": {"type": "container_t", "user": "unconfined_u"}},
    {"seLinuxOptions": {"level": "s0:c0.c1023"}},
    {"capabilities": {"drop": []}, "allowPrivilegeEscalation": True, "procMount": "Unmasked"},
]
UPSTREAM = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": False, "capabilities": {"drop": ["ALL"]}}
"""What LLMKube gives its init container, whatever the container of the server has (spec 4.6)."""


@pytest.mark.parametrize("context", WEAKER)
def test_a_download_is_never_less_restricted_than_upstreams(context: Json) -> None:
    (pod,) = pods([gguf(), isvc(securityContext=context)])
    assert pod["initContainers"][0]["securityContext"] == UPSTREAM
    assert pod["securityContext"]["seccompProfile"] == RUNTIME
    assert pod["containers"][0]["securityContext"] == context


@pytest.mark.parametrize("context", WEAKER)
def test_a_loader_of_a_service_gets_nothing_that_is_weaker(context: Json) -> None:
    (pod,) = pods(handwritten(context))
    dropped = (context.get("capabilities") or {}).get("drop")
    expected = {"capabilities": {"drop": dropped}} if dropped else None
    assert pod["initContainers"][0].get("securityContext") == expected


@pytest.mark.parametrize("name", ["seccompProfile", "appArmorProfile"])
@pytest.mark.parametrize(
    ("own", "pod", "taken"),
    [
        (RUNTIME, None, True),
        (RUNTIME, UNCONFINED, True),
        (RUNTIME, RUNTIME, False),
        (RUNTIME, LOCAL, False),
        (LOCAL, None, True),
        (LOCAL, RUNTIME, True),
        (LOCAL, OTHER, False),  # two files that cannot be compared
        (UNCONFINED, None, False),
        (UNCONFINED, UNCONFINED, False),
        (UNCONFINED, RUNTIME, False),
        ({}, UNCONFINED, False),
    ],
)
def test_profiles_are_taken_over_where_they_are_stricter(
    name: str, own: Json, pod: Json | None, *, taken: bool
) -> None:
    found = stricter_settings({name: own}, {name: pod} if pod else None)
    assert found == ({name: own} if taken else {})


@pytest.mark.parametrize(
    ("own", "pod", "taken"),
    [
        ({"level": "s0:c123,c456"}, None, True),
        ({"type": "container_t"}, {"type": "spc_t"}, True),
        ({"type": "container_t", "level": "s0:c1,c2"}, None, True),
        ({"level": "s0:c123,c456"}, {"level": "s0:c1,c2"}, False),
        ({"type": "spc_t"}, None, False),
        ({"role": "sysadm_r"}, None, False),
        ({"type": "container_t", "level": "s0-s0:c0.c1023"}, None, False),
        ({}, None, False),
    ],
)
def test_labels_are_taken_over_where_they_confine(own: Json, pod: Json | None, *, taken: bool) -> None:
    found = stricter_settings({"seLinuxOptions": own}, {"seLinuxOptions": pod} if pod else None)
    assert found == ({"seLinuxOptions": own} if taken else {})


@pytest.mark.parametrize(
    ("anyway", "dropped", "united"),
    [
        (("ALL",), ["NET_RAW"], ["ALL"]),
        ((), ["NET_RAW"], ["NET_RAW"]),
        ((), ["NET_RAW", "ALL"], ["ALL"]),
        (("CHOWN",), ["NET_RAW", "CHOWN"], ["CHOWN", "NET_RAW"]),
        (("CHOWN",), [], ["CHOWN"]),
    ],
)
def test_drops_are_united(anyway: tuple[str, ...], dropped: list[str], united: list[str]) -> None:
    assert stricter_settings({"capabilities": {"drop": dropped}}, None, anyway) == {"capabilities": {"drop": united}}


def test_a_pod_of_another_profile_keeps_it() -> None:
    """The user's own security of the pod replaces the default as a whole, and what is stricter comes on top."""
    (pod,) = pods([gguf(), isvc(podSecurityContext={"fsGroup": 7}, securityContext={"seccompProfile": RUNTIME})])
    assert pod["initContainers"][0]["securityContext"] == {**UPSTREAM, "seccompProfile": RUNTIME}
