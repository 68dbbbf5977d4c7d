"""Where pods load the weights of a model from, and what tells a plan the size of a model that has no public name."""

import re
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from .inputs import GivenModel

if TYPE_CHECKING:
    from components.families.authoring import WeightsSource

_HUB = "hf://"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_ADDRESS = re.compile(r"[a-z][a-z0-9]*://[^\s/]+(/[^\s/]+)*", re.ASCII)
_FORMS = "a Hugging Face repository such as acme/chat-8B, or an hf://, s3://, pvc:// or other address"


def weights_source(text: str, secret: str, given: GivenModel) -> "WeightsSource":
    """Return the address of ``--weights``, or the repository that the model is named after.

    Raises:
        WorkbenchError: nothing tells where the weights are, or the value is not an address.
    """
    from components.families.authoring import WeightsSource

    if not text:
        if given.file or given.parameters:
            described = given.file or "a number of parameters"
            raise WorkbenchError(f"--yaml: {described} does not tell where pods load the weights; add --weights", 2)
        return WeightsSource(f"{_HUB}{given.name}", secret=secret)
    uri = text if "://" in text else f"{_HUB}{text}"
    is_hub = uri.startswith(_HUB)
    if not (_REPOSITORY.fullmatch(uri.removeprefix(_HUB)) if is_hub else _ADDRESS.fullmatch(uri)):
        raise WorkbenchError(f"--weights: must be {_FORMS}, found {text!r}", 2)
    if not given.parts:
        return WeightsSource(uri, secret=secret)
    if is_hub:
        return WeightsSource(uri, given.parts, secret)
    if not uri.lower().endswith(".gguf"):
        raise WorkbenchError(f"--weights: must be the address of a .gguf file for {given.file}, found {text!r}", 2)
    return WeightsSource(uri, secret=secret)


def sizing_note(weights: "WeightsSource", given: GivenModel) -> str:
    """Return how a plan gets the size of a model that it does not know by the address of its weights."""
    from components.checks.memory.workloads.known import KnownShapes

    name = weights.repository or weights.uri
    if KnownShapes().find(name, ()) == KnownShapes().find(given.name, ()):
        return ""
    key, ways = weights.files[0] if weights.files else name, []
    if given.file:
        ways.append(f"--config {key}={given.file} of validate")
    own = given.known.own.get(given.name)
    if given.parts and own and own.shape.weights_bytes:
        size = f"weightsGib: {own.shape.weights_bytes / 2**30:.2f}"
    elif given.file:
        size = f"config: {given.file}"
    else:
        size = f"parameters: {given.parameters}" if given.parameters else f"like: {given.name}"
    ways.append(f'the setting modelShapes: {{"{key}": {{{size}}}}}')
    return f"note: its memory is checked with {', or with '.join(ways)}"
