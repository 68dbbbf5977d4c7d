"""Output formats of an inspection: text for a screen, JSON, and an HTML page."""

import enum
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from components.contract.problems import Problem
from toolkit.printing import pluralize
from toolkit.screen import Message, Screen, Styled, TableColumn, hidden_findings

from ..planning.wording.fits import fit_label
from .inspection import InspectedModel, Inspection, worst_severity

SCHEMA_VERSION = 1
"""Incremented if a key is renamed or removed, or changes its meaning, but not if a key is added."""
_FIT_STYLES = {"exceeded": "error", "tight": "warning", "fits": "good"}
_BADGES = {"exceeded": "bad", "tight": "tight", "fits": "good"}


class InspectFormat(enum.StrEnum):
    """Output format of an inspection."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


def write(inspection: Inspection, form: InspectFormat) -> str:
    """Return an inspection in a format."""
    if form is InspectFormat.JSON:
        return json.dumps(document(inspection), indent=2) + "\n"
    return html(inspection) if form is InspectFormat.HTML else text(inspection, details=True)


def show(inspection: Inspection, form: InspectFormat, *, details: bool = False) -> str:
    """Return an inspection for stdout; without details, the text fits a screen."""
    if form is not InspectFormat.TEXT:
        return write(inspection, form)
    return text(inspection, Screen.of(), details=details)


# JSON


def document(inspection: Inspection) -> dict[str, Any]:
    """Return the document that ``docs/inspect.md`` describes. Amounts are strings, to avoid rounding."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "source": inspection.source,
        "serverVersion": inspection.server_version,
        "namespaces": list(inspection.namespaces),
        "models": [_model_document(model) for model in inspection.models],
        "nodeCosts": _node_costs(inspection),
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
        "known": model.is_known,
        "secrets": list(model.secrets),
        "findings": [_finding(problem) for problem in model.findings],
        "unchecked": list(model.unchecked),
    }


def _node_costs(inspection: Inspection) -> dict[str, Any]:
    bill = inspection.bill
    return {
        "nodes": len(bill.nodes),
        "usdPerMonth": _amount(bill.total),
        "models": _amount(bill.in_models),
        "otherPods": _amount(bill.in_others),
        "idle": _amount(bill.idle),
        "unpriced": dict(sorted(bill.unpriced.items())),
    }


def _amount(usd: Decimal | None) -> str | None:
    return None if usd is None else f"{usd:.4f}".rstrip("0").rstrip(".")


def _finding(problem: Problem) -> dict[str, Any]:
    values = problem.as_dict()
    keys = ("rule", "severity", "kind", "namespace", "name", "path", "reason", "ignored")
    return {key: values[key] for key in keys}


# Texts of the screen and the page

NOT_KNOWN = "not known"
"""Engine shown for a workload that holds accelerators without a known server."""


def full_title(model: InspectedModel) -> str:
    """Return ``namespace/Kind/name``."""
    return f"{model.identity[2]}/{model.title}"


def _row_title(model: InspectedModel) -> str:
    return full_title(model) if model.is_known else f"{full_title(model)} ({NOT_KNOWN})"


def replicas(model: InspectedModel) -> str:
    ready = "?" if model.ready is None else str(model.ready)
    return f"{ready}/{model.desired}"


def engines(model: InspectedModel) -> str:
    if not model.is_known:
        return NOT_KNOWN
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


def node_costs(inspection: Inspection) -> str:
    """Return what the nodes cost, and who uses them; the lines add up to the nodes."""
    bill = inspection.bill
    return (
        f"{pluralize(len(bill.nodes), 'node')}: ${bill.total:,.2f} a month: models ${bill.in_models:,.2f}, "
        f"other pods ${bill.in_others:,.2f}, idle ${bill.idle:,.2f}"
    )


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
    unknown = sum(not model.is_known for model in inspection.models)
    number = len(inspection.models) - unknown
    errors = sum(problem.is_error for problem in inspection.all_findings)
    gpus = sum(model.accelerators for model in inspection.models)
    priced = [model.price.usd_per_month for model in inspection.models if model.price.usd_per_month is not None]
    total = f", ${sum(priced, Decimal(0)):,.2f} a month" if priced else ""
    unpriced = len(inspection.models) - len(priced)
    without = f" without {unpriced} of unknown cost" if priced and unpriced else ""
    return (
        f"{number} model{'s' * (number != 1)}{f' and {unknown} {NOT_KNOWN}' if unknown else ''}, "
        f"{gpus} accelerators{total}{without}; "
        f"{errors or 'no'} error{'s' * (errors != 1)}{_unread(inspection)}"
    )


def _unread(inspection: Inspection) -> str:
    """Return which objects are missing in the result, because they cannot be read; empty without any."""
    objects = [*dict.fromkeys(map(_object, (problem for problem in inspection.unreadable if problem.kind)))]
    if not objects:
        return ""
    more = f" and {len(objects) - _MOST_UNREAD} more" if len(objects) > _MOST_UNREAD else ""
    verb = "was" if len(objects) == 1 else "were"
    return f"; {pluralize(len(objects), 'object')} {verb} not read: {', '.join(objects[:_MOST_UNREAD])}{more}"


# Text

_MOST_ROWS = 12
"""Models without details: with the findings, they fit a screen."""
_MOST_FINDINGS = 3
_MOST_UNREAD = 3
"""Objects in the first line that were not read."""
_MOST_LINES = 3
"""Lines of the cause of a warning without details."""


def text(inspection: Inspection, screen: Screen = Screen(), *, details: bool = False) -> str:  # noqa: B008
    """Return an inspection as text for a screen."""
    return "".join(f"{line}\n" for line in _lines(inspection, screen, details=details))


