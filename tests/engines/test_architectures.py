"""The releases of an engine that can run an architecture."""

import hashlib
import os
from pathlib import Path

import pytest
import yaml
from extraction.architectures import ARCHITECTURES, sglang_architectures, vllm_architectures, with_release
from extraction.llamacpp import conversions_of, converted_classes
from extraction.sources import PackageSources
from extraction.tei import tei_architectures
from extraction.tgi import library_architectures, tgi_architectures

from components.engines.architectures import support_of
from components.engines.registry import engines
from components.engines.versions import ANY, VersionSpan, format_version, version_of

PACKAGES = Path(os.environ.get("INFERENCE_PLATFORM_ENGINES", "/nonexistent"))
"""Folder with the packages of the engines, as ENGINE/VERSION."""


@pytest.mark.parametrize(
    ("engine", "architecture", "first"),
    [
        # The release notes of vLLM name the first release with each of these models.
        ("vllm", "Qwen3ForCausalLM", "0.8.4"),
        ("vllm", "Gemma3ForConditionalGeneration", "0.8"),
        ("vllm", "Llama4ForConditionalGeneration", "0.8.3"),
        ("vllm", "GptOssForCausalLM", "0.10.1"),
        ("vllm", "Qwen3NextForCausalLM", "0.10.2"),
        ("vllm", "LlamaForCausalLM", None),
        ("sglang", "Llama4ForConditionalGeneration", "0.4.5"),
        ("sglang", "GptOssForCausalLM", "0.5.1"),
        ("sglang", "LlamaForCausalLM", None),
        # Release notes of Text Generation Inference.
        ("tgi", "Gemma3ForConditionalGeneration", "3.2.0"),
        ("tgi", "Llama4ForConditionalGeneration", "3.2.2"),
        ("tgi", "MixtralForCausalLM", "1.3.0"),
        ("tgi", "GptOssForCausalLM", None),
        ("tgi", "Qwen3ForCausalLM", "3.2.3"),
    ],
)
def test_the_first_release(engine: str, architecture: str, first: str | None) -> None:
    support = support_of(engines()[engine], architecture)
    assert support
    assert support.first == (version_of(first) if first else None)


@pytest.mark.parametrize(
    ("engine", "architecture", "version", "lacks"),
    [
        ("vllm", "Gemma3ForConditionalGeneration", "0.7.3", True),
        ("vllm", "Gemma3ForConditionalGeneration", "0.8.0", False),
        # The image of 0.8.3 has Transformers 4.51, whose code vLLM runs, and the one of 0.8.2 has 4.50.
        ("vllm", "Qwen3ForCausalLM", "0.8.2", True),
        ("vllm", "Qwen3ForCausalLM", "0.8.3", False),
        # _PREVIOUSLY_SUPPORTED_MODELS in vllm/model_executor/models/registry.py at 0.33.0 has their last releases.
        ("vllm", "Phi4FlashForCausalLM", "0.9.2", True),
        ("vllm", "Phi4FlashForCausalLM", "0.10.2", False),
        ("vllm", "Phi4FlashForCausalLM", "0.11.0", True),
        ("vllm", "QWenLMHeadModel", "0.23.0", False),
        ("vllm", "QWenLMHeadModel", "0.24.0", True),
        ("vllm", "Plamo2ForCausalLM", "0.27.0", True),
        # Removed, but the Transformers library in the images has it.
        ("vllm", "ChameleonForConditionalGeneration", "0.29.0", False),
        # Older than the table, and newer than it.
        ("vllm", "Gemma3ForConditionalGeneration", "0.6.3", True),
        ("vllm", "QWenLMHeadModel", "9.0.0", False),
        ("sglang", "GptOssForCausalLM", "0.4.10", True),
        ("sglang", "GptOssForCausalLM", "0.5.2", False),
        # SGLang runs the code of the Transformers library since 0.4.5.
        ("sglang", "Glm4ForCausalLM", "0.4.7", False),
        ("sglang", "Glm4ForCausalLM", "0.4.6", True),
        # New in 0.4.5.post2 and 0.4.4.post2.
        ("sglang", "Qwen3ForCausalLM", "0.4.5", True),
        ("sglang", "Qwen3ForCausalLM", "0.4.5.post3", False),
        ("sglang", "Gemma3ForConditionalGeneration", "0.4.4.post1", True),
        ("sglang", "Gemma3ForConditionalGeneration", "0.4.5", False),
        # With the code of the Transformers library 4.51.
        ("tgi", "Qwen3ForCausalLM", "3.2.2", True),
        ("tgi", "Qwen3ForCausalLM", "3.3.6", False),
        ("tgi", "GptOssForCausalLM", "3.3.7", True),
        ("tgi", "GptOssForCausalLM", "3.4.0", False),
        ("tgi", "LlamaForCausalLM", "1.0.0", False),
        # Release notes of Text Embeddings Inference: Qwen3 in 1.7.2, ModernBERT in 1.7.0, Gemma3 in 1.8.1.
        ("tei", "Qwen3ForCausalLM", "1.7.1", True),
        ("tei", "Qwen3ForCausalLM", "1.7.2", False),
        ("tei", "ModernBertModel", "1.6.1", True),
        ("tei", "Gemma3TextModel", "1.8.0", True),
        ("tei", "Gemma3TextModel", "1.8.1", False),
        ("tei", "XLMRobertaModel", "1.0.0", False),
        ("tei", "GptOssForCausalLM", "1.9.3", True),
    ],
)
def test_releases_that_lack_it(engine: str, architecture: str, version: str, *, lacks: bool) -> None:
    support = support_of(engines()[engine], architecture)
    assert support
    assert support.lacks(version_of(version)) is lacks


