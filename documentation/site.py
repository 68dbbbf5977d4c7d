"""The site: which pages it has in which order, and how Zensical builds it."""

import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from components.contract.schema.jsonschema import schema_files
from components.families import kinds

from . import reference
from .pages import Page, Section

FAMILIES = {
    "llmaz": "llmaz",
    "llmkube": "LLMKube",
    "kthena": "Kthena",
    "llmd": "llm-d",
    "leaderworkerset": "LeaderWorkerSet",
}
NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": (
        "install.md",
        "start/five-minutes.md",
        "start/eks.md",
        "start/existing-cluster.md",
        "inspect.md",
        "start/manifests.md",
        "start/",
    ),
    "Tasks": ("tasks/", "diff.md", "pull-requests.md"),
    "Systems": ("families.md", "releases.md", *(f"{family}.md" for family in FAMILIES), "deviations.md"),
    "Reference": ("workbench.md",),
    "Explanation": (
        "architecture.md",
        "memory.md",
        "costs.md",
        "cold-starts.md",
        "draining.md",
        "live.md",
        "benchmarks.md",
        "decisions/",
    ),
    "Upgrade": ("compatibility.md", "stability.md", "releasing.md"),
}
"""Handwritten pages by section; a folder stands for its other pages. Pages that no section
names are in Reference."""
_LEFT_OUT = ("decisions/samples.md", "_index.md", "installation-configuration.md")
"""Pages for contributors only, and those of Pulumi's registry, in its own form."""
_LOGO = "logo.svg"
_PICTURES = "pictures"
_STYLES = Path(__file__).with_name("site.css")
_CHANGELOG = "CHANGELOG.md"
_UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
"""Front matter of the changelog, whose many entries would hide the pages about the same words."""
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCED = re.compile(r"(^```.*?^```\n?)", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_CODE_IN_TITLE = re.compile(r"`([^`]*)`")


def build(root: Path, output: Path) -> int:
    """Build the site, and return an exit code.

    Args:
        root: The repository.
        output: A folder of its own: ``source`` gets the pages, ``public`` the site.
    """
    schema = json.loads((root / "components/schema.json").read_text(encoding="utf-8"))
    repository = str(schema.get("repository", ""))
    schemas = dict(_schemas(root))
    sections = navigation(root, schema, list(schemas))
    pages = list(_pages(sections))
    source, public = output / "source", output / "public"
    shutil.rmtree(output, ignore_errors=True)
    known = {page.path for page in pages}
    for page in pages:
        file = source / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_with_links(page, known, repository), encoding="utf-8")
    shutil.copyfile(root / "docs" / _LOGO, source / _LOGO)
    shutil.copytree(root / "docs" / _PICTURES, source / _PICTURES)
    shutil.copyfile(_STYLES, source / _STYLES.name)
    (output / "zensical.toml").write_text(_configuration(root, sections), encoding="utf-8")
    # Zensical colors its messages for a terminal only if CI is not set.
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "zensical.toml"],
        cwd=output,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    if built.returncode:
        return built.returncode
    for page in pages:
        target = public / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / page.path, target)
    for path, text in schemas.items():
        target = public / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (public / "llms.txt").write_text(_llms_text(sections, root), encoding="utf-8")
    return 0


def navigation(root: Path, schema: dict[str, Any], schemas: Sequence[str]) -> list[Section]:
    """Return the sections of the site with their pages."""
    docs = root / "docs"
    written = {file.relative_to(docs).as_posix(): file for file in sorted(docs.rglob("*.md"))}
    taken = {"index.md", *_LEFT_OUT}

    def of(names: Sequence[str]) -> list[Page | Section]:
        found: list[Page | Section] = []
        for name in names:
            named = [path for path in written if path == name or (name.endswith("/") and path.startswith(name))]
            paths = [path for path in named if path not in taken]
            taken.update(paths)
            found += [_written(root, written[path], path) for path in paths]
        return found

    sections = {title: of(names) for title, names in NAVIGATION.items()}
    rest = [path for path in written if path not in taken]
    for family, title in FAMILIES.items():
        sections["Systems"].append((f"Fields of {title}", reference.fields(family)[1]))
    sections["Reference"] += [
        *of(rest),
        reference.settings(root),
        reference.commands(),
        reference.schemas({path: _schema_title(path) for path in schemas}),
        reference.components(schema),
        reference.findings(),
    ]
    changes = root / _CHANGELOG
    changelog = _written(root, changes, "changelog.md", title="Changelog")
    sections["Upgrade"].append(changelog._replace(text=_UNSEARCHED + changelog.text))
    home = _written(root, written["index.md"], "index.md", title="Home")
    return [("", [home]), *sections.items()]


def _written(root: Path, file: Path, path: str, title: str = "") -> Page:
    text = file.read_text(encoding="utf-8")
    heading = _TITLE.search(text)
    return Page(path, title or (heading[1] if heading else path), text, file.relative_to(root).as_posix())


def _pages(sections: Sequence[Page | Section]) -> Iterator[Page]:
    for each in sections:
        if isinstance(each, Page):
            yield each
        else:
            yield from _pages(each[1])


