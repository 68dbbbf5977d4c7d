"""Samples of a type that the tables do not have, beside a model and system nodes that use it."""

from typing import Any

from tests.stacks.every_key.sample import Sample

NAME = "g99.2xlarge"
_MODEL = "tests/stacks/every_key/new_type.yaml"
_NODE: dict[str, Any] = {
    "vcpu": 8,
    "memoryGib": 32,
    "accelerator": {"name": "A10G", "count": 1, "memoryGib": 24},
}


def _beside(**changes: Any) -> dict[str, Any]:
    image = {"amiId": "ami-0123456789abcdef0"}
    return {
        "instanceTypes": {NAME: {**_NODE, **changes}},
        "models": [_MODEL],
        "gpuNodes": {"types": {NAME: image}},
    }


_WITH_EFA = {
    **_beside(efaInterfaces=2),
    "gpuNodes": {"types": {NAME: {"amiId": "ami-0123456789abcdef0", "efa": True, "zones": ["us-east-1a"]}}},
}
_SYSTEM = "m99.large"
_OF_SYSTEM = {
    "instanceTypes": {_SYSTEM: {"vcpu": 2, "memoryGib": 8}},
    "cluster": {"systemInstanceTypes": [_SYSTEM]},
}
_WITHOUT_PREFIXES = {
    **_beside(),
    "gpuNodes": {"types": {NAME: {"amiId": "ami-0123456789abcdef0"}}, "prefixDelegation": False},
}
TYPE_SAMPLES: dict[str, Sample] = {
    "instanceTypes.*.vcpu": Sample(2, _beside(), NAME),
    "instanceTypes.*.memoryGib": Sample(2, _beside(), NAME),
    "instanceTypes.*.arch": Sample("arm64", _OF_SYSTEM, _SYSTEM),
    "instanceTypes.*.accelerator.name": Sample("L4", _beside(), NAME),
    "instanceTypes.*.accelerator.manufacturer": Sample("AMD", _beside(), NAME),
    "instanceTypes.*.accelerator.count": Sample(4, _beside(), NAME),
    "instanceTypes.*.accelerator.memoryGib": Sample(8, _beside(), NAME),
    "instanceTypes.*.efaInterfaces": Sample(1, _WITH_EFA, NAME),
    "instanceTypes.*.firstEfaCard": Sample(1, _WITH_EFA, NAME),
    "instanceTypes.*.localNvmeGb": Sample(450, _beside(), NAME),
    "instanceTypes.*.addressPods": Sample(8, _WITHOUT_PREFIXES, NAME),
}
