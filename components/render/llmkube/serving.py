"""What is decided of an InferenceService before its arguments and its objects are written."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...api.llmkube import InferenceService, Model
from ..findings import Findings


@dataclass(frozen=True, slots=True)
class Serving:
    """One InferenceService and the Model that it serves.

    Attributes:
        models: The Models of its namespace, by name: a draft model is one of them.
        image: Image of the container, with its tag.
        port: Port of the container, where the server listens and probes ask.
        gpus: Accelerators of one pod; 0 without.
        model_path: File of the model in the container; empty where the runtime fetches the model itself.
    """

    service: InferenceService
    model: Model
    models: Mapping[str, Model]
    namespace: str
    runtime: str
    image: str
    port: int
    gpus: int
    model_path: str
    findings: Findings

    @property
    def tag(self) -> str:
        """The image's tag, by which flags are chosen; empty for a digest alone."""
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[2]
