"""Maps the arguments of Kthena's components to fields of their resources; other arguments have the fields' names."""

from ...families.kthena.types.autoscaling import (
    AutoscalingPolicyBehavior,
    AutoscalingPolicyBindingSpec,
    AutoscalingPolicyMetric,
    AutoscalingPolicyPanicPolicy,
    AutoscalingPolicyScaleUpPolicy,
    AutoscalingPolicySpec,
    AutoscalingPolicyStablePolicy,
    PrometheusMetricSource,
)
from ...families.kthena.types.model_booster import ModelBoosterSpec, ModelWorker
from ...families.kthena.types.model_serving import ModelServingSpec, Role, RollingUpdateConfiguration, RolloutStrategy
from ...families.kthena.types.networking import (
    KVConnector,
    ModelRouteSpec,
    ModelServerSpec,
    RedisConfig,
    StringMatch,
    WorkloadPort,
)
from ...families.kthena.types.values import ObjectReference
from ..serving.argument_maps import (
    AUTOSCALED,
    INSTANCE_TYPES,
    NAMESPACE,
    POD_ARGUMENTS,
    WAITING,
    realization,
    release,
)
from ..serving.mapped_arguments import ArgumentMap, Changed, Own

_DECLARED = realization("native registers no Kubernetes object; operator creates the Kthena resource.")
_RENDERED = realization("native renders plain Kubernetes objects; operator creates the Kthena resource.")
_RELEASE = release("Kthena")
_KEPT = "that keeps loaded weights across pod restarts, if the resource has no cache of its own."


def _name(what: str) -> Own:
    return Own("str", f"Name of the {what}. Default: the component's name.")


def _namespace(what: str) -> Own:
    return Own("str", f"Namespace of {what}. Default: default.")


SERVING = ArgumentMap(
    "ServingArgs",
    doc="Arguments of every Kthena component that runs pods. All are plain: they determine what is created.",
    own={
        "name": Own(
            "str",
            "Name of the resource, and prefix of the names of Kubernetes objects. Default: the component's name.",
        ),
        "namespace": NAMESPACE,
        "realization": _RENDERED,
        "release": _RELEASE,
        **POD_ARGUMENTS,
        "cache_claim": Own("str", f"PersistentVolumeClaim {_KEPT}"),
        "cache_host_path": Own("str", f"Folder on the node {_KEPT}"),
        "instance_types": INSTANCE_TYPES,
        **WAITING,
    },
)
MODEL_BOOSTER = ArgumentMap(
    "ModelBoosterArgs",
    ModelBoosterSpec,
    doc="Arguments of a ModelBooster. All are plain: they determine what is created.",
    base=SERVING,
    renamed={"name": "model_name"},
)
MODEL_SERVING = ArgumentMap(
    "ModelServingArgs",
    ModelServingSpec,
    doc="Arguments of a ModelServing. All are plain: they determine what is created.",
    base=SERVING,
    own={"autoscaled": AUTOSCALED},
)
_TARGETS = dict.fromkeys(
    ("homogeneous_target", "heterogeneous_target", "disaggregated_target"),
    "the policy of a booster has no targets of its own",
)
AUTOSCALING_POLICY = ArgumentMap(
    "AutoscalingPolicyArgs",
    AutoscalingPolicySpec,
    doc="Arguments of an AutoscalingPolicy.",
    own={
        "name": _name("policy"),
        "namespace": _namespace("the policy, of its targets and of its bindings"),
        "realization": realization(
            "native renders a HorizontalPodAutoscaler for each target; operator creates the Kthena resource."
        ),
        "release": _RELEASE,
        "targets": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The targets of homogeneous_target, heterogeneous_target or disaggregated_target, in wire form: the "
            "``manifest`` of each ModelServing component, or of the ModelBooster that generates them. Required with "
            "one of the three.",
        ),
    },
)
AUTOSCALING_POLICY_BINDING = ArgumentMap(
    "AutoscalingPolicyBindingArgs",
    AutoscalingPolicyBindingSpec,
    doc="Arguments of an AutoscalingPolicyBinding: homogeneous_target, or heterogeneous_target.",
    own={
        "name": _name("binding"),
        "namespace": _namespace("the binding, of the policy and of the targets"),
        "realization": realization("native renders HorizontalPodAutoscalers; operator creates the Kthena resource."),
        "release": _RELEASE,
        "policy": Own(
            "pulumi.Input[dict[str, Any]]",
            "The AutoscalingPolicy, in wire form: the ``manifest`` of an AutoscalingPolicy component.",
            required=True,
        ),
        "targets": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The targets of the configuration, in wire form: the ``manifest`` of each ModelServing component, "
            "or of the ModelBooster that generates them.",
            required=True,
        ),
    },
    without={"policy_ref": "the name in the manifest of policy"},
)
MODEL_SERVER = ArgumentMap(
    "ModelServerArgs",
    ModelServerSpec,
    doc="Arguments of a ModelServer.",
    own={
        "name": _name("ModelServer"),
        "namespace": _namespace("the ModelServer, of its pods and of the routes to it"),
        "realization": _DECLARED,
        "release": _RELEASE,
    },
)
MODEL_ROUTE = ArgumentMap(
    "ModelRouteArgs",
    ModelRouteSpec,
    doc="Arguments of a ModelRoute.",
    own={
        "name": _name("route"),
        "namespace": _namespace("the route and of its ModelServers"),
        "realization": _RENDERED,
        "release": _RELEASE,
        "servers": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The ModelServers of the rules, in wire form: the ``manifest`` of each ModelServer component.",
            required=True,
        ),
        "servings": Own(
            "pulumi.Input[list[dict[str, Any]]]",
            "The ModelServings whose pods the ModelServers select, in wire form: the ``manifest`` of each "
            "ModelServing component.",
        ),
    },
    # The attribute of the type has an underscore, because ``rules`` are its validation rules.
    renamed={"rules_": "rules"},
)

