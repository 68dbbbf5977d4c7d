"""Settings of storage for weights on AWS, shared by programs and stacks."""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from ....clouds.aws.facts.iam import location_problem
from ....clouds.aws.words import LustreDeployment, Throughput
from ....fleet.options import BoundClaim
from ....plan.section import Section
from ....plan.settings import ClaimName
from ..node_settings import Zone

EFS_DRIVER = "aws-efs-csi-driver"
FSX_DRIVER = "aws-fsx-csi-driver"
S3_DRIVER = "aws-mountpoint-s3-csi-driver"
"""Names of EKS add-ons. The S3 driver supports EKS Pod Identity, and so the permissions of pods, since v2."""
_LUSTRE_STEP = 2400
"""Step of the capacity in GiB; the smallest file system has half of it (FSx API, CreateFileSystem,
StorageCapacity)."""
_MOST_MIBPS = 100_000
"""Far above the default quota of EFS, 3,414 MiB/s (API, CreateFileSystem), which AWS raises on request."""
_POSIX_MAX = 2**32 - 1
_DIGEST = 8
KMS_KEY = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[0-9a-zA-Z-]+$"


def _location(value: str) -> str:
    problem = location_problem(value)
    if problem:
        raise ValueError(problem)
    _, prefix = bucket_of(value)
    if prefix and not prefix.endswith("/"):
        raise ValueError("a mounted prefix must be a folder; end it with '/'")
    return value


Bucket = tuple[str, str]
"""Name and prefix."""
Location = Annotated[str, AfterValidator(_location)]


def bucket_of(location: str) -> Bucket:
    """Split ``bucket`` or ``bucket/prefix/``."""
    bucket, _, prefix = location.partition("/")
    return bucket, prefix


class EfsSettings(Section):
    """An EFS file system, new or existing."""

    id: str | None = Field(default=None, pattern=r"^fs-[0-9a-f]{8,40}$")
    """ID of an existing file system, which is never modified or deleted. It must have a mount target in each zone of
    the nodes that admits the cluster's security group. Default: a new, encrypted file system, deleted with the stack
    or component."""
    throughput: Throughput = Throughput.ELASTIC
    """Throughput mode: elastic (billed per GB transferred), bursting (included with storage) or provisioned."""
    mibps: int | None = Field(default=None, ge=1, le=_MOST_MIBPS)
    """Provisioned throughput in MiB/s. Required with provisioned."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts the file system. Default: the AWS managed key for EFS."""
    uid: int = Field(default=1000, ge=1, le=_POSIX_MAX)
    """User ID that owns all files, regardless of the user that pods run as."""
    gid: int = Field(default=1000, ge=1, le=_POSIX_MAX)
    """Group ID that owns all files."""

    @model_validator(mode="after")
    def _agrees(self) -> "EfsSettings":
        if self.id and {"throughput", "mibps", "kms_key_arn"} & self.model_fields_set:
            raise ValueError("an existing file system keeps its own throughput and KMS key; remove these settings")
        if (self.throughput == Throughput.PROVISIONED) != (self.mibps is not None):
            raise ValueError("throughput: provisioned and mibps require each other; set both, or neither")
        return self

    @property
    def lasting(self) -> dict[str, Any]:
        """Settings that cannot change in place; a change creates another volume."""
        return self.model_dump(mode="json", include={"id", "kms_key_arn", "uid", "gid"}, exclude_defaults=True)


