"""The vocabularies behind the rules are those of the types and tables, and their exceptions are still needed."""

from components.families import FAMILIES
from tests.layers.flags import OTHER_PROGRAMS, known_flags
from tests.layers.modules import modules, project
from tests.layers.vocabulary import WAIST, distinctive_fields, distinctive_kinds, groups, ordinary_words

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


def test_the_words_of_a_family_are_read_from_its_types() -> None:
    families = {family.name: family for family in FAMILIES if family.name != WAIST}
    assert OWN.keys() == families.keys()
    for name, words in OWN.items():
        assert set(words.split()) <= distinctive_fields(families[name]), name
        assert distinctive_kinds(families[name]), name
        assert groups(families[name]), name


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
        texts = {word.text for module in modules(folder) for word in module.words if word.quoted}
        assert set(flags) <= texts, folder
