"""Every script that is rendered, in a real shell: what somebody wrote into a value is never run."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families.llmaz.shipped import shipped, shipped_names
from components.fleet.options import ModelCache
from components.fleet.shapes import pod_templates
from components.fleet.words import Edition
from tests import fleets
from tests.families.leaderworkerset.sets import group
from tests.families.llmkube import support as llmkube
from tests.kubelet import SHELLS, expanded, started

Object = dict[str, Any]
pytestmark = pytest.mark.skipif(not shutil.which("sh"), reason="no shell")
HOSTILE = [
    "$(touch ran)",
    "`touch ran`",
    "'; touch ran; '",
    '"; touch ran; "',
    "'$(touch ran)'",
    "a\ntouch ran\n",
    "$(OTHER)",
    "$HOME *",
    "\\",
    "",
]
MODELS = Path(__file__).parents[2] / "stacks/models"
CACHE = ModelCache(claim="weights")
GIVEN = {
    "LWS_LEADER_ADDRESS": "s-0.s.default",
    "LWS_GROUP_SIZE": "2",
    "LWS_WORKER_INDEX": "0",
    "HOSTNAME": "s-0",
    "IFS": "0/.a",
    "OTHER": "'",
}
_FAKE = """\
#!/bin/sh
printf '%s\\0' "${{0##*/}}" "$@" >> {calls}/$$
{does}
"""
"""A program that notes what it is called with."""


@dataclass(frozen=True)
class Script:
    """A script in a container.

    Attributes:
        container: Renders it, with a value that somebody wrote.
        call: What it starts then; the value stands for itself.
        does: What the programs that it runs do here.
    """

    container: Callable[[str], Object]
    call: tuple[str, ...]
    does: dict[str, str] = field(default_factory=dict)


def _group(part: str) -> Callable[[str], Object]:
    def rendered(value: str) -> Object:
        """A user's argument that has the value of a Secret in it."""
        flavors = [
            {
                "name": "f",
                "limits": {"nvidia.com/gpu": 8},
                "params": {"INSTANCE-TYPE": "p4d.24xlarge", "TP": "8", "PP": "2"},
            }
        ]
        token = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
        config = {"args": ["--api-key", "$(TOKEN)", "--tokenizer-revision", value], "envs": [token]}
        body = fleets.objects(fleets.open_model(flavors=flavors), fleets.playground(backendRuntimeConfig=config))
        pod = body["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"][part]["spec"]
        return dict(pod["containers"][0])

    return rendered


def _ollama(value: str) -> Object:
    model = fleets.open_model(source=f"ollama://{value or 'q'}")
    return fleets.container(model, fleets.playground(backendRuntimeConfig={"backendName": "ollama"}))


def _loader(source: Any, **options: Any) -> Callable[[str], Object]:
    def rendered(value: str) -> Object:
        origin = json.loads(json.dumps(source).replace("VALUE", json.dumps(value or "q")[1:-1]))
        pod = fleets.pod(fleets.open_model(source=origin), fleets.playground(), **options)
        return dict(pod["initContainers"][0])

    return rendered


def _downloader(source: str, **spec: Any) -> Callable[[str], Object]:
    def rendered(value: str) -> Object:
        # The contract's pattern and the check of URLs take no white space.
        model = llmkube.model(source=source + ("".join(value.split()) or "q"), **spec)
        return dict(llmkube.pod(model, llmkube.isvc())["initContainers"][0])

    return rendered


_JOINED = {"python3": 'if [ "$1" = -c ]; then echo 2; fi'}
_FETCHES = {"curl": 'while [ "$1" != -o ]; do shift; done; echo weights > "$2"'}
_COPIES = {"cp": 'echo weights > "$2"', "cmp": "exit 1"}
SCRIPTS = {
    "ray leader": Script(
        _group("leaderTemplate"), ("python3", "--api-key", "TOKEN", "--tokenizer-revision", "VALUE"), _JOINED
    ),
    "ray worker": Script(_group("workerTemplate"), ("ray", "--address=s-0.s.default:6379")),
    "ollama": Script(_ollama, ("ollama", "run", "--", "VALUE")),
    "loader with a cache": Script(_loader({"modelHub": {"modelID": "VALUE"}}, cache=CACHE), ("python", "main.py")),
    "folder of a bucket": Script(
        _loader({"uri": "oss://b.example.com/x.VALUE"}), ("python", "/workspace/models/models--x.VALUE")
    ),
    "folder with a cache": Script(
        _loader({"uri": "oss://b.example.com/x.VALUE"}, cache=CACHE), ("python", "/workspace/models/models--x.VALUE")
    ),
    "download": Script(_downloader("https://e.org/m?"), ("curl", "https://e.org/m?VALUE"), _FETCHES),
    "download on change": Script(
        _downloader("https://e.org/m?", refreshPolicy="OnChange"), ("curl", "https://e.org/m?VALUE"), _FETCHES
    ),
    "copy": Script(_downloader("/srv/"), ("cp",), _COPIES),
    "copy on change": Script(_downloader("/srv/", refreshPolicy="OnChange"), ("cp",), _COPIES),
}
PROGRAMS = ("ray", "python3", "python", "ollama", "curl", "cp", "cmp", "flock", "sleep")


