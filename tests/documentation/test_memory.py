"""The page about memory: its examples are what is printed, and its figures those of the published pairs."""

import re
import shlex
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest

from components.contract.findings.ids import RuleId
from components.plan.sections.shapes import ShapeSettings
from tests import preloaded
from tests.checks.memory.pairs.pairs import Pair, pairs
from tests.documentation.blocks import ROOT, blocks

PAGE = "docs/memory.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
PAIRS = pairs()
ENGINES = {
    "vLLM since 0.6": "vllm",
    "vLLM before 0.6": "vllm before 0.6",
    "SGLang": "sglang",
    "Text Generation Inference": "tgi",
}
SHOWN = [block.text for block in blocks("console") if block.page == PAGE]


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table below a row of headings."""
    _, _, rest = TEXT.partition(f"{heading}\n")
    assert rest
    for line in rest.splitlines()[1:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize(("shown", "left_out", "code"), [*zip_longest(SHOWN, (0, 2), (0, 1))])
def test_what_is_shown_is_what_is_printed(shown: str, left_out: int, code: int, tmp_path: Path) -> None:
    (manifests,) = [block.text for block in blocks("yaml") if block.page == PAGE and "apiVersion" in block.text]
    lines = manifests.splitlines()
    (tmp_path / "llama-8b.yaml").write_text("\n".join(lines[: len(lines) - left_out]))
    command, _, expected = shown.partition("\n")
    program, *words = shlex.split(command.removeprefix("$ "))
    assert program == "workbench"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = preloaded.run(*words, cwd=tmp_path, env=env)
    assert done.returncode == code, done.stderr
    assert done.stdout.split() == expected.split()


def test_pairs_that_disagree_are_listed_with_their_reasons() -> None:
    listed = [*rows("| pair | published | the verdict | why |")]
    outcome = {True: "does not fit", False: "fits"}
    assert listed == [
        [f"`{pair.name}`", outcome[pair.exceeded], _verdict(pair), pair.disagrees] for pair in PAIRS if pair.disagrees
    ]


def test_pairs_are_counted() -> None:
    failing = sum(pair.exceeded for pair in PAIRS)
    disagreeing = sum(bool(pair.disagrees) for pair in PAIRS)
    others = sum(pair.engine != "vllm" for pair in PAIRS)
    text = " ".join(TEXT.split())
    assert f"{len(PAIRS)} pairs of a model and accelerators with a published outcome" in text
    agreeing = len(PAIRS) - disagreeing
    assert f"{failing} of them servers that ran out of memory; the verdict agrees with {agreeing}." in text
    assert f"The verdict disagrees with {disagreeing} pairs:" in text
    assert f"{others} are for SGLang, llama.cpp and Text Generation Inference." in text


def test_how_far_predicted_caches_are_off_is_measured() -> None:
    assert [*rows("| engine | caches compared | predicted, against reported | within 10 % |")] == [
        [name, *_spread(group)] for name, group in ENGINES.items()
    ]
    assert {pair.group for pair in PAIRS if pair.tokens and not pair.tokens_differ} == set(ENGINES.values())


def test_findings_that_are_named_exist() -> None:
    named = set(re.findall(r"findings\.md#([a-z-]+)", TEXT))
    assert named == {RuleId.MEMORY_TIGHT, RuleId.MEMORY_EXCEEDED}


def test_every_engine_with_figures_is_described() -> None:
    folders = {path.parent.name for path in (ROOT / "components/engines").glob("*/memory.yaml")}
    described = {re.sub(r"\W", "", name).lower() for name, _ in rows("| engine | behavior |")}
    assert {"tgi" if name == "textgenerationinference" else name for name in described} == {
        folder.replace("-", "") for folder in folders
    }


def _spread(group: str) -> tuple[str, str, str]:
    pairs_ = [pair for pair in PAIRS if pair.group == group and pair.tokens and not pair.tokens_differ]
    errors = [pair.predicted_tokens / (pair.tokens or 1) - 1 for pair in pairs_]
    within = sum(abs(error) <= 0.1 for error in errors)
    return str(len(errors)), f"{min(errors):+.0%} to {max(errors):+.0%}".replace("%", " %"), str(within)


def _verdict(pair: Pair) -> str:
    return str(pair.verdict.fit)


def test_every_key_of_a_shape_is_described() -> None:
    described = {key for keys, _ in rows("| key | meaning |") for key in re.findall(r"`(\w+)`", keys)}
    explained = {key for _, what in rows("| key | meaning |") for key in re.findall(r"`(\w+)`", what)}
    assert described | explained >= {field.alias or name for name, field in ShapeSettings.model_fields.items()}
    assert described <= {field.alias or name for name, field in ShapeSettings.model_fields.items()}
