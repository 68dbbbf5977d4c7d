"""Wheels with programs: reproducible, with licenses and bills of materials, and found where they are installed."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from releasing import programs
from releasing.checks import check_programs
from releasing.programs import PACKAGES, build_programs, write_wheels
from releasing.sources import ReleaseError, ReleaseSource

from toolkit import wheels
from toolkit.compiling import Sources
from toolkit.shipping import ship
from toolkit.wheels import outdated, packaged

EPOCH = 1_700_000_000
NAMES = [name for names in PACKAGES.values() for name in names]


@pytest.fixture
def source(tmp_path: Path) -> ReleaseSource:
    return ReleaseSource(tmp_path, "inference-platform", "1.2.0", EPOCH, changed=False)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder of programs, each of which contains one module."""
    folder, module = tmp_path / "built", tmp_path / "module"
    folder.mkdir()
    module.mkdir()
    (module / "license.md").write_text("Apache")
    (module / "NOTICE").write_text("notice")
    for name in NAMES:
        (folder / name).write_text("#!/bin/sh\necho hello\n")
    entry = {"inputs": "abc", "modules": [["example.org/one", "v1.0.0", str(module)]]}
    (folder / "programs.json").write_text(json.dumps(dict.fromkeys(NAMES, entry)))
    return folder


def test_the_same_programs_give_the_same_bytes(source: ReleaseSource, built: Path, tmp_path: Path) -> None:
    first = write_wheels(source, built, tmp_path, "linux-arm64")
    before = [path.read_bytes() for path in first]
    assert [path.read_bytes() for path in write_wheels(source, built, tmp_path, "linux-arm64")] == before
    assert [path.name for path in first] == [
        "inference_platform_cluster-1.2.0-py3-none-manylinux2014_aarch64.whl",
        "inference_platform_cluster_live-1.2.0-py3-none-manylinux2014_aarch64.whl",
        "inference_platform_cluster_groups-1.2.0-py3-none-manylinux2014_aarch64.whl",
    ]


def test_a_wheel_has_licenses_and_a_bill(source: ReleaseSource, built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(write_wheels(source, built, tmp_path, "linux-amd64")[0]) as archive:
        info = "inference_platform_cluster-1.2.0.dist-info"
        assert archive.read(f"{info}/licenses/example.org/one@v1.0.0/NOTICE") == b"notice"
        metadata = archive.read(f"{info}/METADATA").decode()
        bill = archive.read(f"{info}/sboms/inference-platform-cluster.cdx.json").decode()
    assert "License-File: example.org/one@v1.0.0/license.md\n" in metadata
    assert "Requires-Dist: inference-platform-cluster-live==1.2.0\n" in metadata
    assert "Requires-Dist: inference-platform-cluster-groups==1.2.0\n" in metadata
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    assert [part["purl"] for part in json.loads(bill)["components"]] == ["pkg:golang/example.org/one@v1.0.0"]


def test_installed_programs_are_found_if_their_inputs_are_the_same(
    source: ReleaseSource, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    files = map(str, write_wheels(source, built, tmp_path, "linux-amd64"))
    # The test runs on any platform.
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]
    command += ["--platform", "manylinux2014_x86_64", "--only-binary=:all:"]
    subprocess.run([*command, *files], check=True)
    assert packaged("kwok", "abc") is None
    monkeypatch.syspath_prepend(str(site))
    program = packaged("kwok", "abc")
    assert program == site / "inference_platform_cluster_live/bin/kwok"
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "hello\n"
    assert packaged("kwok", "other") is None
    assert outdated("kwok", "other")
    assert not outdated("kwok", "abc")
    assert not outdated("unknown", "abc")


def test_what_cannot_be_published_is_refused(
    source: ReleaseSource, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReleaseError, match="platform 'plan9-386' is unknown; known are linux-amd64"):
        build_programs(source, tmp_path, ["plan9-386"])
    with pytest.raises(ReleaseError, match="commit the changes first"):
        build_programs(ReleaseSource(tmp_path, "x", "1", EPOCH, changed=True), tmp_path, ["linux-amd64"])
    monkeypatch.setattr(programs, "LARGEST", 1000)
    with pytest.raises(ReleaseError, match="PyPI accepts 1000"):
        write_wheels(source, built, tmp_path, "linux-amd64")
    for file in (tmp_path / "module").iterdir():
        file.unlink()
    with pytest.raises(ReleaseError, match=r"example.org/one v1.0.0 has no license file"):
        write_wheels(source, built, tmp_path, "linux-amd64")


@pytest.mark.parametrize(
    ("system", "architecture", "magic"), [("linux", "arm64", b"\x7fELF"), ("darwin", "arm64", b"\xcf\xfa\xed\xfe")]
)
def test_a_program_is_compiled_for_another_platform_with_the_same_bytes(
    tmp_path: Path, system: str, architecture: str, magic: bytes
) -> None:
    module = tmp_path / "hello"
    module.mkdir()
    (module / "go.mod").write_text("module example.org/hello\n\ngo 1.26\n")
    (module / "go.sum").write_text("")
    (module / "main.go").write_text('package main\n\nfunc main() { print("hello") }\n')
    sources = Sources("hello", module, {"hello": "example.org/hello"}, flags=("-ldflags", "-s -w"))
    for place in ("first", "second"):
        ship(tmp_path / place, system, architecture, [(sources, "abc")])
    program = (tmp_path / "first/hello").read_bytes()
    assert program.startswith(magic)
    assert program == (tmp_path / "second/hello").read_bytes()
    manifest = json.loads((tmp_path / "first/programs.json").read_text())
    assert manifest["hello"]["inputs"] == "abc"
    assert [path for path, *_ in manifest["hello"]["modules"]] == ["std"]


def test_both_sides_name_the_same_packages() -> None:
    assert tuple(f"inference_platform_cluster{end.replace('-', '_')}" for end in PACKAGES) == wheels.PACKAGES


def test_wheels_are_checked_without_compiling(source: ReleaseSource, built: Path, tmp_path: Path) -> None:
    """Those that are there, or stand-ins; a package without a program is found."""
    out = tmp_path / "out"
    out.mkdir()
    assert check_programs(source, out, tmp_path / "stand-ins").startswith("wheels of stand-ins for 4 platforms")
    write_wheels(source, built, out, "linux-amd64")
    assert check_programs(source, out, tmp_path / "real").startswith("3 wheels")
    live = next(out.glob("*_live-*.whl"))
    live.unlink()
    with pytest.raises(ReleaseError, match="inference-platform-cluster-live"):
        check_programs(source, out, tmp_path / "half")