MAPS = (
    SERVING,
    MODEL_BOOSTER,
    MODEL_SERVING,
    AUTOSCALING_POLICY,
    AUTOSCALING_POLICY_BINDING,
    MODEL_SERVER,
    MODEL_ROUTE,
    ArgumentMap(
        "ModelWorkerArgs",
        ModelWorker,
        doc="The pods of one role.",
        changed={
            "config": Changed("Upstream's schema accepts anything; our own validation reports what is wrong.", "Any")
        },
    ),
    ArgumentMap("AutoscalingPolicySpecArgs", AutoscalingPolicySpec, without=_TARGETS),
    ArgumentMap(
        "PrometheusMetricSourceArgs",
        PrometheusMetricSource,
        changed={
            "auth": Changed(
                "Upstream's type has no fields, and a TypedDict without keys accepts none.", "dict[str, Any]"
            )
        },
    ),
    ArgumentMap("ServingRolloutStrategyArgs", RolloutStrategy, doc="How changes of the pods are rolled out."),
    ArgumentMap("AutoscalingPolicyMetricArgs", AutoscalingPolicyMetric, doc="A metric to scale on."),
    ArgumentMap(
        "AutoscalingPolicyBehaviorArgs", AutoscalingPolicyBehavior, doc="How replicas are added and removed."
    ),
    ArgumentMap("AutoscalingPolicyScaleUpPolicyArgs", AutoscalingPolicyScaleUpPolicy, doc="How replicas are added."),
    ArgumentMap(
        "AutoscalingPolicyStablePolicyArgs", AutoscalingPolicyStablePolicy, doc="How much may change within a period."
    ),
    ArgumentMap(
        "AutoscalingPolicyPanicPolicyArgs",
        AutoscalingPolicyPanicPolicy,
        doc="How much may be added within a period in panic mode.",
    ),
    ArgumentMap("StringMatchArgs", StringMatch, doc="A condition for a string: the first key that is set counts."),
    ArgumentMap("RoleArgs", Role, doc="Identical instances of an entry pod and its workers."),
    ArgumentMap(
        "RollingUpdateConfigurationArgs",
        RollingUpdateConfiguration,
        doc="How many groups may be unavailable or extra during an update.",
    ),
    ArgumentMap(
        "ObjectReferenceArgs", ObjectReference, doc="A reference to an object in the namespace of the binding."
    ),
    ArgumentMap("WorkloadPortArgs", WorkloadPort, doc="The port of the pods."),
    ArgumentMap("KVConnectorArgs", KVConnector, doc="How the KV cache is transferred from prefill to decode."),
    ArgumentMap("RedisConfigArgs", RedisConfig, doc="A Redis server."),
)
