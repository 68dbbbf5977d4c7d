"""Where a ModelServing answers: at the Service of the role that clients talk to."""

import json
from typing import Any

import pytest

from tests.families.kthena.serving.support import (
    Object,
    engine,
    made,
    model_serving,
    pods,
    role,
    served,
    told,
    warned,
)

NIXL = {"kv_connector": "NixlConnector"}
PROXY = pods({"name": "proxy", "image": "example.com/proxy:1", "ports": [{"containerPort": 9000}]})


def side(kv_role: str, **fields: Any) -> Object:
    """The entry pod of one side of a pair; a version that hands over by NIXL (vLLM 0.20)."""
    host = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    container = engine("--kv-transfer-config", json.dumps({**NIXL, "kv_role": kv_role}), env=[host], **fields)
    return pods({**container, "image": "vllm/vllm-openai:v0.20.0"})


GIVER = role("prefill", entryTemplate=side("kv_producer"))
TAKER = role("decode", entryTemplate=side("kv_consumer"))


def url(*roles: Object) -> str:
    (endpoint,) = served(model_serving("ms", *roles)).endpoints
    return endpoint.url


def test_a_pair_is_reached_at_decode_alone() -> None:
    """Decode answers by itself, without the cache of prefill; a router would ask both."""
    document = model_serving("ms", GIVER, TAKER)
    assert url(GIVER, TAKER) == "http://ms-decode.ns.svc.cluster.local:8000/v1"
    reason = warned(document)["spec.template.roles[0]"]
    assert "pdGroup" in reason
    assert "ModelRoute" in reason


def test_what_a_side_does_is_read_and_not_its_name() -> None:
    first = {**GIVER, "name": "a"}
    second = {**TAKER, "name": "b"}
    assert url(first, second) == "http://ms-b.ns.svc.cluster.local:8000/v1"


def test_what_stands_before_the_engines_is_reached() -> None:
    roles = (role("proxy", entryTemplate=PROXY), GIVER, TAKER)
    assert url(*roles) == "http://ms-proxy.ns.svc.cluster.local:9000/v1"
    assert warned(model_serving("ms", *roles)) == {}
    (endpoint,) = served(model_serving("ms", *roles)).endpoints
    assert endpoint.model == "org/name", "the engines know their model"


def test_a_program_in_the_image_of_an_engine_may_stand_before_the_engines() -> None:
    """SGLang's image holds its router (sgl-router)."""
    launched = {
        "name": "router",
        "image": "lmsysorg/sglang:v0.5.9",
        "command": ["python3", "-m", "sglang_router.launch_router"],
        "args": ["--pd-disaggregation", "--port", "8000"],
    }
    roles = (GIVER, TAKER, role("router", entryTemplate=pods(launched)))
    assert url(*roles) == "http://ms-router.ns.svc.cluster.local:8000/v1"
    assert warned(model_serving("ms", *roles)) == {}


def test_of_several_engines_the_first_is_reached() -> None:
    roles = (role("large"), role("small"))
    assert url(*roles) == "http://ms-large.ns.svc.cluster.local:8000/v1"
    assert list(warned(model_serving("ms", *roles))) == ["spec.template.roles[1]"]


def test_one_role_needs_no_choice() -> None:
    assert warned(model_serving("ms", role("only"))) == {}


def test_other_roles_have_services_as_well() -> None:
    names = [name for kind, name in made(model_serving("ms", GIVER, TAKER)) if kind == "Service"]
    assert names == ["ms-decode", "ms-prefill"]


# Arguments and fields of the container, and where it listens.
PORTS: list[tuple[tuple[str, ...], Object, int]] = [
    ((), {}, 8000),
    (("--port", "9001"), {}, 9001),
    ((), {"ports": [{"containerPort": 9002}]}, 9002),
    (("--port", "9001"), {"ports": [{"containerPort": 9002}]}, 9001),
    (("--port", "9001"), {"ports": [{"containerPort": 1}, {"name": "http", "containerPort": 9003}]}, 9003),
]


