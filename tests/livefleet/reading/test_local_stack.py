"""What is played of the models that are shipped: expectations are worked out from their manifests by hand."""

import json
from pathlib import Path

import pytest

from components.fleet.cloud_facts import capacity_in
from livefleet.fleet import LiveFleet, PaceSource, ServedWorkload, Speaks
from livefleet.folder import LiveFolder
from workbench.engine.project import load_project
from workbench.planning.recording import recorded

ROOT = Path(__file__).parents[3]


def workload(fleet: LiveFleet, name: str) -> ServedWorkload:
    return next(each for each in fleet.workloads if each.name == name)


@pytest.mark.parametrize(
    ("name", "title", "engine", "version", "speaks", "port", "models"),
    [
        ("mistral-7b", "mistral-7b", "vllm", "0.20.0", Speaks.OPENAI, 8000, ("mistral-7b-instruct",)),
        ("qwen-chat", "qwen-chat", "vllm", "0.7.3", Speaks.OPENAI, 8080, ("qwen2-7b",)),
        ("llama-sglang", "llama-sglang", "sglang", "0.4.5", Speaks.OPENAI, 8080, ("llama3-8b",)),
        ("mistral-tgi", "mistral-tgi", "tgi", "2.3.1", Speaks.TGI, 8080, ("mistral-7b",)),
        ("qwen-cpu", "qwen-cpu", "llamacpp", "b4719", Speaks.LLAMACPP, 8080, ("qwen2-0-5b-gguf",)),
        ("tinyllama-cpu", "tinyllama-cpu", "llamacpp", "", Speaks.LLAMACPP, 8080, ("tinyllama-1b",)),
        ("tiny-ollama", "tiny-ollama", "ollama", "", Speaks.OLLAMA, 8080, ("qwen2:0.5b",)),
        ("embeddings", "embeddings", "tei", "1.8", Speaks.TEI, 8080, ("bge-small",)),
        # The names of adapters come after the model's own.
        ("llama2-7b-l4", "llama2-7b", "vllm", "0.20.0", Speaks.OPENAI, 8000, ("llama2-7b", "sql", "support")),
        # Its ModelServing has no endpoint of its own: the outputs name the ModelRoute.
        ("mistral-nemo", "mistral", "vllm", "0.20.0", Speaks.OPENAI, 8000, ("mistral-nemo",)),
        # No endpoint at all, but it is scraped and scaled.
        ("llama-70b", "llama-70b", "vllm", "0.20.0", Speaks.OPENAI, 8000, ("llama3-70b",)),
    ],
)
def test_how_a_workload_is_called(
    fleet: LiveFleet,
    name: str,
    title: str,
    engine: str,
    version: str,
    speaks: Speaks,
    port: int,
    models: tuple[str, ...],
) -> None:
    found = workload(fleet, name)
    assert (found.title, found.engine, found.version, found.speaks, found.port, found.models) == (
        title,
        engine,
        version,
        speaks,
        port,
        models,
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # A leader and three workers, on a node each.
        ("llama-70b", {"leaderworkerset.sigs.k8s.io/name": "llama-70b"}),
        ("llama-405b", {"leaderworkerset.sigs.k8s.io/name": "llama-405b"}),
        ("qwen-chat", {}),
        ("mistral-7b", {}),
    ],
)
def test_all_pods_of_a_replica_are_known(fleet: LiveFleet, name: str, expected: dict[str, str]) -> None:
    found = workload(fleet, name)
    assert found.group == expected
    assert found.group.items() <= found.selector.items()


@pytest.mark.parametrize(
    ("name", "on", "batch", "context", "queue", "in_flight"),
    [
        ("mistral-7b", "g6.2xlarge", 19, 8192, None, None),
        ("qwen3-32b", "g6.12xlarge", 256, 32768, None, None),  # vLLM's default
        ("llama-70b-split", "g6.12xlarge", 4, 2048, None, None),  # 8192 divided among four slots
        ("qwen-cpu", "m7i.2xlarge", 1, 4096, None, None),  # a build before slots were four, and its default context
        ("tinyllama-cpu", "m7i.2xlarge", 4, 2048, None, None),
        ("mistral-tgi", "g5.2xlarge", 128, 4096, None, 128),  # the launcher's defaults of 2.3.1
        ("tiny-ollama", "m7i.2xlarge", 1, 4096, 512, None),
    ],
)
def test_what_a_workload_takes_at_once(
    fleet: LiveFleet, name: str, on: str, batch: int, context: int | None, queue: int | None, in_flight: int | None
) -> None:
    found = workload(fleet, name)
    assert found.pace_on(on).batch == batch
    assert (found.context, found.queue, found.in_flight) == (context, queue, in_flight)


@pytest.mark.parametrize(
    ("name", "on", "alpha", "beta", "batch"),
    [
        # Milliseconds of stacks/variants, as seconds.
        ("mistral-7b", "g6.2xlarge", 0.08213, 0.00273, 19),
        ("llama-70b", "g6e.2xlarge", 0.06374, 0.01644, 3),
        ("granite-13b", "g6e.2xlarge", 0.04786, 0.00095, 19),
        ("llama-8b", "g6e.2xlarge", 0.022619, 0.000181, 512),
    ],
)
def test_a_variant_has_the_pace_of_its_profile(
    fleet: LiveFleet, name: str, on: str, alpha: float, beta: float, batch: int
) -> None:
    pace = workload(fleet, name).pace_on(on)
    assert pace.source == PaceSource.PROFILE
    assert (pace.alpha, pace.beta) == pytest.approx((alpha, beta))
    assert pace.batch == batch


