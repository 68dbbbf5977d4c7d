"""What is decided of an InferenceService before its arguments and its objects are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...contract.findings.collector import Findings
from ...engines.images import parse_image
from ...engines.registry import Engine, engine_of, engines
from ...engines.settings import Setting
from .types.inference_service import InferenceService, Model


@dataclass(frozen=True, slots=True)
class Serving:
    """One InferenceService and the Model that it serves.

    Attributes:
        models: The Models of its namespace, by name: a draft model is one of them.
        image: Image of the container, with its tag.
        port: Port of the container, where the server listens and probes ask.
        gpus: Accelerators of one pod; 0 without.
        model_path: File of the model in the container; empty where the runtime fetches the model itself.
        fields: The fields that settings of the server come from, as far as its arguments are written.
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
    fields: dict[Setting, str] = field(default_factory=dict, compare=False)

    @property
    def tag(self) -> str:
        """The image's tag as far as it tells the engine's version, by which flags are chosen; empty for a digest."""
        image, known = parse_image(self.image), self._engine
        return known.version_tag(image.repository, image.tag) if known else image.tag

    @property
    def engine(self) -> str:
        """Name of the engine that the image holds; a mirror may rename it, and the runtime still says which one."""
        return self._engine.name if self._engine else ""

    @property
    def _engine(self) -> Engine | None:
        return engine_of(parse_image(self.image).repository) or engines().get(self.runtime)
