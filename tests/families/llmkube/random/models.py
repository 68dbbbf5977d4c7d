"""Random Models that fit the service that they are for: hardware, checks and needs."""

from tests.families.llmkube.random.engines import Setting
from tests.families.llmkube.random.pods import Object, some

VENDORS = {"nvidia": "cuda", "amd": "rocm", "intel": "intel"}
QUANTITIES = ("1", "500m", "2Gi", "1.5", "1e3", "0")
"""Amounts of cpu and memory."""
ADDRESSES = {
    "http": ("https://example.com/m.gguf", "http://example.com:8080/a/b?c=d", "https://example.com"),
    "claim": ("pvc://weights/m.gguf", "pvc://a.claim/folder/m.gguf"),
    "local": ("file:///srv/m.gguf", "/srv/models/m.gguf"),
    "repository": ("org/repo", "gpt2", "Qwen/Qwen3-8B-FP8"),
}
"""Sources by kind (LLMKube spec 3.2)."""


def spec_of(at: Setting, *, counted: bool) -> Object:
    """Draw what a Model's ``spec`` holds beside its source; ``counted`` tells that it has the number of GPUs."""
    random = at.random
    return {
        "hardware": _hardware(at, counted=counted),
        **some(
            random,
            sha256=lambda: random.choice(("0" * 64, "aF" * 32)),
            refreshPolicy=lambda: random.choice(("IfNotPresent", "OnChange")),
            format=lambda: random.choice(("gguf", "mlx", "safetensors", "pytorch", "custom")),
            quantization=lambda: "Q4_K_M",
            resources=lambda: some(
                random, cpu=lambda: random.choice(QUANTITIES), memory=lambda: random.choice(QUANTITIES)
            ),
        ),
    }


def _hardware(at: Setting, *, counted: bool) -> Object:
    """The accelerator names the vendor, or the vendor itself does; a written one must agree."""
    random = at.random
    gpu = some(
        random,
        enabled=lambda: random.random() < 0.5,
        memory=lambda: random.choice(("16Gi", "8Gi")),
        layers=lambda: random.choice((-1, 0, 33)),
        sharding=lambda: some(
            random,
            strategy=lambda: random.choice(("layer", "tensor", "row", "pipeline", "none")),
            layerSplit=lambda: [f"{10 * i}-{10 * i + 9}" for i in range(max(at.gpus, 1))],
        ),
    )
    if counted:
        gpu["count"] = at.gpus
    named = random.random() < 0.5
    if not named or random.random() < 0.5:
        gpu["vendor"] = at.vendor
    return {
        **({"accelerator": VENDORS[at.vendor]} if named else some(random, accelerator=lambda: "cpu")),
        **({"gpu": gpu} if gpu else {}),
        **some(random, memoryBudget=lambda: "24Gi", memoryFraction=lambda: random.choice((0.1, 0.5, 1))),
    }
