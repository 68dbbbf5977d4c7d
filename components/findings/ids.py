"""The rules that findings are of: by their ids reports name them, and annotations ignore them.

Everything else about a rule (what it means, how bad it is, where the documentation has it) is in ``registry.yaml``.
"""

from enum import StrEnum


class RuleId(StrEnum):
    """The id of a rule. Ids are for life: annotations in other people's manifests have them."""

    CONTRACT = "contract"
    SETTINGS = "settings"
    IGNORE_WRONG = "ignore-wrong"
    IGNORE_UNUSED = "ignore-unused"

    FIELD_NO_EFFECT = "field-no-effect"
    FIELD_OVERRIDDEN = "field-overridden"

    REFERENCE_MISSING = "reference-missing"
    REFERENCE_ELSEWHERE = "reference-elsewhere"

    NAMES_INVALID = "names-invalid"
    NAMES_TAKEN = "names-taken"

    NATIVE_UNSUPPORTED = "native-unsupported"
    NATIVE_DIFFERS = "native-differs"
    OPERATOR_UNSUPPORTED = "operator-unsupported"
    OPERATOR_DIFFERS = "operator-differs"

    WEIGHTS_UNREACHABLE = "weights-unreachable"
    WEIGHTS_FORMAT = "weights-format"

    ENGINE_UNKNOWN = "engine-unknown"
    ENGINE_TOO_OLD = "engine-too-old"
    FLAGS_UNKNOWN = "flags-unknown"
    FLAGS_UNSUPPORTED = "flags-unsupported"
    FLAGS_DEPRECATED = "flags-deprecated"
    FLAGS_MALFORMED = "flags-malformed"
    FLAGS_EXCLUSIVE = "flags-exclusive"
    FLAGS_REPEATED = "flags-repeated"
    FLAGS_RESERVED = "flags-reserved"
    FLAGS_UNUSUAL = "flags-unusual"
    HANDOVER_BROKEN = "handover-broken"
    HANDOVER_SLOW = "handover-slow"

    GPUS_MISMATCH = "gpus-mismatch"
    GPUS_UNUSED = "gpus-unused"
    GPUS_VENDOR = "gpus-vendor"
    MEMORY_EXCEEDED = "memory-exceeded"
    MEMORY_TIGHT = "memory-tight"
    MEMORY_UNKNOWN = "memory-unknown"
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
    NODES_EFA_UNUSED = "nodes-efa-unused"
    NODES_UNSCALED = "nodes-unscaled"
    QUOTA_EXCEEDED = "quota-exceeded"
    QUOTA_UNKNOWN = "quota-unknown"
    RELEASE_SUPPORT_ENDING = "release-support-ending"
    STORAGE_UNPROVISIONED = "storage-unprovisioned"
    STORAGE_ONE_NODE = "storage-one-node"
    STORAGE_CROSS_ZONE = "storage-cross-zone"

    METRICS_NOT_EXPORTED = "metrics-not-exported"
    METRICS_UNCHECKED = "metrics-unchecked"
    METRICS_UNSCALABLE = "metrics-unscalable"
    METRICS_TARGET = "metrics-target"
    METRICS_AMBIGUOUS = "metrics-ambiguous"
    METRICS_ADAPTER_MISSING = "metrics-adapter-missing"
    METRICS_NAME = "metrics-name"
    METRICS_REQUESTS_MISSING = "metrics-requests-missing"
    METRICS_OFF = "metrics-off"
    METRICS_UNSCRAPED = "metrics-unscraped"
    AUTOSCALING_NO_TRIGGER = "autoscaling-no-trigger"
    AUTOSCALING_FROM_ZERO = "autoscaling-from-zero"
    AUTOSCALING_CONTESTED = "autoscaling-contested"
    AUTOSCALING_ABRUPT = "autoscaling-abrupt"

    ACCESS_UNROUTABLE = "access-unroutable"
    ACCESS_ROUTES_LOST = "access-routes-lost"
    ACCESS_ROUTES_ORDER = "access-routes-order"
    ACCESS_SHARED_NAME = "access-shared-name"
    ACCESS_LOAD_BALANCER_OPEN = "access-load-balancer-open"
    ACCESS_NODE_PORT = "access-node-port"
    ACCESS_ROUTER_OPEN = "access-router-open"
    ACCESS_ANONYMOUS = "access-anonymous"
    ACCESS_CLEAR_TEXT = "access-clear-text"
    ACCESS_LIMITS_ELSEWHERE = "access-limits-elsewhere"
    SECURITY_SECRET_IN_CLEAR = "security-secret-in-clear"  # noqa: S105 - a name
    SECURITY_RESTRICTED_EXEMPT = "security-restricted-exempt"
    SECURITY_SCRIPT_SECRET = "security-script-secret"  # noqa: S105 - a name
    SECURITY_SCRIPT_INJECTION = "security-script-injection"

    SIZING_UNDETERMINED = "sizing-undetermined"
    SIZING_IMPOSSIBLE = "sizing-impossible"
    SIZING_IMPLAUSIBLE = "sizing-implausible"
    SIZING_MISMATCH = "sizing-mismatch"
    SIZING_CONFLICT = "sizing-conflict"
    SIZING_UNUSED_SETTING = "sizing-unused-setting"
    SIZING_BOUNDS = "sizing-bounds"
    SIZING_CHEAPER = "sizing-cheaper"

    PREREQUISITES_MISSING = "prerequisites-missing"
    PREREQUISITES_CONFLICT = "prerequisites-conflict"
    PREREQUISITES_TOO_NEW = "prerequisites-too-new"
    OTHERS_REFUSED = "others-refused"
    TRACE_UNREAD = "trace-unread"
