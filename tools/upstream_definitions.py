"""Compare the definitions of a system's main branch with those of the newest release that is supported.

    python tools/upstream_definitions.py kthena CHECKOUT

CHECKOUT is a Git checkout with tags; its HEAD is compared with the newest release of
``components/families/<family>/releases.yaml`` that it has. The difference is printed as Markdown: releases that are
not supported yet, kinds, and fields with what their schemas have otherwise. Nothing is printed if there is none.

Exit codes: 0 success, 2 usage error.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

FAMILIES = Path(__file__).parents[1] / "components" / "families"
DEFINITIONS = {
    "kthena": r"charts/kthena/charts/[^/]+/crds/[^/]+\.yaml",
    "llmaz": r"config/crd/bases/[^/]+\.yaml",
    "llmd": r"config/(base/)?crd/bases/[^/]+\.yaml",
    "llmkube": r"config/crd/bases/[^/]+\.yaml",
}
"""Paths of the definitions in the repository of each system."""
_RELEASE = re.compile(r"v\d+(\.\d+)+")
_DESCRIBING = frozenset({"description", "properties", "items", "additionalProperties"})
_LIMIT = 60
"""Fields of a kind that are listed."""

Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("family", choices=sorted(DEFINITIONS))
    parser.add_argument("checkout", type=Path)
    options = parser.parse_args(arguments)
    table = yaml.safe_load((FAMILIES / options.family / "releases.yaml").read_text(encoding="utf-8"))
    names = [str(release["name"]) for release in table["releases"]]
    known = [name for name in names if _has(options.checkout, name)]
    if not known:
        print(f"{options.checkout}: has none of the releases {', '.join(names)}; fetch its tags", file=sys.stderr)  # noqa: T201
        return 2
    old, new = (_definitions(options.checkout, name, options.family) for name in (known[-1], "HEAD"))
    head = _git(options.checkout, "log", "-1", "--format=%h of %cs").strip()
    later = _later_releases(options.checkout, known[-1])
    lines = [f"- release `{name}`" for name in later] + list(differences(old, new))
    if lines:
        print(f"{table['project']}: {known[-1]} is the newest supported release; compared with {head}.\n")  # noqa: T201
        print("\n".join(lines))  # noqa: T201
    return 0


def differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[str]:
    """Yield lines of Markdown: kinds, and fields, that are new, gone or other."""
    for kind in sorted({*old, *new}):
        if kind not in new:
            yield f"- kind `{kind}` is gone"
        elif kind not in old:
            yield f"- kind `{kind}` is new, with {len(fields(new[kind]))} fields"
        else:
            before, after = fields(old[kind]), fields(new[kind])
            changes = [
                f"  - `{path}`: {change}"
                for path in sorted({*before, *after})
                if (change := _change(before.get(path), after.get(path)))
            ]
            if changes:
                rest = [f"  - and {len(changes) - _LIMIT} more"] if len(changes) > _LIMIT else []
                yield "\n".join([f"- kind `{kind}`", *changes[:_LIMIT], *rest])


def _change(before: Json | None, after: Json | None) -> str:
    if after is None:
        return "gone"
    if before is None:
        return f"new: `{json.dumps(after, sort_keys=True)}`"
    parts = (
        f"{keyword} `{json.dumps(before.get(keyword))}` becomes `{json.dumps(after.get(keyword))}`"
        for keyword in sorted({*before, *after})
        if before.get(keyword) != after.get(keyword)
    )
    return ", ".join(parts)


def fields(schema: Json) -> dict[str, Json]:
    """Return the keywords of every field below a schema, by path; ``required`` is that of the field itself."""
    found: dict[str, Json] = {}

    def walk(node: Json, path: str, *, required: bool) -> None:
        keywords = {key: value for key, value in node.items() if key not in _DESCRIBING and key != "required"}
        found[path] = keywords | ({"required": True} if required else {})
        for name, inner in node.get("properties", {}).items():
            walk(inner, f"{path}.{name}" if path else name, required=name in node.get("required", ()))
        for keyword, step in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(node.get(keyword), dict):
                walk(node[keyword], f"{path}{step}", required=False)

    walk(schema, "", required=False)
    return found


def _definitions(checkout: Path, revision: str, family: str) -> dict[str, Json]:
    """Return the schema of each kind at a revision."""
    pattern = re.compile(DEFINITIONS[family])
    schemas: dict[str, Json] = {}
    for path in _git(checkout, "ls-tree", "-r", "--name-only", revision).splitlines():
        if pattern.fullmatch(path):
            for body in yaml.safe_load_all(_git(checkout, "show", f"{revision}:{path}")):
                if body and body.get("kind") == "CustomResourceDefinition":
                    for version in body["spec"]["versions"]:
                        title = f"{body['spec']['group']}/{version['name']} {body['spec']['names']['kind']}"
                        schemas[title] = version["schema"]["openAPIV3Schema"]
    return schemas


def _later_releases(checkout: Path, newest: str) -> list[str]:
    """Return the tags of releases, not of candidates, that HEAD has and the newest supported release has not."""
    merged, before = (
        _git(checkout, "tag", "--merged", revision, "--sort=creatordate").split() for revision in ("HEAD", newest)
    )
    return [name for name in merged if _RELEASE.fullmatch(name) and name not in before]


def _has(checkout: Path, revision: str) -> bool:
    command = ["git", "-C", str(checkout), "cat-file", "-e", f"{revision}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _git(checkout: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(checkout), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
