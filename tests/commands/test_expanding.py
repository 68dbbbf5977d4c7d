"""``workbench render --expand`` and ``--literal`` as their users see them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.texts.hidden import HIDDEN
from components.families import parse
from tests.families.kthena.booster.support import Object, backend, booster, pair, worker
from tests.fleet.test_command import render
from tests.fleets import open_model, playground

SERVED: Object = {"config": {"served-model-name": "m"}, "replicas": 1, "pods": 1}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(*documents: Object) -> str:
        path = tmp_path / "models.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    return write


def kinds(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [body["kind"] for body in yaml.safe_load_all(done.stdout)]


def test_a_booster_is_expanded_and_everything_else_stays(written: Any) -> None:
    secret = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    path = written(booster("m"), open_model(), playground(), secret)
    done = render("--expand", path)
    assert kinds(done) == ["ModelServing", "ModelServer", "ModelRoute", "OpenModel", "Playground", "ConfigMap"]
    assert not parse(done.stdout).problems


def test_what_is_printed_renders_to_the_same(written: Any, tmp_path: Path) -> None:
    path = written(booster("m", backend(maxReplicas=1), backend("c", workers=[worker(pods=2)])))
    expanded = tmp_path / "expanded.yaml"
    expanded.write_text(render("--expand", path).stdout)

    def bodies(file: str) -> dict[tuple[str, str], Object]:
        done = render(file)
        assert done.returncode == 0, done.stderr
        return {(body["kind"], body["metadata"]["name"]): body for body in yaml.safe_load_all(done.stdout)}

    assert bodies(str(expanded)) == bodies(path)


@pytest.mark.parametrize(
    ("release", "scheduler", "expected"),
    [
        # As the templates of the controllers have it: convert/templates/vllm.yaml and vllm-pd.yaml at the tags.
        ("97b99f41", None, ("volcano", "ServingGroupRecreate", None)),
        ("v0.1.0", "volcano", ("volcano", "ServingGroupRecreate", {"leader": 1})),
        ("v0.2.0", None, ("", None, {"leader": 1})),
        ("v1.0.0", None, ("", None, {"leader": 1})),
        ("v1.0.0", "volcano", ("volcano", None, {"leader": 1})),
    ],
)
def test_what_the_controllers_of_a_release_write(
    written: Any, release: str, scheduler: str | None, expected: tuple[str, str | None, Object | None]
) -> None:
    body = booster("m", backend(workers=[worker(**SERVED)], **({"schedulerName": scheduler} if scheduler else {})))
    if release not in ("97b99f41", "v0.1.0"):
        (only,) = body["spec"].pop("backends")
        bounds = [only.pop(name) for name in ("minReplicas", "maxReplicas")]
        body["spec"]["backend"] = {**only, **({"replicas": bounds[0]} if release == "v1.0.0" else _bounds(bounds))}
    done = render("--expand", "--realization", "operator", "--release", f"kthena={release}", written(body))
    assert done.returncode == 0, done.stderr
    serving = next(body for body in yaml.safe_load_all(done.stdout) if body["kind"] == "ModelServing")
    spec, gang = serving["spec"], serving["spec"]["template"].get("gangPolicy")
    minimum = gang and gang["minRoleReplicas"]
    assert (spec["schedulerName"], spec.get("recoveryPolicy"), minimum) == expected


def _bounds(bounds: list[int]) -> Object:
    return {"minReplicas": bounds[0], "maxReplicas": bounds[0]}


@pytest.mark.parametrize(("realization", "containers"), [("native", ["engine"]), ("operator", ["runtime", "engine"])])
def test_the_controllers_need_the_runtime(written: Any, realization: str, containers: list[str]) -> None:
    done = render(
        "--expand", "--realization", realization, written(booster("m", backend(workers=[worker(**SERVED)])))
    )
    serving = next(body for body in yaml.safe_load_all(done.stdout) if body["kind"] == "ModelServing")
    entry = serving["spec"]["template"]["roles"][0]["entryTemplate"]["spec"]
    assert [each["name"] for each in entry["containers"]] == containers


def test_what_the_controllers_break_is_a_reason_to_expand_it(written: Any) -> None:
    path = written(booster("m", pair()))
    assert render("--realization", "operator", path).returncode == 1
    assert "ModelServing" in kinds(render("--expand", "--realization", "operator", path))


def test_what_is_wrong_is_told_and_nothing_printed(written: Any) -> None:
    for option in ("--expand", "--literal"):
        done = render(option, written(booster("m", backend(type="vLLM", minReplicas=2, maxReplicas=1))))
        assert (done.returncode, done.stdout) == (1, "")
        assert "spec.backends[0].minReplicas" in done.stderr
    done = render("--expand", written(booster("m", backend(type="MindIE"))))
    assert (done.returncode, done.stdout) == (1, "")
    assert "MindIE is not supported" in done.stderr


def test_literally(written: Any) -> None:
    done = render("--literal", written(booster("m", backend(workers=[worker(**SERVED)])), open_model(), playground()))
    assert kinds(done) == ["ModelServing", "ModelServer", "ModelRoute"]
    assert "kthena/runtime:latest" in done.stdout


def test_where_the_controllers_give_up_is_told(written: Any) -> None:
    done = render("--literal", written(booster("m")))
    assert kinds(done) == ["ModelServing"]
    assert "warning" in done.stderr
    assert "D-05" in done.stderr


def test_secrets_are_masked(written: Any) -> None:
    env = [{"name": "API_TOKEN", "value": "hf_abcdefghijklmnopqrstuvwxyz012345"}]
    for option in ("--expand", "--literal"):
        done = render(option, written(booster("m", backend(workers=[worker(**SERVED)], env=env))))
        assert "hf_abcdefg" not in done.stdout + done.stderr
        assert HIDDEN.search(done.stdout)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--expand", "--literal"], "cannot be used together"),
        (["--literal"], "omit --literal"),
    ],
)
def test_wrong_usage(written: Any, options: list[str], said: str) -> None:
    done = render(*options, written(open_model()))
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
