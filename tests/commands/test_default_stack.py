"""The stack of a command without ``--stack``: one rule for every command."""

from pathlib import Path

import pytest

from tests.commands.support import workbench
from workbench.default_stack import choose_stack
from workbench.errors import WorkbenchError

SETTINGS = "config:\n  inference-platform:models: [models]\n  inference-platform:kubeconfig: kubeconfig\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without stacks."""
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: fleet\nruntime: python\n")
    return folder


def with_stacks(project: Path, *names: str, text: str = SETTINGS) -> Path:
    for name in names:
        (project / f"Pulumi.{name}.yaml").write_text(text)
    return project


@pytest.mark.parametrize(
    ("stacks", "chosen"),
    [((), ""), (("shared",), "shared"), (("local", "shared"), "local"), (("a", "local", "z"), "local")],
)
def test_local_or_the_only_stack_is_the_default(project: Path, stacks: tuple[str, ...], chosen: str) -> None:
    assert choose_stack(with_stacks(project, *stacks)).name == chosen


def test_of_several_none_is_guessed(project: Path) -> None:
    with pytest.raises(
        WorkbenchError, match=r"has the stacks prod, shared, and none called local; .*--stack none"
    ) as e:
        choose_stack(with_stacks(project, "shared", "prod"))
    assert e.value.exit_code == 2


@pytest.mark.parametrize("name", ["shared", "absent"])
def test_the_option_wins(project: Path, name: str) -> None:
    chosen = choose_stack(with_stacks(project, "local", "shared"), name)
    assert (chosen.name, chosen.folder) == (name, project)


def test_none_is_no_stack(project: Path) -> None:
    assert choose_stack(with_stacks(project, "local"), "none").title == "no stack: default settings"


