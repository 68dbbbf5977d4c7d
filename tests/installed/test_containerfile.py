"""The image for CI, which is not built here: its base, its user, and that it finds what it copies."""

import re
from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

from tests.layers.modules import ROOT

TEXT = (ROOT / "Containerfile").read_text()
INSTRUCTIONS = [
    re.sub(r"\s*\\\n\s*", " ", line) for line in re.findall(r"^[A-Z]+ (?:.*\\\n)*.*$", TEXT, re.MULTILINE)
]
ALLOWED = [line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")]


def of(name: str) -> list[str]:
    return [line.partition(" ")[2] for line in INSTRUCTIONS if line.startswith(f"{name} ")]


def faults(text: str) -> list[str]:
    """What hadolint and the project refuse: a moving base, root, shells that ask, caches that stay."""
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    moving = [base for base in bases if not re.search(r":[\w.-]+@sha256:[0-9a-f]{64}\Z", base)]
    found = [f"{base} is not pinned by tag and digest" for base in moving]
    users = re.findall(r"^USER (\S+)", text, re.MULTILINE)
    if not users or users[-1].split(":")[0] in ("root", "0") or not users[-1].split(":")[0].isdigit():
        found.append("the last user is root, or has no number that Kubernetes can check")
    if "apt-get install" in text and not ("--yes" in text and "--no-install-recommends" in text):
        found.append("apt-get asks or installs recommendations")
    if "apt-get install" in text and "rm -rf /var/lib/apt/lists/*" not in text:
        found.append("apt's lists stay in the image")
    if any("--no-cache-dir" not in line for line in re.findall(r"pip install.*", text)):
        found.append("pip's cache stays in the image")
    return found


def test_it_is_pinned_and_does_not_run_as_root() -> None:
    assert faults(TEXT) == []
    assert len({base.split()[0] for base in of("FROM")}) == 1


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (r"@sha256:[0-9a-f]+", "", "docker.io/library/python:3.12-slim-bookworm is not pinned"),
        (r"USER .*", "USER root", "the last user is root"),
        (r"USER .*", "USER workbench", "the last user is root, or has no number"),
        (r" --no-install-recommends", "", "apt-get asks or installs recommendations"),
        (r" && rm -rf \S+ \\\n", "", "apt's lists stay"),
        (r" --no-cache-dir", "", "pip's cache stays"),
    ],
)
def test_what_it_must_not_do_is_found(old: str, new: str, fault: str) -> None:
    changed = re.sub(old, new, TEXT)
    assert changed != TEXT
    assert [each for each in faults(changed) if each.startswith(fault)]


def test_it_copies_what_there_is_and_the_context_has() -> None:
    copied = [word for line in of("COPY") if "--from" not in line for word in line.split()[:-1]]
    assert {"components", "livefleet", "toolkit", "workbench", "pyproject.toml", "setup.py"} <= {*copied}
    for name in copied:
        assert (ROOT / name).exists(), name
        assert [each for each in ALLOWED if fnmatch(name, each)], name
    assert all((ROOT / PurePosixPath(each)).exists() for each in ALLOWED)


def test_its_python_is_a_supported_one() -> None:
    classifiers = (ROOT / "pyproject.toml").read_text()
    (version,) = set(re.findall(r"python:(\d+\.\d+)-", TEXT))
    assert f'"Programming Language :: Python :: {version}"' in classifiers
