"""The tables of flags: well formed, and the facts of LLMKube spec 8 and of the engines' changelogs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.documents.reader import YamlError
from components.contract.tables import read_table
from components.engines.flags.rows import BOOL, ENUM, NUMBERS, TYPES, Flag, Form
from components.engines.flags.tables import (
    STYLES,
    EngineFlags,
    flags_of,
    read_flags,
)
from components.engines.registry import engines
from components.engines.versions import POST, Version, VersionSpan, without_trailing_zeros

ENGINES = tuple(engine for engine in engines() if flags_of(engine))
ROWS = [(engine, flag) for engine in ENGINES for flag in (flags_of(engine) or pytest.fail(engine)).flags]
NEWEST = {"llamacpp": "server", "sglang": "latest", "tgi": "latest", "vllm": "nightly"}


def table(engine: str) -> EngineFlags:
    found = flags_of(engine)
    assert found is not None
    return found


def find(engine: str, name: str) -> Flag:
    found = table(engine).find(name)
    assert found is not None, name
    return found


def forms(flag: Flag) -> tuple[Form, ...]:
    return (*flag.earlier, flag.form)


def spans(flag: Flag) -> list[VersionSpan]:
    return [flag.span, *(choice.span for form in forms(flag) for choice in form.values)]


def test_the_engines_are_those_of_the_catalog() -> None:
    assert set(ENGINES) == {"llamacpp", "sglang", "tei", "tgi", "vllm"} < set(engines())
    assert flags_of("ollama") is None


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_are_parsed_one_by_one_are_those_of_the_whole_file(engine: str) -> None:
    def read() -> EngineFlags:
        folder = engines()[engine].folder
        parsers = folder.joinpath("parsers.json")
        text = parsers.read_text() if parsers.is_file() else "{}"
        return read_flags(engines()[engine], folder.joinpath("flags.yaml").read_text(), text)

    known = read_table(engines()[engine].folder.joinpath("flags.yaml"))["flags"]
    names = {*known, *(read()._rows._parsers)}
    single, whole = read(), read()
    assert {name: single._rows[name] for name in names} == dict(whole._rows.items())
    assert len(whole.flags) == len(names)
    assert all(row[column] == value for name, row in whole._rows.items() for column, value in
               known.get(name, {}).items() if column not in ("values", "refused"))  # fmt: skip


def test_what_is_known_beyond_the_parser_comes_first() -> None:
    parsers = """{"releases": {"0.1": "", "0.2": ""}, "flags": {
        "--a": {"type": "string", "values": ["x", "no-x"],
                "earlier": [{"last": "0.1", "type": "string", "values": ["z"]}]},
        "--b": {"type": "int", "from": "0.2"}}}"""
    rows = ("--a: {type: enum, refused: [no-x], open: true}", "--b: {min: 1}", "-c: {type: switch}")
    text = "\n  ".join(("style: argparse\nflags:", *rows))
    found = read_flags(engines()["vllm"], text, parsers)
    a, b = found.find("--a"), found.find("--b")
    assert a is not None
    assert b is not None
    assert [(form.type, form.open, form.allowed(None)) for form in forms(a)] == [
        (ENUM, True, ("z",)),
        (ENUM, True, ("x",)),
    ]
    assert (b.form.min, b.span.since) == (1, (0, 2))
    assert found.find("-c") is not None
    assert found.releases == {(0, 1), (0, 2)}


def test_only_the_row_of_a_flag_is_parsed() -> None:
    head = "style: argparse\nflags:\n"
    found = read_flags(engines()["vllm"], f"{head}  --port: {{type: int}}\n  --broken: {{type: int, }}}}\n")
    flag = found.find("--port")
    assert flag is not None
    assert flag.form == Form("int")
    with pytest.raises(YamlError):
        found.find("--broken")
    with pytest.raises(YamlError):
        found.find("--no-such-flag")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_spelling_means_one_flag_in_a_version(engine: str) -> None:
    assert table(engine).style in STYLES
    for version in (*sorted(table(engine).releases), None):
        known = table(engine).known_in(version)
        names = [name for flag in known for name in flag.names_in(version)]
        assert len(names) == len(set(names)), version
        assert all(table(engine).find(name, version) is flag for flag in known for name in flag.names_in(version))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_is_well_formed(engine: str) -> None:
    for flag in table(engine).flags:
        assert all(name.startswith("-") and name.lstrip("-") and "=" not in name for name in flag.names)
        assert all("_" not in name for name in flag.names if table(engine).underscores)
        for form in forms(flag):
            assert form.type in TYPES
            assert form.values or form.type != ENUM
            assert not form.values or form.type in (ENUM, "string")
            assert len({choice.value for choice in form.values}) == len(form.values)
            assert (form.min, form.max, form.above, form.below) == (None,) * 4 or form.type in NUMBERS
            assert form.nargs in (None, "?", "*", "+") or form.nargs == 2
        assert flag.form.last is None
        assert all(form.last for form in flag.earlier)


@pytest.mark.parametrize("engine", ENGINES)
def test_versions_are_in_order(engine: str) -> None:
    for flag in table(engine).flags:
        size = 1 if table(engine).engine.builds else 4
        for span in spans(flag):
            bounds = [each for each in (span.absent, span.since, span.until) if each]
            assert all(0 < len(each) <= size and without_trailing_zeros(each) == each for each in bounds)
            assert bounds == sorted(set(bounds))
            assert not (span.gone and span.until)
        lasts = [form.last or () for form in flag.earlier]
        assert lasts == sorted(set(lasts))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_took_a_flags_place_is_a_flag(engine: str) -> None:
    for flag in table(engine).flags:
        if flag.replacement:
            heir = find(engine, flag.replacement)
            assert heir is not flag
            assert heir.span.includes(None) or (flag.span.until and heir.span.includes(flag.span.until))
        assert all(find(engine, other) is not flag for other in flag.excludes)


@given(st.sampled_from(ROWS), st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_a_version_is_never_before_and_after_a_flag(row: tuple[str, Flag], numbers: list[int]) -> None:
    version = without_trailing_zeros(tuple(numbers))
    for span in spans(row[1]):
        assert not (span.is_before(version) and span.is_after(version))
        assert not span.is_before(None)
    assert row[1].form_in(version).type in TYPES


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_a_span_holds_between_its_bounds(low: int, middle: int, high: int) -> None:
    low, middle, high = sorted((low, middle, high))
    span = VersionSpan(since=(low,), until=(high,))
    assert span.is_before((middle,)) == (middle < low)
    assert span.is_after((middle,)) == (middle >= high)
    assert span.is_after(None)


@pytest.mark.parametrize(
    ("version", "early"), [((1,), True), ((2,), True), ((3,), False), ((5,), False), (None, False)]
)
def test_nothing_is_said_between_lacking_and_having(version: Version | None, early: bool) -> None:
    assert VersionSpan(since=(5,), absent=(2,)).is_before(version) is early


@pytest.mark.parametrize(
    ("engine", "tag", "version"),
    [
        ("llamacpp", "server-b6500", (6500,)),
        ("llamacpp", "b6500", (6500,)),
        ("llamacpp", "server-cuda-b6343", (6343,)),
        ("llamacpp", "server-cuda13", None),
        ("llamacpp", "server", None),
        ("vllm", "v0.20.0", (0, 20)),
        ("vllm", "v0.8.5.post1", (0, 8, 5, POST + 1)),
        ("vllm", "nightly", None),
        ("sglang", "v0.5.4-cu129-amd64", (0, 5, 4)),
        ("tgi", "3.3.6-rocm", (3, 3, 6)),
        ("tgi", "latest", None),
    ],
)
def test_the_version_of_a_tag(engine: str, tag: str, version: Version | None) -> None:
    assert table(engine).version(tag) == version


# LLMKube spec 8 and 2: the flags that the operator emits and its newest engines know.
EMITTED = {
    "llamacpp": """--model --host --port --n-gpu-layers --split-mode --tensor-split --ctx-size --rope-scaling
        --rope-scale --yarn-orig-ctx --parallel --flash-attn --jinja --cache-type-k --cache-type-v --cpu-moe
        --n-cpu-moe --no-kv-offload --override-tensor --batch-size --ubatch-size --no-warmup --reasoning-budget
        --reasoning-budget-message --override-kv --metrics --no-jinja --reasoning -np -fa -hf -m -md -ngl -c""",
    "vllm": """--model --host --port --tensor-parallel-size --max-model-len --quantization --dtype --kv-cache-dtype
        --enable-prefix-caching --enable-chunked-prefill --max-num-batched-tokens --attention-backend
        --speculative-config --enable-expert-parallel --cpu-offload-gb --gpu-memory-utilization --max-num-seqs
        --served-model-name --no-enable-prefix-caching --no-enable-chunked-prefill -tp -pp -q""",
    "tgi": """--model-id --hostname --port --quantize --max-input-tokens --max-total-tokens --dtype --num-shard -p
        --max-input-length""",
    "sglang": """--model-path --served-model-name --host --port --tp-size --pp-size --tensor-parallel-size
        --dist-init-addr --nnodes --node-rank --enable-metrics""",
}


@pytest.mark.parametrize(
    ("engine", "name"), [(engine, name) for engine in EMITTED for name in EMITTED[engine].split()]
)
def test_the_newest_version_knows_what_is_emitted(engine: str, name: str) -> None:
    assert find(engine, name) in table(engine).known_to(NEWEST[engine])


@pytest.mark.parametrize(
    ("engine", "name", "knows", "lacks"),
    [
        ("vllm", "--speculative-model", "v0.8.2", "v0.8.3"),
        ("vllm", "--num-speculative-tokens", "v0.7.3", "v0.20.0"),
        ("vllm", "--speculative-config", "v0.8.2", "v0.7.3"),
        ("vllm", "--attention-backend", "v0.13.0", "v0.11.0"),
        ("llamacpp", "--reasoning-budget-message", "server", "server-b6500"),
        ("llamacpp", "--n-cpu-moe", "server-b6089", "server-b6088"),
        ("llamacpp", "--draft-max", "server-b6500", "server"),
        ("tgi", "--max-input-tokens", "2.0.0", "1.4.5"),
        ("tgi", "--kv-cache-dtype", "2.4.0", "2.3.1"),
        ("sglang", "--enable-mixed-chunk", "v0.4.5", None),
        ("sglang", "--pp-size", "v0.4.7", "v0.4.5-cu121"),
    ],
)
def test_which_version_knows_a_flag(engine: str, name: str, knows: str, lacks: str | None) -> None:
    flag = find(engine, name)
    assert flag in table(engine).known_to(knows)
    assert lacks is None or flag not in table(engine).known_to(lacks)


@pytest.mark.parametrize(
    ("engine", "name", "tag", "values"),
    [
        ("llamacpp", "--rope-scaling", "server", {"none", "linear", "yarn"}),
        (
            "llamacpp",
            "--cache-type-k",
            "server",
            {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"},
        ),
        ("llamacpp", "--split-mode", "server", {"none", "layer", "row", "tensor"}),
        ("llamacpp", "--split-mode", "server-b6500", {"none", "layer", "row"}),
        ("tgi", "--dtype", "3.3.6", {"float16", "bfloat16"}),
        ("tgi", "--quantize", "1.0.3", {"bitsandbytes", "bitsandbytes-nf4", "bitsandbytes-fp4", "gptq"}),
    ],
)
def test_what_an_enum_takes(engine: str, name: str, tag: str, values: set[str]) -> None:
    version = table(engine).version(tag)
    assert set(find(engine, name).form_in(version).allowed(version)) == values


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("--quantization", "awq gptq fp8 compressed-tensors", "squeezellm nvfp4"),
        ("--kv-cache-dtype", "auto fp8_e4m3 fp8_e5m2 turboquant_k8v4 turboquant_4bit_nc", "turbo2"),
        ("--attention-backend", "FLASH_ATTN FLASHINFER", "XFORMERS TORCH_SDPA"),
        ("--dtype", "auto float16 bfloat16 half", "int8"),
    ],
)
def test_values_of_vllm(name: str, has: str, lacks: str) -> None:
    version = table("vllm").version("v0.20.0")
    allowed = set(find("vllm", name).form_in(version).allowed(version))
    assert set(has.split()) <= allowed
    assert not set(lacks.split()) & allowed


@pytest.mark.parametrize(
    ("engine", "name", "tag", "kind"),
    [
        ("llamacpp", "--flash-attn", "server-b6324", "switch"),
        ("llamacpp", "--flash-attn", "server-b6325", ENUM),
        ("llamacpp", "-fa", "server", ENUM),
        ("vllm", "--enforce-eager", "v0.7.3", "switch"),
        ("vllm", "--enforce-eager", "v0.20.0", BOOL),
        ("vllm", "--enforce-eager", "v0.8.5.post1", "switch"),
        ("vllm", "--enforce-eager", "v0.9.0", BOOL),
        # A build between two releases may have both forms.
        ("vllm", "--enforce-eager", "0.9.0@", BOOL),
    ],
)
def test_a_flag_had_another_form(engine: str, name: str, tag: str, kind: str) -> None:
    assert find(engine, name).form_in(table(engine).version(tag)).type == kind
