"""VariantAutoscalings as writers would write them: together they use every field."""

import copy
from typing import Any

from components.contract.kinds import Kind
from components.families import kinds
from tests.families.llmd.api.table import KIND

Document = dict[str, Any]
VARIANT: Kind = kinds().by_name(KIND)
API = "llmd.ai/v1alpha1"
LABEL = "inference.optimization/acceleratorName"


def profile(acc: str = "A100", **fields: Any) -> Document:
    """Return the profile of an accelerator: that of upstream's own sample, unless told otherwise."""
    return {"acc": acc, "accCount": 1, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 4, **fields}


def variant(name: str = "chat", *profiles: Document, **spec: Any) -> Document:
    """Return a VariantAutoscaling with what it must have."""
    document = {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {"name": name, "namespace": "default", "labels": {LABEL: "A100"}},
        "spec": {
            "modelID": "default/default",
            "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
            "modelProfile": {"accelerators": list(profiles or (profile(),))},
            **spec,
        },
    }
    return copy.deepcopy(document)


STATUS = {
    "currentAlloc": {
        "accelerator": "A",
        "numReplicas": 0,
        "maxBatch": 256,
        "variantCost": "40.00",
        "itlAverage": "20",
        "waitAverage": "0.00",
        "load": {"arrivalRate": "", "avgLength": "178.00"},
    },
    "desiredOptimizedAlloc": {"lastRunTime": "2025-09-17T10:00:00Z", "accelerator": "A1", "numReplicas": 2},
    "actuation": {"applied": True},
}
LEAST, FULL = range(2)
DOCUMENTS: tuple[Document, ...] = (
    variant("vllme-deployment"),
    variant(
        "chat.all",
        profile(),
        profile("MI300X", alpha="7", beta="007.150", maxBatchSize=2**63 - 1),
        profile("x", accCount=2**63 - 1, alpha="0", beta="0.0", maxBatchSize=1),
        modelID="meta/Llama 3.1\n8B",
    )
    | {"status": STATUS},
)
