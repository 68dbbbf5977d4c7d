"""Large input costs what it must: memory for one document at a time, time for each field once."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from components.contract.documents import reader
from components.families import parse
from components.plan.plan import plan

MODEL = "apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: {name: m%s}\nspec:\n"
MEBIBYTE = 2**20


def seconds(text: str) -> float:
    begun = time.process_time()
    plan(parse(text))
    return time.process_time() - begun


@pytest.mark.parametrize("place", ["spec", "status", "metadata"])
def test_thousands_of_unknown_fields_take_no_longer_than_their_number(place: str) -> None:
    fields = "".join(f"  familyNam{number}: f\n" for number in range(16_000))
    text = f"apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\n{place}:\n{fields}"
    found = parse(text).problems
    assert sum("unknown field" in problem.reason for problem in found) == 16_000
    assert [p.line for p in found if p.path.endswith("familyNam15999")] == [3 + 16_000]
    assert seconds(text) < 5  # half a minute, when each looked for its line and its neighbours


def test_thousands_of_unknown_flags_take_no_longer_than_their_number() -> None:
    flags = "".join(f"    - --max-model-lenn{number}\n" for number in range(8_000))
    text = (
        f"{MODEL % 0}  familyName: f\n  source: {{modelHub: {{modelID: a/b}}}}\n---\n"
        "apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {name: p}\nspec:\n"
        f"  modelClaim: {{modelName: m0}}\n  backendRuntimeConfig:\n    args:\n{flags}"
    )
    found = [p.reason for p in plan(parse(text)).problems if "is not a known flag" in p.reason]
    assert (len(found), sum("did you mean '--max-model-len'" in reason for reason in found)) == (8_000, 50)
    assert seconds(text) < 3


def test_a_file_of_faults_takes_little_more_memory_than_its_text(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("w") as stream:
        for number in range(60_000):
            stream.write(
                f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}, namespace: n}}\ndata: {{a: b}}\n---\n"
            )
    program = (
        "import resource, sys; from components.families import load; from components.plan.plan import plan;"
        "plan(load([])); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "assert len(plan(load(sys.argv[1:])).problems) == 60_000;"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run([sys.executable, "-c", program, str(file)], check=True, capture_output=True, text=True)
    grown = int(run.stdout) * 1024
    # The objects themselves take 15 times the text; the nodes of every document took 70 times.
    assert grown < 25 * file.stat().st_size + 20 * MEBIBYTE


def test_a_document_that_is_too_large_is_not_composed(monkeypatch: pytest.MonkeyPatch) -> None:
    parse("a: b\n")  # reads the table of files that are no manifests, which has more values
    monkeypatch.setattr(reader, "MAX_NODES_PER_DOCUMENT", 100)
    text = MODEL % 0 + "".join(f"  k{number}: v\n" for number in range(100))
    (problem,) = parse("a: b\n---\n" + text).problems[1:]
    assert "has more than" in problem.reason
    assert problem.line == 2 + 5  # where its fields begin
    assert all("has more than" not in p.reason for p in parse((MODEL % 0 + "  k: v\n---\n") * 50).problems)
