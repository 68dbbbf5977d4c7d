"""Lines to paste: which there are, and that a shell makes of them what is meant."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet import call_lines
from livefleet.fleet import LiveFleet, Speaks
from livefleet.folder import LiveFolder
from tests.deploying.fleets import fleet_of, workload, written

ALL = [workload(speaks.value, speaks) for speaks in Speaks]


def words_of(line: str, folder: Path) -> list[str]:
    """What a shell passes to curl."""
    shown = line.replace("curl ", "printf '%s\\0' ", 1)
    done = subprocess.run(["sh", "-c", shown], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


def lines(folder: Path, fleet: LiveFleet, door: str = "") -> list[tuple[str, str]]:
    live = written(folder, fleet, door=door)
    return [(each.what, each.line) for each in call_lines(fleet, live, folder)]


def test_there_is_a_line_for_each_api(tmp_path: Path) -> None:
    found = {words[1]: words for _, line in lines(tmp_path, fleet_of(*ALL)) for words in [words_of(line, tmp_path)]}
    assert {url: json.loads(words[-1]) for url, words in found.items()} == {
        "http://127.0.0.1:4000/v1/chat/completions": {
            "model": "openai",
            "stream": True,
            "messages": [{"role": "user", "content": "Why is the sky blue?"}],
        },
        "http://127.0.0.1:4001/api/chat": {
            "model": "ollama",
            "messages": [{"role": "user", "content": "Why is the sky blue?"}],
        },
        "http://127.0.0.1:4002/generate_stream": {
            "inputs": "Why is the sky blue?",
            "parameters": {"max_new_tokens": 40},
        },
        "http://127.0.0.1:4003/completion": {"prompt": "Why is the sky blue?", "n_predict": 40, "stream": True},
        "http://127.0.0.1:4004/embed": {"inputs": "Why is the sky blue?"},
    }
    assert all(words[0] == "-N" for words in found.values())
    assert all("Authorization" not in " ".join(words) for words in found.values())


def test_a_second_model_of_an_api_has_no_second_line(tmp_path: Path) -> None:
    assert len(lines(tmp_path, fleet_of(workload("a"), workload("b")))) == 1


def test_what_makes_embeddings_is_not_asked_to_talk(tmp_path: Path) -> None:
    assert lines(tmp_path, fleet_of(workload("e", embeds=True))) == []
    (found,) = lines(tmp_path, fleet_of(workload("e", embeds=True), workload("m")))
    assert "http://127.0.0.1:4001/v1" in found[1]


def test_the_key_goes_through_the_gateway_and_nowhere_else(tmp_path: Path) -> None:
    fleet = fleet_of(workload("m"), outside=True)
    live = written(tmp_path, fleet)
    live.door_key.write_text("s3cret")
    (first, through), (second, direct) = lines(tmp_path, fleet, "http://127.0.0.1:4444")
    assert (first, second) == ("through the gateway", "without it, OpenAI's API")
    assert "s3cret" not in through + direct
    words = words_of(through, tmp_path)
    assert words[1] == "http://127.0.0.1:4444/v1/chat/completions"
    assert "Authorization: Bearer s3cret" in words
    assert not any("Authorization" in word for word in words_of(direct, tmp_path))


@pytest.mark.parametrize("door", ["http://127.0.0.1:4444", "http://127.0.0.1:4444/", "http://127.0.0.1:4444/v1"])
def test_a_gateway_without_a_key_gets_none(tmp_path: Path, door: str) -> None:
    (_, through), _ = lines(tmp_path, fleet_of(workload("m"), outside=True), door)
    assert words_of(through, tmp_path)[1] == "http://127.0.0.1:4444/v1/chat/completions"
    assert "Authorization" not in through


def test_what_has_no_route_is_not_asked_through_the_gateway(tmp_path: Path) -> None:
    ((what, _),) = lines(tmp_path, fleet_of(workload("m")), "http://127.0.0.1:4444")
    assert what.startswith("without it")


def test_a_gateway_with_a_name_and_a_certificate(tmp_path: Path) -> None:
    fleet = fleet_of(workload("m"), outside=True)
    live = written(tmp_path, fleet)
    live.door_authority.parent.mkdir()
    live.door_authority.write_text("certificate")
    (_, through), _ = lines(tmp_path, fleet, "https://llm.example.com:4443")
    words = words_of(through, tmp_path)
    assert words[words.index("--cacert") + 1] == ".workbench/live/door/ca.crt"
    assert words[words.index("--resolve") + 1] == "llm.example.com:4443:127.0.0.1"
    assert "https://llm.example.com:4443/v1/chat/completions" in words


def test_the_key_is_found_wherever_the_line_is_pasted(tmp_path: Path) -> None:
    project = tmp_path / "it's a project"
    project.mkdir()
    fleet = fleet_of(workload("m"), outside=True)
    live = written(project, fleet, door="http://127.0.0.1:4444")
    live.door_key.write_text("k")
    elsewhere = next(iter(call_lines(fleet, live, tmp_path / "elsewhere"))).line
    assert "Authorization: Bearer k" in words_of(elsewhere, tmp_path)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_a_name_stays_what_it_is(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("project")
    ((_, line),) = lines(folder, fleet_of(workload("m", model=name)))
    assert json.loads(shlex.split(line)[-1])["model"] == name
    assert line.isprintable()


def test_only_what_runs_of_this_stack_is_shown(tmp_path: Path) -> None:
    assert LiveFolder(tmp_path / ".workbench").running_fleet("local") is None
    live = written(tmp_path, fleet_of(workload("m")))
    found = live.running_fleet("local")
    assert found is not None
    assert found.endpoints[0].title == "m"
    assert live.running_fleet("other") is None
    live.forget_addresses("pods")
    assert live.running_fleet("local") is None
