"""A plan with a variant: nodes, metrics and adapters are those of the replicas that it may have."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components.checks.metrics.chain import MetricSettings
from components.checks.metrics.words import Adapter
from components.families import parse
from components.fleet.options import Options
from components.plan.environment import Environment
from components.plan.explain import ExplainedField, explain
from components.plan.plan import Plan, plan
from tests.clouds.aws.environments import environment, problems
from tests.families.llmd import support
from tests.families.llmd.support import Object, levels, per_minute, variant
from workbench.cli import app

ASKED = levels(per_minute(200, 40))
"""Two to eight replicas: WVA spec 8.10."""
NAMES = ["vllm:num_requests_running", "vllm:num_requests_waiting"]


def planned(*documents: Object, **where: Any) -> Plan:
    manifests = parse(yaml.safe_dump_all(documents), "fleet.yaml")
    made = plan(manifests, Environment(options=Options(levels=ASKED), **where))
    assert [str(each) for each in made.problems if each.is_error] == []
    return made


class TestNodes:
    def test_there_is_room_for_the_peak(self) -> None:
        """One L4 is on a node."""
        (group,) = planned(*support.of_llmkube(), variant()).groups
        (alone,) = planned(*support.of_llmkube()).groups
        assert (alone.instance_type, group.instance_type) == ("g6.xlarge", "g6.xlarge")
        assert (group.nodes, group.max_nodes) == (2, 8)
        assert (alone.nodes, alone.max_nodes) == (1, 1)


class TestQuotas:
    @pytest.mark.parametrize(("quota", "warned"), [(31, True), (32, False)])
    def test_count_at_the_peak(self, quota: int, warned: bool) -> None:
        """Eight g6.xlarge have 4 vCPUs each (aws-gpu spec 1 and 14: quota of G and VT instances)."""
        found = support.fleet(*support.of_llmkube(), variant(), levels=ASKED)
        limited = problems(found, environment(quotas={"L-DB2E81BA": quota}), "warning")
        assert ["32 vCPUs of quota L-DB2E81BA" in each.reason for each in limited] == [True] * warned


class TestMetrics:
    def test_what_it_follows_is_scraped_and_handed_on(self) -> None:
        chain = planned(*support.of_llmkube(), variant()).chain
        assert [body["metadata"]["name"] for body in chain.monitors] == ["chat"]
        assert sorted(rule["name"]["as"] for rule in chain.adapter_rules["custom"]) == NAMES
        assert chain.scaled_objects == ()

    def test_without_a_variant_nothing_is(self) -> None:
        assert planned(*support.of_llmkube()).chain.adapter_rules["custom"] == []

    @pytest.mark.parametrize("size", [1, 2])
    def test_keda(self, size: int) -> None:
        """A ScaledObject in the place of the autoscaler, aimed at the same workload, in the same bounds."""
        document = variant("chat", support.profile(count=size))
        made = planned(*support.of_lws(size=size), document, metrics=MetricSettings(adapter=Adapter.KEDA))
        kinds = [body["kind"] for body in made.fleet.objects]
        assert sorted(kinds) == ["LeaderWorkerSet", "ScaledObject"]
        (scaled,) = made.chain.scaled_objects
        assert scaled["spec"]["scaleTargetRef"]["name"] == "chat"
        assert scaled["spec"]["scaleTargetRef"]["kind"] == "LeaderWorkerSet"
        assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (2, 8)
        triggers = [each["metadata"]["query"] for each in scaled["spec"]["triggers"]]
        assert [any(name in query for query in triggers) for name in NAMES] == [True, True]


@pytest.fixture(scope="module")
def rows() -> dict[str, ExplainedField]:
    """What each field of a variant became."""
    manifests = parse(yaml.safe_dump_all([*support.of_llmkube(), variant()]), "fleet.yaml")
    made = plan(manifests, Environment(options=Options(levels=ASKED)))
    (subject,) = [each for each in manifests.resources if each.kind.kind == "VariantAutoscaling"]
    return {row.path: row for row in explain(subject, manifests.resources, made)}


class TestExplained:
    @pytest.mark.parametrize("field", ["alpha", "beta"])
    def test_a_profile_becomes_bounds_and_targets(self, rows: dict[str, ExplainedField], field: str) -> None:
        became = rows[f"spec.modelProfile.accelerators[0].{field}"].became
        assert any("HorizontalPodAutoscaler/chat-va: spec" in line for line in became), became

    def test_the_note_is_there(self, rows: dict[str, ExplainedField]) -> None:
        lines = [line for row in rows.values() for line in row.became if line.startswith("note: ")]
        assert len(lines) == 1
        assert "2 to 8 replicas of L4" in lines[0]


class TestCommands:
    @pytest.fixture
    def manifests(self, tmp_path: Path) -> Path:
        """A model and its variant."""
        file = tmp_path / "fleet.yaml"
        file.write_text(yaml.safe_dump_all([*support.of_llmkube(), variant()]))
        return file

    def test_validate(self, manifests: Path) -> None:
        """Without settings there is neither a promise nor a load; each is told at its field, with what to add."""
        result = CliRunner().invoke(app, ["validate", str(manifests), "--namespace", "ns", "--output", "json"])
        assert result.exit_code == 1
        found = {each["path"]: each["reason"] for each in json.loads(result.stdout)}
        assert sorted(found) == ["metadata.name", "spec.modelID"]
        assert "serviceLevels.loads" in found["metadata.name"]
        assert "serviceLevels: {classes: " in found["spec.modelID"]

    def test_notes_are_counted_apart(self) -> None:
        """The variants of the local stack."""
        summary = CliRunner().invoke(app, ["validate", "--stack", "local"])
        assert "13 notes" in summary.stdout
        result = CliRunner().invoke(app, ["validate", "--stack", "local", "--output", "lines"])
        assert result.exit_code == 0, result.output
        notes = [line for line in result.stdout.splitlines() if line.endswith("(note)")]
        assert sum("[sizing-bounds]" in line for line in notes) == 4
        assert sum("[priority-mixed]" in line for line in notes) == 1
        assert sum("[start-window]" in line for line in notes) == 8

    def test_render(self) -> None:
        result = CliRunner().invoke(app, ["render", "--stack", "local"])
        assert result.exit_code == 0, result.output
        bodies = [body for body in yaml.safe_load_all(result.stdout) if body]
        scalers = {body["metadata"]["name"] for body in bodies if body["kind"] == "HorizontalPodAutoscaler"}
        variants = {"granite-13b-va", "llama-70b-va", "llama-8b-va", "mistral-7b-va"}
        assert variants <= scalers
        assert not [body for body in bodies if body["kind"] == "VariantAutoscaling"]
        owned = {name.removesuffix("-va") for name in variants}
        workloads = [body for body in bodies if body["kind"] in ("Deployment", "LeaderWorkerSet")]
        assert owned <= {body["metadata"]["name"] for body in workloads}
        assert not [body for body in workloads if body["metadata"]["name"] in owned and "replicas" in body["spec"]]
