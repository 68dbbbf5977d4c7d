"""Nothing outside a family's folder names its kinds, fields or groups (design, "Layout")."""

import pytest

from components.families import FAMILIES
from tests.layers.modules import Module, modules
from tests.layers.vocabulary import (
    WAIST,
    distinctive_fields,
    distinctive_kinds,
    families_named,
    groups,
    ordinary_words,
)

PROJECT = modules("components", "stacks", "workbench", "__main__.py")


@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_no_module_names_what_is_a_familys_own(module: Module) -> None:
    assert list(families_named(module)) == []


OWN = {
    "llmaz": "modelClaim model_claim backendRuntimeConfig elasticConfig inferenceFlavors familyName modelHub "
    "scaleTrigger recommendedConfigs workloadTemplate INSTANCE-TYPE",
    "llmkube": "modelRef moeCPUOffload moe_cpu_offload vllmConfig tgiConfig personaPlexConfig podSecurityContext "
    "probeOverrides skipModelInit hfTokenSecretRef sharding evictionProtection",
    "kthena": "loraAdapters lora_adapters routeWeight scalingCost modelURI cacheURI entryTemplate workerReplicas "
    "gangPolicy minRoleReplicas tolerancePercent panicPolicy optimizerConfiguration modelServerName workloadSelector "
    "kvConnector",
    "llmd": "sloClassRef slo_class_ref modelProfile acc accCount maxBatchSize variantCost arrivalRate",
}


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.name != WAIST], ids=lambda family: family.name)
def test_the_words_of_a_family_are_read_from_its_types(family) -> None:
    assert set(OWN[family.name].split()) <= distinctive_fields(family)
    assert distinctive_kinds(family)
    assert groups(family)


def test_no_exception_is_idle() -> None:
    """A word that nobody uses outside its family any more belongs to the family again."""
    used = {word.text for module in PROJECT for word in module.words if not word.quoted}
    quoted = " ".join(word.text for module in PROJECT for word in module.words if word.quoted)
    assert {word for word in ordinary_words() if word not in used and word not in quoted} == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/plan/planted.py", "def f(item):\n    return item.kind == 'Playground'"),
        ("components/plan/planted.py", "REASON = 'no OpenModel of this name'"),
        ("components/resources/serving/planted.py", "class PlaygroundArgs: ..."),
        ("components/checks/metrics/planted.py", "def backend_runtimes(): ..."),
        ("components/checks/metrics/planted.py", "PATH = 'spec.elasticConfig.scaleTrigger'"),
        ("components/fleet/planted.py", "def f(spec):\n    return spec.model_claim"),
        ("components/fleet/planted.py", "def f(model_claim): ..."),
        ("components/fleet/planted.py", "def f():\n    return dict(backend_runtime_config=None)"),
        ("components/fleet/nodes/planted.py", "KEY = 'INSTANCE-TYPE'"),
        ("components/fleet/nodes/planted.py", "def f(found):\n    return found['moeCPUOffload']"),
        ("components/checks/hardening/planted.py", "LABEL = 'llmaz.io/model-name'"),
        ("components/contract/planted.py", "GROUP = 'inference.llmkube.dev'"),
        ("components/contract/planted.py", "from elsewhere import InferenceService as Service"),
        ("components/families/__init__.py", "ORDER = ['OpenModel']"),
        ("components/families/llmaz/planted.py", "FIELD = 'spec.vllmConfig'"),
        ("components/families/llmkube/planted.py", "FIELD = 'spec.modelClaims[0]'"),
        ("stacks/planted.py", "podSecurityContext = None"),
        ("workbench/planted.py", "HELP = 'such as Playground/chat'"),
        ("__main__.py", "import inferenceservice.InferenceService"),
    ],
)
def test_a_planted_word_is_found(path: str, text: str) -> None:
    assert list(families_named(Module(path, text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/families/llmaz/planted.py", "FIELD = 'spec.modelClaim'"),
        ("components/plan/planted.py", '"""Explains a Playground\'s modelClaim."""'),
        ("components/plan/planted.py", "def f(model):\n    '''Of a Playground.'''\n    return model.endpoint"),
        ("components/fleet/planted.py", "KIND = 'LeaderWorkerSet'\nFIELD = 'leaderWorkerTemplate'"),
        ("components/fleet/planted.py", "KIND = 'Service'\nFIELD = 'spec.template.spec.securityContext'"),
    ],
)
def test_other_words_are_not(path: str, text: str) -> None:
    assert list(families_named(Module(path, text))) == []
