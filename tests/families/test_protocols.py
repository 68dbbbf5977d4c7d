"""Several families implement one protocol: each answers for its own, and none wins by its place in the list."""

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.problems import Problem
from components.families import FAMILIES, flavors, members, objects, operator_objects, profile_entries, variants
from components.families.family import Family, OperatorSite
from components.fleet.origins import Argument
from components.performance.sizing.cases import Profile
from components.plan.rendering import render_fleet
from components.resources.serving.simulated_nodes import SimulatedNodes
from tests.commands.simulations import write
from tests.families.kthena.booster.support import booster
from tests.families.program import LAST, registered
from tests.hostile.runs import run
from tests.recorded import deploy
from tests.toy.rival import RIVAL, Rival, config_map

AT = Argument("nodes", "flavors")
LLMAZ = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}, "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
OTHER = {"name": "l4", "params": {"MACHINE": "g6.xlarge"}}
BOTH = {"name": "odd", "params": {"MACHINE": "g6.xlarge", "INSTANCE-TYPE": "g5.2xlarge"}}
NEITHER = {"name": "odd", "params": {"ZONE": "a"}}


@pytest.fixture(params=[0, LAST], ids=["first", "last"], autouse=True)
def _registered(request: pytest.FixtureRequest) -> Iterator[None]:
    with registered(RIVAL, request.param):
        yield


def rival(**changes: Any) -> Rival:
    values = {field.name: getattr(RIVAL, field.name) for field in fields(RIVAL)}
    return Rival(**{**values, **changes})


def pacer(name: str = "chat", **spec: Any) -> dict[str, Any]:
    spec = {"model": "org/model", "accelerator": "L4", **spec}
    return {"apiVersion": "rival.example/v1", "kind": "Pacer", "metadata": {"name": name}, "spec": spec}


def variant(name: str) -> dict[str, Any]:
    (found,) = [
        each
        for each in yaml.safe_load_all((Path(__file__).parents[2] / "stacks/variants/llama-8b.yaml").read_text())
        if each["kind"] == "VariantAutoscaling"
    ]
    return {**found, "metadata": {**found["metadata"], "name": name}}


def command(*words: str | Path) -> Any:
    return run(*map(str, words))


class TestFlavors:
    def test_each_is_read_by_the_family_whose_schema_it_fits(self) -> None:
        demands, problems = flavors([LLMAZ, OTHER], AT, {})
        assert problems == []
        assert [demand.choices[0].instance_type for demand in demands] == ["g5.2xlarge", "g6.xlarge"]

    def test_one_that_fits_both_is_an_error_with_both(self) -> None:
        demands, (problem,) = flavors([BOTH], AT, {})
        assert demands == []
        assert problem.path == "flavors[0]"
        assert problem.reason.startswith("is a flavor of ")
        assert {"llmaz", "rival"} < set(problem.reason.replace(";", "").split())

    def test_one_that_fits_none_has_the_reasons_of_each(self) -> None:
        demands, problems = flavors([NEITHER], AT, {})
        reasons = sorted(problem.reason.split(";")[0] for problem in problems)
        assert demands == []
        assert reasons == [
            "not a flavor of llmaz: has no instance type",
            "not a flavor of rival: must name an instance type, found none",
        ]

    def test_nodes_are_created_for_both(self) -> None:
        def program() -> None:
            SimulatedNodes("nodes", {"flavors": [LLMAZ, OTHER]})  # type: ignore[list-item]  # as programs without types write them

        recorded = deploy(program)
        types = {
            e.inputs["metadata"]["labels"]["node.kubernetes.io/instance-type"]
            for e in recorded.of("kubernetes:core/v1:Node")
        }
        assert types == {"g5.2xlarge", "g6.xlarge"}