@pytest.mark.parametrize(
    ("name", "on", "source"),
    [
        ("qwen-chat", "g5.2xlarge", PaceSource.ESTIMATE),
        ("mistral-awq", "g5.2xlarge", PaceSource.ESTIMATE),  # by the model that it was quantized from
        ("qwen-chat", "m7i.2xlarge", PaceSource.ASSUMED),  # where it is not meant to run
        ("mistral-7b", "", PaceSource.PROFILE),
    ],
)
def test_where_a_pace_is_from(fleet: LiveFleet, name: str, on: str, source: PaceSource) -> None:
    assert workload(fleet, name).pace_on(on).source == source


def test_roles_of_a_pair_behind_a_router(fleet: LiveFleet) -> None:
    roles = {each.name: each.role for each in fleet.workloads if each.role}
    assert roles == {
        "llama-pd-a100-0-prefill-0": "prefill",
        "llama-pd-a100-0-decode-0": "decode",
        "qwen3-pd-0-router-0": "router",
        "qwen3-pd-0-prefill-0": "prefill",
        "qwen3-pd-0-decode-0": "decode",
        "qwen3-pd-0-decode-1": "decode",
    }


@pytest.mark.parametrize(
    ("title", "workloads", "stand_in"),
    [
        ("qwen-chat", {"models/qwen-chat": 1.0}, ""),
        ("qwen2-5-7b", {"models/qwen2-5-7b-l40s": 100.0, "models/qwen2-5-7b-a10g": 50.0}, ""),
        ("llama2-7b-lora-sql", {"models/llama2-7b-l4": 100.0}, ""),
        ("mistral", {"models/mistral-nemo": 100.0}, ""),
        # Two replicas behind the router share what one Service gets.
        ("qwen3-pd", {"models/qwen3-pd-0-decode-0": 0.5, "models/qwen3-pd-0-decode-1": 0.5}, "router"),
        ("llama-pd", {"models/llama-pd-a100-0-decode-0": 2.0}, "router"),
    ],
)
def test_who_answers_at_an_endpoint(fleet: LiveFleet, title: str, workloads: dict[str, float], stand_in: str) -> None:
    found = next(each for each in fleet.endpoints if each.title == title)
    assert (dict(found.workloads), found.stand_in, found.why) == (workloads, stand_in, "")


def test_every_endpoint_of_the_outputs_is_played(fleet: LiveFleet) -> None:
    graph = recorded(load_project(ROOT, "local", sealed=True)).graph
    assert graph is not None
    assert [each.title for each in fleet.endpoints] == list(dict.fromkeys(each.title for each in fleet.endpoints))
    assert {each.title for each in fleet.endpoints} == set(graph.exports["endpoints"])
    known = {f"{each.namespace}/{each.name}" for each in fleet.workloads}
    assert all(each.workloads or each.why for each in fleet.endpoints)
    assert all(each.workloads.keys() <= known for each in fleet.endpoints)


def test_only_the_server_of_embeddings_makes_them(fleet: LiveFleet) -> None:
    assert [each.name for each in fleet.workloads if each.embeds] == ["embeddings"]


def test_pods_are_of_one_workload_only(fleet: LiveFleet) -> None:
    """The decode pods of two replicas are one set to clients, and two workloads here."""
    selectors = [json.dumps([each.namespace, dict(each.selector)], sort_keys=True) for each in fleet.workloads]
    assert len(set(selectors)) == len(selectors)


def test_groups_have_bounds_and_prices(fleet: LiveFleet) -> None:
    groups = {each.name: each for each in fleet.groups}
    # us-east-1, on demand: components/clouds/aws/prices/on_demand_us_east_1.csv.
    assert groups["g6-2xlarge"].usd_per_hour == pytest.approx(0.9776)
    assert groups["p5-48xlarge"].instance_type == "p5.48xlarge"
    assert all(0 <= each.least <= each.most for each in fleet.groups)


def test_the_gateway_comes_with_the_services_behind_it(fleet: LiveFleet) -> None:
    kinds = {each["kind"] for each in fleet.door}
    assert {"Gateway", "AIGatewayRoute", "Service"} <= kinds
    assert all(each.outside for each in fleet.endpoints)


def test_autoscalers_on_metrics_of_serving(fleet: LiveFleet) -> None:
    assert fleet.autoscalers["models/phi4-autoscaled"] == ("models", "phi4-autoscaled")
    assert fleet.autoscalers["models/mistral-7b"] == ("models", "mistral-7b-va")
    assert "models/qwen-chat" not in fleet.autoscalers
    names = {f"{each.namespace}/{each.name}" for each in fleet.workloads}
    assert fleet.autoscalers.keys() <= names
    assert {each["kind"] for each in fleet.monitors} == {"PodMonitor"}
    assert fleet.rules["custom"]


def test_it_is_the_same_when_it_was_kept(fleet: LiveFleet, tmp_path: Path) -> None:
    folder = LiveFolder(tmp_path)
    folder.make()
    folder.write_fleet(fleet)
    assert folder.read_fleet() == fleet
    first = (folder.path / "fleet.json").read_bytes()
    folder.write_fleet(fleet)
    assert (folder.path / "fleet.json").read_bytes() == first
    assert (folder.path / "fleet.json").stat().st_mode & 0o077 == 0


def test_one_group_of_nodes_is_spot(fleet: LiveFleet) -> None:
    """So that ``workbench live fault spot`` has something to take back, with room for the pod elsewhere."""
    spot = [group for group in fleet.groups if capacity_in(group.labels) == "spot"]
    assert [group.instance_type for group in spot] == ["g6.2xlarge"]
    assert spot[0].least == 2
    assert spot[0].most > 2
    coder = workload(fleet, "coder-spot")
    assert (coder.title, coder.engine, coder.context) == ("coder-spot", "vllm", 16384)