@pytest.mark.parametrize(
    ("architecture", "build", "lacks"),
    [
        # ggml-org/llama.cpp pull requests 12828, 15091, 12343 and 16095, by the release that contains them.
        ("Qwen3ForCausalLM", 5091, True),
        ("Qwen3ForCausalLM", 5092, False),
        ("GptOssForCausalLM", 6095, True),
        ("GptOssForCausalLM", 6096, False),
        ("Gemma3ForConditionalGeneration", 4719, True),
        ("Gemma3ForConditionalGeneration", 4875, False),
        ("Qwen3NextForCausalLM", 7000, True),
        ("LlamaForCausalLM", 4000, False),
        ("Qwen3ForCausalLM", 11434, False),
    ],
)
def test_builds_that_lack_it(architecture: str, build: int, *, lacks: bool) -> None:
    support = support_of(engines()["llamacpp"], architecture)
    assert support
    assert support.lacks((build,)) is lacks


TGI_MODELS = """
class ModelType(enum.Enum):
    LLAMA = {"type": "llama", "name": "Llama"}
    PHI = {"type": "phi-msft", "name": "Phi"}
def get_model(model_type, config_dict):
    if model_type == LLAMA or config_dict.model_type == PHI:
        return 1
    if model_type in ["RefinedWeb", "falcon"]:
        return 2
    elif model_type == "mlp_speculator":
        return 3
"""
LIBRARY = """
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict([("qwen3", "Qwen3ForCausalLM")])
MODEL_FOR_MASKED_LM_MAPPING_NAMES = OrderedDict([("bert", "BertForMaskedLM")])
"""
CONVERSION = """
class Base: ...
@Base.register("LlamaForCausalLM", "MistralForCausalLM")
class Llama(Base):
    model_arch = gguf.MODEL_ARCH.LLAMA
@Base.register("Llama4ForCausalLM")
class Llama4(Llama): ...
@Base.register("LlavaForConditionalGeneration")
class Vision(Base):
    model_arch = gguf.MODEL_ARCH.MMPROJ
"""


TEI_MODELS = """
enum Config {
    Bert(BertConfigWrapper),
    #[allow(dead_code)] // NOTE: with `cuda` only
    #[serde(alias = "llama_bidirec")]
    Llama(LlamaConfig),
    #[serde(rename(deserialize = "gemma3_text"))]
    Gemma3(Gemma3Config),
    #[serde(rename = "mpnet")]
    MPNet(MPNetConfig),
    XlmRoberta(BertConfig),
}
"""


def test_types_of_tei_are_read_from_its_source() -> None:
    found = tei_architectures(TEI_MODELS)
    assert {"BertModel", "LlamaModel", "LlamaBidirectionalModel", "Gemma3TextModel", "MPNetModel"} <= found
    assert {"XLMRobertaModel", "XLMRobertaForSequenceClassification"} <= found
    assert "Qwen3ForCausalLM" not in found
    with pytest.raises(KeyError):
        tei_architectures("enum Config {\n    Nobody(NobodyConfig),\n}")


def test_types_of_tgi_are_read_from_its_source() -> None:
    assert tgi_architectures(TGI_MODELS) == {
        "LlamaForCausalLM", "PhiForCausalLM", "RWForCausalLM", "FalconForCausalLM"
    }  # fmt: skip
    assert library_architectures(LIBRARY) == {"Qwen3ForCausalLM"}
    with pytest.raises(KeyError):
        tgi_architectures('model_type == "nobody"')


def test_conversions_of_llamacpp_are_read_from_its_source() -> None:
    assert conversions_of(converted_classes(CONVERSION)) == {
        "LlamaForCausalLM": {"LLAMA"},
        "MistralForCausalLM": {"LLAMA"},
        "Llama4ForCausalLM": {"LLAMA"},
        "LlavaForConditionalGeneration": set(),
    }


