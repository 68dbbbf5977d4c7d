"""The architectures of known models.

``architectures.csv`` has the architectures in the configurations of models. Its sources:

    configuration: the configuration that is the source of the model in ``models.csv``.
    aiconfigurator, kaito, ome: configurations and catalogs in ai-dynamo/aiconfigurator@095f58a5,
      kaito-project/kaito@056b8280 and sgl-project/ome@17b77eda.
    vllm-tests, vllm-configurations, vllm-documentation: the models with which vLLM tests each architecture
      (tests/models/registry.py), what it reads from their configurations
      (tests/config/base_model_arch_groundtruth.json), and its documentation (docs), 0.7.0 to 0.33.0.
    transformers-documentation: the documentation of the model's class in the Transformers library.
    series: no document names the architecture of this model: it is that of its siblings or of the model that it is
      made of.

Models of Mistral AI whose repositories also have a configuration in its own format (``params.json``) are left out
where the two name different architectures: since 0.12.0, vLLM prefers the latter.
"""

import functools
import re
from collections.abc import Mapping
from importlib.resources import files

_FILE_ENDING = re.compile(
    r"([-_.](UD-)?(I?Q\d\w*|TQ\d\w*|B?F16|F32|MXFP4))?([-_.]\d+-of-\d+)?(\.gguf)?$", re.IGNORECASE
)
"""What llama.cpp's files have after the name of the model: a type, and the number of a part."""


@functools.cache
def _table() -> Mapping[str, str]:
    rows = files(__package__).joinpath("architectures.csv").read_text(encoding="utf-8").splitlines()[1:]
    return {name: architecture for name, architecture, _ in (row.split(",") for row in rows)}


def architecture_of(name: str) -> str:
    """Return the architecture of a known model, or of one with the same name and another number format.

    Empty if it is unknown.
    """
    known = _table().get(name)
    if known is None:
        # Imported for models outside of the table only: many regular expressions.
        from .naming import normalized_name

        known = _by_normalized_name().get(normalized_name(name), "")
    return known


def architecture_of_file(name: str) -> str:
    """Return the architecture of the model in a single file, from its path, its address or its repository.

    Empty if it is unknown.
    """
    address = name.rpartition("://")[2].partition(":")[0]
    found = (architecture_of(_FILE_ENDING.sub("", part)) for part in reversed(address.split("/")))
    return next(filter(None, found), "")


@functools.cache
def _by_normalized_name() -> Mapping[str, str]:
    from .naming import normalized_name

    return {normalized_name(name): architecture for name, architecture in _table().items()}
