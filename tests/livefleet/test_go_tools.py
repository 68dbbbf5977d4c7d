"""Programs are built once, whole, and from what is pinned; how far a build is, is told."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from livefleet.go_tools import TOOLS, Tool, build_missing, unbuilt
from toolkit.errors import UserError
from toolkit.toolchain import Go, choose_go, user_cache


@pytest.fixture
def go() -> Go:
    return choose_go(user_cache(), lambda _: None, TOOLS / "adapter")


@pytest.fixture
def hello(tmp_path: Path) -> Tool:
    """A module whose program imports nothing, so that Go lists little."""
    folder = tmp_path / "tools" / "hello"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module example.org/hello\n\ngo 1.26\n")
    (folder / "go.sum").write_text("")
    (folder / "main.go").write_text('package main\n\nfunc main() { print("hello") }\n')
    return Tool("hello", ("example.org/hello",), modules=folder.parent)


def test_side_by_side_it_is_built_once(go: Go, hello: Tool, tmp_path: Path) -> None:
    steps: list[str] = []
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda _: build_missing(go, hello, tmp_path, steps.append), range(4)))
    assert steps.count("building hello") == 1
    (program,) = {each["hello"] for each in found}
    assert subprocess.run([program], capture_output=True, text=True, check=True).stderr == "hello"


def test_what_is_not_built_is_known_without_go(
    go: Go, hello: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    base = user_cache()
    base.mkdir()
    assert unbuilt(hello) == ("hello",)
    build_missing(go, hello, base)
    monkeypatch.setenv("PATH", "")
    assert unbuilt(hello) == ()


def test_packages_are_counted(go: Go, hello: Tool, tmp_path: Path) -> None:
    steps: list[str] = []
    with (hello.sources.folder / "main.go").open("a") as file:
        file.write(f"\n// Go has not compiled this before: {tmp_path}\n")
    build_missing(go, hello, tmp_path, steps.append)
    listed = go.run("list", "-deps", "example.org/hello", folder=hello.sources.folder).stdout.split()
    compiled = [step for step in steps if step.endswith(", example.org/hello")]
    assert len(compiled) == 1  # Go names what it compiles; the runtime may lie in its cache
    assert f" of {len(listed)} packages" in compiled[0]


def test_what_is_built_is_not_built_again(go: Go, hello: Tool, tmp_path: Path) -> None:
    build_missing(go, hello, tmp_path)
    steps: list[str] = []
    build_missing(go, hello, tmp_path, steps.append)
    assert steps == []


def test_other_pins_make_another_program(go: Go, hello: Tool, tmp_path: Path) -> None:
    before = build_missing(go, hello, tmp_path)["hello"]
    with (hello.sources.folder / "go.sum").open("a") as file:
        file.write("example.org/other v1.0.0 h1:0000000000000000000000000000000000000000000=\n")
    assert build_missing(go, hello, tmp_path)["hello"] != before


def test_a_build_that_fails_says_why_and_leaves_nothing(go: Go, hello: Tool, tmp_path: Path) -> None:
    (hello.sources.folder / "main.go").write_text("package main\n\nfunc main() { absent() }\n")
    with pytest.raises(UserError, match="undefined: absent"):
        build_missing(go, hello, tmp_path)
    assert [path.name for path in tmp_path.glob("hello-*/*")] == ["lock"]
