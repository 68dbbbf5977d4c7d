"""The checks of a release: reproducible, valid, and usable where nothing else is installed."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from .distributions import PLATFORMS, build, run_hook
from .programs import PACKAGES, TAGS, write_wheels
from .sbom import write_sbom
from .sources import ReleaseError, ReleaseSource

_MODEL = "stacks/models/qwen-chat.yaml"
_CLIENT = """\
import sys
import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

options = [("grpc.max_receive_message_length", 2**26)]
with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}", options=options) as channel:
    print(provider_pb2_grpc.ResourceProviderStub(channel).GetSchema(provider_pb2.GetSchemaRequest()).schema)
"""
"""Reads the schema of a running plugin, in its environment: this program needs neither Pulumi nor gRPC."""


def check(source: ReleaseSource, out: Path) -> None:
    """Build a release twice, compare the bytes, and install and run it.

    Raises:
        ReleaseError: A check fails.
    """
    with tempfile.TemporaryDirectory() as place:
        again = Path(place, "again")
        again.mkdir()
        if (out / "sdk").is_dir():
            (again / "sdk").symlink_to((out / "sdk").resolve(), target_is_directory=True)
        for folder in (out, again):
            build(source, folder)
            write_sbom(source, folder)
        _report("reproducible", f"{compare(again, out)} files are the same when built again")
        _report("sdist", _check_sdist(source, out, Path(place)))
        wheel = out / f"{source.stem}-py3-none-any.whl"
        _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(out / f"{source.stem}.tar.gz")])
        _report("metadata", "twine check --strict")
        _report("command line", _check_command(source, wheel, Path(place, "command")))
        _report("programs", check_programs(source, out, Path(place, "programs")))
        archive = out / f"pulumi-resource-{source.name}-v{source.version}-{PLATFORMS[0]}.tar.gz"
        _report("plugin", _check_plugin(source, archive, Path(place, "plugin")))


def compare(first: Path, second: Path) -> int:
    """Return the number of files in the first folder, all of which must be the same in the second.

    Raises:
        ReleaseError: Files differ.
    """
    files = sorted(path.name for path in first.iterdir() if path.is_file())
    different = [name for name in files if _digest(first / name) != _digest(second / name)]
    if different:
        raise ReleaseError(f"not reproducible: {', '.join(different)}")
    return len(files)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _check_sdist(source: ReleaseSource, out: Path, place: Path) -> str:
    """Check that the sdist builds the same wheel."""
    with tarfile.open(out / f"{source.stem}.tar.gz") as archive:
        archive.extractall(place / "sdist", filter="data")
    built = place / "from-sdist"
    built.mkdir()
    run_hook(place / "sdist" / source.stem, "build_wheel", built, source.epoch)
    name = f"{source.stem}-py3-none-any.whl"
    first, second = (_content(folder / name) for folder in (out, built))
    if first != second:
        names = sorted(each for each in first.keys() | second.keys() if first.get(each) != second.get(each))
        raise ReleaseError(f"the wheel of the sdist differs from that of the commit: {', '.join(names[:10])}")
    return f"its wheel has the same {len(first)} files"


def _content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _check_command(source: ReleaseSource, wheel: Path, folder: Path) -> str:
    """Install the wheel with its command line and nothing else, and run it."""
    python = _environment(folder)
    # pip accepts no hashes for a wheel that requires ranges: the tested versions, without their hashes.
    versions = re.findall(r"^[\w.-]+==[^\\\n]*", source.read("requirements.lock"), re.MULTILINE)
    (folder / "constraints.txt").write_text("\n".join(versions))
    requirement = f"{source.name} @ {wheel.resolve().as_uri()}"
    _run([python, "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt", requirement], folder)
    workbench = str(Path(python).with_name("workbench"))
    version = _run([workbench, "--version"], folder)
    if source.version not in version:
        raise ReleaseError(f"workbench --version prints {version!r}, not {source.version}")
    (folder / "model.yaml").write_text(source.read(_MODEL))
    return f"{version}; {_run([workbench, 'validate', 'model.yaml'], folder)}"


def check_programs(source: ReleaseSource, out: Path, folder: Path) -> str:
    """Check the wheels of the programs, or of stand-ins where ``make dist`` has built none: nothing is compiled.

    Their metadata must be accepted by PyPI, and one name must install the programs of both packages.
    """
    stem = f"{source.name.replace('-', '_')}_cluster"
    wheels = sorted(out.glob(f"{stem}*-{source.version}-*.whl"))
    what = f"{len(wheels)} wheels"
    if not wheels:
        what = f"wheels of stand-ins for {len(TAGS)} platforms"
        built, module = folder / "built", folder / "module"
        for path in (built, module):
            path.mkdir(parents=True)
        (module / "LICENSE").write_text("a license")
        names = [name for group in PACKAGES.values() for name in group]
        entry = {"inputs": "none", "modules": [["example.org/module", "v1.0.0", str(module)]]}
        (built / "programs.json").write_text(json.dumps(dict.fromkeys(names, entry)))
        for name in names:
            (built / name).write_text("#!/bin/sh\n")
        wheels = [wheel for platform in TAGS for wheel in write_wheels(source, built, folder, platform)]
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels)])
    for platform in {wheel.stem.rpartition("-")[2] for wheel in wheels}:
        site = folder / platform
        found = ["--no-index", "--find-links", str(wheels[0].parent), "--only-binary=:all:", "--platform", platform]
        name = f"{source.name}-cluster=={source.version}"
        _run([sys.executable, "-m", "pip", "install", "--quiet", *found, "--target", str(site), name])
        missing = [
            program
            for end, programs in PACKAGES.items()
            for program in programs
            if not (site / f"{stem}{end.replace('-', '_')}" / "bin" / program).exists()
        ]
        if missing:
            raise ReleaseError(f"{name} for {platform} installs no {', '.join(missing)}")
    return f"{what} are valid, and one name installs all programs"


def _check_plugin(source: ReleaseSource, archive: Path, folder: Path) -> str:
    """Unpack the plugin, install it as Pulumi does, and read the schema that it serves."""
    folder.mkdir()
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    python = _environment(folder / "venv")
    _run([python, "-m", "pip", "install", "--quiet", "-r", "requirements.txt"], folder)
    with subprocess.Popen(
        [python, "-W", "ignore", str(folder), "127.0.0.1:1"], stdout=subprocess.PIPE, text=True, env=_clean()
    ) as plugin:
        try:
            port = plugin.stdout.readline().strip() if plugin.stdout else ""
            if not port:
                raise ReleaseError("the plugin ended without a port")
            served = json.loads(_run([python, "-W", "ignore", "-c", _CLIENT, port]))
        finally:
            plugin.kill()
    if served != json.loads(source.read("components/schema.json")):
        raise ReleaseError("the plugin serves another schema than components/schema.json")
    return f"serves {len(served['resources'])} components"


def _environment(folder: Path) -> str:
    """Create an empty virtual environment, and return its interpreter."""
    venv.create(folder, with_pip=True)
    return str(folder / "bin" / "python")


def _clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}


def _run(command: list[str], folder: Path | None = None) -> str:
    """Run a command, and return what it prints."""
    done = subprocess.run(
        command, cwd=folder, env=_clean(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}".strip())
    return done.stdout.strip()


def _report(what: str, result: str) -> None:
    sys.stdout.write(f"{what}: {result}\n")
    sys.stdout.flush()
