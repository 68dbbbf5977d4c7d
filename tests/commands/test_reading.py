"""What the commands read, for which environment, and how much of it they say was checked."""

import json
from pathlib import Path

import pytest
import yaml

from components.contract.texts.hidden import HIDDEN
from tests.commands.support import ROOT, workbench
from tests.fleets import open_model, playground

MODELS = [open_model("m", flavors=[{"name": "cpu", "limits": {"cpu": "1"}}]), playground("chat", "m")]
TEXT = yaml.safe_dump_all(MODELS)
SECRET = yaml.safe_dump(
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"t": "hunter2"}}
)
WRONG = TEXT.replace("familyName", "famlyName")


class TestStdin:
    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            (("render", "-"), "kind: Deployment"),
            (("defaults", "-"), "kind: OpenModel"),
            (("explain", "Playground/chat", "-"), "spec.modelClaim.modelName"),
            (("validate", "--output", "json", "-"), "[]"),
        ],
    )
    def test_a_dash_is_the_standard_input(self, command: tuple[str, ...], expected: str) -> None:
        done = workbench(*command, "--stack", "none", text=TEXT)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout

    def test_problems_name_it(self) -> None:
        done = workbench("validate", "--output", "lines", "--stack", "none", "-", text=WRONG)
        assert done.returncode == 1
        assert [line.split(": ")[0] for line in done.stdout.splitlines()] == ["<stdin>:5", "<stdin>:6"]

    def test_text_that_is_not_utf_8(self) -> None:
        done = workbench("validate", "-", text=b"a: 1\nb: \xe9\n")
        message = ["error <stdin>:2", "  not UTF-8 text", "  help: save the file as UTF-8"]
        assert (done.returncode, done.stdout.splitlines()[:-1]) == (1, message)

    def test_it_goes_together_with_files(self, tmp_path: Path) -> None:
        (tmp_path / "model.yaml").write_text(yaml.safe_dump(MODELS[0]))
        done = workbench("validate", tmp_path, "-", "--stack", "none", text=yaml.safe_dump(MODELS[1]))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1].startswith("2 resources in 2 files: 0 errors")

    def test_a_file_of_that_name_is_read_by_its_path(self, tmp_path: Path) -> None:
        (tmp_path / "-").write_text(WRONG)
        assert "famlyName" in workbench("validate", tmp_path / "-").stdout


class TestCounts:
    @pytest.mark.parametrize(
        ("text", "code", "said"),
        [
            (TEXT, 0, "2 resources in 1 file: 0 errors"),
            (WRONG, 1, "2 resources in 1 file: 2 errors"),
            (f"{TEXT}---\n{SECRET}", 1, "3 resources in 1 file, 1 of other APIs: 1 error"),
            ("# nothing\n", 0, "0 resources in 1 file: 0 errors, 1 warning"),
            ("a: [", 1, "0 resources in 1 file: 1 error"),
            ("a: 1\na: 2\n", 1, "1 resource in 1 file: 1 error"),
        ],
    )
    @pytest.mark.parametrize("alone", [("--stack", "none"), ("--alone",)])
    def test_success_and_failure_say_how_much_was_checked(
        self, text: str, code: int, said: str, alone: tuple[str, ...]
    ) -> None:
        done = workbench("validate", "-", *alone, text=text)
        assert done.returncode == code, done.stdout
        lines = done.stdout.splitlines()
        unchecked = text.startswith(TEXT) and alone != ("--alone",)
        assert lines[-1] == (f"{said} (--details: models that are not checked)" if unchecked else said)
        assert (lines[0] == "memory not checked for 1 of 1 model") == unchecked
        detailed = workbench("validate", "-", *alone, "--details", text=text).stdout.splitlines()
        assert ("  Playground/chat: the pods request no accelerator" in detailed) == unchecked

    def test_json_is_all_there_is(self) -> None:
        done = workbench("validate", "--output", "json", "--stack", "none", "-", text=TEXT)
        assert (json.loads(done.stdout), done.stderr) == ([], "")


@pytest.mark.parametrize("command", ["validate", "render", "defaults"])
def test_an_empty_folder_is_an_error(tmp_path: Path, command: str) -> None:
    done = workbench(command, tmp_path)
    assert done.returncode == 1
    printed = done.stdout + done.stderr
    assert str(tmp_path) in printed
    assert "no *.yaml or *.yml file in this folder" in printed


@pytest.mark.parametrize("command", ["validate", "render", "defaults"])
def test_nothing_to_read_is_wrong_usage(tmp_path: Path, command: str) -> None:
    for done in (workbench(command, "--stack", "none"), workbench(command, cwd=tmp_path)):
        assert (done.returncode, done.stdout) == (2, "")
        assert "no manifests: pass files or folders" in done.stderr
        assert "--stack" in done.stderr


class TestOtherKinds:
    TEXT = f"{TEXT}---\n{SECRET}"

    @pytest.mark.parametrize("command", ["validate", "render", "defaults"])
    def test_they_are_refused_unless_said_otherwise(self, command: str) -> None:
        done = workbench(command, "-", text=self.TEXT)
        assert done.returncode == 1
        assert "v1/Secret is not a supported kind" in done.stdout + done.stderr
        assert "otherKinds: skip to leave it out (--other-kinds)" in done.stdout + done.stderr

    @pytest.mark.parametrize("choice", ["apply", "skip"])
    @pytest.mark.parametrize("command", ["validate", "render", "defaults", "explain"])
    def test_they_are_not_where_it_is(self, command: str, choice: str) -> None:
        subject = ("Playground/chat",) if command == "explain" else ()
        done = workbench(command, *subject, "-", "--other-kinds", choice, text=self.TEXT)
        assert done.returncode == 0, done.stderr
        assert "hunter2" not in done.stdout + done.stderr

    def test_what_is_passed_through_is_rendered_without_its_secrets(self) -> None:
        done = workbench("render", "-", "--stack", "none", "--other-kinds", "apply", text=self.TEXT)
        (secret,) = (body for body in yaml.safe_load_all(done.stdout) if body["kind"] == "Secret")
        assert HIDDEN.fullmatch(secret["stringData"]["t"])
        assert secret["metadata"] == {"name": "s", "namespace": "default"}
        skipped = workbench("render", "-", "--stack", "none", "--other-kinds", "skip", text=self.TEXT)
        assert "Secret" not in skipped.stdout


class TestOptions:
    @pytest.mark.parametrize("command", ["validate", "render"])
    @pytest.mark.parametrize(
        "options",
        [("--cache-claim", "a", "--cache-host-path", "/b"), ("--namespace", "Not A Name"), ("--workload", "pod")],
    )
    def test_wrong_ones_are_wrong_usage(self, command: str, options: tuple[str, ...]) -> None:
        done = workbench(command, "-", *options, text=TEXT)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr

    def test_validate_takes_those_of_rendering(self) -> None:
        text = yaml.safe_dump_all([*MODELS[:1], playground("chat", "m", backendRuntimeConfig={"backendName": "x"})])
        assert workbench("validate", "-", "--workload", "lws", text=TEXT).returncode == 0
        assert workbench("validate", "-", text=text).returncode == 1
        two = yaml.safe_load_all((ROOT / "stacks/models/llama-405b-multinode.yaml").read_text())
        done = workbench("validate", "-", "--workload", "deployment", text=yaml.safe_dump_all(two))
        assert done.returncode == 1
        assert "set workload to 'auto' or 'lws'" in done.stdout
