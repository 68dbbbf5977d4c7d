"""The rules of the layout (docs/architecture.md), with an example of each way to offend against them."""

from tests.layers import cloud, escapes, flags, names, order, vocabulary
from tests.layers.rule import Rule, each

RULES = {
    "every module is in a folder of the lists": Rule(
        find=each(order.unlisted),
        why="A folder that no list names may import whatever it likes.",
        instead="Move the module, or add its folder to LAYERS or TOP_LEVEL of tests/layers/order.py.",
        offends=(
            {"components/planted.py": ""},
            {"components/extras/planted.py": ""},
            {"elsewhere/planted.py": ""},
        ),
        passes=({"components/__init__.py": "", "components/__main__.py": "", "components/plan/a/b.py": ""},),
    ),
    "folders import earlier folders": Rule(
        find=each(order.later_folders),
        why="A layer can be read, tested and replaced alone if it knows nothing of those above it.",
        instead="Move the code to a later folder, or pass in what it needs; see docs/architecture.md.",
        offends=(
            {"components/contract/planted.py": "from ..fleet.objects import Object"},
            {"components/engines/planted.py": "def f():\n    from ..families.llmaz import backend"},
            {"components/fleet/planted.py": "from .. import checks"},
            {"components/fleet/planted.py": "import typing\nfrom ..plan import plan"},
            {"components/plan/planted.py": ("if TYPE_CHECKING:\n    from ..resources import serving")},
            {"components/performance/planted.py": "from ..families import FAMILIES"},
            {"components/families/llmaz/planted.py": "from ...checks.metrics import chain"},
            {"components/families/llmaz/__init__.py": "from ...resources.llmaz import Playground"},
            {"components/families/llmaz/rendering/planted.py": "from ....resources.llmaz import Playground"},
            {"components/checks/metrics/planted.py": "from ...clouds import provider_named"},
            {"components/resources/planted.py": "from .. import COMPONENTS"},
            {"components/resources/planted.py": "import stacks.settings"},
            {"stacks/planted.py": "from workbench import kube"},
            {"__main__.py": "from workbench.cli import app"},
            {"livefleet/planted.py": "from workbench import kube"},
            {"livefleet/planted.py": "def f():\n    from stacks.settings import Settings"},
            {"toolkit/planted.py": "from livefleet import LiveFolder"},
            {"workbench/planted.py": "from tests.fleets import fleet_of"},
            {"workbench/planted.py": "import ci.plans"},
            {"ci/planted.py": "from components.contract import problems"},
            {"policy/guardrails/planted.py": "import components"},
        ),
        passes=(
            {"components/fleet/planted.py": "from ..engines.registry import engines\nfrom .objects import Object"},
            {"components/resources/aws/planted.py": "import pulumi_aws\nfrom ...plan.plan import plan"},
            {"components/__init__.py": "if TYPE_CHECKING:\n    from .resources import a"},
            {
                "components/families/llmaz/__init__.py": (
                    "if TYPE_CHECKING:\n    from ...resources.llmaz import Playground\n"
                    "else:\n    from ...contract.lazy import offered"
                )
            },
            {"stacks/planted.py": "from components.resources.serving.model_fleet import ModelFleet"},
            {"workbench/planted.py": "import yaml\nimport stacks\nfrom livefleet import Door"},
            {"ci/planted.py": "from . import plans"},
        ),
    ),
    "no two folders import each other": Rule(
        find=order.mutual_pairs,
        why="Two folders that import each other are one folder with a wall in it.",
        instead="Move what both need to the earlier one of the two.",
        offends=(
            {
                "components/fleet/planted.py": "from ..checks import metrics",
                "components/checks/planted.py": "from ..fleet.objects import Object",
            },
            {"workbench/planted.py": "import stacks.settings", "stacks/planted.py": "from workbench import kube"},
            {
                "components/plan/planted.py": "def f():\n    from ..fleet import fit",
                "components/fleet/planted.py": ("if TYPE_CHECKING:\n    from ..plan.plan import Planned"),
            },
        ),
        passes=(
            {
                "components/fleet/planted.py": "from .objects import Object",
                "components/checks/planted.py": "from ..fleet.objects import Object",
                "components/__init__.py": "from .fleet import fit",
            },
        ),
    ),
    "columns of a layer do not import each other": Rule(
        find=each(order.neighbours),
        why="A family, a check or a cloud can be added and removed without a look at those beside it.",
        instead="Move what both need to an earlier layer, or to the layer itself (such as families/family.py).",
        offends=(
            {"components/checks/metrics/planted.py": "from ..front_door import door"},
            {"components/families/llmaz/planted.py": "from ..llmkube.family import FAMILY"},
            {"components/families/llmaz/planted.py": "def f():\n    from ..leaderworkerset import rendering"},
        ),
        passes=(
            {"components/families/llmaz/planted.py": "from ..leaderworkerset.types import LeaderWorkerTemplate"},
            {"components/families/llmaz/planted.py": "from ..family import Family\nfrom .types import Playground"},
            {"components/checks/__init__.py": "from .metrics import chain\nfrom .front_door import door"},
        ),
    ),
    "only the list of families and its resources know a family": Rule(
        find=each(order.insides_of_families),
        why="A family is a folder and one line; whoever imports from its inside is a second line.",
        instead="Ask components.families, or add to the protocols of families/family.py.",
        offends=(
            {"components/plan/planted.py": "from ..families.llmaz.types import Playground"},
            {"components/families/__init__.py": "from .llmaz.rendering import render_playground"},
            {"components/resources/aws/planted.py": "from ...families.llmaz.family import FAMILY"},
            {"workbench/planted.py": "import components.families.llmkube.facts"},
        ),
        passes=(
            {"components/families/__init__.py": "from .llmaz.family import FAMILY"},
            {"components/resources/llmaz/planted.py": "from ...families.llmaz.types import Playground"},
            {"components/plan/planted.py": "from ..families import FAMILIES\nfrom ..families.family import Family"},
            {"components/plan/planted.py": "from ..families.leaderworkerset.types import LeaderWorkerSetSpec"},
        ),
    ),
    "only the registration, its resources and stacks know a cloud": Rule(
        find=each(order.clouds_imported),
        why="A second cloud is a second folder behind the protocol, and no change of the plan.",
        instead="Use the protocol in components/clouds, which Environment.cloud holds.",
        offends=(
            {"components/plan/planted.py": "from ..clouds.aws.instances import instance"},
            {"components/resources/serving/planted.py": "from ...clouds.aws import names"},
            {"workbench/planted.py": "import components.clouds.aws"},
        ),
        passes=(
            {"components/clouds/__init__.py": "from .aws import CLOUD"},
            {"components/clouds/aws/planted.py": "from . import names\nfrom .instances import instance"},
            {"components/resources/aws/planted.py": "from ...clouds.aws import names"},
            {"stacks/planted.py": "from components.clouds.aws import names"},
            {"components/plan/planted.py": "from ..clouds import Cloud"},
        ),
    ),
    "only public names of the live fleet are imported": Rule(
        find=order.insides_of_the_live_fleet,
        why="What the live fleet consists of may change at any time; a dozen names are its surface.",
        instead="Use a name of SURFACE in livefleet/__init__.py, or add one there with its description.",
        offends=(
            {"workbench/planted.py": "from livefleet.folder import LiveFolder"},
            {
                "workbench/planted.py": "def f():\n    from livefleet import LiveFolder, pods",
                "livefleet/__init__.py": "SURFACE = {'LiveFolder': 'folder'}",
            },
            {"stacks/planted.py": "import livefleet.fleet"},
        ),
        passes=(
            {
                "workbench/planted.py": "from livefleet import LiveFolder",
                "livefleet/__init__.py": "SURFACE = {'LiveFolder': 'folder'}",
                "livefleet/lifecycle.py": "from livefleet.folder import LiveFolder\nfrom .pods import part",
            },
        ),
    ),
    "only resources and programs import Pulumi": Rule(
        find=each(order.pulumi_imported),
        why="Everything else is tested as functions, in milliseconds, and runs where Pulumi is not installed.",
        instead="Return plain values, and let a module of components/resources make them resources.",
        offends=(
            {"components/plan/planted.py": "import pulumi"},
            {"components/families/llmaz/planted.py": "def f():\n    from pulumi_kubernetes import apps"},
            {"components/clouds/aws/planted.py": "from pulumi_aws import ec2"},
            {"workbench/planning/planted.py": "import pulumi.runtime"},
            {"livefleet/planted.py": "import pulumi"},
        ),
        passes=(
            {"components/resources/llmaz/planted.py": "import pulumi"},
            {"workbench/engine/program/planted.py": "from pulumi import automation"},
            {"stacks/planted.py": "import pulumi_aws"},
            {"policy/guardrails/planted.py": "import pulumi_policy"},
        ),
    ),
    "one module uses what Pulumi keeps private": Rule(
        find=order.private_pulumi,
        why="Pulumi may change these modules in any release; one adapter is what must follow.",
        instead="Go through the adapter, workbench/engine/program.",
        offends=(
            {
                "workbench/engine/a.py": "from pulumi.runtime import mocks",
                "workbench/engine/b.py": "import pulumi.runtime.stack",
            },
        ),
        passes=(
            {"workbench/engine/a.py": "from pulumi.runtime import mocks, settings", "stacks/b.py": "import pulumi"},
        ),
    ),
    "pure layers reach neither network nor processes": Rule(
        find=each(order.reaching_out),
        why="A plan gives the same answer everywhere, without credentials, and in a test without a stand-in.",
        instead="Pass in what was read; the workbench and the stacks may reach out.",
        offends=(
            {"components/fleet/planted.py": "def f():\n    import subprocess"},
            {"components/families/llmaz/planted.py": "from urllib.request import urlopen"},
            {"components/clouds/aws/planted.py": "import httpx"},
            {"components/plan/planted.py": "import socket"},
        ),
        passes=(
            {"components/plan/planted.py": "from urllib.parse import urlsplit"},
            {"workbench/planted.py": "import subprocess"},
        ),
    ),
    "imports inside components are relative": Rule(
        find=each(order.absolute_imports),
        why="The same code is `components` in a checkout and `inference_platform` in the wheel.",
        instead="Write the import relatively.",
        offends=(
            {"components/contract/planted.py": "from components.contract import names"},
            {"components/plan/planted.py": "def f():\n    import components.families"},
            {"components/plan/planted.py": "import inference_platform"},
        ),
        passes=(
            {"components/contract/planted.py": "from . import names"},
            {"stacks/planted.py": "from components.contract import names"},
        ),
    ),
    "no import is computed": Rule(
        find=each(order.computed_imports),
        why="The rules of the order read import statements; a computed name goes past them.",
        instead="Import by a statement, or offer the name lazily through contract/lazy.py.",
        offends=(
            {"components/families/planted.py": "import importlib\nM = importlib.import_module('x')"},
            {"components/plan/planted.py": "M = __import__('x')"},
        ),
        passes=(
            {"components/contract/lazy.py": "import importlib\nM = importlib.import_module('x')"},
            {"components/plan/planted.py": "from importlib.resources import files\nF = files('x')"},
        ),
    ),
    "packages re-export their components lazily": Rule(
        find=each(order.eager_exports),
        why="Commands that need no Pulumi import these packages, and Pulumi takes a second to load.",
        instead="Import under TYPE_CHECKING, and offer the name through contract/lazy.py.",
        offends=(
            {"components/__init__.py": "from .resources.serving.model_fleet import ModelFleet"},
            {"components/families/llmaz/__init__.py": "from ...resources.llmaz import Playground"},
            {"components/families/llmaz/__init__.py": "from .types import Playground"},
        ),
        passes=(
            {
                "components/families/llmaz/__init__.py": (
                    "if TYPE_CHECKING:\n    from ...resources.llmaz import Playground\n"
                    "else:\n    from ...contract.lazy import offered"
                )
            },
            {"components/families/__init__.py": "from .llmaz.family import FAMILY"},
        ),
    ),
    "only its folder names what is a family's own": Rule(
        find=each(vocabulary.families_named),
        why="A family is added, changed and removed in its folder.",
        instead="Ask the fleet, or a protocol of families/family.py, for what is needed.",
        offends=(
            {"components/plan/planted.py": "def f(item):\n    return item.kind == 'Playground'"},
            {"components/plan/planted.py": "REASON = 'no OpenModel of this name'"},
            {"components/resources/serving/planted.py": "class PlaygroundArgs: ..."},
            {"components/checks/metrics/planted.py": "def backend_runtimes(): ..."},
            {"components/checks/metrics/planted.py": "PATH = 'spec.elasticConfig.scaleTrigger'"},
            {"components/fleet/planted.py": "def f(spec):\n    return spec.model_claim"},
            {"components/fleet/planted.py": "def f(model_claim): ..."},
            {"components/fleet/planted.py": "def f():\n    return dict(backend_runtime_config=None)"},
            {"components/fleet/planted.py": "KEY = 'INSTANCE-TYPE'"},
            {"components/fleet/planted.py": "def f(found):\n    return found['moeCPUOffload']"},
            {"components/checks/hardening/planted.py": "LABEL = 'llmaz.io/model-name'"},
            {"components/contract/planted.py": "GROUP = 'inference.llmkube.dev'"},
            {"components/contract/planted.py": "from elsewhere import InferenceService as Service"},
            {"components/families/__init__.py": "ORDER = ['OpenModel']"},
            {"components/families/llmaz/planted.py": "FIELD = 'spec.vllmConfig'"},
            {"components/families/llmkube/planted.py": "FIELD = 'spec.modelClaims[0]'"},
            {"components/resources/llmkube/planted.py": "FIELD = 'spec.modelClaims[0]'"},
            {"stacks/planted.py": "podSecurityContext = None"},
            {"workbench/planted.py": "HELP = 'such as Playground/chat'"},
            {"__main__.py": "import inferenceservice.InferenceService"},
        ),
        passes=(
            {"components/families/llmaz/planted.py": "FIELD = 'spec.modelClaim'"},
            {"components/resources/llmaz/planted.py": "class Playground: ..."},
            {"components/plan/planted.py": '"""Explains a Playground\'s modelClaim."""'},
            {"components/plan/planted.py": "def f(model):\n    '''Of a Playground.'''\n    return model.endpoint"},
            {"components/fleet/planted.py": "KIND = 'LeaderWorkerSet'\nFIELD = 'leaderWorkerTemplate'"},
            {"components/fleet/planted.py": "KIND = 'Service'\nFIELD = 'spec.template.spec.securityContext'"},
        ),
    ),
    "only engines name flags of engines": Rule(
        find=each(flags.flags_named),
        why="Flags change with the versions of an engine, and the tables of its folder know them all.",
        instead="Name a Setting of components/engines, and let the engine spell it.",
        offends=(
            {"components/families/llmaz/planted.py": "ARGS = ['--served-model-name', 'm']"},
            {"components/families/llmkube/planted.py": "def f(n):\n    return f'--tensor-parallel-size={n}'"},
            {"components/families/llmkube/planted.py": "REASON = 'add --n-gpu-layers 0 to extraArgs'"},
            {"components/fleet/planted.py": "NAMES = ('-ngl',)"},
            {"components/checks/metrics/planted.py": "FLAG = '--max_model_len'"},
            {"components/plan/planted.py": "FLAG = '--timeout'"},
            {"stacks/planted.py": "FLAG = '--port'"},
        ),
        passes=(
            {"components/engines/planted.py": "FLAG = '--port'"},
            {"components/plan/planted.py": '"""Of a model with ``--max-model-len``."""'},
            {"components/families/llmaz/planted.py": "COMMAND = ['sh', '-c', 'python3 -m engine']"},
            {"workbench/planted.py": "OPTION = '--timeout'"},
            {"workbench/planted.py": "OPTION = '--start-cluster'"},
        ),
    ),
    "only its column names what is of AWS": Rule(
        find=each(cloud.aws_named),
        why="A second cloud needs no change of what another cloud's names are written into.",
        instead="Ask the Cloud of the environment, or move the code to clouds/aws or resources/aws.",
        offends=(
            {"stacks/planted.py": "import pulumi_aws"},
            {"components/resources/serving/planted.py": "from pulumi_aws import eks"},
            {"components/plan/planted.py": "def f():\n    from pulumi_aws.ec2 import Vpc"},
            {"components/fleet/planted.py": "LABEL = 'eks.amazonaws.com/capacityType'"},
            {"components/fleet/planted.py": "RESOURCE = 'aws.amazon.com/neuron'"},
            {"components/fleet/planted.py": "LABEL = 'karpenter.sh/capacity-type'"},
            {"components/fleet/planted.py": "KIND = 'karpenter.k8s.aws/v1', 'EC2NodeClass'"},
            {
                "components/checks/front_door/planted.py": (
                    "def f(x):\n    return {f'service.beta.kubernetes.io/aws-load-balancer-{x}': ''}"
                )
            },
            {"stacks/planted.py": "PATTERN = '^arn:aws[a-z-]*:acm:'"},
            {"workbench/planted.py": "REGISTRY = '602401143452.dkr.ecr.us-east-1.amazonaws.com'"},
        ),
        passes=(
            {"components/resources/aws/planted.py": "import pulumi_aws\nLABEL = 'karpenter.sh/nodepool'"},
            {"components/clouds/aws/planted.py": "LABEL = 'karpenter.sh/nodepool'"},
            {"components/plan/planted.py": '"""As ``karpenter.sh/capacity-type`` says."""'},
            {
                "components/plan/planted.py": (
                    "CHART = 'karpenter'\nSECTION = 'aws'\nLABEL = 'node.kubernetes.io/instance-type'"
                )
            },
        ),
    ),
    "one class name means one thing": Rule(
        find=names.shared_names,
        why="Somebody who searches for a class finds the wrong one, or imports it.",
        instead="Name one of them for what sets it apart.",
        offends=(
            {"components/checks/metrics/a.py": "class Plan: ...", "components/plan/b.py": "class Plan: ..."},
            {"workbench/a.py": "def f():\n    class Options: ...", "components/fleet/b.py": "class Options: ..."},
            {"components/families/llmaz/types/a.py": "class Own: ...\n\nclass Own: ..."},
            {
                "components/families/llmaz/types/a.py": "class Own: ...",
                "components/families/llmaz/b.py": "class Own: ...",
            },
            {
                "components/families/llmaz/types/a.py": "class Playground: ...",
                "components/resources/llmkube/b.py": "class Playground: ...",
            },
            {
                "components/families/llmaz/types/a.py": "class OpenModelSpec: ...",
                "components/resources/llmaz/b.py": "class OpenModelSpec: ...",
            },
        ),
        passes=(
            {
                "components/families/llmaz/types/a.py": "class ModelSpec: ...",
                "components/families/llmkube/types/b.py": "class ModelSpec: ...",
            },
            {
                "components/families/llmaz/types/a.py": "class Playground: ...",
                "components/resources/llmaz/playground.py": "class Playground: ...",
            },
        ),
    ),
    "names are words of the domain": Rule(
        find=each(names.empty_names),
        why=f"{', '.join(names.EMPTY)} say how something came about, and not what it is.",
        instead="Name the thing, such as message, created or problems.",
        offends=(
            {"components/plan/planted.py": "said = 1"},
            {"components/plan/planted.py": "def f(told): ..."},
            {"components/plan/planted.py": "def _cut(): ..."},
            {"components/plan/planted.py": "[made for made in ()]"},
            {"components/plan/planted.py": "(listed := 1)"},
        ),
        passes=({"components/plan/planted.py": "message = 1\nmade_by = 'said'"},),
    ),
    "one function escapes text for each kind of output": Rule(
        find=each(escapes.own_escapes),
        why="A name from a cluster may hold control characters, which shlex.quote and html.escape leave as they are.",
        instead="Use the functions of components/contract/texts/outputs.py.",
        offends=(
            {"workbench/planted.py": "import shlex\nx = shlex.quote(name)"},
            {"livefleet/planted.py": "import shlex\nx = shlex.join(words)"},
            {"workbench/planted.py": "import html\nx = html.escape(name)"},
        ),
        passes=(
            {"workbench/planted.py": "import shlex\nx = shlex.split(line)"},
            {"components/contract/texts/outputs.py": "import shlex\nx = shlex.quote(name)"},
            {"tools/planted.py": "import shlex\nx = shlex.quote(name)"},
        ),
    ),
    "the program is short": Rule(
        find=each(order.long_program),
        why="A program shows what an environment consists of; how it is made belongs to stacks/.",
        instead="Move code to stacks/.",
        offends=({"__main__.py": "x = 1\n" * 30},),
        passes=({"__main__.py": "x = 1\n" * 29}, {"workbench/__main__.py": "x = 1\n" * 100}),
    ),
}
