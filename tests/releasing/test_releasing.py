"""What ``make dist``, ``make sbom``, ``make release-notes`` and ``make check-release`` do, on a small project."""

import gzip
import hashlib
import json
import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import make_release
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from releasing import checks
from releasing.archives import rewrite_archive, write_archive
from releasing.distributions import PLATFORMS, build, write_checksums
from releasing.notes import notes
from releasing.sbom import write_sbom
from releasing.sources import ReleaseError, ReleaseSource

from tests.layers.modules import ROOT
from tests.workflows.projects import Project

EPOCH = 1_700_000_000
FILES = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    '[project]\nname = "toy-platform"\nversion = "1.2.0"\n[tool.setuptools]\npackages = ["toy"]\n',
    "toy/__init__.py": "",
    "toy/part.py": "PART = 1\n",
    "components/__main__.py": "print('plugin')\n",
    "components/requirements.lock": "pyyaml==6.0.3\n",
    "components/schema.json": '{"version": "1.2.0"}\n',
    "LICENSE": "license\n",
    "CHANGELOG.md": "# Changelog\n\nText.\n\n## Unreleased\n\n## 1.2.0 - 2026-11-01\n\n### Added\n\n- A part.\n"
    "\n## 1.1.0\n\n- Older.\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "toy", tmp_path / "toy")
    made.folder.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    made.commit(FILES)
    return made


def built(project: Project, out: Path) -> dict[str, str]:
    """Build into a folder, and return the digests."""
    out.mkdir()
    build(ReleaseSource.of(project.folder), out)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}


def test_a_release_has_a_wheel_an_sdist_and_a_plugin_for_each_platform(project: Project, tmp_path: Path) -> None:
    plugins = {f"pulumi-resource-toy-platform-v1.2.0-{platform}.tar.gz" for platform in PLATFORMS}
    wheel = "toy_platform-1.2.0-py3-none-any.whl"
    found = built(project, tmp_path / "out")
    assert set(found) == {wheel, "toy_platform-1.2.0.tar.gz", *plugins}
    with tarfile.open(tmp_path / "out" / f"pulumi-resource-toy-platform-v1.2.0-{PLATFORMS[0]}.tar.gz") as archive:
        entries = {entry.name: entry for entry in archive}
        assert {entry.mtime for entry in entries.values()} == {ReleaseSource.of(project.folder).epoch}
        requirements = archive.extractfile("requirements.txt")
        assert requirements
        lines = requirements.read().decode().splitlines()
    assert set(entries) == {
        *("PulumiPlugin.yaml", "__main__.py", "requirements.txt", "requirements.lock", "LICENSE", wheel)
    }
    assert lines == ["-r requirements.lock", f"./{wheel} --hash=sha256:{found[wheel]}"]


def test_the_same_commit_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    first = built(project, tmp_path / "first")
    os.utime(project.folder / "toy/part.py", (1, 1))
    before = os.umask(0o077)
    try:
        time.sleep(1.1)  # gzip and zip record seconds
        assert built(project, tmp_path / "second") == first
    finally:
        os.umask(before)
    assert checks.compare(tmp_path / "first", tmp_path / "second") == len(first)


