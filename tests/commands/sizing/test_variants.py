"""``workbench size --variant``: figures, loads, promises and prices from manifests and settings."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families import variants
from tests.commands.sizing.runs import SAMPLE
from tests.commands.support import workbench
from tests.families.llmd.support import of_lws, profile, variant
from tests.hostile.runs import ROOT, Printed, project, run
from workbench.subject import Subject, planned

LEVELS: dict[str, Any] = {
    "classes": [{"name": "Premium", "priority": 1, "models": {"tiny": {"itlMs": 24, "ttftMs": 500}}}],
    "loads": {"chat": {"requestsPerMinute": 40, "outputTokens": 178}},
    "accelerators": {"L4": {"centsPerHour": 40}, "MI300X": {"centsPerHour": 65}, "G2": {"centsPerHour": 23}},
}
PROFILES = (profile(), profile("MI300X", alpha="7.77", beta="0.15"), profile("G2", alpha="17.15", beta="0.34"))


def documents(*values: dict[str, Any]) -> str:
    return yaml.safe_dump_all(values)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stack(tmp_path, LEVELS)


def stack(folder: Path, levels: dict[str, Any], *more: dict[str, Any]) -> Path:
    """A project whose stack has these service levels, and a variant on an L4 with two other choices."""
    local = yaml.safe_load((ROOT / "Pulumi.local.yaml").read_text())
    settings = {
        key: value for key, value in local["config"].items() if "serviceLevels" not in key and "models" not in key
    }
    settings["inference-platform:models"] = ["models.yaml"]
    settings["inference-platform:serviceLevels"] = levels
    project(
        folder, yaml.safe_dump({**local, "config": settings}), documents(*of_lws(), variant("chat", *PROFILES), *more)
    )
    return folder


def size(folder: Path, *arguments: str, variant: str = "chat") -> Printed:
    return run("size", "--variant", variant, "--stack", "local", "--cwd", str(folder), *arguments)


def rows(folder: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    done = size(folder, "--output", "json", *arguments)
    assert done.code == 0, done.stderr
    return {row["accelerator"]: row for row in json.loads(done.stdout)["accelerators"]}


def test_everything_is_in_manifests_and_settings(folder: Path) -> None:
    """WVA spec 8.10, rows 1, 4 and 5."""
    found = rows(folder)
    assert list(found) == ["G2", "MI300X", "L4"]
    assert {name: (row["replicas"], row["centsPerHour"]) for name, row in found.items()} == {
        "L4": (2, 80),
        "MI300X": (1, 65),
        "G2": (2, 46),
    }
    assert found["L4"]["mostPerMinute"] == pytest.approx(25.31145, rel=2e-5)
    assert found["L4"]["profileSource"] == "VariantAutoscaling/chat"
    assert found["L4"]["priceSource"] == "serviceLevels.accelerators[L4]"


def test_the_model_is_named(folder: Path) -> None:
    assert size(folder).stdout.startswith(
        "VariantAutoscaling/chat (tiny): 2 replicas on G2, $336 a month\n40 requests/min, 178 tokens out; "
    )
    assert json.loads(size(folder, "--output", "json").stdout)["model"] == "tiny"


def test_another_accelerator_that_costs_less_is_told(folder: Path) -> None:
    told = "note: VariantAutoscaling/chat runs on L4; G2 meets the SLO at a lower cost\n"
    assert told in size(folder).stderr
    assert told not in size(folder, "--price", "L4=1").stderr


def test_the_command_line_counts_more_than_settings(folder: Path) -> None:
    assert rows(folder, "--rate", "100")["L4"]["replicas"] == 4
    assert rows(folder, "--slo-ttft", "0")["L4"]["limit"] == "capacity"
    assert rows(folder, "--slo-itl", "21")["L4"]["sloTtftMs"] == 500
    assert rows(folder, "--price", "L4=10")["L4"]["centsPerHour"] == 20
    assert rows(folder, "--output-tokens", "89")["L4"]["modelTokens"] == 89
    assert list(rows(folder, "--profile", "L4=1x7.77/0.15@4")) == ["L4"]


def test_what_was_observed_counts_where_nothing_else_says_the_load(tmp_path: Path) -> None:
    """WVA spec 8.10, row 2: 41.32 requests a minute need 2 replicas, 20.66 each."""
    numbers = {"numReplicas": 1, "maxBatch": 256, "variantCost": "40.00", "itlAverage": "21.5", "waitAverage": "70"}
    load = {"arrivalRate": "41.32", "avgLength": "178.00"}
    status = {"currentAlloc": {"accelerator": "L4", **numbers, "load": load}}
    project_of = stack(tmp_path, {**LEVELS, "loads": {}})
    models = project_of / "models.yaml"
    models.write_text(documents(*of_lws(), {**variant("chat", *PROFILES), "status": status}))
    found = rows(project_of)["L4"]
    assert (found["replicas"], found["perReplicaPerMinute"]) == (2, 20.66)
    assert rows(project_of, "--rate", "10")["L4"]["replicas"] == 1


def test_the_price_is_that_of_the_nodes_it_is_on(tmp_path: Path) -> None:
    """g6.xlarge at 0.8048 USD has one L4; 2 replicas."""
    levels = {key: value for key, value in LEVELS.items() if key != "accelerators"}
    found = rows(stack(tmp_path, levels))
    assert found["L4"]["priceSource"] == "g6.xlarge at $0.8048/h"
    assert found["L4"]["centsPerHour"] == pytest.approx(2 * 80.48)
    assert found["MI300X"]["centsPerHour"] is None


def test_manifests_without_a_stack(tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    file.write_text(documents(*of_lws(), variant("chat", *PROFILES)))
    done = run("size", str(file), "--variant", "ns/chat", "--rate", "40", *SAMPLE, "--output", "json")
    assert done.code == 0, done.stderr
    (row,) = [row for row in json.loads(done.stdout)["accelerators"] if row["accelerator"] == "L4"]
    assert (row["replicas"], row["priceSource"]) == (2, "g6.xlarge at $0.8048/h")


def test_manifests_from_stdin() -> None:
    text = documents(variant("chat", *PROFILES))
    done = workbench("size", "-", "--variant", "chat", "--rate", "40", *SAMPLE, "--output", "csv", text=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("VariantAutoscaling/chat") == 3


def test_a_promise_that_cannot_be_kept_is_sized_all_the_same(folder: Path) -> None:
    """The plan refuses it; here one sees why."""
    done = size(folder, "--slo-itl", "7")
    assert done.code == 1
    assert "L4: a token takes 20.99 ms" in done.stdout


class TestRefused:
    def refused(self, folder: Path, *arguments: str, name: str = "chat") -> str:
        done = size(folder, *arguments, variant=name)
        assert (done.code, done.stdout) == (2, "")
        return done.stderr

    def test_no_variant_of_this_name(self, folder: Path) -> None:
        assert "--variant: variant 'caht' not found; did you mean 'chat'?" in self.refused(folder, name="caht")
        assert "variant 'zzz' not found; available: chat\n" in self.refused(folder, name="zzz")
        assert "variant 'other/chat' not found; available: ns/chat\n" in self.refused(folder, name="other/chat")

    def test_one_name_in_several_namespaces(self, tmp_path: Path) -> None:
        folder = stack(tmp_path, LEVELS, variant("chat", *PROFILES, namespace="another"))
        assert "'chat' is in several namespaces; pass one of another/chat, ns/chat\n" in self.refused(folder)
        assert size(folder, variant="another/chat").code == 0

    def test_a_model_in_no_class(self, tmp_path: Path) -> None:
        folder = stack(tmp_path, {**LEVELS, "classes": []})
        assert "VariantAutoscaling/chat has no SLO; pass --slo-itl" in self.refused(folder)
        assert size(folder, "--slo-itl", "24").code == 0

    def test_a_model_in_two_classes(self, tmp_path: Path) -> None:
        other = {"name": "Other", "models": {"tiny": {"itlMs": 30}}}
        folder = stack(tmp_path, {**LEVELS, "classes": [*LEVELS["classes"], other]})
        message = "serviceLevels.classes: 'tiny' is in several classes: Premium, Other; keep it in one, or pass"
        assert message in self.refused(folder)
        assert message in self.refused(folder, "--slo-itl", "24")
        assert size(folder, "--slo-itl", "24", "--slo-ttft", "500").code == 0

    def test_nothing_is_asked(self, tmp_path: Path) -> None:
        folder = stack(tmp_path, {**LEVELS, "loads": {}})
        message = "pass --rate and --output-tokens, or set serviceLevels.loads[chat]\n"
        assert message in self.refused(folder)
        assert "pass --output-tokens, or set serviceLevels.loads[chat]\n" in self.refused(folder, "--rate", "40")
        assert size(folder, "--rate", "40", "--output-tokens", "178").code == 0


def test_wrong_manifests(tmp_path: Path) -> None:
    broken = variant("chat")
    broken["spec"]["modelProfile"]["accelerators"][0]["alpha"] = "-1"
    (tmp_path / "models.yaml").write_text(documents(broken))
    done = run("size", str(tmp_path / "models.yaml"), "--variant", "chat", "--rate", "40", *SAMPLE)
    assert (done.code, done.stdout) == (1, "")
    assert "spec.modelProfile.accelerators[0].alpha: " in done.stderr


def test_a_batch_that_is_too_large_is_told(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(documents(variant("chat", profile(batch=2**31 - 1))))
    done = run("size", str(tmp_path / "models.yaml"), "--variant", "chat", "--rate", "40", *SAMPLE)
    assert done.code == 1
    assert "\nL4: the maximum batch size must be between 1 and 65536, found 2147483647\n" in done.stdout


def test_settings_of_a_stack_for_a_model_alone(folder: Path) -> None:
    """Promises and prices of settings count for --model too."""
    options = ("--stack", "local", "--cwd", str(folder), "--rate", "40", "--output-tokens", "178", "--output", "json")
    done = run("size", "--model", "tiny", *options, "--profile", "G2=1x17.15/0.34@4")
    assert done.code == 0, done.stderr
    (row,) = json.loads(done.stdout)["accelerators"]
    assert (row["sloItlMs"], row["sloTtftMs"], row["centsPerHour"]) == (24, 500, 46)


def test_the_replicas_are_those_of_the_plan() -> None:
    """What the samples' autoscalers have as their maximum is what sizing says of the same variants."""
    manifests, planned_fleet = planned(Subject("local", ROOT), None)
    most = {scaler.target[1:]: scaler.hpa["spec"]["maxReplicas"] for _, scaler in planned_fleet.fleet.autoscalers}
    named = [each.source for each in variants(manifests.resources)]
    assert len(named) == 4
    for source in named:
        namespace = source.resource.metadata.namespace or planned_fleet.environment.options.namespace
        done = run("size", "--variant", source.name, "--stack", "local", "--cwd", str(ROOT), "--output", "json")
        assert done.code == 0, done.stderr
        (row,) = json.loads(done.stdout)["accelerators"]
        assert row["replicas"] == most[namespace, source.name]
