"""The architectures that a release of Text Embeddings Inference runs on GPUs.

The enum ``Config`` of the Candle backend has a variant for each ``model_type`` of a configuration.
"""

import re

MODULE = "backends/candle/src/lib.rs"
_CONFIG = re.compile(r"^enum Config \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_VARIANT = re.compile(r"((?:\s*#\[[^\n]*\])*)\s*(\w+)\(\w+\)")
_NAMES = re.compile(r'(?:rename\(deserialize|rename|alias)\s*=\s*"([^"]+)"')
_COMMENT = re.compile(r"//[^\n]*")
_CLASSES = {
    "bert": ("BertModel", "BertForMaskedLM", "BertForSequenceClassification", "JinaBertForMaskedLM"),
    "bidirectional-pplx-qwen3": (),
    "camembert": ("CamembertModel", "CamembertForMaskedLM", "CamembertForSequenceClassification"),
    "deberta-v2": ("DebertaV2ForSequenceClassification",),
    "distilbert": ("DistilBertModel", "DistilBertForMaskedLM"),
    "gemma3-text": ("Gemma3TextModel",),
    "gte": (),
    "llama": ("LlamaModel", "LlamaForCausalLM"),
    "llama-bidirec": ("LlamaBidirectionalModel",),
    "mistral": ("MistralModel", "MistralForCausalLM"),
    "modernbert": ("ModernBertModel", "ModernBertForMaskedLM", "ModernBertForSequenceClassification"),
    "mpnet": ("MPNetModel", "MPNetForMaskedLM"),
    "new": ("NewModel",),
    "nomic-bert": ("NomicBertModel",),
    "qwen2": ("Qwen2Model", "Qwen2ForCausalLM"),
    "qwen3": ("Qwen3Model", "Qwen3ForCausalLM"),
    "roberta": ("RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification"),
    "xlm-roberta": ("XLMRobertaModel", "XLMRobertaForMaskedLM", "XLMRobertaForSequenceClassification"),
}
"""Architectures by the type in a model's configuration. ``gte`` is a type that no known configuration states."""


def tei_architectures(source: str) -> set[str]:
    """Return the architectures that a release runs, from the text of :data:`MODULE`.

    Raises:
        KeyError: The architectures of a type are not known.
    """
    found = _CONFIG.search(_COMMENT.sub("", source))
    types: set[str] = set()
    for attributes, variant in _VARIANT.findall(found[1] if found else ""):
        names = _NAMES.findall(attributes)
        is_renamed = "rename" in attributes
        own = re.sub(r"(?<!^)(?=[A-Z])", "-", variant).lower()
        types |= {name.replace("_", "-") for name in (*names, *(() if is_renamed else (own,)))}
    return {architecture for name in types for architecture in _CLASSES[name]}
