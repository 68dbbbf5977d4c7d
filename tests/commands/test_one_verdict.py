"""Every command says the same of the projects that ``init`` writes: problems, figures, costs, GPUs, objects."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hostile.runs import Printed, run
from workbench.creating.answers import Answers, CiChoice, ClusterChoice, FamilyChoice
from workbench.creating.repository import repository

ANSWERS = [
    Answers(cluster, "us-east-1", family, gateway=gateway, ci=ci)
    for cluster, family, gateway, ci in itertools.product(ClusterChoice, FamilyChoice, (False, True), CiChoice)
]
"""All answers; those about CI write no manifest and no setting."""
PROJECTS = [answers for answers in ANSWERS if answers.ci is CiChoice.NONE]
DEPLOYED = ("Deployment", "StatefulSet", "LeaderWorkerSet")


def titled(answers: Answers) -> str:
    return f"{answers.cluster}-{answers.family}-{'gateway' if answers.gateway else 'plain'}"


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as ``init`` writes it, which is the current folder."""
    for path, text in repository(request.param, "fleet").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def errors_in(done: Printed) -> set[str]:
    """The errors among lines of problems."""
    lines = {line for line in (done.stdout + done.stderr).splitlines() if ".yaml:" in line}
    return {line for line in lines if not line.endswith(("(warning)", "(note)")) and " " in line} - {
        line for line in lines if line.startswith(("warning: ", "info: "))
    }


def blocks_in(done: Printed) -> set[str]:
    """The errors as a text shows them to people, with cause and help."""
    blocks = re.split(r"\n(?! )", done.stdout)
    return {block for block in blocks if block.startswith(("error ", "error["))}


def head_of(*arguments: str) -> dict[str, Any]:
    done = run("plan", *arguments, "--output", "json")
    head: dict[str, Any] = json.loads(done.stdout)["review"]["head"]
    return head


def key_of(body: dict[str, Any]) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace") or "", body["metadata"]["name"]


def accelerators_of(body: dict[str, Any]) -> int:
    spec = body["spec"]
    group = spec.get("leaderWorkerTemplate", {})
    pods = int(spec.get("replicas", 1)) * int(group.get("size", 1))
    template = group.get("workerTemplate") or spec["template"]
    limits = (container.get("resources", {}).get("limits", {}) for container in template["spec"]["containers"])
    return pods * sum(int(limit.get("nvidia.com/gpu", 0)) for limit in limits)


def stacks_of(project: Path) -> list[tuple[str, ...]]:
    """The options for each stack of a project; none for its default."""
    names = sorted(path.name.split(".")[1] for path in project.glob("Pulumi.*.yaml"))
    assert "local" in names
    return [(), *(("--stack", name) for name in names if name != "local")]


def test_the_answers_about_ci_change_no_manifest_and_no_setting() -> None:
    """So that one of them stands for all."""
    for answers in PROJECTS:
        texts = set()
        for other in ANSWERS:
            if titled(other) == titled(answers):
                files = repository(other, "fleet")
                texts.add(json.dumps({path: files[path] for path in files if path.startswith(("models", "Pulumi."))}))
        assert len(texts) == 1


@pytest.mark.parametrize("project", PROJECTS, ids=titled, indirect=True)
def test_a_project_as_written_has_the_same_figures_everywhere(project: Path) -> None:
    for stack in stacks_of(project):
        head = head_of(*stack)
        assert [finding for finding in head["findings"] if finding["severity"] == "error"] == []
        (file,) = {model["file"] for model in head["models"]}

        # Problems and exit codes.
        every, one = (run("validate", *paths, *stack, "--output", "json") for paths in ((), (file,)))
        assert (every.code, one.code) == (0, 0)
        assert len(json.loads(every.stdout)) == len(head["findings"])
        assert json.loads(one.stdout) == json.loads(every.stdout)

        # Objects: what is planned is what is rendered and what is registered.
        planned = {key_of(each["body"]): each["body"] for each in head["workloads"]}
        for paths in ((), (file,)):
            done = run("render", *paths, *stack)
            rendered = {key_of(body): body for body in yaml.safe_load_all(done.stdout)}
            assert {key: rendered[key] for key in planned} == planned, paths
        preview = run("preview", "--offline", *stack, "--output", "json")
        assert preview.code == 0, preview.stderr
        resources = head["resources"]
        registered = {key_of(each["inputs"]) for each in resources if each["inputs"].get("kind") in DEPLOYED}
        assert registered == set(planned)
        changed = json.loads(preview.stdout)["resources"]
        for kind, _, name in planned:
            assert any(kind in json.dumps(each) and name in json.dumps(each) for each in changed)

        # Accelerators and costs, for all of the stack and for the only file.
        alone = head_of(file, *stack)
        counted = sum(accelerators_of(body) for body in planned.values())
        for of in (head, alone):
            assert sum(model["accelerators"][0] for model in of["models"]) == counted > 0
        assert alone["models"] == head["models"]
        assert alone["bill"] == head["bill"]

        # Figures of memory.
        for model in head["models"]:
            explained = run("explain", model["title"], *stack, "--output", "json")
            assert explained.code == 0, explained.stderr
            for verdict in model["verdicts"].values():
                check_fit(verdict, stack)


