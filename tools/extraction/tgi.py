"""The architectures that a release of Text Generation Inference runs.

``get_model`` in ``models/__init__.py`` compares the type in a model's configuration with the types that have a class
of their own, and runs other models with the classes for text of the Transformers library.
"""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

MODULES = ("server/text_generation_server/models/__init__.py", "server/text_generation/models/__init__.py")
"""The module, and where it was before 0.9."""
_LIBRARY = ("MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES")
_CLASSES = {
    "RefinedWeb": ("RWForCausalLM",),
    "RefinedWebModel": ("RWForCausalLM",),
    "baichuan": ("BaiChuanForCausalLM", "BaichuanForCausalLM"),
    "bloom": ("BloomForCausalLM",),
    "cohere": ("CohereForCausalLM",),
    "dbrx": ("DbrxForCausalLM",),
    "deepseek_v2": ("DeepseekV2ForCausalLM",),
    "deepseek_v3": ("DeepseekV3ForCausalLM",),
    "falcon": ("FalconForCausalLM",),
    "gemma": ("GemmaForCausalLM",),
    "gemma2": ("Gemma2ForCausalLM",),
    "gemma3": ("Gemma3ForConditionalGeneration",),
    "gemma3_text": ("Gemma3ForCausalLM",),
    "gpt2": ("GPT2LMHeadModel",),
    "gpt_bigcode": ("GPTBigCodeForCausalLM",),
    "gpt_neox": ("GPTNeoXForCausalLM",),
    "gptj": ("GPTJForCausalLM",),
    "granite": ("GraniteForCausalLM",),
    "idefics": ("IdeficsForVisionText2Text",),
    "idefics2": ("Idefics2ForConditionalGeneration",),
    "idefics3": ("Idefics3ForConditionalGeneration",),
    "llama": ("LlamaForCausalLM",),
    "llama4": ("Llama4ForCausalLM", "Llama4ForConditionalGeneration"),
    "llava_next": ("LlavaNextForConditionalGeneration",),
    "mamba": ("MambaForCausalLM",),
    "mistral": ("MistralForCausalLM",),
    "mixtral": ("MixtralForCausalLM",),
    "mllama": ("MllamaForConditionalGeneration",),
    "mpt": ("MPTForCausalLM", "MptForCausalLM"),
    "opt": ("OPTForCausalLM",),
    "paligemma": ("PaliGemmaForConditionalGeneration",),
    "phi": ("PhiForCausalLM",),
    "phi-msft": ("PhiForCausalLM",),
    "phi3": ("Phi3ForCausalLM",),
    "phimoe": ("PhiMoEForCausalLM", "PhimoeForCausalLM"),
    "qwen2": ("Qwen2ForCausalLM",),
    "qwen2_5_vl": ("Qwen2_5_VLForConditionalGeneration",),
    "qwen2_vl": ("Qwen2VLForConditionalGeneration",),
    "starcoder2": ("Starcoder2ForCausalLM",),
    "t5": ("T5ForConditionalGeneration",),
}
"""Architectures by the type in a model's configuration."""
_OTHER_TYPES = frozenset({"mlp_speculator", "ssm"})
"""Types of drafts, and of a model whose configuration names no architecture."""


def source_of(folder: Path, tag: str, *modules: str) -> str:
    """Return the text of the first module that the release of a tag has, from a Git repository."""
    for module in modules:
        shown = subprocess.run(
            ["git", "-C", str(folder), "show", f"{tag}:{module}"], check=False, capture_output=True, text=True
        )
        if shown.returncode == 0:
            return shown.stdout
    raise FileNotFoundError(f"{tag}:{modules[0]}")


def tgi_architectures(source: str) -> set[str]:
    """Return the architectures that have a class of their own.

    Raises:
        KeyError: The architectures of a type are not known.
    """
    types = set(_types(ast.parse(source))) - _OTHER_TYPES
    return {architecture for name in types for architecture in _CLASSES[name]}


def library_architectures(source: str) -> set[str]:
    """Return the architectures for text of the Transformers library, from its ``models/auto/modeling_auto.py``."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[pairs]))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(args=[pairs]))
            ) if name in _LIBRARY:
                found |= {text for _, text in ast.literal_eval(pairs) if isinstance(text, str)}
    return found


def _types(tree: ast.Module) -> Iterator[str]:
    """Yield the types that are compared with that of the model."""
    named: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "ModelType":
            for member in node.body:
                match member:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as facts):
                        named[name] = ast.literal_eval(facts)["type"]
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.Name(id="model_type") | ast.Attribute(attr="model_type"), comparators=[compared]
            ):
                values = compared.elts if isinstance(compared, ast.List | ast.Tuple | ast.Set) else [compared]
                for value in values:
                    match value:
                        case ast.Constant(value=str() as text):
                            yield text
                        case ast.Name(id=name) if name in named:
                            yield named[name]