def test_a_project_is_found_from_below(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(with_stacks(project, "local") / "models")
    chosen = choose_stack(Path())
    assert (chosen.name, chosen.folder) == ("local", Path(".."))


def test_outside_of_projects_there_is_none(tmp_path: Path) -> None:
    assert choose_stack(tmp_path).name == ""


def test_a_program_of_its_own_has_no_settings(project: Path) -> None:
    with_stacks(project, "local", text="config:\n  fleet:models: [models]\n")
    assert choose_stack(project).name == ""


def test_settings_may_be_in_the_project_file_and_stacks_in_a_folder(project: Path) -> None:
    (project / "Pulumi.yaml").write_text("name: inference-platform\nruntime: python\nstackConfigDir: stacks\n")
    (project / "stacks").mkdir()
    (project / "stacks/Pulumi.dev.yaml").write_text("config: {}\n")
    assert choose_stack(project).name == "dev"


def test_manifests_of_another_place_have_default_settings(project: Path, tmp_path: Path) -> None:
    """A project owns the files in its folder, except those of a project within it."""
    with_stacks(project, "local")
    inner = project / "examples/one"
    inner.mkdir(parents=True)
    (inner / "Pulumi.yaml").write_text("name: one\nruntime: python\n")
    for path, name in (
        (project / "models", "local"),
        (project / "other/new.yaml", "local"),
        (project, "local"),
        (Path("-"), "local"),
        (inner / "models", ""),
        (tmp_path / "else.yaml", ""),
    ):
        assert choose_stack(project, None, [path]).name == name, path


OPEN_MODEL = """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}]
"""
PLAYGROUND = """
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  replicas: 1
  modelClaim: {modelName: qwen}
  backendRuntimeConfig: {args: [--max-model-len, "8192"]}
"""


@pytest.fixture
def split(project: Path) -> Path:
    """A project whose Playground refers to a model of another file."""
    with_stacks(project, "local")
    (project / "models/model.yaml").write_text(OPEN_MODEL)
    (project / "models/chat.yaml").write_text(PLAYGROUND)
    return project


def test_a_file_is_checked_with_the_other_models_of_its_stack(split: Path) -> None:
    done = workbench("validate", "models/chat.yaml", cwd=split)
    assert (done.returncode, done.stderr) == (0, "stack: local\n")
    assert done.stdout.startswith("1 resource in 1 file: 0 errors")
    alone = workbench("validate", "models/chat.yaml", "--stack", "none", cwd=split)
    assert alone.returncode == 1
    assert "OpenModel" in alone.stdout


def test_problems_of_other_files_are_left_out(split: Path) -> None:
    (split / "models/wrong.yaml").write_text(PLAYGROUND.replace("chat", "wrong").replace("qwen", "absent"))
    assert workbench("validate", "models/chat.yaml", cwd=split).returncode == 0
    assert workbench("validate", "models/wrong.yaml", cwd=split).returncode == 1
    assert workbench("validate", cwd=split).returncode == 1


def test_of_two_objects_with_one_name_the_same_one_is_reported(split: Path) -> None:
    """The second in the order of the stack, whichever file is passed."""
    (split / "models/again.yaml").write_text(PLAYGROUND)
    assert "Playground/chat" in workbench("validate", cwd=split).stdout
    assert workbench("validate", "models/chat.yaml", cwd=split).returncode == 1
    assert workbench("validate", "models/again.yaml", cwd=split).returncode == 0


def test_a_file_outside_of_the_models_replaces_what_it_defines(split: Path) -> None:
    (split / "candidate.yaml").write_text(PLAYGROUND.replace("replicas: 1", "replicas: 2"))
    assert workbench("validate", "candidate.yaml", cwd=split).returncode == 0
    rendered = workbench("render", "candidate.yaml", cwd=split).stdout
    assert "replicas: 2" in rendered
    assert "replicas: 1" not in rendered


def test_render_of_a_file_has_only_its_objects(split: Path) -> None:
    (split / "models/other.yaml").write_text(PLAYGROUND.replace("chat", "other"))
    rendered = workbench("render", "models/chat.yaml", cwd=split).stdout
    assert "name: chat" in rendered
    assert "name: other" not in rendered
    assert "kind: Namespace" not in rendered
    assert "kind: Namespace" in workbench("render", cwd=split).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate",),
        ("render",),
        ("defaults",),
        ("explain", "Playground/chat"),
        ("size", "--model", "qwen", "--rate", "60", "--input-tokens", "100", "--output-tokens", "100"),
        ("fit", "Qwen/Qwen2-7B-Instruct", "--gpu", "g5.2xlarge"),
    ],
    ids=" ".join,
)
def test_every_command_says_which_default_it_used(split: Path, arguments: tuple[str, ...]) -> None:
    done = workbench(*arguments, cwd=split)
    assert done.stderr.splitlines()[0] == "stack: local"
    assert "stack: local" not in workbench(*arguments, "--stack", "local", cwd=split).stderr


def test_several_stacks_stop_what_needs_one_and_nothing_else(split: Path) -> None:
    (split / "Pulumi.local.yaml").rename(split / "Pulumi.one.yaml")
    with_stacks(split, "two")
    for arguments in (("validate",), ("plan",), ("preview", "--offline"), ("render", "models")):
        done = workbench(*arguments, cwd=split)
        assert (done.returncode, "has the stacks one, two, and none called local" in done.stderr) == (2, True)
    assert workbench("validate", "--stack", "two", cwd=split).returncode == 0
    assert workbench("explain", "--field", "Playground.spec.replicas", cwd=split).returncode == 0


def test_no_passphrase_is_needed_to_check_manifests(split: Path) -> None:
    settings = split / "Pulumi.local.yaml"
    settings.write_text(f"encryptionsalt: v1:x:y\n{SETTINGS}  fleet:other: {{secure: v1:a:b}}\n")
    assert workbench("validate", cwd=split).returncode == 0


def test_destroy_guesses_no_stack_but_local(project: Path) -> None:
    """The only stack may be the one of production."""
    done = workbench("destroy", "--yes", "--engine", "local", cwd=with_stacks(project, "prod"))
    assert done.returncode == 2
    assert "stack 'local' has no Pulumi.local.yaml; stacks with settings: prod" in done.stderr
