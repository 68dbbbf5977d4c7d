"""Output formats of an inspection: a table for terminals, JSON, and an HTML page."""

import enum
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.contract.problems import Problem
from components.contract.texts.printable import printable

from .inspection import InspectedModel, Inspection, worst_severity

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

SCHEMA_VERSION = 1
"""Incremented if a key is renamed or removed, or changes its meaning, but not if a key is added."""
LOG_WIDTH = 240
"""Width for logs, so that names are not truncated."""
_COLORS = {"error": "bold red", "warning": "yellow", "note": "dim"}
_FIT_COLORS = {"exceeded": "bold red", "tight": "yellow", "fits": "green"}
_BADGES = {"exceeded": "bad", "tight": "tight", "fits": "good"}


class InspectFormat(enum.StrEnum):
    """Output format of an inspection."""

    TABLE = "table"
    JSON = "json"
    HTML = "html"


def write(inspection: Inspection, form: InspectFormat) -> str:
    """Return an inspection in a format."""
    if form is InspectFormat.JSON:
        return json.dumps(document(inspection), indent=2) + "\n"
    return html(inspection) if form is InspectFormat.HTML else text(inspection)


def show(inspection: Inspection, form: InspectFormat) -> str:
    """Return an inspection for stdout; a table is as wide as the terminal, and colored if that supports it."""
    if form is not InspectFormat.TABLE:
        return write(inspection, form)
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        return text(inspection)
    return text(inspection, console.width, colors=console.color_system is not None and not console.no_color)


# JSON


