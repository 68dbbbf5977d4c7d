"""Where reports lead to, on each code host."""

import pytest

from workbench.planning.formats.links import Links, links

GITHUB = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "abc"}
GITLAB = {"CI_PROJECT_URL": "https://gitlab.com/g/s/p", "CI_COMMIT_SHA": "abc"}


@pytest.mark.parametrize(
    ("environ", "folder", "found"),
    [
        ({}, "", Links("", "docs/findings.md")),
        ({}, "infra", Links("", "docs/findings.md", "infra")),
        (GITHUB, "", Links("https://github.com/o/r/blob/abc", "https://github.com/o/r/blob/abc/docs/findings.md")),
        (
            GITHUB,
            "infra/gpu",
            Links(
                "https://github.com/o/r/blob/abc/infra/gpu",
                "https://github.com/o/r/blob/abc/infra/gpu/docs/findings.md",
                "infra/gpu",
            ),
        ),
        (
            GITLAB,
            "",
            Links("https://gitlab.com/g/s/p/-/blob/abc", "https://gitlab.com/g/s/p/-/blob/abc/docs/findings.md"),
        ),
        ({**GITHUB, "GITHUB_SHA": ""}, "", Links("", "docs/findings.md")),
    ],
)
def test_hosts(environ: dict[str, str], folder: str, found: Links) -> None:
    assert links(environ, folder) == found


def test_whoever_imports_the_package_has_no_page_about_rules() -> None:
    assert links(GITHUB, documented=False).rule("contract") == ""


@pytest.mark.parametrize(
    ("file", "line", "address"),
    [
        ("models/chat.yaml", 9, "https://h/models/chat.yaml#L9"),
        ("models/chat.yaml", 0, "https://h/models/chat.yaml"),
        ("a b)](x.yaml", 1, "https://h/a%20b%29%5D%28x.yaml#L1"),
        ("/etc/passwd", 1, ""),
        ("../other.yaml", 1, ""),
        ("<stdin>", 1, ""),
    ],
)
def test_files(file: str, line: int, address: str) -> None:
    assert Links("https://h").source(file, line) == address
    assert Links().source(file, line) == ""