@pytest.mark.parametrize("architecture", ["Qwen3ForCausalLM", "QWenLMHeadModel"])
def test_the_newest_and_an_unknown_version_lack_nothing(architecture: str) -> None:
    support = support_of(engines()["vllm"], architecture)
    assert support
    assert not support.lacks(None)
    assert not support.lacks(ANY)


def test_what_no_table_lists_is_unknown() -> None:
    assert support_of(engines()["vllm"], "NobodyForCausalLM") is None
    assert support_of(engines()["vllm"], "") is None
    assert support_of(engines()["ollama"], "LlamaForCausalLM") is None


VLLM_REGISTRY = """
_TEXT = {
    "LlamaForCausalLM": ("llama", "LlamaForCausalLM"),
    "AquilaModel": ("llama", "LlamaForCausalLM"),
    "OPTForCausalLM": ("opt", "OPTForCausalLM"),
    **{k: (mod, arch) for k, (mod, arch) in _MORE.items() if arch == "LlamaForCausalLM"},
}
_MORE = {"YiForCausalLM": ("llama", "LlamaForCausalLM"), "Other": ("other", "Other")}
_FALLBACK = {"TransformersForCausalLM": ("transformers", "TransformersForCausalLM")}
_VLLM_MODELS = {**_TEXT, **_FALLBACK}
"""


def test_registries_are_read_from_the_sources(tmp_path: Path) -> None:
    registry = tmp_path / "vllm/model_executor/models/registry.py"
    registry.parent.mkdir(parents=True)
    registry.write_text(VLLM_REGISTRY)
    assert vllm_architectures(PackageSources(tmp_path)) == {
        "LlamaForCausalLM", "AquilaModel", "OPTForCausalLM", "YiForCausalLM", "TransformersForCausalLM",
    }  # fmt: skip

    models = tmp_path / "sglang/srt/models"
    models.joinpath("parts").mkdir(parents=True)
    models.joinpath("llama.py").write_text("\ufeffclass A: ...\nclass B(A): ...\nEntryClass = [A, B]\n", "utf-8")
    models.joinpath("opt.py").write_text("class C: ...\nEntryClass = C\n")
    models.joinpath("parts/__init__.py").write_text("class D: ...\nEntryClass = D\n")
    assert sglang_architectures(PackageSources(tmp_path)) == {"A", "B", "C"}


def test_releases_are_added_one_by_one() -> None:
    text = "# A test.\n"
    text = with_release(text, (0, 1), {"Old", "Kept"})
    text = with_release(text, (0, 2), {"Kept", "New", "TransformersForCausalLM"}, {"Kept", "Late"})
    text = with_release(text, (0, 3), {"Kept", "New", "Late", "TransformersForCausalLM"}, {"Kept", "Old"})
    # A post-release adds to the release of its number, which does not have what is new.
    text = with_release(text, (0, 3), {"Kept", "Post"}, post=1)
    assert text == (
        "# A test.\n"
        "releases: [[0, 1], [0, 2], [0, 3]]\n"
        "architectures:\n"
        "  Kept: {}\n"
        "  Late: {from: [0, 3], fallback: [0, 2]}\n"
        "  New: {from: [0, 2]}\n"
        "  Old: {until: [0, 2], fallback: [0, 3]}\n"
        "  Post: {from: 0.3.post1}\n"
        "  TransformersForCausalLM: {from: [0, 2]}\n"
    )
    with pytest.raises(ValueError, match=r"lists releases up to 0\.3"):
        with_release(text, (0, 2), set())


DIGESTS = {"vllm": "9191bf3936e9e507", "sglang": "b6fd7996f2fed63e"}
"""Of the architectures of every release, from a table that was compared with the packages."""


@pytest.mark.parametrize("engine", sorted(DIGESTS))
def test_every_release_has_what_its_package_registers(engine: str) -> None:
    table = yaml.safe_load(engines()[engine].folder.joinpath("architectures.yaml").read_text(encoding="utf-8"))
    spans = {name: VersionSpan.from_row(row) for name, row in table["architectures"].items()}
    digest = hashlib.sha256()
    for release in map(tuple, table["releases"]):
        registered = sorted(name for name, span in spans.items() if span.includes(release))
        digest.update(f"{release} {registered}\n".encode())
        folder = PACKAGES / engine / format_version(release)
        folder = folder if (folder / engine).exists() else folder / "python"
        if folder.exists():
            assert set(registered) >= ARCHITECTURES[engine](PackageSources(folder))
    assert digest.hexdigest()[:16] == DIGESTS[engine]
