"""Links of a report to lines of manifests and to the documentation of rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

RULES = "docs/findings.md"


@dataclass(frozen=True, slots=True)
class Links:
    """Link targets; empty if unknown.

    Attributes:
        sources: URL of the project folder at the proposed revision.
        rules: URL of the page about rules.
        folder: Project folder in its repository; empty for the root.
    """

    sources: str = ""
    rules: str = RULES
    folder: str = ""

    def source(self, file: str, line: int) -> str:
        """Return the URL of a line of a file; empty for files outside of the project."""
        outside = file.startswith(("/", "<")) or ".." in file.split("/")
        return "" if not self.sources or outside else f"{self.sources}/{quote(file)}" + (f"#L{line}" if line else "")

    def rule(self, rule: str) -> str:
        """Return the URL of the documentation of a rule."""
        return f"{self.rules}#{rule}" if self.rules else ""


NOWHERE = Links()
"""Links of a report that is not published."""


def links(environ: Mapping[str, str], folder: str = "", *, documented: bool = True) -> Links:
    """Return link targets from the variables of a CI runner.

    Sources: "Variables" in the documentation of GitHub Actions; "Predefined CI/CD variables reference" of GitLab.

    Args:
        environ: Environment variables.
        folder: Project folder in its repository; empty for the root.
        documented: Whether the project contains the page about rules; projects that import the package do not.
    """
    server, repository, commit = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "SHA"))
    project, gitlab_commit = environ.get("CI_PROJECT_URL", ""), environ.get("CI_COMMIT_SHA", "")
    root = ""
    if server and repository and commit:
        root = f"{server}/{quote(repository)}/blob/{quote(commit)}"
    elif project and gitlab_commit:
        root = f"{project}/-/blob/{quote(gitlab_commit)}"
    inside = folder.strip("/.")
    sources = "/".join(filter(None, (root, quote(inside)))) if root else ""
    return Links(sources, (f"{sources}/{RULES}" if sources else RULES) if documented else "", inside)