def _with_links(page: Page, known: set[str], repository: str) -> str:
    """Return the text of a page with links to files outside the site as links to the repository."""
    if not page.source:
        return page.text

    def rewritten(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        path, mark, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return match[0]
        in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path))
        in_site = "changelog.md" if in_repository == _CHANGELOG else in_repository.removeprefix("docs/")
        is_page = in_site in known or in_site.startswith(f"{_PICTURES}/")
        if is_page and (in_repository.startswith("docs/") or in_repository == _CHANGELOG):
            relative = posixpath.relpath(in_site, posixpath.dirname(page.path) or ".")
            return f"[{text}]({relative}{mark}{anchor})"
        return f"[{text}]({repository}/blob/main/{in_repository}{mark}{anchor})" if repository else text

    parts = _FENCED.split(page.text)
    text = "".join(part if part.startswith("```") else _LINK.sub(rewritten, part) for part in parts)
    # Zensical's own edit link needs repo_url, with which every page asks the host of the repository for its stars.
    return f"{text.rstrip()}\n\n[Edit this page]({repository}/edit/main/{page.source})\n" if repository else text


def _schemas(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the JSON schemas that the site serves, by path."""
    yield "schemas/settings.json", (root / "stacks/settings.schema.json").read_text(encoding="utf-8")
    yield "schemas/prices.json", (root / "stacks/prices.schema.json").read_text(encoding="utf-8")
    yield "schemas/plan.json", (root / "docs/plan.schema.json").read_text(encoding="utf-8")
    yield "schemas/inspect.json", (root / "docs/inspect.schema.json").read_text(encoding="utf-8")
    for path, schema in schema_files(kinds()):
        yield f"schemas/{path}", json.dumps(schema, indent=2) + "\n"


def _schema_title(path: str) -> str:
    fixed = {"settings": "a stack file", "prices": "a price file", "plan": "`workbench plan --output json`"}
    name = Path(path).stem
    if name in fixed:
        return fixed[name]
    release = Path(path).parent.name
    return f"{name}, {'all releases' if release == 'all' else release}"


def _configuration(root: Path, sections: Sequence[Section]) -> str:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.search(
        r"^## Supported versions\n(.*?)^## ", (root / "docs/compatibility.md").read_text("utf-8"), re.M | re.S
    )
    kubernetes = re.search(r"\| Kubernetes \| ([\d.]+)", versions[1]) if versions else None
    tested = f"Version {project['version']}" + (f", tested with Kubernetes {kubernetes[1]}" if kubernetes else "")
    values: dict[str, Any] = {
        "site_name": project["name"],
        "site_description": project["description"],
        "site_url": "",
        "docs_dir": "source",
        "site_dir": "public",
        "copyright": tested,
        "extra_css": [_STYLES.name],
        "nav": _nav(sections),
    }
    theme = {
        "language": "en",
        "logo": _LOGO,
        "favicon": _LOGO,
        "font": False,  # no request to another host
        "features": [
            "content.code.copy",
            "content.tabs.link",
            "navigation.footer",
            "navigation.indexes",
            "navigation.path",
            "navigation.prune",
            "navigation.sections",
            "navigation.tabs",
            "navigation.top",
            "search.highlight",
            "toc.follow",
        ],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {name})",
                "scheme": scheme,
                "toggle": {"icon": f"lucide/{icon}", "name": f"Switch to {other} mode"},
            }
            for name, scheme, icon, other in (("light", "default", "sun", "dark"), ("dark", "slate", "moon", "light"))
        ],
    }
    extensions = {
        "admonition": {},
        "attr_list": {},
        "md_in_html": {},
        "toc": {"permalink": True},
        "pymdownx.highlight": {"pygments_lang_class": True},
        "pymdownx.superfences": {},
        "pymdownx.tabbed": {"alternate_style": True},
    }
    lines = ["[project]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    lines += ["[project.theme]", *(f"{key} = {_toml(value)}" for key, value in theme.items())]
    lines += ["[project.markdown_extensions]"]
    lines += [f"{_toml(name)} = {_toml(value)}" for name, value in extensions.items()]
    return "\n".join(lines) + "\n"


def _nav(sections: Sequence[Page | Section]) -> list[dict[str, Any]]:
    nav: list[dict[str, Any]] = []
    for each in sections:
        if isinstance(each, Page):
            nav.append({_CODE_IN_TITLE.sub(r"\1", each.title): each.path})
        elif each[0]:
            nav.append({each[0]: _nav(each[1])})
        else:
            nav += _nav(each[1])
    return nav


def _toml(value: Any) -> str:  # noqa: ANN401  a JSON value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _llms_text(sections: Sequence[Section], root: Path) -> str:
    """Return the index for language models (llmstxt.org): every page as Markdown, with its first sentence."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['name']}", "", f"> {project['description']}", ""]
    for title, pages in sections:
        lines += [f"## {title}", ""] if title else []
        lines += [f"- [{page.title}]({page.path}){_summary(page)}" for page in _pages(pages)] + [""]
    return "\n".join(lines)


def _summary(page: Page) -> str:
    paragraphs = [text for text in _FENCED.sub("", page.text).split("\n\n") if text.strip()]
    prose = next((text for text in paragraphs if text[0] not in "#|<`-*"), "")
    sentence = " ".join(_LINK.sub(r"\1", prose).split()).partition(". ")[0].rstrip(".:")
    return f": {sentence}" if sentence else ""