class TestSimulators:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        write(tmp_path)
        text = (tmp_path / "models.yaml").read_text()
        pacers = yaml.safe_dump_all([pacer("steady"), pacer("chat")])
        (tmp_path / "models.yaml").write_text(f"{text}---\n{pacers}")
        return tmp_path

    def simulate(self, folder: Path, binding: str, *words: str) -> Any:
        files = (folder / "models.yaml", "--metrics", folder / "trace.csv")
        return command("simulate", *files, "--binding", binding, "--output", "json", *words)

    @pytest.mark.parametrize(
        ("binding", "scaler"),
        [
            ("steady", "rival's pacer"),
            ("default/steady", "rival's pacer"),
            ("Pacer/chat", "rival's pacer"),
            ("AutoscalingPolicyBinding/chat", "Kthena"),
            ("both", None),
        ],
    )
    def test_the_kind_of_the_autoscaler_selects_the_simulator(
        self, folder: Path, binding: str, scaler: str | None
    ) -> None:
        trace = () if scaler else ("--metrics", str(folder / "both.csv"))
        done = self.simulate(folder, binding, *trace)
        assert done.code == 0, done.stderr
        found = json.loads(done.stdout)
        assert (scaler or "Kthena").lower() in json.dumps(found).lower()

    def test_a_name_of_both_is_an_error_with_both(self, folder: Path) -> None:
        done = self.simulate(folder, "chat")
        assert done.code == 2
        assert "Pacer/chat" in done.stderr
        assert "AutoscalingPolicyBinding/chat" in done.stderr

    def test_a_name_of_none_lists_what_there_is(self, folder: Path) -> None:
        done = self.simulate(folder, "stead")
        assert done.code == 2
        assert "no autoscaler named 'stead'" in done.stderr
        assert "AutoscalingPolicyBinding/both" in done.stderr
        assert "Pacer/steady" in done.stderr

    def test_a_kind_without_simulator(self, folder: Path) -> None:
        done = self.simulate(folder, "Nudge/chat")
        assert done.code == 2
        assert "AutoscalingPolicyBinding, Pacer" in done.stderr

    def test_defects_are_those_of_the_controller(self, folder: Path) -> None:
        assert self.simulate(folder, "steady", "--defect", "R-1").code == 0
        other = self.simulate(folder, "steady", "--defect", "D-15")
        unknown = self.simulate(folder, "steady", "--defect", "X-1")
        assert (other.code, unknown.code) == (2, 2)
        assert "'D-15' is not a known defect of the controller of Pacer" in other.stderr
        assert "D-16" not in other.stderr
        assert "D-16" in unknown.stderr
        assert "R-1" in unknown.stderr


class TestVariants:
    def test_each_family_describes_its_own(self) -> None:
        found = variants(objects([pacer("steady"), variant("llama-8b")]).resources)
        assert {each.source.kind.kind: each.accelerator for each in found} == {
            "Pacer": "L4",
            "VariantAutoscaling": "L40S",
        }

    def test_a_profile_is_an_entry_for_each(self) -> None:
        entries = profile_entries(Profile("H100", 1, 6.973, 0.027, 64))
        assert set(entries) == {"llmd", "rival"}
        assert entries["rival"] == {"accelerator": "H100", "alpha": 7}

    def test_fit_profile_prints_both(self, tmp_path: Path) -> None:
        (tmp_path / "runs.csv").write_text("concurrency,itl_ms\n1,7.0\n64,8.7\n")
        done = command("fit-profile", tmp_path / "runs.csv", "--accelerator", "H100")
        assert done.code == 0, done.stderr
        assert "Add to the resource of the variant (llmd):\nmodelProfile:" in done.stdout
        assert "Add to the resource of the variant (rival):\naccelerator: H100" in done.stdout

    def test_sizing_a_name_of_both_is_an_error_with_both(self, tmp_path: Path) -> None:
        (tmp_path / "models.yaml").write_text(yaml.safe_dump_all([pacer("llama-8b"), variant("llama-8b")]))
        done = command("size", "--variant", "llama-8b", tmp_path / "models.yaml")
        assert done.code == 2
        assert "Pacer/llama-8b" in done.stderr
        assert "VariantAutoscaling/llama-8b" in done.stderr