class FsxSettings(Section):
    """An FSx for Lustre file system, new or existing."""

    id: str | None = Field(default=None, pattern=r"^fs-[0-9a-f]{8,40}$")
    """ID of an existing file system, which is never modified or deleted; requires dnsName and mountName. Default: a
    new, encrypted file system, deleted with the stack or component."""
    dns_name: str | None = None
    """DNS name of the existing file system."""
    mount_name: str | None = None
    """Mount name of the existing file system."""
    zone: Zone | None = None
    """Availability zone of a new file system, preferably that of the nodes. Required for a new file system."""
    deployment: LustreDeployment = LustreDeployment.PERSISTENT_2
    """Deployment type: persistent-2 (replicated) or scratch-2 (cheaper; data on a failed file server is lost)."""
    capacity_gib: int = 1200
    """Storage capacity in GiB: 1200 or a multiple of 2400."""
    throughput_per_tib: Literal[125, 250, 500, 1000] | None = None
    """Throughput of persistent-2 in MB/s per TiB of capacity: 125, 250, 500 or 1000. Default: 250."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """ARN of the KMS key that encrypts persistent-2. Default: the AWS managed key for FSx."""

    @model_validator(mode="after")
    def _agrees(self) -> "FsxSettings":
        identifiers = [self.id, self.dns_name, self.mount_name]
        if any(identifiers):
            if not all(identifiers):
                raise ValueError("an existing file system requires its ID, DNS name and mount name; set all three")
            if self.model_fields_set - {"id", "dns_name", "mount_name"}:
                raise ValueError(
                    "an existing file system is never modified; remove all settings but its ID and names"
                )
        elif self.zone is None:
            raise ValueError("a new file system requires zone; set it, preferably to the zone of the nodes")
        if self.capacity_gib != _LUSTRE_STEP // 2 and (self.capacity_gib <= 0 or self.capacity_gib % _LUSTRE_STEP):
            raise ValueError(f"found a capacity of {self.capacity_gib} GiB; allowed are 1200 and multiples of 2400")
        if self.deployment == LustreDeployment.SCRATCH_2 and (self.throughput_per_tib or self.kms_key_arn):
            raise ValueError("scratch-2 supports neither throughput nor KMS key; remove them, or use persistent-2")
        return self

    @property
    def throughput(self) -> int:
        """Throughput of persistent-2 in MB/s per TiB."""
        return self.throughput_per_tib or 250

    @property
    def lasting(self) -> dict[str, Any]:
        """Settings whose change creates another volume."""
        # Including the capacity: a file system can grow but not shrink, and a digest does not show the direction.
        # The throughput changes in place while pods keep reading (FSx user guide, "Managing throughput capacity";
        # hashicorp/terraform-provider-aws, pull request 34932).
        return self.model_dump(mode="json", exclude_defaults=True, exclude={"throughput_per_tib"})


class StorageSettings(Section):
    """Storage for weights on AWS."""

    efs: EfsSettings | None = None
    """EFS file system on AWS as the cache of all namespaces, shared by all nodes; {} creates one."""
    fsx: FsxSettings | None = None
    """FSx for Lustre file system on AWS, in one zone, as the cache of all namespaces."""
    s3: dict[ClaimName, Location] = Field(default_factory=dict)
    """S3 buckets on AWS to mount read-only, by claim name, for models whose source is a claim: each bucket or
    bucket/prefix/, in the region of the cluster. Can be combined with a cache."""

    @model_validator(mode="after")
    def _one_file_system(self) -> Self:
        if self.efs is not None and self.fsx is not None:
            raise ValueError("efs: cannot be combined with fsx; set only one of the two")
        return self

    @property
    def cache(self) -> BoundClaim | None:
        """Claim of the cache; None without efs and fsx."""
        file_systems = {"efs": self.efs, "fsx": self.fsx}
        names = [
            _claim_name(kind, settings.lasting) for kind, settings in file_systems.items() if settings is not None
        ]
        return BoundClaim(names[0]) if names else None

    @property
    def buckets(self) -> dict[BoundClaim, Bucket]:
        """Mounted buckets by claim."""
        return {BoundClaim(name, read_only=True): bucket_of(location) for name, location in self.s3.items()}

    @property
    def drivers(self) -> tuple[str, ...]:
        """EKS add-ons that mount the volumes."""
        in_use = {
            EFS_DRIVER: self.efs is not None,
            FSX_DRIVER: self.fsx is not None,
            S3_DRIVER: bool(self.s3),
        }
        return tuple(name for name, needed in in_use.items() if needed)


def _claim_name(kind: str, lasting: dict[str, Any]) -> str:
    # Neither a claim nor its volume can be changed. With a digest of the lasting settings in the name, a change
    # creates a second cache, and the former one is deleted once no pod mounts it.
    name = f"model-cache-{kind}"
    if not lasting:
        return name
    text = json.dumps(lasting, sort_keys=True)
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"