def document(inspection: Inspection) -> dict[str, Any]:
    """Return the document that ``docs/inspect.md`` describes. Amounts are strings, to avoid rounding."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "source": inspection.source,
        "serverVersion": inspection.server_version,
        "namespaces": list(inspection.namespaces),
        "models": [_model_document(model) for model in inspection.models],
        "findings": [_finding(problem) for problem in inspection.findings],
        "missing": [
            {
                "verb": missing.verb,
                "group": missing.group,
                "resource": missing.resource,
                "namespace": missing.namespace,
                "denied": missing.denied,
                "reason": missing.reason,
                "unchecked": missing.tells,
            }
            for missing in inspection.missing
        ],
        "absent": list(inspection.absent),
        "unreadable": [_finding(problem) | {"file": problem.file} for problem in inspection.unreadable],
    }


def _model_document(model: InspectedModel) -> dict[str, Any]:
    _, kind, namespace, name = model.identity
    return {
        "resource": {"apiVersion": model.api_version, "kind": kind, "namespace": namespace, "name": name},
        "models": list(model.models),
        "family": model.family,
        "release": model.release,
        "owner": {"kind": model.owner.kind, "name": model.owner.name, "detail": model.owner.detail},
        "replicas": {"desired": model.desired, "ready": model.ready},
        "accelerators": model.accelerators,
        "workloads": [
            {
                "title": part.title,
                "role": part.role,
                "engine": part.engine,
                "version": part.version,
                "image": part.image,
                "parallelism": {
                    "tensor": part.tensor,
                    "pipeline": part.pipeline,
                    "data": part.data,
                    "pods": part.pods,
                },
                "acceleratorResource": part.resource,
                "acceleratorsPerReplica": part.accelerators,
                "replicas": {"desired": part.desired, "ready": part.ready},
            }
            for part in model.parts
        ],
        "nodes": [
            {
                "instanceType": use.instance_type,
                "capacity": use.capacity,
                "region": use.region,
                "names": list(use.names),
            }
            for use in model.nodes
        ],
        "autoscalers": [
            {"kind": scaler.kind, "name": scaler.name, "minimum": scaler.minimum, "maximum": scaler.maximum}
            for scaler in model.autoscalers
        ],
        "endpoints": list(model.endpoints),
        "memory": {"fit": model.fit, "text": model.memory},
        "cost": {
            "usdPerHour": _amount(model.price.usd_per_hour),
            "usdPerMonth": _amount(model.price.usd_per_month),
            "region": model.price.region,
            "bought": model.price.bought,
            "source": model.price.source,
            "unpriced": model.price.unpriced,
        },
        "secrets": list(model.secrets),
        "findings": [_finding(problem) for problem in model.findings],
        "unchecked": list(model.unchecked),
    }


def _amount(usd: Decimal | None) -> str | None:
    return None if usd is None else f"{usd:.4f}".rstrip("0").rstrip(".")


def _finding(problem: Problem) -> dict[str, Any]:
    values = problem.as_dict()
    keys = ("rule", "severity", "kind", "namespace", "name", "path", "reason", "ignored")
    return {key: values[key] for key in keys}


# Texts of the table and the page


def replicas(model: InspectedModel) -> str:
    ready = "?" if model.ready is None else str(model.ready)
    return f"{ready}/{model.desired}"


def engines(model: InspectedModel) -> str:
    names = dict.fromkeys(" ".join(filter(None, (part.engine, part.version))) or "unknown" for part in model.parts)
    return ", ".join(names)


def parallelism(model: InspectedModel) -> str:
    words = dict.fromkeys(
        " ".join(
            filter(None, (part.role, part.parallelism, f"{part.pods} pods" if part.pods > 1 else "")),
        )
        for part in model.parts
    )
    return ", ".join(filter(None, words)) or "-"


def accelerators(model: InspectedModel) -> str:
    """Return the number of accelerators; with their resource if they are no GPUs."""
    counts = Counter[str]()
    for part in model.parts:
        counts[part.resource] += part.accelerators * part.desired
    texts = (
        str(count) if resource.endswith("/gpu") else f"{count} {resource}"
        for resource, count in counts.items()
        if count
    )
    return ", ".join(texts) or "-"


def nodes(model: InspectedModel) -> str:
    texts = (
        f"{len(use.names)} x {use.instance_type or 'unknown type'}" + (f" ({use.capacity})" if use.capacity else "")
        for use in model.nodes
    )
    return ", ".join(texts) or "-"


def cost(model: InspectedModel) -> str:
    usd = model.price.usd_per_month
    return "unknown" if usd is None else f"${usd:,.2f}"


def finding_counts(model: InspectedModel) -> str:
    """Return the number of findings by severity, such as ``1 error, 2 warnings``."""
    numbers = {
        severity: sum(problem.severity == severity and not problem.ignored for problem in model.findings)
        for severity in ("error", "warning", "note")
    }
    return ", ".join(f"{number} {word}{'s' * (number != 1)}" for word, number in numbers.items() if number) or "-"


def place(problem: Problem) -> str:
    """Return the object and the field of a finding."""
    subject = f"{problem.namespace}/" if problem.namespace else ""
    name = f"{problem.kind} {subject}{problem.name}" if problem.kind else problem.file
    return ": ".join(filter(None, (name, problem.path)))


def headline(inspection: Inspection) -> str:
    """Return the result in one sentence."""
    number = len(inspection.models)
    errors = sum(problem.is_error for problem in inspection.all_findings)
    gpus = sum(model.accelerators for model in inspection.models)
    priced = [model.price.usd_per_month for model in inspection.models if model.price.usd_per_month is not None]
    total = f", ${sum(priced, Decimal(0)):,.2f} a month" if priced else ""
    unpriced = len(inspection.models) - len(priced)
    without = f" without {unpriced} of unknown cost" if priced and unpriced else ""
    return (
        f"{number} model{'s' * (number != 1)}, {gpus} accelerators{total}{without}; "
        f"{errors or 'no'} error{'s' * (errors != 1)}"
    )


# Table

_COLUMNS: Mapping[str, Callable[[InspectedModel], str]] = {
    "resource": lambda model: f"{model.identity[2]}/{model.title}",
    "model": lambda model: ", ".join(model.models) or "-",
    "engine": engines,
    "parallel": parallelism,
    "GPUs": accelerators,
    "nodes": nodes,
    "ready": replicas,
    "autoscaler": lambda model: ", ".join(scaler.text for scaler in model.autoscalers) or "-",
    "memory": lambda model: str(model.fit) if model.memory else "-",
    "$/month": cost,
    "findings": finding_counts,
    "owner": lambda model: model.owner.text,
    # All addresses inside the cluster have the same scheme and domain.
    "endpoint": lambda model: (
        ", ".join(
            endpoint.removeprefix("http://").replace(".svc.cluster.local", "", 1) for endpoint in model.endpoints
        )
        or "-"
    ),
}
_WIDE = 160
"""Width below which some columns are left out, because the others would be unreadable."""
_WIDE_COLUMNS = ("parallel", "nodes", "autoscaler", "owner", "endpoint")


def text(inspection: Inspection, width: int = LOG_WIDTH, *, colors: bool = False) -> str:
    """Return an inspection as text of a given width."""
    from rich.console import Console

    output = StringIO()
    console = Console(file=output, width=width, force_terminal=colors, highlight=False, no_color=not colors)
    for part in _sections(inspection, width):
        console.print(part)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def _sections(inspection: Inspection, width: int) -> "Iterator[RenderableType]":
    version = f" ({inspection.server_version})" if inspection.server_version else ""
    yield _text(f"{inspection.source}{version}: {headline(inspection)}", "bold")
    if inspection.models:
        yield from ("", _table(inspection.models, width))
        if width < _WIDE:
            yield _text(f"{', '.join(_WIDE_COLUMNS)}: in a wider terminal, or with --output html", "dim")
    groups = [(model, model.findings) for model in inspection.models if model.findings]
    if groups or inspection.findings:
        yield from _heading("Findings")
    for model, problems in groups:
        yield _text(f"{model.identity[2]}/{model.title}", _COLORS.get(worst_severity(problems), ""))
        yield from map(_finding_text, problems)
    yield from map(_finding_text, inspection.findings)
    unchecked = [(model, reason) for model in inspection.models for reason in model.unchecked]
    if unchecked:
        yield from _heading("Not checked")
        by_reason: dict[str, list[str]] = {}
        for model, reason in unchecked:
            by_reason.setdefault(reason, []).append(f"{model.identity[2]}/{model.title}")
        yield from (_text(f"  {reason}: {', '.join(dict.fromkeys(names))}") for reason, names in by_reason.items())
    if inspection.missing:
        yield from _heading("Not read")
        for missing in inspection.missing:
            right = "needs the right to " if missing.denied else "failed to "
            reason = "" if missing.denied else f" ({missing.reason})"
            yield _text(f"  {right}{missing.title}{reason}: {missing.tells}")
    if inspection.unreadable:
        yield from _heading("Files that cannot be read")
        yield from (_text(f"  {problem}") for problem in inspection.unreadable)


def _table(models: Sequence[InspectedModel], width: int) -> "Table":
    from rich.table import Table

    table = Table(box=None, title="Models", title_justify="left", title_style="bold", pad_edge=False)
    columns = {name: cell for name, cell in _COLUMNS.items() if width >= _WIDE or name not in _WIDE_COLUMNS}
    for name in columns:
        table.add_column(name, overflow="fold")
    for model in models:
        styles = {
            "memory": _FIT_COLORS.get(model.fit, ""),
            "findings": _COLORS.get(worst_severity(model.findings), ""),
        }
        table.add_row(*(_text(cell(model), styles.get(name, "")) for name, cell in columns.items()))
    return table


def _finding_text(problem: Problem) -> "Text":
    ignored = f" (ignored: {problem.ignored})" if problem.ignored else ""
    line = f"  {problem.severity}: {place(problem)}: {problem.reason} [{problem.rule}]{ignored}"
    return _text(line, _COLORS.get(problem.severity, ""))


def _heading(title: str) -> "Iterator[RenderableType]":
    yield from ("", _text(title, "bold"))


def _text(content: str, style: str = "") -> "Text":
    """Return text without markup and control characters."""
    from rich.text import Text

    return Text(printable(content), style)


# HTML


def html(inspection: Inspection) -> str:
    """Return an inspection as a page."""
    from ..planning.formats.html.template import load_template, stylesheet

    style = stylesheet()
    return load_template(Path(__file__).parent, "report.html").render(
        style=style.text,
        digest=style.digest,
        inspection=inspection,
        headline=headline(inspection),
        badges=_BADGES,
        accelerators=accelerators,
        cost=cost,
        engines=engines,
        finding_counts=finding_counts,
        nodes=nodes,
        parallelism=parallelism,
        place=place,
        replicas=replicas,
    )
