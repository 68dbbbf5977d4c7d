"""llmaz: OpenModel, Playground, Service and BackendRuntime."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .components import BackendRuntime as BackendRuntime
    from .components import BackendRuntimeArgs as BackendRuntimeArgs
    from .components import OpenModel as OpenModel
    from .components import OpenModelArgs as OpenModelArgs
    from .components import Playground as Playground
    from .components import PlaygroundArgs as PlaygroundArgs
    from .components import Service as Service
    from .components import ServiceArgs as ServiceArgs
else:
    from ...lazy import offered

    __getattr__ = offered(
        __name__, dict.fromkeys(("BackendRuntime", "OpenModel", "Playground", "Service"), "components")
    )
