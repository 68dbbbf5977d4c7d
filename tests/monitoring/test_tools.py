"""Programs for the tests are built once, whole, and from what is pinned."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.monitoring.programs import tools
from tests.monitoring.programs.tools import Tool, build_missing
from workbench.cluster.binaries import cache_folder
from workbench.cluster.toolchain import Go, choose_go
from workbench.errors import WorkbenchError

HELLO = Tool("hello", ("example.org/hello",))


@pytest.fixture
def go() -> Go:
    return choose_go(cache_folder().parent, lambda _: None)


@pytest.fixture
def hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of its own in the place of tests/tools."""
    folder = tmp_path / "tools" / "hello"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module example.org/hello\n\ngo 1.26\n")
    (folder / "go.sum").write_text("")
    (folder / "main.go").write_text('package main\n\nfunc main() { print("hello") }\n')
    monkeypatch.setattr(tools, "TOOLS", folder.parent)
    return folder


def test_side_by_side_it_is_built_once(go: Go, hello: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build, built = tools._build, []

    def counted(go: Go, tool: Tool, package: str, target: Path) -> None:
        built.append(package)
        build(go, tool, package, target)

    monkeypatch.setattr(tools, "_build", counted)
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda _: build_missing(go, HELLO, tmp_path), range(4)))
    assert built == ["example.org/hello"]
    (program,) = {each["hello"] for each in found}
    assert subprocess.run([program], capture_output=True, text=True, check=True).stderr == "hello"


def test_other_pins_make_another_program(go: Go, hello: Path, tmp_path: Path) -> None:
    before = build_missing(go, HELLO, tmp_path)["hello"]
    with (hello / "go.sum").open("a") as file:
        file.write("example.org/other v1.0.0 h1:0000000000000000000000000000000000000000000=\n")
    assert build_missing(go, HELLO, tmp_path)["hello"] != before


def test_a_build_that_fails_says_why_and_leaves_nothing(go: Go, hello: Path, tmp_path: Path) -> None:
    (hello / "main.go").write_text("package main\n\nfunc main() { absent() }\n")
    with pytest.raises(WorkbenchError, match="undefined: absent"):
        build_missing(go, HELLO, tmp_path)
    assert [path.name for path in tmp_path.glob("hello-*/*")] == ["lock"]


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", WorkbenchError)])
def test_what_cannot_be_built_skips_unless_it_is_required(
    monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    def fails(tool: Tool) -> dict[str, Path]:
        raise WorkbenchError("no Go here")

    monkeypatch.setattr(tools, "ensure_built", fails)
    monkeypatch.setenv("INFERENCE_PLATFORM_REQUIRE_CLUSTER", required)
    with pytest.raises(outcome, match="no Go here"):
        tools.built_or_skip(HELLO)