def _lines(inspection: Inspection, screen: Screen, *, details: bool) -> Iterator[str]:
    version = f" ({inspection.server_version})" if inspection.server_version else ""
    yield from screen.text(f"{inspection.source}{version}: {headline(inspection)}", "bold", hanging="  ")
    # Where all models fit the screen, they keep their order.
    models = inspection.models
    if not details and len(models) > _MOST_ROWS + 1:
        models = tuple(sorted(models, key=_urgency))
    if models:
        columns = [
            TableColumn("MODEL", shortens=True),
            TableColumn("READY"),
            TableColumn("GPUS"),
            TableColumn("FITS"),
            TableColumn("$/MONTH", right=True),
        ]
        yield from screen.first_rows(columns, [*map(_row, models)], "models", most=_MOST_ROWS, details=details)
    if inspection.bill.nodes:
        yield from screen.text(node_costs(inspection), hanging="  ")
    messages = _messages(inspection)
    yield from screen.findings(messages, details=details, most=_MOST_FINDINGS, cause_lines=_MOST_LINES)
    yield from _unchecked(inspection, screen, details=details)
    for missing in inspection.missing:
        right = "needs the right to " if missing.denied else "failed to "
        reason = "" if missing.denied else f" ({missing.reason})"
        yield from screen.text(f"not read: {right}{missing.title}{reason}: {missing.tells}", "warning", hanging="  ")
    if details:
        yield from _model_details(inspection, screen)
    hidden = [] if details else [*_hidden(inspection, messages, screen)]
    yield from screen.closing(messages, hidden)


def _row(model: InspectedModel) -> list[str | Styled]:
    fits = Styled(fit_label(model.fit) if model.memory else "-", _FIT_STYLES.get(model.fit, ""))
    return [_row_title(model), replicas(model), accelerators(model), fits, _month(model)]


def _month(model: InspectedModel) -> str:
    usd = model.price.usd_per_month
    return "unknown" if usd is None else f"{usd:,.0f}"


def _urgency(model: InspectedModel) -> tuple[int, Decimal, str]:
    """Return the place of a model among many: the worst findings first, then the highest cost."""
    order = ("error", "warning")
    worst = worst_severity(model.findings)
    rank = order.index(worst) if worst in order else len(order)
    return rank, -(model.price.usd_per_month or Decimal(0)), full_title(model)


def _messages(inspection: Inspection) -> list[Message]:
    """Return the findings, at the objects that have them: they are in no file."""
    from toolkit.findings import messages_of

    found = [*inspection.all_findings]
    live = [
        replace(message, place=_object(problem), subject=problem.path)
        for message, problem in zip(messages_of(found), found, strict=True)
    ]
    unread = [
        replace(message, place=_object(problem), subject=problem.path) if _is_live(problem, inspection) else message
        for message, problem in zip(messages_of(inspection.unreadable), inspection.unreadable, strict=True)
    ]
    return [*unread, *live]


def _is_live(problem: Problem, inspection: Inspection) -> bool:
    """Whether a problem is one of an object of a cluster, which is in no file."""
    return bool(problem.kind) and problem.file == inspection.source


def _object(problem: Problem) -> str:
    if not problem.kind:
        return problem.file
    title = f"{problem.kind}/{problem.name}"
    return f"{problem.namespace}/{title}" if problem.namespace else title


def _unchecked(inspection: Inspection, screen: Screen, *, details: bool) -> Iterator[str]:
    """Yield what could not be checked: with details, why, and of which models."""
    by_reason: dict[str, list[str]] = {}
    for model in inspection.models:
        for reason in model.unchecked:
            by_reason.setdefault(reason, []).append(full_title(model))
    if details:
        for reason, names in by_reason.items():
            yield from screen.text(f"not checked: {reason}: {', '.join(dict.fromkeys(names))}", hanging="  ")
    elif by_reason:
        models = len({name for names in by_reason.values() for name in names})
        subjects = dict.fromkeys(reason.partition(" (")[0] for reason in by_reason)
        yield from screen.text(f"not checked for {pluralize(models, 'model')}: {', '.join(subjects)}", "warning")


def _model_details(inspection: Inspection, screen: Screen) -> Iterator[str]:
    for model in inspection.models:
        yield from screen.heading(full_title(model))
        facts = {
            "serves": ", ".join(model.models),
            "engine": engines(model),
            "parallelism": parallelism(model),
            "nodes": nodes(model),
            "autoscaler": ", ".join(scaler.text for scaler in model.autoscalers),
            "memory": model.memory,
            "cost": _cost_details(model),
            "owner": model.owner.text,
            "endpoint": ", ".join(model.endpoints),
        }
        for name, fact in facts.items():
            if fact not in ("", "-"):
                yield from screen.text(f"{name}: {fact}", indent="  ", hanging="    ")
    yield ""


def _cost_details(model: InspectedModel) -> str:
    price = model.price
    if price.usd_per_month is None:
        return f"unknown: {price.unpriced}" if price.unpriced else ""
    bought = f", {price.bought}" if price.bought else ""
    source = f" ({price.source})" if price.source else ""
    return f"${price.usd_per_month:,.2f} a month in {price.region}{bought}{source}"


def _hidden(inspection: Inspection, messages: Sequence[Message], screen: Screen) -> Iterator[str]:
    """Yield what ``--details`` adds."""
    if len(inspection.models) > _MOST_ROWS + 1:
        yield "all models"
    yield from hidden_findings(messages, most=_MOST_FINDINGS)
    if screen.cuts_causes(messages, most=_MOST_FINDINGS, cause_lines=_MOST_LINES):
        yield "whole causes"
    if any(model.unchecked for model in inspection.models):
        yield "what is not checked"
    if inspection.models:
        yield from ("engines", "nodes", "autoscalers", "owners", "endpoints")


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
