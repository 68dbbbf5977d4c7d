"""The comparison of upstream's definitions with those of the newest supported release."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from upstream_definitions import differences, fields, main

from components.families import FAMILIES
from tests.documentation.blocks import ROOT

Object = dict[str, Any]
FOLDER = "charts/kthena/charts/workload/crds"
TEXT = {"type": "string"}


def schema(spec: Object, **more: Any) -> Object:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec, **more}}}


def definition(kind: str, spec: Object, **more: Any) -> Object:
    version = {"name": "v1alpha1", "schema": {"openAPIV3Schema": schema(spec, **more)}}
    body = {"group": "g.example", "names": {"kind": kind}, "versions": [version]}
    return {"kind": "CustomResourceDefinition", "spec": body}


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, *bodies: Object, tag: str = "") -> None:
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    (folder / FOLDER / "all.yaml").write_text(yaml.safe_dump_all(bodies))
    git(folder, "add", ".")
    git(folder, "commit", "--allow-empty", "-m", "m")
    if tag:
        git(folder, "tag", tag)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    commit(tmp_path, definition("A", {"a": {**TEXT, "description": "old"}}), tag="v1.0.0")
    return tmp_path


def test_the_difference_is_listed_field_by_field(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = {"a": {**TEXT, "pattern": "^a", "description": "new"}, "b": {"type": "array", "items": TEXT}}
    commit(checkout, definition("A", a, required=["a"]), definition("B", {"c": TEXT}), tag="v99.0.0")
    git(checkout, "tag", "v99.0.1-rc.0")
    assert main(["kthena", str(checkout)]) == 0
    head, _, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("Kthena: v1.0.0 is the newest supported release; compared with ")
    assert lines == [
        "- release `v99.0.0`",
        "- kind `g.example/v1alpha1 A`",
        '  - `spec.a`: pattern `null` becomes `"^a"`, required `null` becomes `true`',
        '  - `spec.b`: new: `{"type": "array"}`',
        '  - `spec.b[]`: new: `{"type": "string"}`',
        "- kind `g.example/v1alpha1 B` is new, with 3 fields",
    ]


def test_other_descriptions_are_no_difference(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(checkout, definition("A", {"a": {**TEXT, "description": "new"}}))
    assert (main(["kthena", str(checkout)]), capsys.readouterr().out) == (0, "")


def test_what_is_gone_is_listed() -> None:
    before = {"A": schema({"a": TEXT, "b": TEXT}), "B": schema({})}
    assert list(differences(before, {"A": schema({"a": TEXT})})) == [
        "- kind `A`\n  - `spec.b`: gone",
        "- kind `B` is gone",
    ]
    assert list(differences(before, before)) == []


def test_a_map_and_a_list_are_walked() -> None:
    nested = {"a": {"type": "array", "items": {"type": "object", "additionalProperties": TEXT}}}
    assert list(fields(schema(nested))) == ["", "spec", "spec.a", "spec.a[]", "spec.a[]{}"]


def test_a_checkout_without_releases_is_a_usage_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    tool = ROOT / "tools/upstream_definitions.py"
    done = subprocess.run([sys.executable, tool, "kthena", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "fetch its tags" in done.stderr


def test_the_page_names_the_newest_supported_release_of_each_system() -> None:
    page = (ROOT / "docs/releases.md").read_text(encoding="utf-8")
    for family in FAMILIES:
        if family.releases.names:
            newest = family.releases.releases[-1]
            assert f"| {family.releases.project} | `{newest.name}`, {newest.date} |" in page
