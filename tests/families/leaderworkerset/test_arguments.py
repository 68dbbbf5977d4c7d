"""Arguments of hand-written LeaderWorkerSets, against the version of the engine in their image."""

import pytest

from components.families import objects
from components.plan.plan import plan
from tests.inspecting.objects import container, group

PATH = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]"
MODEL = ["--model", "Qwen/Qwen2.5-7B-Instruct"]
WAITING = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}}


def found(**more: object) -> set[tuple[str, str]]:
    problems = plan(objects([group("a", container(lifecycle=WAITING, **more))])).problems
    return {(str(each.rule), each.path) for each in problems}


def test_an_unknown_flag_is_reported_at_its_argument() -> None:
    assert found(args=[*MODEL, "--max-model-length", "8192"]) == {("flags-unknown", f"{PATH}.args[2]")}
    assert found(args=[*MODEL, "--max-model-len", "8192"]) == set()


def test_an_unknown_flag_in_a_script() -> None:
    script = "exec vllm serve a/b --max-model-length 8192"
    assert found(command=["sh", "-c", script], args=[]) == {("flags-unknown", f"{PATH}.command")}
    assert found(command=["sh", "-c", script.replace("length", "len")], args=[]) == set()


@pytest.mark.parametrize("image", ["example.com/own:1", f"vllm/vllm-openai@sha256:{'a' * 64}"])
def test_what_has_no_known_version_is_not_checked(image: str) -> None:
    assert found(image=image, args=[*MODEL, "--max-model-length", "8192"]) == set()
