"""Build pinned programs for a platform, for the wheels that ship them (``tools/releasing/programs.py``)."""

import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .compiling import Sources, compile_missing
from .toolchain import Go, choose_go, user_cache

MANIFEST = "programs.json"
_MODULES = "{{with .Module}}{{.Path}} {{.Version}} {{with .Replace}}{{.Version}}{{end}} {{.Dir}}{{end}}"


def ship(folder: Path, system: str, architecture: str, parts: Iterable[tuple[Sources, str]]) -> None:
    """Cross-compile programs into a folder. The same inputs and the same Go give the same bytes.

    Adds to ``programs.json`` there, by program, the digest of its build inputs, and the modules that it contains:
    path, version and folder of the sources.

    Args:
        folder: The folder.
        system: GOOS, such as linux.
        architecture: GOARCH, such as arm64.
        parts: Programs, with the digest of their build inputs.
    """
    base = user_cache()
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / MANIFEST
    manifest = json.loads(file.read_text()) if file.exists() else {}
    for sources, inputs in parts:
        native = choose_go(base, _report, sources.folder)
        go = replace(native, extra={**native.extra, "GOOS": system, "GOARCH": architecture})
        # The paths of this machine must not be in what is published.
        compile_missing(go, replace(sources, flags=("-trimpath", *sources.flags)), folder, _report)
        goroot, release = native.run("env", "GOROOT", "GOVERSION").stdout.split()
        for name, package in sources.packages.items():
            modules = [["std", release.removeprefix("go"), goroot], *_modules(go, sources, package)]
            manifest[name] = {"inputs": inputs, "modules": modules}
    file.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def _modules(go: Go, sources: Sources, package: str) -> list[list[str]]:
    output = go.run("list", *sources.settings, "-deps", "-f", _MODULES, package, folder=sources.folder).stdout
    modules = {}
    for line in filter(None, output.splitlines()):
        path, *versions, place = line.split()
        # The module of a main.go of ours has no version; the licenses are those of what it uses.
        if versions:
            modules[path] = [path, versions[-1], place]
    return sorted(modules.values())


def _report(step: str) -> None:
    if not step.startswith("building"):
        sys.stderr.write(f"{step}\n")
