"""llmaz: OpenModel, Playground, Service and BackendRuntime."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...resources.llmaz import BackendRuntime as BackendRuntime
    from ...resources.llmaz import BackendRuntimeArgs as BackendRuntimeArgs
    from ...resources.llmaz import OpenModel as OpenModel
    from ...resources.llmaz import OpenModelArgs as OpenModelArgs
    from ...resources.llmaz import Playground as Playground
    from ...resources.llmaz import PlaygroundArgs as PlaygroundArgs
    from ...resources.llmaz import Service as Service
    from ...resources.llmaz import ServiceArgs as ServiceArgs
else:
    from ...contract.lazy import lazy_exports

    __getattr__ = lazy_exports(
        __name__, dict.fromkeys(("BackendRuntime", "OpenModel", "Playground", "Service"), "..resources.llmaz")
    )