def test_uncommitted_changes_are_not_part_of_it(project: Project, tmp_path: Path) -> None:
    first = built(project, tmp_path / "first")
    (project.folder / "toy/part.py").write_text("PART = 2\n")
    assert ReleaseSource.of(project.folder).changed
    assert built(project, tmp_path / "second") == first
    project.commit({})
    assert built(project, tmp_path / "third") != first


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    for name, text in (("first", "a"), ("second", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same").write_text("x")
        (tmp_path / name / "other").write_text(text)
    (tmp_path / "first/alone").touch()
    with pytest.raises(ReleaseError, match="not reproducible: alone, other"):
        checks.compare(tmp_path / "first", tmp_path / "second")


def test_the_sdist_builds_the_same_wheel(project: Project, tmp_path: Path) -> None:
    built(project, tmp_path / "out")
    place = tmp_path / "place"
    place.mkdir()
    found = checks._check_sdist(ReleaseSource.of(project.folder), tmp_path / "out", place)
    assert found == "its wheel has the same 7 files"


def test_an_sdist_that_lacks_a_file_is_found(project: Project, tmp_path: Path) -> None:
    built(project, tmp_path / "out")
    wheel = tmp_path / "out/toy_platform-1.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("toy/data.json", "{}")
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(ReleaseError, match=r"differs from that of the commit: toy/data\.json"):
        checks._check_sdist(ReleaseSource.of(project.folder), tmp_path / "out", place)


def test_generated_sdks_become_archives(project: Project, tmp_path: Path) -> None:
    sdk = tmp_path / "out/sdk/nodejs"
    (sdk / "types").mkdir(parents=True)
    (sdk / "index.ts").write_text("export {};\n")
    (sdk / "types/input.ts").write_text("export {};\n")
    build(ReleaseSource.of(project.folder), tmp_path / "out")
    with tarfile.open(tmp_path / "out/toy-platform-sdk-nodejs-1.2.0.tar.gz") as archive:
        assert archive.getnames() == ["index.ts", "types/input.ts"]


def test_archives_depend_on_content_and_date_alone(tmp_path: Path) -> None:
    one, two, later = (tmp_path / f"{name}.tar.gz" for name in ("one", "two", "later"))
    write_archive(one, {"b": b"2", "a": b"1"}, EPOCH)
    write_archive(two, {"a": b"1", "b": b"2"}, EPOCH)
    write_archive(later, {"a": b"1", "b": b"2"}, EPOCH + 1)
    assert one.read_bytes() == two.read_bytes() != later.read_bytes()
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as archive:
        (tmp_path / "a").write_text("1")
        (tmp_path / "b").write_text("2")
        archive.add(tmp_path / "b", "b")
        archive.add(tmp_path / "a", "a")
    rewrite_archive(tmp_path / "other.tar.gz", EPOCH)
    assert (tmp_path / "other.tar.gz").read_bytes() == one.read_bytes()
    assert gzip.decompress(one.read_bytes())


def test_checksums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "folder").mkdir()
    write_checksums(tmp_path)
    write_checksums(tmp_path)
    command = ["sha256sum", "--check", "SHA256SUMS"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "file: OK\n"


def test_the_notes_are_the_section_of_the_version(project: Project) -> None:
    source = ReleaseSource.of(project.folder)
    assert notes(source) == notes(source, "v1.2.0") == "### Added\n\n- A part.\n"


@pytest.mark.parametrize(
    ("changes", "tag", "message"),
    [
        ({}, "v1.3.0", "the tag is v1.3.0, but pyproject.toml has version 1.2.0; tag v1.2.0"),
        ({}, "1.2.0", "the tag is 1.2.0, but pyproject.toml has version 1.2.0; tag v1.2.0"),
        ({"components/schema.json": '{"version": "1.1.0"}'}, "v1.2.0", "schema.json has version 1.1.0, not 1.2.0"),
        ({"CHANGELOG.md": "## Unreleased\n\n- New.\n"}, "v1.2.0", "CHANGELOG.md has no section '## 1.2.0'"),
        ({"CHANGELOG.md": "## Unreleased\n\n## 1.1.0\n\n- Old.\n"}, None, "no section '## 1.2.0 or Unreleased'"),
        ({"components/schema.json": None}, "v1.2.0", "git show HEAD:components/schema.json"),
    ],
)
def test_a_release_that_does_not_agree_with_itself_is_refused(
    project: Project, changes: dict[str, str | None], tag: str | None, message: str
) -> None:
    project.commit(changes)
    with pytest.raises(ReleaseError, match=message):
        notes(ReleaseSource.of(project.folder), tag)


def test_without_a_tag_the_notes_may_be_of_unreleased_changes(project: Project) -> None:
    project.commit({"CHANGELOG.md": "## Unreleased\n\n- New.\n"})
    assert notes(ReleaseSource.of(project.folder)) == "- New.\n"


def test_the_command_reports_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_release, "ROOT", tmp_path)
    assert make_release.main(["notes"]) == 1
    assert capsys.readouterr().err.startswith("error: git show HEAD:pyproject.toml: ")


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ReleaseSource(ROOT, "inference-platform", "0.1.0", EPOCH, changed=False)
    return write_sbom(source, tmp_path_factory.mktemp("sbom"))


def test_the_bill_keeps_to_its_schema(bill: Path) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(bill.read_text()) is None
    broken = {**json.loads(bill.read_text()), "serialNumber": "1"}
    assert validator.validate_str(json.dumps(broken)) is not None


def test_the_bill_lists_what_the_wheel_needs(bill: Path) -> None:
    found = json.loads(bill.read_text())
    scopes = {each["name"]: each["scope"] for each in found["components"]}
    assert {scopes[name] for name in ("pulumi", "typer", "aiohttp", "pydantic", "grpcio")} == {"required"}
    extras = ("pulumi-aws", "pulumi-kubernetes", "scipy", "matplotlib", "xds-protos")
    assert {scopes[name] for name in extras} == {"optional"}
    assert scopes.keys().isdisjoint({"pytest", "moto", "twine", "ruff", "inference-platform"})
    lock = (ROOT / "requirements.lock").read_text()
    for each in found["components"]:
        assert each["purl"] == f"pkg:pypi/{each['name']}@{each['version']}"
        assert f"\n{each['name']}=={each['version']} " in f"\n{lock}"
    graph = {each["ref"]: each.get("dependsOn", []) for each in found["dependencies"]}
    assert any(ref.startswith("pkg:pypi/pulumi@") for ref in graph[found["metadata"]["component"]["bom-ref"]])
    assert found["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_the_bill_and_its_number_follow_from_its_content(bill: Path, tmp_path: Path) -> None:
    def again(name: str, epoch: int) -> str:
        (tmp_path / name).mkdir()
        source = ReleaseSource(ROOT, "inference-platform", "0.1.0", epoch, changed=False)
        return write_sbom(source, tmp_path / name).read_text()

    assert again("same", EPOCH) == bill.read_text()
    later = json.loads(again("later", EPOCH + 1))
    assert later["serialNumber"] != json.loads(bill.read_text())["serialNumber"]


def test_a_package_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="toy-platform is not installed; run make env"):
        write_sbom(ReleaseSource(ROOT, "toy-platform", "1.2.0", EPOCH, changed=False), tmp_path)
