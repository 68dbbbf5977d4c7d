"""The components of llmaz, one per kind."""

from .backend_runtime import BackendRuntime, BackendRuntimeArgs
from .open_model import OpenModel, OpenModelArgs
from .playground import Playground, PlaygroundArgs
from .service import Service, ServiceArgs

__all__ = [
    "BackendRuntime",
    "BackendRuntimeArgs",
    "OpenModel",
    "OpenModelArgs",
    "Playground",
    "PlaygroundArgs",
    "Service",
    "ServiceArgs",
]
