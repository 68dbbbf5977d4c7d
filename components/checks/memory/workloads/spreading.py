"""The fields and flags that set a model's parallelism."""

from ....engines.registry import engines
from ....engines.scripts.commands import engine_line
from ....engines.settings import Setting
from ....fleet.workloads import Server, SpreadField


def spread_field(server: Server) -> SpreadField | None:
    """Return the fields that set parallelism: those of the family, else flags of the engine.

    None if the engine has no flag for it, such as llama.cpp, which uses all accelerators by default.
    """
    if server.spread is not None:
        return server.spread
    line = engine_line(server.line) or server.line
    engine = engines().get(line.engine)
    tensor = engine.flag(Setting.TENSOR_PARALLEL) if engine else None
    if engine is None or tensor is None:
        return None
    place = "" if server.is_written else server.args.path

    def step(setting: Setting, flag: str, degree: str) -> str:
        if line.holds(setting):
            return f"set {flag} to {degree}" + (f" in {place}" if place else "")
        return f"add {flag} {degree}" + (f" to {place}" if place else "")

    sharing = step(Setting.TENSOR_PARALLEL, tensor, "{tensor}")
    pipeline = engine.flag(Setting.PIPELINE_PARALLEL)
    both = f"{sharing} and {step(Setting.PIPELINE_PARALLEL, pipeline, '{pipeline}')}" if pipeline else ""
    return SpreadField(sharing, both)