def calls_of(script: Script, container: Object, given: dict[str, str], folder: Path, shell: str) -> list[list[str]]:
    """Run a container with programs that note what they are called with, and return the notes."""
    weights = folder / "weights"
    for made in (weights, folder / "bin", folder / "calls"):
        made.mkdir()
    for name in PROGRAMS:
        file = folder / "bin" / name
        file.write_text(_FAKE.format(calls=folder / "calls", does=script.does.get(name, "")))
        file.chmod(0o755)
    done = started(container, given, folder, {"/workspace/models/": f"{weights}/", "/models/": f"{weights}/"}, shell)
    assert not (folder / "ran").exists(), container
    assert not (weights / "ran").exists(), container
    notes = [file.read_text().replace(str(weights), "/workspace/models") for file in (folder / "calls").iterdir()]
    assert notes, done.stderr
    return [note.split("\0")[:-1] for note in notes]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_value_is_never_run(name: str, value: str, shell: str, tmp_path: Path) -> None:
    script = SCRIPTS[name]
    container = script.container(value)
    given = {**GIVEN, "TOKEN": value}
    calls = calls_of(script, container, given, tmp_path, shell)
    if "download" in name:
        value = "".join(value.split())
    # What is written is expanded; what a Secret holds is not.
    stated = expanded(value or ("" if "ray" in name else "q"), GIVEN)
    wanted = [value if word == "TOKEN" else word.replace("VALUE", stated) for word in script.call]
    assert any(call[0] == wanted[0] and all(word in call for word in wanted[1:]) for call in calls), calls


def _may_have_processes_of_its_own() -> bool:
    command = ["unshare", "--pid", "--fork", "true"]
    return bool(shutil.which("unshare")) and subprocess.run(command, check=False, capture_output=True).returncode == 0


SERVERS = {
    "ray leader": {"ray": "", "python3": "echo 1"},
    "ray worker": {"ray": "exec sleep 60"},
    "ollama": {"ollama": "case $1 in serve) exec sleep 60 ;; esac"},
}
"""Scripts that run as long as the container, and what their programs do until it ends."""


