"""The reference figures are those of the WVA spec 12, and are found for the models that they are of alone."""

import math

import pytest

from components.contract.tables import load_table
from components.performance.sizing.cases import Profile
from components.performance.sizing.reference import known_models, reference_profiles

SPEC = """
llama-7b|1×11.69/0.63@64|1×6.96/0.38@64|1×4.41/0.24@153|1×27.19/1.47@38|1×77.93/4.2@19|1×9.74/0.53@76
llama3-8b|1×12.93/0.59@16|1×7.7/0.35@16|1×4.88/0.22@38|2×30.07/1.37@9|4×86.2/3.93@4|1×10.78/0.49@19
llama-13b|1×20.13/0.87@32|1×11.98/0.52@32|1×7.6/0.33@76|1×46.81/2.02@19|2×134.2/5.8@9|1×16.78/0.73@38
granite-13b|1×20.58/0.41@32|1×12.25/0.24@32|1×7.77/0.15@76|1×47.86/0.95@19|2×137.2/2.73@9|1×17.15/0.34@38
mistral-7b|1×12.32/0.41@64|1×7.33/0.24@64|1×4.65/0.15@153|1×28.65/0.95@38|1×82.13/2.73@19|1×10.27/0.34@76
mixtral-8x7b|4×29.63/6.01@8|4×17.64/3.58@8|1×11.18/2.27@19|4×68.91/13.98@4|8×197.53/40.07@2|—
llama-70b|—|4×16.32/4.21@5|—|4×63.74/16.44@3|8×182.73/47.13@1|4×22.84/5.89@6
"""  # noqa: RUF001 - as the spec writes it
ACCELERATORS = ("A100", "H100", "MI300X", "L40S", "L4", "Gaudi2")


def rows() -> list[tuple[str, str, str]]:
    """Return model, accelerator and cell."""
    found = []
    for line in SPEC.strip().splitlines():
        model, *cells = line.split("|")
        found += [(model, accelerator, cell) for accelerator, cell in zip(ACCELERATORS, cells, strict=False)]
    return found


@pytest.mark.parametrize(("model", "accelerator", "cell"), rows())
def test_sample_data_are_those_of_the_spec(model: str, accelerator: str, cell: str) -> None:
    found = [each for each in reference_profiles(model) if each.profile.accelerator == accelerator]
    if cell == "—":
        assert found == []
        return
    count, alpha, beta, batch = cell.replace("×", " ").replace("/", " ").replace("@", " ").split()  # noqa: RUF001
    (one,) = found
    assert one.profile == Profile(accelerator, int(count), float(alpha), float(beta), int(batch))
    assert one.high == one.profile
    assert math.isclose(one.low.beta, float(beta) / 10)
    assert one.low.batch == 2 * int(batch)
    assert (one.low.alpha, one.low.count) == (float(alpha), int(count))
    assert (one.source.measured, one.source.tokens) == (False, 512)


def test_measured_figures_are_those_of_the_spec() -> None:
    h100, l40s = reference_profiles("llama-3.1-8b")
    assert h100.profile == Profile("H100", 1, 6.958, 0.042, 512)
    assert (h100.low.beta, h100.high.beta) == (0.027, 0.044)
    assert l40s.profile == l40s.low == l40s.high == Profile("L40S", 1, 22.619, 0.181, 512)
    assert h100.source.measured
    assert l40s.source.measured
    assert h100.source.tokens is None


def test_nothing_else_is_in_the_table() -> None:
    assert known_models() == tuple(sorted({"llama-3.1-8b", *(model for model, _, _ in rows())}))
    published = sum(
        len(model["profiles"]) for model in load_table("components.performance.sizing", "reference.yaml")["models"]
    )
    assert published == sum(cell != "—" for _, _, cell in rows()) + 2


@pytest.mark.parametrize("model", known_models())
def test_each_figure_says_where_it_comes_from(model: str) -> None:
    for one in reference_profiles(model):
        assert one.model == model
        assert one.low.beta <= one.profile.beta <= one.high.beta
        assert one.low.batch >= one.profile.batch >= 1
        assert one.source.title
        assert one.source.doubt
        assert len(one.source.date) == len("2025-07-29")


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("unsloth/Meta-Llama-3.1-8B", "llama-3.1-8b"),
        ("llama-3-1-8b", "llama-3.1-8b"),
        ("Llama3.1-8B", "llama-3.1-8b"),
        ("/models/Meta-Llama-3.1-8B-Instruct/", "llama-3.1-8b"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b"),
        ("llama_3_8b", "llama3-8b"),
        ("huggyllama/llama-7b", "llama-7b"),
        ("llama_13b", "llama-13b"),
        ("LLAMA-70B-hf", "llama-70b"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"),
        ("ibm/granite-13b", "granite-13b"),
        ("ibm-granite/granite-13b-chat-v2", "granite-13b"),
    ],
)
def test_a_model_is_found_by_the_names_that_people_give_it(asked: str, model: str) -> None:
    assert {one.model for one in reference_profiles(asked)} == {model}


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "/",
        "llama",
        "8b",
        "instruct",
        "meta-llama",
        "meta-llama/Llama-3.1-70B-Instruct",
        "meta-llama/Llama-3.1-405B",
        "meta-llama/Llama-3.2-8B",
        "meta-llama/Llama-3.18B",
        "meta-llama/Llama-31-8B",
        "meta-llama/Llama-2-7b-chat-hf",
        "meta-llama/Llama-2-13b",
        "meta-llama/Llama-3-70B",
        "Llama-7.0b",
        "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8",
        "Llama-3.1-8B-Instruct-AWQ-INT4",
        "unsloth/Meta-Llama-3.1-8B-bnb-4bit",
        "llama3:8b",
        "codellama/CodeLlama-7b-hf",
        "mistralai/Mixtral-8x22B-v0.1",
        "mistral-7b-v2",
        "TinyLlama-7b",
        "llama-7b/other",
        "Llama-3.1-8B-1M",
        "default/default",
        "x" * 100_000,
        "l" * 50_000 + "-" * 50_000,
    ],
)
def test_another_model_is_never_taken_for_one_of_them(asked: str) -> None:
    assert reference_profiles(asked) == ()