def check_fit(verdict: dict[str, Any], stack: tuple[str, ...]) -> None:
    """``fit`` has the verdict of the plan for the same model, engine, context and instance type."""
    asked = verdict["asked"]
    if asked["shape"]["name"].endswith(".gguf"):
        return  # fit reads the file, which is not on this machine
    sequences = ("--arg", f"--max-num-seqs={asked['sequences']}") if asked["sequences"] else ()
    context = ("--max-len", str(asked["context"])) if asked["context"] else ()
    done = run(
        *("fit", asked["shape"]["name"], "--gpu", asked["instanceType"], "--engine", asked["engine"], *context),
        *(*sequences, *stack, "--output", "json"),
    )
    assert done.code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["version"] == asked["tag"]
    assert verdict["reason"] in {option["reason"] for option in answer["options"]}


def unknown_field(text: str) -> str:
    return text.replace("\nspec:\n", "\nspec:\n  nonsense: 1\n", 1)


def unknown_flag(text: str) -> str:
    return text.replace("--max-model-len", "--max-modle-len")


def too_long(text: str) -> str:
    return text.replace("16384", "900000")


@pytest.mark.parametrize("edit", [unknown_field, unknown_flag, too_long])
@pytest.mark.parametrize("project", [each for each in PROJECTS if not each.gateway], ids=titled, indirect=True)
def test_an_error_is_the_same_in_every_command(project: Path, edit: Any) -> None:
    (file,) = project.glob("models/*.yaml")
    edited = edit(file.read_text())
    if edited == file.read_text():
        pytest.skip("the manifests of this family have no such field")
    file.write_text(edited)
    path = str(file.relative_to(project))
    for stack in stacks_of(project):
        expected = errors_in(run("validate", *stack, "--output", "lines"))
        assert expected
        assert errors_in(run("validate", path, *stack, "--output", "lines")) == expected
        assert run("validate", *stack).code == run("validate", path, *stack).code == 1
        for arguments in (("render",), ("render", path), ("preview", "--offline", "--output", "json")):
            done = run(*arguments, *stack)
            assert done.code == 1, arguments
            assert errors_in(done) == expected, arguments
        shown = blocks_in(run("validate", *stack, "--details"))
        assert len(shown) == len(expected)
        for arguments in (("preview", "--offline"), ("plan",), ("plan", path)):
            done = run(*arguments, *stack, "--details")
            assert (done.code, blocks_in(done)) == (1, shown), arguments
        for paths in ((), (path,)):
            done = run("plan", *paths, *stack, "--output", "json")
            findings = json.loads(done.stdout)["review"]["head"]["findings"]
            wrong = {(each["file"], each["line"]) for each in findings if each["severity"] == "error"}
            assert (done.code, wrong) == (1, {tuple(place(line)) for line in expected})


def place(line: str) -> tuple[str, int]:
    file, number, _ = line.split(":", 2)
    return file, int(number)


@pytest.mark.parametrize("project", PROJECTS[:1], ids=titled, indirect=True)
def test_a_wrong_setting_stops_every_command_with_one_message(project: Path) -> None:
    settings = project / "Pulumi.local.yaml"
    settings.write_text(settings.read_text().replace("runtimes: current", "runtimes: curent"))
    for arguments in (("validate",), ("render",), ("explain", "Playground/chat"), ("fit", "Qwen/Qwen2-7B-Instruct")):
        done = run(*arguments)
        assert done.code == 1, arguments
        assert "inference-platform:runtimes" in done.stderr
    plan = run("plan")
    assert plan.code == 1
    assert "inference-platform:runtimes" in plan.stdout
