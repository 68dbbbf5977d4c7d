"""The components of llmaz, one per kind."""

from .args import BackendRuntimeArgs, OpenModelArgs, PlaygroundArgs, ServiceArgs
from .backend_runtime import BackendRuntime
from .open_model import OpenModel
from .playground import Playground
from .service import Service

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
