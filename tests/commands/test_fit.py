"""``workbench fit`` as its users run it: names and files, formats, manifests, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.checks.memory.workloads.known import KnownShapes
from components.families import parse
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.checks.memory.test_gguf import header
from tests.commands.support import workbench
from tests.plan.test_model_shapes import LLAMA as CONFIG
from workbench.local_models import shapes_in

MODEL = "qwen2.5-7b-instruct"


def answer(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    done = workbench("fit", *arguments, "--stack", "none", "--format", "json")
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def words(*arguments: str | Path) -> str:
    """Run a command, and return its output as one line."""
    return " ".join(workbench(*arguments).stdout.split())


def test_a_table_lists_the_cheapest_first() -> None:
    done = workbench("fit", MODEL, "--max-len", "8192", "--users", "40", "--stack", "none", columns=80)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Qwen/Qwen2.5-7B-Instruct fits 11 GPU types, from $")
    assert "vllm 0.20.0, 8,192 tokens a request, 40 users, on demand in us-east-1" in lines
    assert ["GPU", "INSTANCE", "FITS", "USERS", "$/MONTH"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    usd = [option["usdPerHour"] for option in answer(MODEL, "--max-len", "8192", "--users", "40")["options"]]
    assert usd == sorted(usd, key=lambda price: (price is None, price))
    text = words("fit", MODEL, "--max-len", "8192", "--users", "40", "--details")
    assert "accelerators of the same generation are in the range in brackets." in text
    # CUDA_SUPPORTED_ARCHS of vLLM 0.20.0 starts at 7.5; a T4 computes bfloat16 models in float16.
    assert (
        "not offered: V100 16 GiB, V100 32 GiB: vllm v0.20.0 computes models from compute capability 7.5 on" in text
    )


def test_a_month_is_730_hours_of_the_whole_nodes_beside_the_share_that_is_used() -> None:
    """Prices of g4dn.12xlarge, of whose four GPUs two are used, and of g6.xlarge, which has one."""
    options = {option["instanceType"]: option for option in answer(MODEL)["options"]}
    shared, whole = options["g4dn.12xlarge"], options["g6.xlarge"]
    assert shared["usdPerMonth"] == pytest.approx(shared["usdPerHour"] * 730, abs=0.01)
    assert shared["usdPerMonthOfReplicas"] == pytest.approx(shared["usdPerMonth"] / 2, abs=0.01)
    lines = workbench("fit", MODEL).stdout.splitlines()
    prices = {line.split()[2]: line.split(maxsplit=6)[6] for line in lines if line.split()[2:3] == ["g4dn.12xlarge"]}
    text = f"{shared['usdPerMonthOfReplicas']:,.0f} of {shared['usdPerMonth']:,.0f}"
    assert prices == {"g4dn.12xlarge": text}
    assert any(line.startswith(f"{text}: the share of g4dn.12xlarge that the model uses") for line in lines)
    assert any(line.split()[2:] == ["g6.xlarge", "2.4", "GiB", "2", f"{whole['usdPerMonth']:,.0f}"] for line in lines)


@pytest.mark.parametrize(
    ("spelled", "count", "accelerator"),
    [
        ("2 x L40S", 2, "L40S"),
        ("2 L40S", 2, "L40S"),
        ("2x L40S", 2, "L40S"),
        ("2 X l40s", 2, "L40S"),
        ("4 RTX PRO Server 6000", 4, "RTX PRO Server 6000"),
    ],
)
def test_accelerators_are_accepted_as_fit_prints_them(spelled: str, count: int, accelerator: str) -> None:
    options = answer(MODEL, "--gpu", spelled, "--max-len", "8192")["options"]
    assert {(option["acceleratorsPerReplica"], option["accelerator"]) for option in options} == {(count, accelerator)}


def test_nodes_are_accepted_as_fit_prints_them() -> None:
    assert answer(MODEL, "--gpu", "10 x g6e.xlarge")["options"] == answer(MODEL, "--gpu", "g6e.xlarge")["options"]


def test_blanks_do_not_make_a_number() -> None:
    done = workbench("fit", MODEL, "--gpu", "0 x L40S")
    assert (done.returncode, "unknown accelerator or instance type '0 x L40S'" in done.stderr) == (2, True)


def test_details_have_every_instance_type() -> None:
    types = [option["instanceType"] for option in answer(MODEL)["options"]]
    text = workbench("fit", MODEL, "--details").stdout
    assert len(types) == 42
    assert all(f" {name} " in text for name in types)
    assert all(title in text for title in ("CACHE GIB", "CONTEXT", "TOKENS/S", "$/1M TOKENS", "TP x PP", "$/HOUR"))


def test_the_earlier_name_of_the_format_still_works() -> None:
    flags = ("fit", MODEL, "--gpu", "L40S")
    assert workbench(*flags, "--format", "table").stdout == workbench(*flags, "-o", "text").stdout


def test_markdown_has_the_same_rows() -> None:
    table = workbench("fit", MODEL, "--gpu", "L40S").stdout.splitlines()
    markdown = workbench("fit", MODEL, "--gpu", "L40S", "--format", "markdown").stdout.splitlines()
    assert markdown[2].startswith("| instance type | GPUs of a replica |")
    rows = [line.strip("| ").split(" | ") for line in markdown if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == [line.split()[2] for line in table if line.startswith("1 L40S ")]


def test_an_accelerator_lists_every_type_with_it() -> None:
    found = answer(MODEL, "--gpu", "L40S", "--max-len", "8192")
    types = [option["instanceType"] for option in found["options"]]
    assert types[0] == "g6e.xlarge"
    assert {option["accelerator"] for option in found["options"]} == {"L40S"}
    assert len(types) > 5
    one = answer(MODEL, "--gpu", "g6e.4xlarge", "--max-len", "8192")
    assert [option["instanceType"] for option in one["options"]] == ["g6e.4xlarge"]
    four = answer(MODEL, "--gpu", "4xL40S", "--max-len", "8192")["options"]
    assert {option["acceleratorsPerReplica"] for option in four} == {4}


def test_what_does_not_fit_ends_with_1_and_says_by_how_much() -> None:
    flags = ("llama-3.1-8b-instruct", "--gpu", "1xL4")
    done = workbench("fit", *flags)
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert text.startswith("meta-llama/Llama-3.1-8B-Instruct: does not fit 1xL4 ")
    assert "does not fit L4 22 GiB (g6.xlarge, g6.2xlarge, g6.4xlarge, ...): short by " in text
    longest = next(refusal for refusal in answer(*flags, code=1)["refused"] if refusal["shortBytes"])[
        "longestContext"
    ]
    assert f"fits with --max-len {longest}" in text
    assert answer(*flags, "--max-len", str(longest))["options"][0]["longestContext"] == longest
    longer = answer(*flags, "--max-len", str(longest + 64), code=1)
    assert not longer["options"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        # One H100 is on p5.4xlarge, eight are on p5.48xlarge.
        (
            ("deepseek-ai/DeepSeek-V3", "--gpu", "8xH100"),
            "does not fit 8 x H100 80 GiB (p5.4xlarge, p5.48xlarge): short by",
        ),
        (("Qwen/Qwen3-8B", "--gpu", "16xL4"), "an instance has 8 of them, not 16"),
        # 1536 / 8 is no multiple of the 128 numbers of a quantization block.
        (("MiniMaxAI/MiniMax-M2.5", "--gpu", "8xH100"), "or add --enable-expert-parallel, which keeps experts whole"),
        (
            ("openai/gpt-oss-20b", "--gpu", "T4", "--max-len", "4096"),
            "vllm v0.20.0 computes mxfp4 from compute capability 8.0",
        ),
        (
            ("Qwen/Qwen2.5-1.5B-Instruct", "--gpu", "T4", "--engine", "vllm==0.7.3", "--max-len", "4096"),
            "add --arg=--dtype=half",
        ),
    ],
)
def test_a_refusal_says_what_is_missing(arguments: tuple[str, ...], text: str) -> None:
    assert text in words("fit", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("MiniMaxAI/MiniMax-M2.5", "--gpu", "8xH100", "--arg=--enable-expert-parallel"),
        ("Qwen/Qwen2.5-1.5B-Instruct", "--gpu", "T4", "--max-len", "4096"),
        (
            "Qwen/Qwen2.5-1.5B-Instruct",
            "--gpu",
            "T4",
            "--engine",
            "vllm==0.7.3",
            "--max-len",
            "4096",
            "--arg=--dtype=half",
        ),
    ],
)
def test_the_remedies_of_refusals_are_accepted(arguments: tuple[str, ...]) -> None:
    assert workbench("fit", *arguments).returncode == 0


def test_terms_add_up_to_the_verdict() -> None:
    option = answer(MODEL, "--gpu", "g6e.xlarge", "--max-len", "8192")["options"][0]
    counted = [term for term in option["terms"] if term["counted"]]
    assert sum(term["bytes"] for term in counted) == option["neededBytes"]
    assert all(term["source"] for term in option["terms"])
    done = workbench("fit", MODEL, "--gpu", "g6e.xlarge", "--max-len", "8192", "--explain", columns=80)
    assert max(map(len, done.stdout.splitlines())) <= 80
    # Without blanks: long sources are wrapped.
    text = "".join(done.stdout.split())
    assert all("".join(f"{term['name']}:".split()) in text for term in option["terms"])
    assert all("".join(term["source"].split()) in text for term in option["terms"])


@pytest.mark.parametrize("family", ["llmaz", "llmkube", "kthena"])
def test_manifests_pass_validate_and_plan_with_the_same_figures(family: str, tmp_path: Path) -> None:
    flags = (MODEL, "--gpu", "g6e.xlarge", "--max-len", "8192")
    option = answer(*flags)["options"][0]
    done = workbench("fit", *flags, "--yaml", family, "--stack", "none")
    assert (done.returncode, done.stderr) == (0, "")
    models = tmp_path / "models"
    models.mkdir()
    (models / "model.yaml").write_text(done.stdout, encoding="utf-8")
    checked = workbench("validate", models)
    assert checked.returncode == 0, checked.stdout
    assert "memory" not in checked.stdout
    assert option["verdict"] == "fits"


def test_a_configuration_describes_a_model(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    found = answer(folder, "--gpu", "L40S", "--max-len", "8192")
    assert found == answer(folder / "config.json", "--gpu", "L40S", "--max-len", "8192")
    assert found["model"] == "own"
    weights = next(term for term in found["options"][0]["terms"] if term["name"] == "weights")
    assert weights["bytes"] / 2**30 == pytest.approx(15.0, abs=0.1)
    refused = workbench("fit", folder, "--yaml", "llmaz")
    assert refused.returncode == 2
    assert "config.json does not tell where pods load the weights; add --weights" in refused.stderr


OWN, GGUF = "own", "model-q4.gguf"


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """Return a folder with a configuration and a GGUF file."""
    (tmp_path / OWN).mkdir()
    (tmp_path / OWN / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    with (tmp_path / GGUF).open("wb") as stream:
        stream.write(header())
        stream.truncate(4_920_739_232)
    return tmp_path


@pytest.mark.parametrize(
    ("family", "model", "weights", "key"),
    [
        ("llmaz", OWN, "acme/chat", "acme/chat"),
        ("llmaz", OWN, "hf://acme/chat", "acme/chat"),
        ("llmaz", OWN, "oss://bucket.endpoint/chat", "oss://bucket.endpoint/chat"),
        ("llmaz", GGUF, "acme/chat-gguf", GGUF),
        ("llmaz", GGUF, "oss://bucket.endpoint/chat.gguf", "oss://bucket.endpoint/chat.gguf"),
        ("llmkube", OWN, "acme/chat", "acme/chat"),
        ("llmkube", OWN, "pvc://claim/chat", "pvc://claim/chat"),
        ("llmkube", GGUF, "acme/chat-gguf", GGUF),
        ("llmkube", GGUF, "pvc://claim/chat.gguf", "pvc://claim/chat.gguf"),
        ("llmkube", GGUF, "https://example.com/chat.gguf", "https://example.com/chat.gguf"),
        ("kthena", OWN, "acme/chat", "acme/chat"),
        ("kthena", OWN, "pvc://claim/chat", "pvc://claim/chat"),
        ("kthena", OWN, "s3://bucket/chat", "s3://bucket/chat"),
    ],
)
def test_manifests_of_a_local_file_are_planned_with_the_same_figures(
    family: str, model: str, weights: str, key: str, local: Path
) -> None:
    flags = (local / model, "--gpu", "g6e.2xlarge", "--max-len", "8192")
    option = answer(*flags)["options"][0]
    secret = ("--weights-secret", "bucket") if weights.startswith("s3") else ()
    done = workbench("fit", *flags, "--yaml", family, "--weights", weights, *secret)
    assert done.returncode == 0, done.stderr
    file = local / OWN / "config.json" if model == OWN else local / GGUF
    assert f"--config {key}={file} of validate, or with the setting modelShapes: {{" in done.stderr
    manifests = parse(done.stdout)
    unknown = plan(manifests)
    assert not unknown.problems
    known = plan(manifests, Environment(shapes=KnownShapes(own=shapes_in([f"{key}={file}"]))))
    assert not known.problems
    (judged,) = known.verdicts
    assert judged.verdict.fit.value == option["verdict"] == "fits"
    assert (judged.verdict.needed, judged.verdict.context) == (option["neededBytes"], option["context"])
    assert judged.instance_type == option["instanceType"]


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (("--parameters", "7B"), 'modelShapes: {"pvc://claim/chat": {parameters: 7000000000}}'),
        ((MODEL,), 'modelShapes: {"pvc://claim/chat": {like: Qwen/Qwen2.5-7B-Instruct}}'),
    ],
)
def test_other_models_can_have_another_address(arguments: tuple[str, ...], setting: str) -> None:
    flags = (*arguments, "--gpu", "g6e.2xlarge", "--max-len", "8192", "--yaml", "llmkube")
    done = workbench("fit", *flags, "--weights", "pvc://claim/chat")
    assert (done.returncode, setting in done.stderr) == (0, True), done.stderr
    assert not plan(parse(done.stdout)).problems


def test_validate_reads_the_header_of_a_gguf_file(local: Path) -> None:
    flags = (GGUF, "--gpu", "g6e.2xlarge", "--max-len", "8192", "--yaml", "llmaz", "--weights", "acme/chat-gguf")
    (local / "chat.yaml").write_text(workbench("fit", *flags, cwd=local).stdout, encoding="utf-8")
    unsized = workbench("validate", "chat.yaml", "--details", cwd=local)
    assert (unsized.returncode, f"the size of the file {GGUF} is unknown" in unsized.stdout) == (0, True)
    # Without a name, it describes the model that is loaded from a file of that name.
    for option in (GGUF, f"{GGUF}={GGUF}"):
        sized = workbench("validate", "chat.yaml", "--config", option, cwd=local)
        assert (sized.returncode, "not checked" in sized.stdout + sized.stderr) == (0, False), sized.stdout
    other = workbench("validate", "chat.yaml", "--config", f"{MODEL}={GGUF}", cwd=local)
    assert (other.returncode, f"no manifest serves {MODEL}" in other.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (OWN, "--yaml", "llmaz", "--weights", "pvc://claim/chat"),
            "llmaz cannot load weights from pvc://claim/chat;",
        ),
        (
            (OWN, "--yaml", "llmkube", "--weights", "s3://b/chat"),
            "LLMKube cannot load weights from s3://b/chat; use a",
        ),
        (
            (OWN, "--yaml", "llmkube", "--weights", "https://h/f"),
            "LLMKube cannot load weights from https://h/f; use a",
        ),
        ((OWN, "--yaml", "kthena", "--weights", "oss://b.e/chat"), "Kthena cannot load weights from oss://b.e/chat;"),
        (
            (OWN, "--yaml", "kthena", "--weights", "s3://b/chat"),
            "needs a Secret with ACCESS_KEY and SECRET_KEY; pass",
        ),
        ((GGUF, "--yaml", "kthena", "--weights", "acme/chat"), "Kthena has no backend for llamacpp; use vllm or"),
        ((GGUF, "--yaml", "llmaz"), f"--yaml: {GGUF} does not tell where pods load the weights; add --weights"),
        ((GGUF, "--yaml", "llmkube", "--weights", "pvc://claim"), "must be the address of a .gguf file"),
        (
            ("--parameters", "7B", "--yaml", "llmaz"),
            "a number of parameters does not tell where pods load the weights",
        ),
        ((OWN, "--yaml", "llmaz", "--weights", "chat"), "must be a Hugging Face repository such as acme/chat-8B, or"),
        ((OWN, "--yaml", "llmaz", "--weights", "hf://acme/a b"), "must be a Hugging Face repository such as"),
        ((OWN, "--weights", "acme/chat"), "--weights and --weights-secret are for manifests; add --yaml"),
    ],
)
def test_addresses_that_cannot_be_loaded_are_refused(arguments: tuple[str, ...], message: str, local: Path) -> None:
    done = workbench("fit", *arguments, "--gpu", "g6e.2xlarge", "--max-len", "8192", cwd=local)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("family", ["llmaz", "llmkube"])
def test_a_file_in_parts_has_no_manifest(family: str, tmp_path: Path) -> None:
    first, *_ = split(tmp_path, 2_000_000_000, 2_920_739_232)
    flags = ("--gpu", "g6e.2xlarge", "--max-len", "8192", "--yaml", family, "--weights", "acme/chat-gguf")
    done = workbench("fit", first, *flags)
    assert (done.returncode, "llama-gguf-split --merge" in done.stderr) == (2, True), done.stderr


def test_an_unknown_architecture_is_reported(tmp_path: Path) -> None:
    strange = {**CONFIG, "architectures": ["StrangeForCausalLM"], "model_type": "strange"}
    (tmp_path / "config.json").write_text(json.dumps(strange), encoding="utf-8")
    done = workbench("fit", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the architecture StrangeForCausalLM is unknown, and so is the size of the weights" in done.stderr
    index = {"metadata": {"total_size": 16 * 2**30}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    sized = workbench("fit", tmp_path, "--gpu", "g6e.xlarge", "--max-len", "8192", "--details")
    assert sized.returncode == 0
    assert "upper bound" in " ".join(sized.stdout.split())


def test_a_gguf_file_is_served_by_llama_cpp(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    with file.open("wb") as stream:
        stream.write(header())
        stream.truncate(4_920_739_232)
    found = answer(file, "--gpu", "g6.xlarge", "--max-len", "8192")
    assert found["engine"] == "llamacpp"
    assert next(term for term in found["options"][0]["terms"] if term["name"] == "weights")["bytes"] >= 4_920_739_232
    done = workbench("fit", file, "--engine", "vllm")
    assert (done.returncode, "is served by llamacpp" in done.stderr) == (2, True)


def split(folder: Path, *sizes: int) -> list[Path]:
    """Write the parts of a model, of which the first has the header."""
    parts = [folder / f"model-{number:05}-of-{len(sizes):05}.gguf" for number in range(1, len(sizes) + 1)]
    for part, size in zip(parts, sizes, strict=True):
        with part.open("wb") as stream:
            stream.write(header() if part is parts[0] else b"GGUF")
            stream.truncate(size)
    return parts


@pytest.mark.parametrize("passed", [0, 1, 2])
def test_a_split_gguf_file_has_the_size_of_all_parts(tmp_path: Path, passed: int) -> None:
    parts = split(tmp_path, 2_000_000_000, 2_000_000_000, 920_739_232)
    found = answer(parts[passed], "--gpu", "g6.xlarge", "--max-len", "8192")
    assert next(term for term in found["options"][0]["terms"] if term["name"] == "weights")["bytes"] >= 4_920_739_232


def test_missing_parts_of_a_split_gguf_file_are_named(tmp_path: Path) -> None:
    first, second, _ = split(tmp_path, 4096, 4096, 4096)
    second.unlink()
    done = workbench("fit", first)
    assert done.returncode == 2
    assert "1 of 3 parts of the model are missing beside it: model-00002-of-00003.gguf; download them" in done.stderr
    wrong = workbench("fit", tmp_path / "model-00009-of-00003.gguf")
    assert (wrong.returncode, "is part 9 of 3" in wrong.stderr) == (2, True)


def test_a_number_of_parameters_is_an_estimate() -> None:
    done = workbench("fit", "--parameters", "70B", "--max-len", "8192", "--gpu", "H100", "--details")
    assert done.returncode == 0
    assert "The size of the model is estimated from 70B parameters" in done.stdout
    assert any(line.split()[3].startswith("~") for line in done.stdout.splitlines() if " p5.48xlarge " in line)


def test_a_region_has_its_prices() -> None:
    flags = (MODEL, "--gpu", "g6e.xlarge", "--max-len", "8192")
    here, there = answer(*flags), answer(*flags, "--region", "eu-central-1")
    assert there["region"] == "eu-central-1"
    assert here["options"][0]["usdPerHour"] < there["options"][0]["usdPerHour"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "MODEL is missing: pass a model of the catalog"),
        (("qwen2.5-7b-instrct",), "similar models: Qwen/Qwen2.5-7B-Instruct"),
        (("qwen2.5-7b-instrct",), "a config.json or its folder, a GGUF file, or --parameters"),
        (("--parameters", "70"), "must be a number of parameters such as 7B"),
        (("--parameters", "7B"), "--max-len: the context of unnamed/model-7B is unknown; pass the tokens"),
        (("org/any-24B",), "--max-len: the context of org/any-24B is unknown; pass the tokens"),
        # Its max_position_embeddings are 32,768.
        ((MODEL, "--max-len", "32769"), "has a context of 32,768 tokens, and vllm does not start with a longer one"),
        ((MODEL, "--parameters", "7B"), "cannot be used together"),
        ((MODEL, "--gpu", "L99"), "L99"),
        ((MODEL, "--engine", "foo"), "--engine: must be an engine"),
        ((MODEL, "--engine", "vllm==latest"), "--engine: must be engine==version"),
        ((MODEL, "--region", "atlantis"), "--region: must be a region"),
        ((MODEL, "--yaml", "helm"), "--yaml: must be one of"),
        (("missing.gguf",), "missing.gguf: cannot be read"),
        (("missing/config.json",), "missing/config.json"),
    ],
)
def test_usage_errors_end_with_2(arguments: tuple[str, ...], message: str) -> None:
    done = workbench("fit", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_configuration_of_any_name_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"architectures": ["LlamaForCausalLM"], "num_hidden_layers": -4}')
    done = workbench("fit", str(file))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{file}: num_hidden_layers is -4")


def test_the_flag_for_four_bits_says_what_the_name_says() -> None:
    """70 billion parameters of AWQ take at least 30 GiB, whether flag or name states it; GPTQ may have two bits."""
    flag, name, open_flag = (
        answer(*words, "--max-len", "8192", "--gpu", "A10G")["options"]
        for words in (
            ("--parameters", "70B", "--quantization", "awq"),
            ("org/name-70B-AWQ",),
            ("--parameters", "70B", "--quantization", "gptq"),
        )
    )
    assert [option["instanceType"] for option in flag] == [option["instanceType"] for option in name]
    assert flag[0]["instanceType"] != open_flag[0]["instanceType"] == "g5.xlarge"


def test_a_model_of_unknown_size_says_so() -> None:
    done = workbench("fit", "kimi-k3")
    assert done.returncode == 1
    assert "neither the number of parameters nor the size of the weights is known" in done.stdout


def test_types_that_a_stack_describes_are_answers_too(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\nruntime: python\n", encoding="utf-8")
    described = {"vcpu": 8, "memoryGib": 64, "accelerator": {"name": "H100", "count": 1, "memoryGib": 80}}
    settings = {"kubeconfig": "kubeconfig", "instanceTypes": {"p9.2xlarge": described}}
    settings = {"config": {f"inference-platform:{key}": value for key, value in settings.items()}}
    (tmp_path / "Pulumi.dev.yaml").write_text(json.dumps(settings), encoding="utf-8")
    flags = (MODEL, "--max-len", "8192", "--gpu", "p9.2xlarge", "--format", "json")
    done = workbench("fit", *flags, "--stack", "dev", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (option,) = json.loads(done.stdout)["options"]
    known = answer(MODEL, "--max-len", "8192", "--gpu", "p5.4xlarge")["options"][0]
    figures = ("verdict", "neededBytes", "context")
    assert [option[name] for name in figures] == [known[name] for name in figures]
    assert (option["instanceType"], option["usdPerHour"]) == ("p9.2xlarge", None)
    listed = workbench("fit", *flags[:3], "--stack", "dev", "--format", "json", cwd=tmp_path)
    assert "p9.2xlarge" in [each["instanceType"] for each in json.loads(listed.stdout)["options"]]
    unknown = workbench("fit", *flags, "--stack", "none", cwd=tmp_path)
    assert (unknown.returncode, "unknown accelerator or instance type 'p9.2xlarge'" in unknown.stderr) == (2, True)
