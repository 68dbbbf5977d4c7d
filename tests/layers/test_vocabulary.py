"""The vocabularies behind the rules are those of the types and tables, and their exceptions are still needed."""

from components.families import FAMILIES
from tests.families.program import registered
from tests.layers.flags import OTHER_PROGRAMS, known_flags
from tests.layers.modules import Module, project
from tests.layers.vocabulary import (
    WAIST,
    compounds,
    declared_words,
    distinctive_fields,
    distinctive_kinds,
    families_named,
    groups,
    ordinary_words,
)
from tests.toy.family import FAMILY

OWN = {
    "llmaz": "modelClaim model_claim backendRuntimeConfig elasticConfig inferenceFlavors familyName modelHub "
    "scaleTrigger recommendedConfigs workloadTemplate INSTANCE-TYPE",
    "llmkube": "modelRef moeCPUOffload moe_cpu_offload vllmConfig tgiConfig personaPlexConfig podSecurityContext "
    "probeOverrides skipModelInit hfTokenSecretRef evictionProtection",
    "kthena": "routeWeight scalingCost modelURI cacheURI entryTemplate workerReplicas "
    "gangPolicy minRoleReplicas tolerancePercent panicPolicy optimizerConfiguration modelServerName workloadSelector "
    "kvConnector",
    "llmd": "sloClassRef slo_class_ref modelProfile acc accCount maxBatchSize variantCost arrivalRate",
}


def test_the_words_of_a_family_are_read_from_its_types() -> None:
    families = {family.name: family for family in FAMILIES if family.name != WAIST}
    assert OWN.keys() == families.keys()
    for name, words in OWN.items():
        assert set(words.split()) <= distinctive_fields(families[name]), name
        assert distinctive_kinds(families[name]), name
        assert groups(families[name]), name


def test_nothing_else_declares_a_word_of_a_family() -> None:
    """A field that others declare is no longer the family's own, so that a new declaration must not go unnoticed."""
    own = [family for family in FAMILIES if family.name in OWN]
    assert [(family.name, word) for family in own for word in compounds(family) & declared_words(family.name)] == []


def test_a_new_family_may_have_ordinary_names() -> None:
    """The toy has fields such as first, weights and instance_type, and a kind that is an English word."""
    ordinary = [
        "def pairs(first, weights):\n    return first.weights",
        "class PairFault:\n    gpus: int",
        "REASON = 'Pair the two, or remove one'",
        "def f(node):\n    return node.instance_type",
    ]
    with registered(FAMILY):
        assert [found for module in project() for found in families_named(module)] == []
        assert [text for text in ordinary if list(families_named(Module("components/plan/planted.py", text)))] == []


def test_what_is_a_new_familys_own_is_found() -> None:
    own = [
        "def f(item):\n    return item.kind == 'Pair'",
        "TITLE = 'Pair/duo'",
        "API = 'toy.example/v1'",
        "def f(spec):\n    return spec['keptReplicas']",
        "def f(spec):\n    return spec.kept_replicas",
    ]
    modules_with = [Module("components/plan/planted.py", text) for text in own]
    with registered(FAMILY):
        assert [module.text for module in modules_with if not list(families_named(module))] == []
    assert [module.text for module in modules_with if list(families_named(module))] == []


def test_the_flags_of_engines_are_those_of_the_tables() -> None:
    some = {"--tensor-parallel-size", "--model", "-ngl", "--ctx-size", "--dist-init-addr", "--num-shard", "-tp"}
    assert some <= known_flags()


def test_no_exception_is_idle() -> None:
    """A word that is used nowhere outside its family any more belongs to the family again; so does a flag."""
    words = [word for module in project() for word in module.words]
    used = {word.text for word in words if not word.quoted}
    quoted = " ".join(word.text for word in words if word.quoted)
    assert {word for word in ordinary_words() if word not in used and word not in quoted} == set()
    for folder, flags in OTHER_PROGRAMS.items():
        own = [module for module in project() if module.is_in(folder)]
        texts = " ".join(word.text for module in own for word in module.words if word.quoted)
        assert [flag for flag in flags if flag not in texts] == [], folder
