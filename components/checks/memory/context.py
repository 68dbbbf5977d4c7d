"""Contexts with which an engine does not start."""

from collections.abc import Container, Iterable, Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...engines.command_line import CommandLine
from ...engines.formats.rows import is_known
from ...engines.memory_settings.positions import is_scaled, scaled_context
from ...engines.memory_settings.table import memory_settings_table
from ...engines.registry import engines
from ...engines.scripts.commands import engine_line
from ...engines.settings import Setting
from .formats import setting_step
from .shapes import Shape
from .verdicts import WorkloadVerdict
from .workloads.cases import loaded_weights
from .workloads.known import KnownShapes


def longest_context(shape: Shape, line: CommandLine, variables: Container[str] = ()) -> int | None:
    """Return the longest context with which a server starts, in tokens; None without a limit, or if it is unknown.

    Args:
        shape: The model.
        line: The command line of the server.
        variables: Names of its environment variables.
    """
    table = memory_settings_table(line.engine)
    longer = table.longer_context if table else None
    # What is estimated from a name may have been trained for longer contexts than the model of that name.
    own = engine_line(line)
    if longer is None or own is None or shape.estimate or longer.variable in variables:
        return None
    if not is_known(longer.span, engines()[line.engine].version(own.tag)):
        return None
    if is_scaled(own):
        return scaled_context(own, shape.max_context) if shape.max_context else None
    return shape.max_context


def too_long(model: str, engine: str, context: int, longest: int) -> str:
    """Return why a server does not start with a context."""
    return (
        f"{model} has a context of {longest:,} tokens, and {engine} does not start with a longer one, found "
        f"{context:,}"
    )


def check_context(judged: Iterable[WorkloadVerdict]) -> Iterator[Problem]:
    """Warn about contexts above the one in the model's configuration, with which the engine does not start.

    A warning, because the limits of some models come from catalogs, which may have lower ones than the configuration.
    """
    for item in judged:
        case, server, container = item.verdict.asked, item.workload.server, item.workload.container
        # A Secret or ConfigMap may have the variable that allows longer ones.
        if case is None or case.context is None or container.get("envFrom"):
            continue
        # vLLM and SGLang read 0 as false.
        variables = {entry["name"] for entry in container.get("env") or () if entry.get("value") != "0"}
        longest = longest_context(case.shape, server.line, variables)
        if longest is None or case.context <= longest:
            continue
        reason = too_long(case.shape.name, server.line.engine, case.context, longest)
        if longest != case.shape.max_context:
            reason = reason.replace(" has a context of", ", scaled by its arguments, has a context of", 1)
        yield server.field_of(Setting.CONTEXT).problem(
            f"{reason}; {setting_step(server, Setting.CONTEXT, str(longest))}, or extend the positions as the "
            "documentation of the model describes (RoPE scaling)",
            Severity.WARNING,
            RuleId.CONTEXT_TOO_LONG,
        )


def check_inputs(judged: Iterable[WorkloadVerdict], shapes: KnownShapes) -> Iterator[Problem]:
    """Warn about batches with fewer tokens than an input may have, with which the engine does not start.

    A warning, because another file of the model may have a lower limit than its configuration
    (``sentence_bert_config.json``).
    """
    for item in judged:
        workload, settings = item.workload, item.workload.memory_settings
        line, container = engine_line(workload.server.line), workload.container
        table = memory_settings_table(line.engine) if line else None
        if line is None or table is None or table.whole_inputs is None or isinstance(settings, str):
            continue
        if container.get("envFrom") or not is_known(table.whole_inputs.span, table.engine.version(line.tag)):
            continue
        shape = shapes.find(settings.model, loaded_weights(workload, settings))
        batch = settings.batch_tokens or table.whole_inputs.tokens
        if isinstance(shape, str) or shape.estimate or (shape.max_context or 0) <= batch:
            continue
        # Few engines read an input as a whole.
        from ...engines.served.behavior import server_behavior

        if server_behavior(container, line).truncates:
            continue
        step = setting_step(workload.server, Setting.BATCH_TOKENS, str(shape.max_context))
        yield workload.server.field_of(Setting.BATCH_TOKENS).problem(
            f"{shape.name} reads inputs of {shape.max_context:,} tokens, and {line.engine} does not start if a batch "
            f"has fewer, found {batch:,}, and it does not cut inputs; {step}, or turn cutting on",
            Severity.WARNING,
            RuleId.START_REFUSED,
        )
