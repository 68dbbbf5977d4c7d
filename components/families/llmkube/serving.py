"""The context in which the arguments and objects of an InferenceService are rendered."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...contract.findings.collector import Findings
from ...engines.images import parse_image
from ...engines.registry import Engine, engine_of, engines
from ...engines.settings import Setting
from .facts import llmkube
from .types.inference_service import InferenceService, Model


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """An InferenceService with its Model and the choices derived from both.

    Attributes:
        models: The Models of its namespace by name, among them a draft model.
        image: Image of the container, with its tag.
        port: Port on which the server listens.
        gpus: Accelerators of one pod, by their number.
        claims: Whether a pod gets accelerators by claims, whose number is unknown.
        model_path: File or folder of the model in the container; empty if the runtime fetches the model itself.
        draft_path: File of the draft model in the container; empty if there is none.
        draft_repository: Repository of the draft model, if the server fetches it.
        projector_path: File of the model's projector in the container; empty if there is none.
        fields: Origin of each server setting that has been written so far.
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
    claims: bool = False
    draft_path: str = ""
    draft_repository: str = ""
    projector_path: str = ""
    fields: dict[Setting, str] = field(default_factory=dict, compare=False)

    @property
    def tag(self) -> str:
        """The tag that identifies the engine's version, by which flags are chosen; empty for a digest."""
        image, known = parse_image(self.image), self._engine
        return known.version_tag(image.repository, image.tag) if known else image.tag

    @property
    def program(self) -> str:
        """Name of the engine that the runtime stands for."""
        return llmkube().runtimes[self.runtime].engine

    @property
    def is_accelerated(self) -> bool:
        """Whether a pod has accelerators."""
        return self.gpus > 0 or self.claims

    @property
    def engine(self) -> str:
        """Name of the image's engine. A mirror may rename the image, but the runtime still identifies the engine."""
        return self._engine.name if self._engine else ""

    @property
    def _engine(self) -> Engine | None:
        return engine_of(parse_image(self.image).repository) or engines().get(self.program)
