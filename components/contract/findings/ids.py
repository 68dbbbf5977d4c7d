"""The ids of the finding rules, by which reports refer to them and annotations ignore them.

Titles, severities, and help texts are in ``registry.yaml``.
"""

from enum import StrEnum


class RuleId(StrEnum):
    """The id of a rule. Ids never change, because annotations in users' manifests refer to them."""

    CONTRACT = "contract"
    MANIFEST_EMPTY = "manifest-empty"
    CHARACTER_UNSEEN = "character-unseen"
    SETTINGS = "settings"
    IGNORE_WRONG = "ignore-wrong"
    IGNORE_UNUSED = "ignore-unused"

    FIELD_NO_EFFECT = "field-no-effect"
    FIELD_OVERRIDDEN = "field-overridden"

    REFERENCE_MISSING = "reference-missing"
    REFERENCE_ELSEWHERE = "reference-elsewhere"

    NAMES_INVALID = "names-invalid"
    NAMES_TAKEN = "names-taken"
    NAME_MISSPELLED = "name-misspelled"
    AMOUNT_IMPLAUSIBLE = "amount-implausible"

    NATIVE_UNSUPPORTED = "native-unsupported"
    NATIVE_DIFFERS = "native-differs"
    OPERATOR_UNSUPPORTED = "operator-unsupported"
    OPERATOR_DIFFERS = "operator-differs"
    RELEASE_MISMATCH = "release-mismatch"
    RELEASE_UNSET = "release-unset"

    WEIGHTS_UNREACHABLE = "weights-unreachable"
    WEIGHTS_FORMAT = "weights-format"
    WEIGHTS_ELSEWHERE = "weights-elsewhere"

    ENGINE_UNKNOWN = "engine-unknown"
    ENGINE_NOT_OPENAI = "engine-not-openai"
    ENGINE_TOO_OLD = "engine-too-old"
    IMAGE_MISSING = "image-missing"
    IMAGE_LACKS_PROGRAM = "image-lacks-program"
    ADAPTERS_WRONG = "adapters-wrong"
    FLAGS_UNKNOWN = "flags-unknown"
    FLAGS_UNSUPPORTED = "flags-unsupported"
    FLAGS_DEPRECATED = "flags-deprecated"
    FLAGS_MALFORMED = "flags-malformed"
    FLAGS_EXCLUSIVE = "flags-exclusive"
    FLAGS_CONTRADICTED = "flags-contradicted"
    FLAGS_REPEATED = "flags-repeated"
    FLAGS_RESERVED = "flags-reserved"
    FLAGS_INEXACT = "flags-inexact"
    HANDOVER_BROKEN = "handover-broken"
    HANDOVER_DOUBTFUL = "handover-doubtful"

    GPUS_MISMATCH = "gpus-mismatch"
    GROUPS_MISMATCH = "groups-mismatch"
    GPUS_UNUSED = "gpus-unused"
    GPUS_UNEQUAL = "gpus-unequal"
    GPUS_ABSENT = "gpus-absent"
    GPUS_CONTRADICTED = "gpus-contradicted"
    ARCHITECTURE_UNSUPPORTED = "architecture-unsupported"
    FORMAT_UNSUPPORTED = "format-unsupported"
    START_REFUSED = "start-refused"
    CONTEXT_TOO_LONG = "context-too-long"
    MEMORY_EXCEEDED = "memory-exceeded"
    MEMORY_TIGHT = "memory-tight"
    MEMORY_NOT_REQUESTED = "memory-not-requested"
    MEMORY_HOST_EXCEEDED = "memory-host-exceeded"
    MEMORY_SHARED_SMALL = "memory-shared-small"
    COST_UNKNOWN = "cost-unknown"

    NODES_TYPE_UNNAMED = "nodes-type-unnamed"
    NODES_TYPE_UNKNOWN = "nodes-type-unknown"
    NODES_TYPE_NOT_OFFERED = "nodes-type-not-offered"
    NODES_TOO_SMALL = "nodes-too-small"
    NODES_UNSERVED = "nodes-unserved"
    NODES_PENDING = "nodes-pending"
    NODES_PLACEMENT = "nodes-placement"
    NODES_TOO_MANY_GROUPS = "nodes-too-many-groups"
    NODES_FEW_SPOT_POOLS = "nodes-few-spot-pools"
    NODES_UNBOUNDED = "nodes-unbounded"
    NODES_BLOCK_RUNS = "nodes-block-runs"
    NODES_BLOCK_ENDS = "nodes-block-ends"
    NODES_BLOCK_SHARED = "nodes-block-shared"
    NODES_RESERVATION_FULL = "nodes-reservation-full"
    NODES_REPAIR_PARTIAL = "nodes-repair-partial"
    NODES_EFA_UNUSED = "nodes-efa-unused"
    NODES_UNSCALED = "nodes-unscaled"
    NODES_UNBALANCED = "nodes-unbalanced"
    NODES_ORDER_CONFLICT = "nodes-order-conflict"
    ROLLOUT_STUCK = "rollout-stuck"
    PRIORITY_MIXED = "priority-mixed"
    PRIORITY_UNCHECKED = "priority-unchecked"
    PODS_REFUSED = "pods-refused"
    QUOTA_EXCEEDED = "quota-exceeded"
    RELEASE_SUPPORT_ENDING = "release-support-ending"
    RELEASE_BEHIND = "release-behind"
    RELEASE_UNCHECKED = "release-unchecked"
    NETWORK_UNREACHABLE = "network-unreachable"
    IMAGES_ANONYMOUS = "images-anonymous"
    IMAGES_FIRST_PULL = "images-first-pull"
    IMAGES_UNCACHED = "images-uncached"
    RELEASE_OLD = "release-old"
    STORAGE_UNPROVISIONED = "storage-unprovisioned"
    STORAGE_ENCRYPTION_UNCHECKED = "storage-encryption-unchecked"
    STORAGE_ONE_NODE = "storage-one-node"
    STORAGE_CROSS_ZONE = "storage-cross-zone"
    STORAGE_ZONAL = "storage-zonal"
    STORAGE_MOUNT_ROOM = "storage-mount-room"

    MONITORING_BLIND = "monitoring-blind"
    MONITORING_TWICE = "monitoring-twice"
    API_SERVER_OPEN = "api-server-open"

    METRICS_NOT_EXPORTED = "metrics-not-exported"
    METRICS_UNCHECKED = "metrics-unchecked"
    METRICS_UNSCALABLE = "metrics-unscalable"
    METRICS_TARGET = "metrics-target"
    METRICS_NEVER_TRIGGERS = "metrics-never-triggers"
    METRICS_AMBIGUOUS = "metrics-ambiguous"
    METRICS_ADAPTER_MISSING = "metrics-adapter-missing"
    METRICS_NAME = "metrics-name"
    METRICS_REQUESTS_MISSING = "metrics-requests-missing"
    METRICS_OFF = "metrics-off"
    METRICS_UNSCRAPED = "metrics-unscraped"
    METRICS_LEFT_OUT = "metrics-left-out"
    AUTOSCALING_NO_TRIGGER = "autoscaling-no-trigger"
    AUTOSCALING_FROM_ZERO = "autoscaling-from-zero"
    AUTOSCALING_ASLEEP = "autoscaling-asleep"
    AUTOSCALING_UNHELD = "autoscaling-unheld"
    AUTOSCALING_CONTESTED = "autoscaling-contested"
    AUTOSCALING_VERTICAL = "autoscaling-vertical"
    AUTOSCALING_ABRUPT = "autoscaling-abrupt"
    START_PROBES = "start-probes"
    START_WINDOW = "start-window"
    START_PROMISE = "start-promise"
    UPDATE_SESSION = "update-session"
    UPDATE_DRAIN = "update-drain"

    ACCESS_UNROUTABLE = "access-unroutable"
    ACCESS_ROUTE_UNUSED = "access-route-unused"
    ACCESS_NO_PORT = "access-no-port"
    ACCESS_PATH = "access-path"
    ACCESS_ROUTES_LOST = "access-routes-lost"
    ACCESS_ROUTES_ORDER = "access-routes-order"
    ACCESS_SHARED_NAME = "access-shared-name"
    ACCESS_LOAD_BALANCER_OPEN = "access-load-balancer-open"
    ACCESS_NODE_PORT = "access-node-port"
    ACCESS_ROUTER_OPEN = "access-router-open"
    ACCESS_ENGINE_KEY = "access-engine-key"
    ACCESS_ANONYMOUS = "access-anonymous"
    ACCESS_CLEAR_TEXT = "access-clear-text"
    ACCESS_LIMITS_ELSEWHERE = "access-limits-elsewhere"
    DRAIN_MISSING = "drain-missing"
    DRAIN_SHORT = "drain-short"
    DRAIN_HOOK = "drain-hook"
    DRAIN_BUDGET = "drain-budget"
    ACCESS_ROLLOUT = "access-rollout"
    SECURITY_SECRET_IN_CLEAR = "security-secret-in-clear"  # noqa: S105 - a name
    SECURITY_RESTRICTED_EXEMPT = "security-restricted-exempt"
    SECURITY_SCRIPT_SECRET = "security-script-secret"  # noqa: S105 - a name
    SECURITY_SCRIPT_INJECTION = "security-script-injection"

    SIZING_UNDETERMINED = "sizing-undetermined"
    SIZING_IMPOSSIBLE = "sizing-impossible"
    SIZING_UNPROMISED = "sizing-unpromised"
    SIZING_UNCHECKED = "sizing-unchecked"
    SIZING_IMPLAUSIBLE = "sizing-implausible"
    SIZING_MISMATCH = "sizing-mismatch"
    SIZING_WRONG_COUNT = "sizing-wrong-count"
    SIZING_INCONSISTENT = "sizing-inconsistent"
    SIZING_CONFLICT = "sizing-conflict"
    SIZING_UNUSED_SETTING = "sizing-unused-setting"
    SIZING_BOUNDS = "sizing-bounds"
    SIZING_CHEAPER = "sizing-cheaper"
    SIZING_COMPARISON = "sizing-comparison"

    PREREQUISITES_MISSING = "prerequisites-missing"
    PREREQUISITES_CONFLICT = "prerequisites-conflict"
    PREREQUISITES_TOO_NEW = "prerequisites-too-new"
    CHANGE_REFUSED = "change-refused"
    CHANGE_DESTROYS = "change-destroys"
    CHANGE_REPLACES_CLUSTER = "change-replaces-cluster"
    CHANGE_DELETES_DATA = "change-deletes-data"
    CHANGE_DELETES_CONTENTS = "change-deletes-contents"
    UNCHANGED_UNCHECKED = "unchanged-unchecked"
    OTHERS_REFUSED = "others-refused"
    TRACE_UNREAD = "trace-unread"


