"""The Pulumi CLI and its Kubernetes provider, built from pinned Go modules once per user.

For machines where neither is installed: tests of the real engine, and ``--engine pulumi``. The programs are
unmodified; only what upstream's release process generates is added: their versions, and the provider's JSON files.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

from toolkit.compiling import Progress, Sources, build_lock, compile_missing
from toolkit.toolchain import Go, choose_go, pinned, tail, user_cache

from ..errors import WorkbenchError

TOOLS = Path(__file__).parents[1] / "tools"
CLI = "pulumi"
PROVIDER = "pulumi-resource-kubernetes"
"""The CLI finds a provider of this name on the PATH, whichever version the program asks for."""
PROGRAMS = (CLI, PROVIDER)
"""Each program's module is the folder of its name in :data:`TOOLS`."""
_CLI_MODULE = "github.com/pulumi/pulumi/pkg/v3"
_PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_EMBEDDED = ("schema.json", "terraform-mapping.json")
"""Files of the provider's module that its program embeds."""
_ONE_AT_A_TIME = ("-p", "1")
"""The provider links Pulumi's Go SDK for Kubernetes, and compiling one package of it takes 2.5 GB of memory."""


def built() -> Path | None:
    """Return the folder of the built programs; None if one of them is missing."""
    folder = cache_folder()
    return folder if all((folder / name).exists() for name in PROGRAMS) else None


def ensure_built(progress: Progress) -> Path:
    """Build missing programs, and return their folder. Programs appear there atomically.

    Raises:
        UserError: Go is missing or failed; the message ends with its output.
    """
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with build_lock(folder, progress):
        if not built():
            go = choose_go(folder.parent, progress, TOOLS / CLI)
            compile_missing(go, _cli(), folder, progress)
            compile_missing(go, _provider(_overlay(go, folder)), folder, progress)
    return folder


def with_built(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return an environment in which the programs of a folder come first."""
    path = os.pathsep.join(filter(None, [str(folder), environment.get("PATH", "")]))
    return {**environment, "PATH": path}


def cache_folder() -> Path:
    """Return the folder of built programs in the user's cache, named after their inputs."""
    digest = hashlib.sha256()
    for name in PROGRAMS:
        for file in _inputs(TOOLS / name):
            digest.update(file.read_bytes())
    digest.update(repr((_cli().flags, _provider(Path()).flags, _EMBEDDED)).encode())
    return user_cache() / f"pulumi-{platform.system()}-{platform.machine()}-{digest.hexdigest()[:16]}".lower()


def _inputs(module: Path) -> Iterator[Path]:
    yield from (module / "go.mod", module / "go.sum", *sorted(module.glob("*.go")))


def _cli() -> Sources:
    version = pinned(_CLI_MODULE, TOOLS / CLI).removeprefix("v")
    linked = f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}"
    return Sources("Pulumi CLI", TOOLS / CLI, {CLI: f"{_CLI_MODULE}/cmd/pulumi"}, flags=("-ldflags", linked))


def _provider(overlay: Path) -> Sources:
    folder = TOOLS / PROVIDER
    version = pinned(_PROVIDER_MODULE, folder).removeprefix("v")
    linked = f"-s -w -X {_PROVIDER_MODULE}/pkg/version.Version={version}"
    return Sources(
        "Kubernetes provider",
        folder,
        {PROVIDER: f"inference-platform/workbench/tools/{PROVIDER}"},
        settings=("-overlay", str(overlay)),
        flags=(*_ONE_AT_A_TIME, "-ldflags", linked),
    )


def _overlay(go: Go, folder: Path) -> Path:
    """Write the overlay that gives our ``main.go`` the files that the provider's module contains.

    Raises:
        WorkbenchError: the module cannot be downloaded, or lacks a file.
    """
    module = TOOLS / PROVIDER
    download = go.run("mod", "download", _PROVIDER_MODULE, folder=module)
    location = go.run("list", "-m", "-f", "{{.Dir}}", _PROVIDER_MODULE, folder=module)
    sources = Path(location.stdout.strip()) / "cmd" / PROVIDER
    absent = [name for name in _EMBEDDED if not (sources / name).is_file()]
    if absent:
        output = tail(download.stderr + location.stderr)
        raise WorkbenchError(f"{_PROVIDER_MODULE} has no {', '.join(absent)} in cmd/{PROVIDER}:\n{output}")
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": {str(module / name): str(sources / name) for name in _EMBEDDED}}))
    return overlay
