"""Reviews made by hand: one that shows everything there is to say, and simple ones."""

from dataclasses import replace
from decimal import Decimal

from components.checks.memory.cases import CheaperType, Fit, MemoryCase, MemoryPart, MemoryVerdict, Parallel
from components.checks.memory.shapes import Shape
from components.plan.costs.bill import Amounts, Bill, CostItem, CostKind, ModelCost, UnitPrice
from components.plan.review.review import (
    Blast,
    ChangeKind,
    EndpointChange,
    FieldDifference,
    Interruption,
    ModelChange,
    OperatorUpgrade,
    ResourceChange,
    Review,
    UpgradeStage,
    UpgradeStep,
)
from components.plan.review.snapshot import (
    FindingState,
    NodeGroupState,
    RegisteredResource,
    ServedModel,
    Snapshot,
    WorkloadState,
)
from components.plan.review.traffic import ModelTraffic, TrafficComparison, TrafficFigures

GIB = 1 << 30
CASE = MemoryCase(Shape("Qwen/Qwen3-8B"), "L40S", 45 * GIB)


def verdict(fit: Fit, needed: int, usable: int = 40) -> MemoryVerdict:
    """Return a verdict with three parts, in GiB."""
    parts = (
        MemoryPart("weights", (needed - 6) * GIB),
        MemoryPart("cache", 4 * GIB),
        MemoryPart("engine", 2 * GIB),
    )
    types = (CheaperType("g6e.12xlarge", 1, Parallel(4), Decimal("10.49")),) if fit is Fit.EXCEEDED else ()
    reason = f"{needed} GiB are needed of {usable}"
    return MemoryVerdict(fit, reason, CASE, parts, usable * GIB, 32_768, 4, 131_072, types)


def model(name: str, fit: MemoryVerdict | None, gpus: tuple[int, int, int] = (1, 1, 1)) -> ServedModel:
    """Return a model that is served by a Deployment of its name."""
    title = f"Deployment models/{name}"
    return ServedModel(
        title=f"Playground/{name}",
        namespace="models",
        model=f"example/{name}",
        file=f"models/{name}.yaml",
        workloads=(title,),
        replicas=gpus,
        accelerators=gpus,
        groups=("g6e.2xlarge",),
        verdicts={title: fit} if fit else {},
    )


def cost(name: str, now: str, least: str, most: str) -> ModelCost:
    """Return what a model costs, in US dollars an hour."""
    amounts = Amounts(Decimal(now), Decimal(least), Decimal(most))
    return ModelCost(f"Playground/{name}", "models", amounts, amounts)


def bill(now: str, most: str) -> Bill:
    """Return a bill with nodes of one dollar an hour."""
    counts = Amounts(Decimal(now), Decimal(1), Decimal(most))
    price = UnitPrice(Decimal(1), Decimal(1), Decimal(1), "price list")
    one = Amounts(Decimal(1), Decimal(1), Decimal(1))
    unpriced = CostItem("file system", CostKind.STORAGE, one, None, "no price in this region")
    items = (CostItem("node group g6e.2xlarge", CostKind.NODES, counts, price), unpriced)
    return Bill("us-east-1", "2026-08-01", items, (), ("TrafficComparison is not in it.",))


def finding(rule: str, severity: str, reason: str, line: int = 7, ignored: str = "") -> FindingState:
    """Return a finding of a model."""
    return FindingState(
        rule, severity, "models/chat.yaml", line, "Playground", "chat", "spec.replicas", reason, ignored
    )


OLD = finding("field-no-effect", "warning", "it was there before")
NEW = finding("memory-exceeded", "error", "46 GiB are needed of 40", 9)
IGNORED = finding("memory-tight", "warning", "2 GiB are left", 11, "measured on the real device")
GONE = finding("flags-unknown", "error", "no such flag", 12)

CHAT = model("chat", verdict(Fit.FITS, 20))
CHAT_AFTER = model("chat", verdict(Fit.EXCEEDED, 46), (2, 1, 4))
CODER = model("coder", verdict(Fit.TIGHT, 39))
EMBED = model("embed", MemoryVerdict(Fit.UNKNOWN, "nothing is known of example/embed"))
CPU = model("cpu", None, (0, 0, 0))


def group(nodes: int) -> NodeGroupState:
    """Return the only node group."""
    return NodeGroupState("g6e.2xlarge", "g6e.2xlarge", "spot", nodes, 8, 1)


def state(served: ServedModel) -> WorkloadState:
    """Return what a model runs as."""
    return WorkloadState(served.workloads[0], served.title, "models", {}, served.replicas, 1, 1, served.groups[0])