class TestFamilyObjects:
    def test_both_make_theirs(self) -> None:
        with registered(rival(name="other", members=_renamed("Patter"))):
            assert _errors([pacer()]) == []
            names = [body["metadata"]["name"] for body in render_fleet(objects([pacer()]).resources).objects]
        assert names == ["pacers", "chat"]

    def test_one_object_of_two_families_is_an_error_with_both(self) -> None:
        with registered(rival(name="other", members=_renamed("Patter"))):
            (problem,) = _errors([pacer(), {**pacer("two"), "kind": "Patter"}])
        assert "'pacers'" in problem.reason
        assert "the family rival" in problem.reason
        assert "the family other" in problem.reason

    def test_one_object_of_a_family_and_of_a_resource_is_an_error(self) -> None:
        family = replace_render(lambda item, namespace: replace(item, others=(config_map("pacers", namespace),)))
        with registered(family):
            (problem,) = _errors([pacer(), {**pacer("two"), "kind": "Patter"}])
        assert "'pacers'" in problem.reason
        assert "Patter/two" in problem.reason


def _renamed(kind: str) -> Any:
    (member,) = RIVAL.members
    model = type(kind, (member.kind.model,), {"__annotations__": {"kind": str}})
    return (replace(member, kind=replace(member.kind, kind=kind, plural=f"{kind.lower()}s", model=model)),)


def replace_render(change: Any) -> Family:
    (member,) = _renamed("Patter")
    render = member.render

    def changed(source: Any, library: Any, options: Any, findings: Any) -> Any:
        return change(render(source, library, options, findings), options.namespace)

    return Family(name="other", package="tests.toy", members=(replace(member, render=changed),))


def _errors(documents: list[dict[str, Any]]) -> list[Problem]:
    manifests = objects(documents)
    assert not manifests.problems, list(map(str, manifests.problems))
    return [each for each in render_fleet(manifests.resources).problems if each.is_error]


class TestOperators:
    def test_each_renders_its_own(self) -> None:
        (body,) = operator_objects("rival", OperatorSite())
        assert body["metadata"]["name"] == "pacer-operator"
        assert len(operator_objects("wva", OperatorSite())) > 1

    def test_one_operator_of_two_families_is_an_error_with_both(self) -> None:
        with (
            registered(rival(name="other", operator="wva", members=())),
            pytest.raises(ValueError, match=r"'wva'.*found (other and llmd|llmd and other)"),
        ):
            operator_objects("wva", OperatorSite())

    def test_an_operator_of_none_is_an_error(self) -> None:
        with pytest.raises(ValueError, match=r"'nosuch'.*found no family"):
            operator_objects("nosuch", OperatorSite())


@pytest.mark.parametrize(("option", "name"), [("--expand", "chat-expanded"), ("--literal", "chat-literal")])
def test_both_expand_and_convert_their_own(option: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text(yaml.safe_dump_all([pacer(), booster("m")]))
    done = command("render", option, tmp_path / "models.yaml")
    assert done.code == 0, done.stderr
    bodies = list(yaml.safe_load_all(done.stdout))
    assert name in [body["metadata"]["name"] for body in bodies]
    assert "ModelServing" in [body["kind"] for body in bodies]


class TestRegistration:
    def test_one_kind_of_two_families_is_an_error_with_both(self) -> None:
        with registered(rival(name="other")), pytest.raises(ValueError, match=r"Pacer.*rival and other"):
            members()

    def test_one_name_of_two_families_is_an_error(self) -> None:
        with registered(rival(members=_renamed("Patter"))), pytest.raises(ValueError, match="'rival'"):
            members()

    def test_the_families_there_are_have_neither(self) -> None:
        assert len(members()) == sum(len(family.members) for family in FAMILIES)
