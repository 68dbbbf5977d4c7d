"""The versions that the documentation calls supported are those of the tables and of the packaging."""

import json
import re
import tomllib

import pytest
import yaml

from tests.documentation.blocks import ROOT

SECTION = (ROOT / "docs/compatibility.md").read_text().partition("## Supported versions\n")[2].partition("\n## ")[0]
ROWS = dict(re.findall(r"^\| ([^|]+?) \| (.+) \|$", SECTION, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMPONENTS = ROOT / "components"


def least(package: str) -> str:
    """The oldest version of a package that is allowed, without a patch number."""
    extras = PROJECT["optional-dependencies"].values()
    allowed = [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    (found,) = (re.match(rf"{package}>=(\d+\.\d+)", each) for each in allowed if f"{package}>" in each)
    assert found
    return found[1]


def test_python() -> None:
    known = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert PROJECT["requires-python"] == f">={known[0]}"
    assert ROWS["Python"].startswith(f"{known[0]} to {known[-1]},")


def test_pulumi() -> None:
    row = ROWS["Pulumi"]
    assert f"SDK {least('pulumi')} or later" in row
    for package in ("pulumi-kubernetes", "pulumi-aws"):
        assert f"`{package}` {least(package)}" in row


def test_kubernetes() -> None:
    server = re.search(r"k8s\.io/kubernetes v(\S+)", (ROOT / "workbench/tools/go.mod").read_text())
    eks = list(yaml.safe_load((COMPONENTS / "clouds/aws/facts/eks.yaml").read_text())["versions"])
    fields = (COMPONENTS / "contract/schema/embedded.py").read_text()
    assert server
    assert ROWS["Kubernetes"].startswith(f"{server[1]} in the simulated cluster; on EKS {eks[0]} to {eks[-1]}, ")
    assert (
        re.findall(r"pod fields are those of ([\d.]+),", ROWS["Kubernetes"])
        == re.findall(r"core-([\d.]+)\.json\"", fields)[:1]
    )


@pytest.mark.parametrize(
    ("row", "family"),
    [("llmaz", "llmaz"), ("LLMKube", "llmkube"), ("Kthena", "kthena"), ("llm-d (VariantAutoscaling)", "llmd")],
)
def test_families(row: str, family: str) -> None:
    table = yaml.safe_load((COMPONENTS / f"families/{family}/releases.yaml").read_text())
    supported, _, default = ROWS[row].replace("`", "").partition("; default ")
    names = [release["name"] for release in table["releases"]]
    assert supported.startswith(names[0])
    assert supported.endswith(names[-1])
    assert default.partition(",")[0] == table["contract"]


def test_deviations_from_llmaz_are_those_from_its_last_commit() -> None:
    table = yaml.safe_load((COMPONENTS / "families/llmaz/releases.yaml").read_text())
    names = [release["name"] for release in table["releases"]]
    assert f"llmaz at `{names[-1]}`, after {names[-2]}" in (ROOT / "docs/deviations.md").read_text()


def test_leader_worker_sets() -> None:
    charts = yaml.safe_load((COMPONENTS / "plan/prerequisites/charts.yaml").read_text())
    assert ROWS["LeaderWorkerSet"] == charts["leader-worker-set"]["app"]


@pytest.mark.parametrize(("row", "engine"), [("vLLM", "vllm"), ("SGLang", "sglang"), ("TGI", "tgi")])
def test_engines(row: str, engine: str) -> None:
    """The releases that a table was compared with, the oldest first."""
    folder = COMPONENTS / "engines" / engine
    releases = yaml.safe_load((folder / "flags.yaml").read_text())["complete"].get("versions")
    if releases is None:
        names = list(json.loads((folder / "parsers.json").read_text())["releases"])
        first, last = names[0], names[-1]
    else:
        # The tables write 2.4.0 as [2, 4].
        first, last = (".".join(map(str, (*release, 0, 0)[:3])) for release in (releases[0], releases[-1]))
    assert ROWS[f"flags of {row}"] == f"releases from {first} to {last}"


def test_llama_cpp() -> None:
    builds = json.loads((COMPONENTS / "engines/llamacpp/parsers.json").read_text())["builds"]
    (first, last), *single = builds
    assert all(each[0] == each[1] for each in single)
    numbers = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    known = f"builds from {first} to {builds[-1][1]}; after {last} {numbers[len(single)]} of them"
    assert ROWS["flags of llama.cpp"] == known