COMPARED = frozenset(
    {
        RuleId.CHANGE_REFUSED,
        RuleId.CHANGE_DESTROYS,
        RuleId.CHANGE_REPLACES_CLUSTER,
        RuleId.CHANGE_DELETES_DATA,
        RuleId.CHANGE_DELETES_CONTENTS,
    }
)
"""Rules about the change from a deployed revision: a plan of one revision has no findings of them."""

FINAL = frozenset(
    {
        RuleId.CONTRACT,
        RuleId.SETTINGS,
        RuleId.IGNORE_WRONG,
        RuleId.REFERENCE_MISSING,
        RuleId.NAMES_INVALID,
        RuleId.NAMES_TAKEN,
        RuleId.NATIVE_UNSUPPORTED,
        RuleId.RELEASE_MISMATCH,
        RuleId.WEIGHTS_UNREACHABLE,
        RuleId.IMAGE_MISSING,
        RuleId.FLAGS_RESERVED,
        RuleId.NODES_TOO_MANY_GROUPS,
        RuleId.NODES_PLACEMENT,
        RuleId.METRICS_NAME,
        RuleId.AUTOSCALING_NO_TRIGGER,
        RuleId.AUTOSCALING_CONTESTED,
        RuleId.ACCESS_UNROUTABLE,
        RuleId.SECURITY_SCRIPT_INJECTION,
        RuleId.SIZING_UNDETERMINED,
        RuleId.SIZING_IMPOSSIBLE,
        RuleId.SIZING_IMPLAUSIBLE,
        RuleId.SIZING_CONFLICT,
        RuleId.PREREQUISITES_CONFLICT,
        RuleId.PREREQUISITES_TOO_NEW,
        RuleId.OTHERS_REFUSED,
        RuleId.TRACE_UNREAD,
    }
)
"""Rules that cannot be ignored, because otherwise nothing, or not what is written, could be created.

All other rules predict the behavior of the created objects, which the author of the resource may know better.
"""