@pytest.mark.parametrize(("args", "fields", "port"), PORTS)
def test_where_the_server_listens(args: tuple[str, ...], fields: Object, port: int) -> None:
    document = model_serving("ms", role(entryTemplate=pods(engine(*args, **fields))))
    (endpoint,) = served(document).endpoints
    assert endpoint.port == port
    assert made(document)["Service", "ms-leader"]["spec"]["ports"][0]["targetPort"] == port


@pytest.mark.parametrize(
    ("args", "name"),
    [((), "org/name"), (("--served-model-name", "a", "b"), "a"), (("--served-model-name=c",), "c")],
)
def test_clients_ask_for_what_the_engine_is_called(args: tuple[str, ...], name: str) -> None:
    (endpoint,) = served(model_serving("ms", role(entryTemplate=pods(engine(*args))))).endpoints
    assert endpoint.model == name


def test_the_runtime_beside_an_engine_does_not_serve() -> None:
    """Upstream's samples put it first, and their engine is in an image of their own."""
    runtime = {"name": "runtime", "image": "ghcr.io/kthena/runtime:latest", "ports": [{"containerPort": 8100}]}
    own = {"name": "vllm", "image": "ghcr.io/kthena/kthena-engine:vllm-ascend", "ports": [{"containerPort": 8000}]}
    (endpoint,) = served(model_serving("ms", role(entryTemplate=pods(runtime, own)))).endpoints
    assert endpoint.port == 8000
    assert endpoint.model == "ms", "nothing tells what such an engine calls its model"


def test_a_prefix_of_the_api_is_part_of_the_address() -> None:
    prefixed = role(entryTemplate=pods(engine("--root-path", "/x")))
    (endpoint,) = served(model_serving("ms", prefixed)).endpoints
    assert endpoint.url.startswith("http://ms-leader.ns.svc.cluster.local:8000/")


# What prefill and decode say, the field that is wrong and a word of the reason.
PAIRS: list[tuple[Object, Object, str, str]] = [
    (GIVER, {**TAKER, "entryTemplate": pods(engine())}, "roles[1]", "has no KV cache transfer settings"),
    ({**GIVER, "entryTemplate": pods(engine())}, TAKER, "roles[0]", "has no KV cache transfer settings"),
    (
        GIVER,
        {**TAKER, "entryTemplate": pods({"name": "s", "image": "lmsysorg/sglang:v0.5.4"})},
        "roles[1]",
        "same engine",
    ),
]


@pytest.mark.parametrize(("giver", "taker", "place", "word"), PAIRS)
def test_a_pair_that_cannot_talk_is_refused(giver: Object, taker: Object, place: str, word: str) -> None:
    found = told(model_serving("ms", giver, taker))
    assert any(path.startswith(f"spec.template.{place}.entryTemplate") and word in found[path] for path in found), (
        found
    )


def test_a_name_tells_what_a_role_is_for() -> None:
    """NIXL does not tell its sides apart, so that the other one's word is no error there."""
    document = model_serving("ms", GIVER, {**TAKER, "entryTemplate": side("kv_producer")})
    found = warned(document)
    assert "the role of prefill" in found["spec.template.roles[1].entryTemplate.spec.containers[0].args"]


MOONCAKE = {"kv_connector": "MooncakeConnector"}


def mooncake(name: str, kv_role: str, instance_type: str, **resources: int) -> Object:
    limits = {"nvidia.com/gpu": 1, **resources}
    container = engine(
        "--kv-transfer-config", json.dumps({**MOONCAKE, "kv_role": kv_role}), resources={"limits": limits}
    )
    selector = {"node.kubernetes.io/instance-type": instance_type}
    return role(name, entryTemplate=pods({**container, "image": "vllm/vllm-openai:v0.20.0"}, nodeSelector=selector))


@pytest.mark.parametrize(("instance_type", "has_efa"), [("g5.xlarge", False), ("p5.48xlarge", True)])
def test_what_needs_rdma_needs_nodes_with_efa(instance_type: str, *, has_efa: bool) -> None:
    """Mooncake's connector needs RDMA (vLLM docs/features/mooncake_connector_usage.md)."""
    roles = (mooncake("prefill", "kv_producer", instance_type), mooncake("decode", "kv_consumer", instance_type))
    found = told(model_serving("ms", *roles))
    assert any("EFA" in reason for reason in found.values()) is not has_efa
