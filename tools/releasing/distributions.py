"""Wheel, sdist, plugin archives and archives of the generated SDKs."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .archives import rewrite_archive, write_archive
from .sources import ReleaseError, ReleaseSource

PLATFORMS = ("linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64")
"""Platforms that Pulumi downloads archives for. Their content is the same: the plugin is a Python program."""
CHECKSUMS = "SHA256SUMS"
_MANIFEST = """\
# Pulumi creates the virtual environment in this folder and installs requirements.txt into it.
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: venv
"""
_HOOK = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"


def build(source: ReleaseSource, out: Path) -> None:
    """Build everything from the last commit into a folder, and archive the SDKs that are in its folder ``sdk``."""
    wheel = _build_python(source, out)
    for platform in PLATFORMS:
        name = f"pulumi-resource-{source.name}-v{source.version}-{platform}.tar.gz"
        write_archive(out / name, _plugin(source, wheel), source.epoch)
    for folder in sorted((out / "sdk").glob("*/")):
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }
        write_archive(out / f"{source.name}-sdk-{folder.name}-{source.version}.tar.gz", files, source.epoch)


def _build_python(source: ReleaseSource, out: Path) -> Path:
    """Build wheel and sdist, and return the wheel."""
    with tempfile.TemporaryDirectory() as place:
        tree = source.export(Path(place))
        run_hook(tree, "build_sdist", out, source.epoch)
        run_hook(tree, "build_wheel", out, source.epoch)
    rewrite_archive(out / f"{source.stem}.tar.gz", source.epoch)
    return out / f"{source.stem}-py3-none-any.whl"


def run_hook(tree: Path, hook: str, out: Path, epoch: int) -> None:
    """Run a hook of the build backend (PEP 517) in a source tree."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _HOOK, hook, str(out.resolve())],
        cwd=tree, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}, umask=0o022,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ReleaseError(f"{hook}: {done.stderr.strip()}")


def _plugin(source: ReleaseSource, wheel: Path) -> dict[str, bytes]:
    """Return the files of the plugin: a Python program that Pulumi installs with the locked versions."""
    content = wheel.read_bytes()
    requirements = f"-r requirements.lock\n./{wheel.name} --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"
    return {
        "PulumiPlugin.yaml": _MANIFEST.encode(),
        "__main__.py": source.read("components/__main__.py").encode(),
        "requirements.txt": requirements.encode(),
        "requirements.lock": source.read("components/requirements.lock").encode(),
        "LICENSE": source.read("LICENSE").encode(),
        wheel.name: content,
    }


def write_checksums(out: Path) -> None:
    """Write the SHA-256 of all files of a release, for ``sha256sum --check``."""
    files = sorted(path for path in out.iterdir() if path.is_file() and path.name != CHECKSUMS)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (out / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
