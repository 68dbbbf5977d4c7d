"""Where a report leads to: the lines of manifests, and what the documentation says of a rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

RULES = "docs/findings.md"


@dataclass(frozen=True, slots=True)
class Links:
    """Where things are; empty where they are nowhere to be seen.

    Attributes:
        sources: Address of the folder of the project at the revision that is proposed.
        rules: Address of the page about rules.
        folder: Folder of the project in its repository; empty where it is at the top.
    """

    sources: str = ""
    rules: str = RULES
    folder: str = ""

    def source(self, file: str, line: int) -> str:
        """Return the address of a line of a file."""
        outside = file.startswith(("/", "<")) or ".." in file.split("/")
        return "" if not self.sources or outside else f"{self.sources}/{quote(file)}" + (f"#L{line}" if line else "")

    def rule(self, rule: str) -> str:
        """Return the address of what is said of a rule."""
        return f"{self.rules}#{rule}" if self.rules else ""


NOWHERE = Links()
"""Of a report that stays where it was made."""


def links(environ: Mapping[str, str], folder: str = "", *, documented: bool = True) -> Links:
    """Return where a code host shows the files of the revision that its runner works on.

    Sources: "Variables" in the documentation of GitHub Actions; "Predefined CI/CD variables reference" of GitLab.

    Args:
        environ: The variables of the process.
        folder: Folder of the project in its repository; empty where it is at the top.
        documented: Whether the project has the page about rules; whoever imports the package has not.
    """
    root, inside = _root(environ), folder.strip("/.")
    sources = "/".join(filter(None, (root, quote(inside)))) if root else ""
    return Links(sources, (f"{sources}/{RULES}" if sources else RULES) if documented else "", inside)


def _root(environ: Mapping[str, str]) -> str:
    server, repository, commit = (environ.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "SHA"))
    if server and repository and commit:
        return f"{server}/{quote(repository)}/blob/{quote(commit)}"
    project, commit = environ.get("CI_PROJECT_URL", ""), environ.get("CI_COMMIT_SHA", "")
    return f"{project}/-/blob/{quote(commit)}" if project and commit else ""