BASE = Snapshot(
    "dev",
    "main",
    models=(CHAT, CODER),
    groups=(group(2),),
    workloads=(state(CHAT), state(CODER)),
    findings=(OLD, GONE),
    bill=bill("2", "2"),
)
HEAD = Snapshot(
    "dev",
    resources=(RegisteredResource("urn:1", "kubernetes:apps/v1:Deployment", "Deployment models/chat", {}),),
    models=(CHAT_AFTER, CODER, EMBED, CPU),
    groups=(group(4),),
    workloads=tuple(map(state, (CHAT_AFTER, CODER, EMBED, CPU))),
    findings=(OLD, NEW, IGNORED),
    bill=bill("4", "6"),
)
CHANGES = (
    ResourceChange(
        ChangeKind.UPDATED,
        "Deployment models/chat",
        "kubernetes:apps/v1:Deployment",
        (
            FieldDifference("spec.replicas", "1", "2"),
            FieldDifference("metadata.labels[team]", None, "search"),
            FieldDifference("metadata.labels[was]", "gone", None),
        ),
    ),
    ResourceChange(ChangeKind.CREATED, "Deployment models/embed", "kubernetes:apps/v1:Deployment"),
    ResourceChange(ChangeKind.REPLACED, "aws:eks/nodeGroup g6e", "aws:eks/nodeGroup:NodeGroup"),
    ResourceChange(ChangeKind.DELETED, "Service models/old", "kubernetes:core/v1:Service"),
)
BLASTS = (
    Blast(
        "Deployment models/chat",
        "Playground/chat",
        Interruption.GAP,
        2,
        1,
        390,
        4,
        ("spec.template.spec.containers[0].image",),
        "40 GiB of weights at 500 MiB/s, and two minutes for a node",
        1,
        "new pods may stay Pending",
    ),
    Blast("Deployment models/coder", "Playground/coder", Interruption.NONE, 1),
    Blast("Deployment models/embed", "Playground/embed", Interruption.NEW, 1),
)
TRAFFIC = TrafficComparison(
    3600.0,
    TrafficFigures(1000, 0, 0.2, 0.9, 0.02, 0.03, 24.0, 100.0),
    TrafficFigures(1000, 5, 0.2, 3.1, 0.02, 0.04, 34.0, 140.0),
    (
        ModelTraffic(
            "chat",
            TrafficFigures(900, 0, 0.2, 0.9, 0.02, 0.03, 20.0),
            TrafficFigures(900, 5, 0.2, 3.1, 0.02, 0.04, 30.0),
        ),
        ModelTraffic("embed", None, TrafficFigures(100, 0, 0.1, 0.2, None, None, 4.0)),
    ),
    "",
    {"vectors": "it serves embeddings"},
    ("Prefix caches are not simulated.",),
)
WHOLE = Review(
    HEAD,
    BASE,
    CHANGES,
    BLASTS,
    (
        ModelChange(CHAT, CHAT_AFTER, cost("chat", "1", "1", "1"), cost("chat", "2", "1", "4")),
        ModelChange(CODER, CODER, cost("coder", "1", "1", "1"), cost("coder", "1", "1", "1")),
        ModelChange(None, EMBED, None, cost("embed", "1", "1", "1")),
        ModelChange(None, CPU, None, None),
        ModelChange(model("old", verdict(Fit.FITS, 20)), None, cost("old", "0.5", "0.5", "0.5"), None),
    ),
    (
        EndpointChange("chat", "http://chat.models:8080", None),
        EndpointChange("embed", None, "http://embed.models:80"),
    ),
    (NEW, IGNORED),
    (GONE,),
    ("The base was planned by the code of the base.",),
    ("1 error is new",),
    (
        OperatorUpgrade(
            "Example",
            "v1",
            "v2",
            (
                UpgradeStep(UpgradeStage.DEFINITIONS, ("~ CustomResourceDefinition things.example.com",)),
                UpgradeStep(UpgradeStage.CONTROLLERS, ("~ Release fleet-example 0.1 → 0.2",)),
                UpgradeStep(UpgradeStage.CUSTOM_RESOURCES, (), "converted by hand"),
            ),
            ("Thing models/a: spec.old",),
        ),
    ),
    TRAFFIC,
)
SETTLED = replace(BASE, findings=(OLD,))
NOTHING = Review(
    SETTLED, SETTLED, models=(ModelChange(CHAT, CHAT, cost("chat", "1", "1", "1"), cost("chat", "1", "1", "1")),)
)
ALONE = Review(
    HEAD,
    models=tuple(ModelChange(None, change.after, None, change.cost_after) for change in WHOLE.models if change.after),
    failures=("1 error",),
)

SOUND = replace(WHOLE, head=replace(HEAD, findings=(OLD, IGNORED)), base=replace(BASE, findings=(OLD,)), failures=())
"""The same without errors, so that all figures are known."""