@pytest.mark.skipif(not _may_have_processes_of_its_own(), reason="may not create a PID namespace")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", SERVERS)
def test_a_script_ends_when_it_is_told_to(name: str, shell: str, tmp_path: Path) -> None:
    """The first process of a container has no default action for signals: without a trap it is killed in the end."""
    container = SCRIPTS[name].container("q")
    (tmp_path / "bin").mkdir()
    for program, does in SERVERS[name].items():
        (tmp_path / "bin" / program).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / "bin" / program).chmod(0o755)
    words = [expanded(word, GIVEN) for word in (*container.get("command", ()), *container.get("args", ()))]
    env = {**os.environ, **GIVEN, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = ["unshare", "--pid", "--fork", "--kill-child", shell, *words[1:]]
    with subprocess.Popen(
        command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as own:
        try:
            time.sleep(1)
            children = Path(f"/proc/{own.pid}/task/{own.pid}/children").read_text().split()
            os.kill(int(children[0]), signal.SIGTERM)
            own.wait(timeout=10)
        finally:
            own.kill()


def _shells(documents: list[Object], **options: Any) -> Iterator[str]:
    """Yield the text of each script in the containers of documents."""
    for body in (body for item in fleets.fleet_of(*documents, **options).rendered for body in item.objects):
        for template in (each.body for each in pod_templates(body)):
            for container in (*template["spec"].get("initContainers", ()), *template["spec"]["containers"]):
                words = [*container.get("command", ()), *container.get("args", ())]
                if words[:2] == ["sh", "-c"]:
                    yield words[2]


def _known() -> set[str]:
    words = (script.container("q") for script in SCRIPTS.values())
    return {text for c in words for text in [*c.get("command", ()), *c.get("args", ())][2:3]}


@pytest.mark.parametrize("options", [{}, {"cache": CACHE}, {"runtimes": Edition.CURRENT}])
def test_no_sample_has_a_script_that_is_not_run_here(options: Object) -> None:
    """What is the same text as one that is run here has no value in it."""
    known = _known()
    found = []
    for file in (*sorted(fleets.SAMPLES.glob("*.yaml")), *sorted(MODELS.glob("**/*.yaml"))):
        documents = [one for one in yaml.safe_load_all(file.read_text()) if one]
        found += list(_shells(documents, **options))
    assert set(found) <= known
    assert found


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("name", sorted(shipped_names()))
def test_no_shipped_script_has_a_placeholder_in_its_text(name: str, edition: Edition) -> None:
    runtime = shipped(name, edition)
    assert runtime is not None
    for config in runtime.spec.recommended_configs or ():
        words = [*(runtime.spec.command or ()), *(config.args or ())]
        assert words[:2] != ["sh", "-c"] or "{{" not in words[2]


OWN: Object = {"backendRuntimeConfig": {"backendName": "own"}}


@pytest.mark.parametrize("words", [(["sh", "-c"], []), (["bash"], ["-ec"]), (["/bin/sh", "-e", "-c"], [])])
@pytest.mark.parametrize(
    ("value", "good"), [("qwen2:0.5b", True), ("a b", False), ("$(TOKEN)", False), ("a;b", False)]
)
def test_a_value_in_the_text_of_ones_own_script_must_be_a_word(
    words: tuple[list[str], list[str]], value: str, good: bool
) -> None:
    command, first = words
    config = {"name": "default", "args": [*first, "serve {{ .ModelName }} & wait", "serve", "{{ .ModelName }}"]}
    documents = (
        fleets.open_model(source=f"ollama://{value}"),
        fleets.runtime(command=command, recommendedConfigs=[config]),
        fleets.playground(**OWN),
    )
    if good:
        assert f"serve {value} & wait" in fleets.container(*documents)["args"]
        return
    problem = fleets.the_error(*documents)
    assert problem.path == "spec.backendRuntimeConfig.configName"
    assert f"would execute parts of its value {value!r}" in problem.reason


def test_a_value_behind_the_text_of_ones_own_script_may_be_anything() -> None:
    config = {"name": "default", "args": ['serve "$1"', "serve", "{{ .ModelName }}"]}
    own = fleets.runtime(command=["sh", "-c"], recommendedConfigs=[config])
    got = fleets.container(fleets.open_model(source="ollama://a; b"), own, fleets.playground(**OWN))
    assert got["args"] == ['serve "$1"', "serve", "a; b"]


SECRET = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
PLAIN = {"name": "TOKEN", "value": "x"}


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        ({"command": ["sh", "-c"], "args": ["serve --api-key $(TOKEN)"], "env": [SECRET]}, "args"),
        ({"command": ["bash", "-lc", "serve --api-key '$(TOKEN)'"], "env": [SECRET]}, "command"),
        ({"command": ["sh", "-c"], "args": ['serve --api-key "$TOKEN"'], "env": [SECRET]}, ""),
        ({"command": ["sh", "-c"], "args": ['exec "$@"', "serve", "--api-key", "$(TOKEN)"], "env": [SECRET]}, ""),
        ({"command": ["sh", "-c"], "args": ["echo $$(TOKEN)"], "env": [SECRET]}, ""),
        ({"command": ["sh", "-c"], "args": ["serve --api-key $(TOKEN)"], "env": [PLAIN]}, ""),
        ({"args": ["--api-key", "$(TOKEN)"], "env": [SECRET]}, ""),
    ],
)
def test_a_secret_in_a_script_by_hand_is_pointed_out(fields: Object, warned: str, *, by_hand: bool) -> None:
    template: Object = {"workerTemplate": {"spec": {"containers": [fleets.runner(**fields)]}}}
    made = group("g", None, **template) if by_hand else fleets.service(workloadTemplate=template)
    found = fleets.fleet_of(fleets.open_model(), made).problems
    where = "spec.leaderWorkerTemplate" if by_hand else "spec.workloadTemplate"
    paths = [problem.path for problem in found if "runs parts of it" in problem.reason]
    assert paths == ([f"{where}.workerTemplate.spec.containers[0].{warned}"] if warned else [])
