"""A family that renders a StatefulSet goes through everything, with no change but its registration."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components.checks.hardening.settings import Hardening
from components.checks.hardening.words import PodSecurity
from components.families import objects, parse
from components.fleet.nodes.groups import node_groups
from components.fleet.rendered import Fleet
from components.fleet.shapes import STATEFUL_SET
from components.fleet.workloads import Workload
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.review.planned import workloads_of
from components.plan.view import view
from components.resources.serving.fleet.outputs import models_of
from livefleet.reading.workloads import served_workloads
from tests.families.program import registered
from tests.fleet.shelf import FAMILY, ladder, shelf
from tests.fleets import Object
from tests.plan.costs.stacks import AWS, bill, settings_of
from workbench.cli import app

LABELS = {"shelf.example/name": "books"}


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(FAMILY):
        yield


def planned(*documents: Object, environment: Environment | None = None) -> Plan:
    return plan(objects(list(documents or (shelf(),)), "manifests"), environment or Environment())


def wrong(made: Plan) -> list[tuple[str, str]]:
    return [(p.path, p.reason) for p in made.problems if p.is_error]


def books(fleet: Fleet) -> Workload:
    return next(each for _, each in fleet.workloads if each.name == "books")


def command(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    file = tmp_path / "shelf.yaml"
    file.write_text(yaml.safe_dump(shelf(replicas=2, most=5)))
    return str(file)


class TestCommands:
    def test_validate(self, manifest: str) -> None:
        done = command("validate", manifest)
        assert done.exit_code == 0, done.output

    def test_validate_finds_a_fault_at_its_field(self, tmp_path: Path) -> None:
        file = tmp_path / "wrong.yaml"
        file.write_text(yaml.safe_dump(shelf(machine="g5.3xlarge")))
        done = command("validate", str(file), "--output", "json")
        assert done.exit_code == 1
        assert "spec.machine" in {p["path"] for p in json.loads(done.output) if p["severity"] == "error"}

    def test_render(self, manifest: str) -> None:
        done = command("render", manifest)
        bodies = list(yaml.safe_load_all(done.stdout))
        assert [(body["kind"], body["metadata"]["name"]) for body in bodies] == [
            ("StatefulSet", "books"),
            ("Service", "books-lb"),
            ("HorizontalPodAutoscaler", "books"),
            ("Service", "books-pods"),
        ]
        assert bodies[2]["spec"]["scaleTargetRef"] == {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "books",
        }

    def test_explain(self, manifest: str) -> None:
        done = command("explain", "Shelf/books", manifest, "--all")
        assert "StatefulSet/books: pod containers[server].args[0] = Qwen/Qwen2.5-1.5B-Instruct" in done.output
        assert "nodes for books: pods = 2" in done.output


class TestPlan:
    def test_nodes_and_memory(self) -> None:
        made = planned(shelf(replicas=2, most=5))
        (group,) = node_groups(made.fleet)
        # Kubernetes documentation, StatefulSet basics: an update adds no pod.
        assert (group.instance_type, group.nodes, group.max_nodes) == ("g5.2xlarge", 2, 5)
        assert len(made.verdicts) == 1
        assert wrong(made) == []

    def test_an_autoscaler_of_its_own(self) -> None:
        made = planned(shelf(replicas=2, most=5))
        assert made.chain.needs["prometheus"] == ("Shelf/books",)
        (monitor,) = made.chain.monitors
        assert monitor["spec"]["selector"] == {"matchLabels": LABELS}
        assert [rule["name"]["as"] for rule in made.chain.adapter_rules["custom"]] == ["vllm:num_requests_waiting"]

    def test_an_autoscaler_of_another_resource_owns_its_replicas(self) -> None:
        made = planned(shelf(), ladder("books", 3))
        assert wrong(made) == []
        found = books(made.fleet)
        assert ("replicas" in found.body["spec"], found.replicas, found.most) == (False, 1, 3)
        (demand,) = found.pods
        assert (demand.pods, demand.max_pods, demand.surge_pods) == (1, 3, 0)

    def test_an_autoscaler_that_names_another_kind_is_told_what_there_is(self) -> None:
        ((path, reason),) = wrong(planned(shelf(), ladder("books", 3, "Deployment")))
        assert path == "spec.target"
        assert "no Deployment named 'books' in namespace 'default' (available: StatefulSet 'books')" in reason

    def test_policies(self) -> None:
        made = planned(shelf(), environment=Environment(network_policies=True))
        (policy,) = made.policies
        assert policy["metadata"]["name"] == "books"
        assert policy["spec"]["podSelector"] == {"matchLabels": LABELS}

    def test_what_no_endpoint_leads_to_gets_a_policy_too(self) -> None:
        made = planned(shelf(exposed=False), environment=Environment(network_policies=True))
        assert [policy["spec"]["podSelector"]["matchLabels"] for policy in made.policies] == [LABELS]

    def test_hardening(self) -> None:
        asked = Hardening(PodSecurity.BASELINE, disruption_budgets=True, topology_spread=True)
        made = planned(shelf(replicas=2), environment=Environment(hardening=asked))
        (item,) = made.fleet.rendered
        (budget,) = [body for body in item.objects if body["kind"] == "PodDisruptionBudget"]
        assert budget["spec"]["selector"]["matchLabels"] == LABELS
        (constraint,) = books(made.fleet).front["spec"]["topologySpreadConstraints"]
        assert constraint["labelSelector"] == {"matchLabels": LABELS}

    def test_explained_and_reviewed(self) -> None:
        made = planned(shelf(replicas=2))
        assert view(made.fleet)["StatefulSet/books: pod containers[server].image"] == "vllm/vllm-openai:v0.20.0"
        (state,) = workloads_of(made)
        assert (state.title, state.replicas, state.accelerators) == ("StatefulSet default/books", (2, 2, 2), 1)

    def test_outputs(self) -> None:
        (model,) = models_of(planned(shelf(replicas=2))).values()
        assert {key: model[key] for key in ("workload", "workloadKind", "replicas", "model")} == {
            "workload": "books",
            "workloadKind": "StatefulSet",
            "replicas": 2,
            "model": "Qwen/Qwen2.5-1.5B-Instruct",
        }
        assert "parts" not in model

    def test_live(self) -> None:
        (served,) = served_workloads(planned())
        assert (served.kind, served.name, dict(served.selector), dict(served.group)) == (
            STATEFUL_SET.kind,
            "books",
            LABELS,
            {},
        )

    def test_a_name_that_the_label_of_its_pods_cannot_hold(self) -> None:
        """63 characters of a label, less those of ``-`` and a hash of ten (Kubernetes, ControllerRevision)."""
        assert wrong(planned(shelf("b" * 52))) == []
        (problem,) = wrong(planned(shelf("b" * 53)))
        assert problem[0] == "metadata.name"
        assert "must be at most 52 characters, found 53" in problem[1]


class TestVolumes:
    """Each pod has a claim of its own, of 50 GiB here; a GiB of gp3 costs 0.08 USD a month in us-east-1."""

    MANIFEST = yaml.safe_dump(shelf(replicas=2, most=5, gib=50))

    def test_they_are_paid_for(self) -> None:
        addons = {"addons": {"aws-ebs-csi-driver": ""}}
        found = bill(self.MANIFEST, {**AWS, "cluster": {**AWS["cluster"], **addons}})
        (row,) = [row for row in found.items if "volumes of the pods of" in row.name]
        assert row.name == "volumes of the pods of StatefulSet models/books"
        assert (row.counts.now, row.counts.least, row.counts.most) == tuple(map(Decimal, (100, 100, 250)))

    def test_nothing_makes_them_without_a_driver(self) -> None:
        settings = settings_of({**AWS, "cluster": {**AWS["cluster"], "addons": {"vpc-cni": ""}}})
        made = plan(parse(self.MANIFEST), settings.environment())
        assert any(
            path == "cluster.addons" and "weights of each pod of StatefulSet/books in namespace models" in reason
            for path, reason in wrong(made)
        ), wrong(made)
