"""Components that turn model declarations into running, priced and checked fleets.

Import them from here, and those of an API family from its package::

    from inference_platform import GpuNodeGroups, ModelFleet
    from inference_platform.families.llmaz import OpenModel, Playground
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .aws.components.access.bastion import Bastion as Bastion
    from .aws.components.access.bastion import BastionArgs as BastionArgs
    from .aws.components.charts import ClusterAutoscaler as ClusterAutoscaler
    from .aws.components.charts import ClusterAutoscalerArgs as ClusterAutoscalerArgs
    from .aws.components.charts import EfaDevicePlugin as EfaDevicePlugin
    from .aws.components.charts import Karpenter as Karpenter
    from .aws.components.charts import KarpenterArgs as KarpenterArgs
    from .aws.components.charts import LoadBalancerController as LoadBalancerController
    from .aws.components.charts import LoadBalancerControllerArgs as LoadBalancerControllerArgs
    from .aws.components.charts import NeuronDevicePlugin as NeuronDevicePlugin
    from .aws.components.cluster import Cluster as Cluster
    from .aws.components.cluster_args import ClusterArgs as ClusterArgs
    from .aws.components.cluster_args import NamespaceAccessArgs as NamespaceAccessArgs
    from .aws.components.gateway_record import GatewayRecord as GatewayRecord
    from .aws.components.gateway_record import GatewayRecordArgs as GatewayRecordArgs
    from .aws.components.gpu_node_groups import GpuNodeGroups as GpuNodeGroups
    from .aws.components.identities import Identities as Identities
    from .aws.components.identities import IdentitiesArgs as IdentitiesArgs
    from .aws.components.image_cache import ImageCache as ImageCache
    from .aws.components.image_cache import ImageCacheArgs as ImageCacheArgs
    from .aws.components.karpenter_access import KarpenterAccess as KarpenterAccess
    from .aws.components.karpenter_access import KarpenterAccessArgs as KarpenterAccessArgs
    from .aws.components.karpenter_pools import KarpenterPools as KarpenterPools
    from .aws.components.network import Network as Network
    from .aws.components.network_args import NetworkArgs as NetworkArgs
    from .aws.components.node_args import GpuNodeGroupsArgs as GpuNodeGroupsArgs
    from .aws.components.node_args import KarpenterPoolsArgs as KarpenterPoolsArgs
    from .aws.components.node_args import NodeTypeArgs as NodeTypeArgs
    from .aws.components.node_args import ReservationArgs as ReservationArgs
    from .aws.components.storage.args import EfsArgs as EfsArgs
    from .aws.components.storage.args import FsxArgs as FsxArgs
    from .aws.components.storage.args import ModelStorageArgs as ModelStorageArgs
    from .aws.components.storage.model_storage import ModelStorage as ModelStorage
    from .prerequisites.accelerators import DcgmExporter as DcgmExporter
    from .prerequisites.accelerators import GpuOperator as GpuOperator
    from .prerequisites.accelerators import GpuOperatorArgs as GpuOperatorArgs
    from .prerequisites.accelerators import NvidiaDevicePlugin as NvidiaDevicePlugin
    from .prerequisites.chart import ChartArgs as ChartArgs
    from .prerequisites.custom_resources import CustomResources as CustomResources
    from .prerequisites.custom_resources import CustomResourcesArgs as CustomResourcesArgs
    from .prerequisites.metrics import Keda as Keda
    from .prerequisites.metrics import MetricsServer as MetricsServer
    from .prerequisites.metrics import Prometheus as Prometheus
    from .prerequisites.metrics import PrometheusAdapter as PrometheusAdapter
    from .prerequisites.metrics import PrometheusAdapterArgs as PrometheusAdapterArgs
    from .prerequisites.metrics import PrometheusArgs as PrometheusArgs
    from .prerequisites.networking import AiGateway as AiGateway
    from .prerequisites.networking import AiGatewayKinds as AiGatewayKinds
    from .prerequisites.networking import EnvoyGateway as EnvoyGateway
    from .prerequisites.operators import KthenaOperator as KthenaOperator
    from .prerequisites.operators import KthenaRouter as KthenaRouter
    from .prerequisites.operators import LlmazOperator as LlmazOperator
    from .prerequisites.operators import LlmkubeOperator as LlmkubeOperator
    from .prerequisites.variants import VariantAutoscaler as VariantAutoscaler
    from .prerequisites.variants import VariantAutoscalerArgs as VariantAutoscalerArgs
    from .prerequisites.workloads import CertManager as CertManager
    from .prerequisites.workloads import LeaderWorkerSetController as LeaderWorkerSetController
    from .prerequisites.workloads import Volcano as Volcano
    from .serving.flavor_args import FlavorArgs as FlavorArgs
    from .serving.fleet.args import ModelFleetArgs as ModelFleetArgs
    from .serving.model_fleet import ModelFleet as ModelFleet
    from .serving.simulated_nodes import SimulatedNodes as SimulatedNodes
    from .serving.simulated_nodes import SimulatedNodesArgs as SimulatedNodesArgs
    from .version import __version__ as __version__

COMPONENTS = {
    "ModelFleet": "serving.model_fleet",
    "SimulatedNodes": "serving.simulated_nodes",
    "Network": "aws.components.network",
    "Cluster": "aws.components.cluster",
    "Bastion": "aws.components.access.bastion",
    "GpuNodeGroups": "aws.components.gpu_node_groups",
    "KarpenterAccess": "aws.components.karpenter_access",
    "KarpenterPools": "aws.components.karpenter_pools",
    "Identities": "aws.components.identities",
    "ImageCache": "aws.components.image_cache",
    "GatewayRecord": "aws.components.gateway_record",
    "ModelStorage": "aws.components.storage.model_storage",
    "ClusterAutoscaler": "aws.components.charts",
    "EfaDevicePlugin": "aws.components.charts",
    "Karpenter": "aws.components.charts",
    "LoadBalancerController": "aws.components.charts",
    "NeuronDevicePlugin": "aws.components.charts",
    "CustomResources": "prerequisites.custom_resources",
    "DcgmExporter": "prerequisites.accelerators",
    "GpuOperator": "prerequisites.accelerators",
    "NvidiaDevicePlugin": "prerequisites.accelerators",
    "Keda": "prerequisites.metrics",
    "MetricsServer": "prerequisites.metrics",
    "Prometheus": "prerequisites.metrics",
    "PrometheusAdapter": "prerequisites.metrics",
    "AiGateway": "prerequisites.networking",
    "AiGatewayKinds": "prerequisites.networking",
    "EnvoyGateway": "prerequisites.networking",
    "KthenaOperator": "prerequisites.operators",
    "KthenaRouter": "prerequisites.operators",
    "LlmazOperator": "prerequisites.operators",
    "LlmkubeOperator": "prerequisites.operators",
    "VariantAutoscaler": "prerequisites.variants",
    "CertManager": "prerequisites.workloads",
    "LeaderWorkerSetController": "prerequisites.workloads",
    "Volcano": "prerequisites.workloads",
}
"""The module of each component that belongs to no family."""
_TYPES = {
    "ChartArgs": "prerequisites.chart",
    "ClusterArgs": "aws.components.cluster_args",
    "EfsArgs": "aws.components.storage.args",
    "FlavorArgs": "serving.flavor_args",
    "FsxArgs": "aws.components.storage.args",
    "GpuNodeGroupsArgs": "aws.components.node_args",
    "KarpenterPoolsArgs": "aws.components.node_args",
    "ModelFleetArgs": "serving.fleet.args",
    "ModelStorageArgs": "aws.components.storage.args",
    "NamespaceAccessArgs": "aws.components.cluster_args",
    "NetworkArgs": "aws.components.network_args",
    "NodeTypeArgs": "aws.components.node_args",
    "ReservationArgs": "aws.components.node_args",
}
"""Arguments that are not where their component is."""

if not TYPE_CHECKING:
    from .lazy import offered

    __getattr__ = offered(__name__, {**COMPONENTS, **_TYPES, "__version__": "version"})
