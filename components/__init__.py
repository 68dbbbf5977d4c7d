"""Components that turn model declarations into running, priced and checked fleets.

Import them from here, and those of an API family from its package::

    from inference_platform import GpuNodeGroups, ModelFleet
    from inference_platform.families.llmaz import OpenModel, Playground
"""

from typing import TYPE_CHECKING

from .clouds import CLOUDS
from .contract.lazy import lazy_call, lazy_exports
from .fleet.clouds import register
from .resources import HOMES

if TYPE_CHECKING:
    from .resources.aws.args import BastionArgs as BastionArgs
    from .resources.aws.args import ClusterArgs as ClusterArgs
    from .resources.aws.args import ClusterAutoscalerArgs as ClusterAutoscalerArgs
    from .resources.aws.args import EfsArgs as EfsArgs
    from .resources.aws.args import FsxArgs as FsxArgs
    from .resources.aws.args import GatewayRecordArgs as GatewayRecordArgs
    from .resources.aws.args import GpuNodeGroupsArgs as GpuNodeGroupsArgs
    from .resources.aws.args import IdentitiesArgs as IdentitiesArgs
    from .resources.aws.args import ImageCacheArgs as ImageCacheArgs
    from .resources.aws.args import KarpenterAccessArgs as KarpenterAccessArgs
    from .resources.aws.args import KarpenterArgs as KarpenterArgs
    from .resources.aws.args import KarpenterPoolsArgs as KarpenterPoolsArgs
    from .resources.aws.args import LoadBalancerControllerArgs as LoadBalancerControllerArgs
    from .resources.aws.args import ModelStorageArgs as ModelStorageArgs
    from .resources.aws.args import NamespaceAccessArgs as NamespaceAccessArgs
    from .resources.aws.args import NetworkArgs as NetworkArgs
    from .resources.aws.args import NodeTypeArgs as NodeTypeArgs
    from .resources.aws.args import ReservationArgs as ReservationArgs
    from .resources.aws.bastion import Bastion as Bastion
    from .resources.aws.charts import ClusterAutoscaler as ClusterAutoscaler
    from .resources.aws.charts import EfaDevicePlugin as EfaDevicePlugin
    from .resources.aws.charts import Karpenter as Karpenter
    from .resources.aws.charts import LoadBalancerController as LoadBalancerController
    from .resources.aws.charts import NeuronDevicePlugin as NeuronDevicePlugin
    from .resources.aws.cluster import Cluster as Cluster
    from .resources.aws.gateway_record import GatewayRecord as GatewayRecord
    from .resources.aws.gpu_node_groups import GpuNodeGroups as GpuNodeGroups
    from .resources.aws.identities import Identities as Identities
    from .resources.aws.image_cache import ImageCache as ImageCache
    from .resources.aws.karpenter_access import KarpenterAccess as KarpenterAccess
    from .resources.aws.karpenter_pools import KarpenterPools as KarpenterPools
    from .resources.aws.network import Network as Network
    from .resources.aws.storage.model_storage import ModelStorage as ModelStorage
    from .resources.prerequisites.accelerators import DcgmExporter as DcgmExporter
    from .resources.prerequisites.accelerators import GpuOperator as GpuOperator
    from .resources.prerequisites.accelerators import NvidiaDevicePlugin as NvidiaDevicePlugin
    from .resources.prerequisites.args import ChartArgs as ChartArgs
    from .resources.prerequisites.args import CustomResourcesArgs as CustomResourcesArgs
    from .resources.prerequisites.args import GpuOperatorArgs as GpuOperatorArgs
    from .resources.prerequisites.args import PrometheusAdapterArgs as PrometheusAdapterArgs
    from .resources.prerequisites.args import PrometheusArgs as PrometheusArgs
    from .resources.prerequisites.args import VariantAutoscalerArgs as VariantAutoscalerArgs
    from .resources.prerequisites.custom_resources import CustomResources as CustomResources
    from .resources.prerequisites.metrics import Keda as Keda
    from .resources.prerequisites.metrics import MetricsServer as MetricsServer
    from .resources.prerequisites.metrics import Prometheus as Prometheus
    from .resources.prerequisites.metrics import PrometheusAdapter as PrometheusAdapter
    from .resources.prerequisites.networking import AiGateway as AiGateway
    from .resources.prerequisites.networking import AiGatewayKinds as AiGatewayKinds
    from .resources.prerequisites.networking import EnvoyGateway as EnvoyGateway
    from .resources.prerequisites.operators import KthenaOperator as KthenaOperator
    from .resources.prerequisites.operators import KthenaRouter as KthenaRouter
    from .resources.prerequisites.operators import LlmazOperator as LlmazOperator
    from .resources.prerequisites.operators import LlmkubeOperator as LlmkubeOperator
    from .resources.prerequisites.variants import VariantAutoscaler as VariantAutoscaler
    from .resources.prerequisites.workloads import CertManager as CertManager
    from .resources.prerequisites.workloads import LeaderWorkerSetController as LeaderWorkerSetController
    from .resources.prerequisites.workloads import Volcano as Volcano
    from .resources.serving.args import FlavorArgs as FlavorArgs
    from .resources.serving.args import SimulatedNodesArgs as SimulatedNodesArgs
    from .resources.serving.fleet.args import ModelFleetArgs as ModelFleetArgs
    from .resources.serving.model_fleet import ModelFleet as ModelFleet
    from .resources.serving.simulated_nodes import SimulatedNodes as SimulatedNodes
    from .version import __version__ as __version__

# Registered here, because this module runs before every other one of the package; loaded when first needed.
for _cloud, _folder in CLOUDS.items():
    register(
        _cloud,
        lazy_call(__name__, f"{_folder}.cloud_facts", "cloud_facts"),
        lazy_call(__name__, f"{_folder}.provider", "provider"),
    )

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__, {**{name: f"resources.{home}" for name, home in HOMES.items()}, "__version__": "version"}
    )
