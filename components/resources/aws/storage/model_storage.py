"""Storage for the weights of a cluster's models: volumes that pods on all nodes share.

ModelStorage
├── efs.FileSystem                       <name>-efs, unless it exists
├── ec2.SecurityGroup, its ingress rule  <name>-efs
├── efs.MountTarget                      <name>-efs-<zone>
├── efs.AccessPoint                      <name>-efs-<namespace>
├── fsx.LustreFileSystem                 <name>-fsx, unless it exists
├── ec2.SecurityGroup, its rules         <name>-fsx, <name>-fsx-<direction>-<port>
├── PersistentVolume, its claim, Job     <name>-kube-system/<object>, to create its folders
└── PersistentVolume                     <name>-<namespace>/<claim>
"""

from collections.abc import Sequence

import pulumi
from pydantic import ValidationError

from ....clouds.aws.storage.volumes import (
    FSX_OPTIONS,
    efs_source,
    folder_job,
    fsx_source,
    s3_options,
    s3_source,
    volume,
)
from ....clouds.aws.storage.volumes import NAMESPACE as FOLDERS
from ....contract.problems import field_path
from ....fleet.objects import Object
from ....fleet.options import BoundClaim
from ....plan.claims import claim_objects
from ....plan.faults import faults
from ...serving.arguments import checked_args
from ...serving.objects import KubernetesObject, kubernetes_object, token
from ...serving.typed_args import Found
from ..args import ModelStorageArgs
from ..parts.waiting import waiting
from .args import access_path, problems
from .efs import EfsCache
from .fsx import FsxCache
from .settings import StorageSettings


class ModelStorage(pulumi.ComponentResource):
    """Creates storage for weights, and PersistentVolumes for it and for buckets in each namespace of models.

    Pass both an AWS and a Kubernetes provider. A ModelFleet creates the claims: set claim, bound and read_only_claims
    of its model_cache, and make it depend on this component. New file systems are caches and are deleted with the
    component. Does not install the add-ons that mount the volumes (aws-efs-csi-driver, aws-fsx-csi-driver,
    aws-mountpoint-s3-csi-driver).
    """

    claim: pulumi.Output[str]
    """Name of the cache's claim, for the model_cache of a ModelFleet; empty without a cache. Known at preview."""

    def __init__(self, name: str, args: ModelStorageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create storage and volumes.

        Raises:
            InvalidArguments: the arguments contradict each other or AWS; every problem is listed.
        """
        args = checked_args(name, args, ModelStorageArgs, _problems)
        super().__init__(token("ModelStorage"), name, {}, waiting(opts, args.get("timeouts", {})))
        self._name = name
        settings = _settings(args)
        self.volumes: list[KubernetesObject] = []
        if settings.efs and settings.cache:
            self._create_efs(EfsCache(f"{name}-efs", args, settings.efs, self), settings.cache)
        if settings.fsx and settings.cache:
            self._create_fsx(FsxCache(f"{name}-fsx", args, settings.fsx, self), settings.cache, args)
        for claim, (bucket, prefix) in settings.buckets.items():
            for namespace in args["namespaces"]:
                source = s3_source(claim, namespace, bucket)
                self._volume(namespace, volume(namespace, claim, source, s3_options(args["region"], prefix)), [])
        self.claim = pulumi.Output.from_input(settings.cache.name if settings.cache else "")
        self.register_outputs({"claim": self.claim})

    def _create_efs(self, cache: EfsCache, claim: BoundClaim) -> None:
        for namespace, handle in cache.handles().items():
            self._volume(namespace, volume(namespace, claim, efs_source(handle)), cache.ready)

    def _create_fsx(self, cache: FsxCache, claim: BoundClaim, args: ModelStorageArgs) -> None:
        """Create the volumes of the namespaces, after a Job that creates their folders in the file system."""
        paths = {namespace: access_path(args, namespace).strip("/") for namespace in args["namespaces"]}
        root = fsx_source(claim.volume(FOLDERS), cache.dns_name, cache.mount_name)
        after = self._volume(FOLDERS, volume(FOLDERS, claim, root, FSX_OPTIONS), cache.ready)
        for value in (*claim_objects([claim], [FOLDERS]), folder_job(claim, paths.values())):
            after = self._object(FOLDERS, value["metadata"]["name"], value, [after])
        for namespace, path in paths.items():
            source = fsx_source(claim.volume(namespace), cache.dns_name, cache.folder(path))
            self._volume(namespace, volume(namespace, claim, source, FSX_OPTIONS), [*cache.ready, after])

    def _volume(self, namespace: str, value: Object, after: Sequence[pulumi.Resource]) -> KubernetesObject:
        """Create a volume, named after its claim."""
        registered = self._object(namespace, value["spec"]["claimRef"]["name"], value, after)
        self.volumes.append(registered)
        return registered

    def _object(self, namespace: str, name: str, value: Object, after: Sequence[pulumi.Resource]) -> KubernetesObject:
        options = pulumi.ResourceOptions(parent=self, depends_on=list(after))
        return kubernetes_object(value, f"{self._name}-{namespace}/{name}", options)


def _settings(args: ModelStorageArgs) -> StorageSettings:
    values = {key: args[key] for key in StorageSettings.model_fields if args.get(key) is not None}  # type: ignore[literal-required]
    return StorageSettings.model_validate(values, by_name=True, by_alias=False)


def _problems(args: ModelStorageArgs) -> Found:
    """Check the arguments as settings of a stack, and then in combination with other arguments."""
    settings = None
    try:
        settings = _settings(args)
    except ValidationError as error:
        wrong = faults(error, StorageSettings, by_name=True)
        # The type of the arguments has already reported unknown keys.
        yield from ((field_path(fault.path), fault.reason) for fault in wrong if not fault.unknown)
    yield from problems(args, settings)
