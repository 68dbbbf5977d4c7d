"""What a program or a stack says about where weights are kept on AWS, checked."""

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
"""Names of EKS add-ons. That of S3 mounts with EKS Pod Identity, and so with the rights of pods, since v2."""
_LUSTRE_STEP = 2400
"""GiB by which a file system grows; the smallest has half of it (FSx API, CreateFileSystem, StorageCapacity)."""
_MOST_MIBPS = 100_000
"""Far above the 3,414 MiB/s of EFS (API, CreateFileSystem), which AWS raises for an account."""
_POSIX_MAX = 2**32 - 1
_DIGEST = 8
KMS_KEY = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[0-9a-zA-Z-]+$"


def _location(value: str) -> str:
    problem = location_problem(value)
    if problem:
        raise ValueError(problem)
    _, prefix = bucket_of(value)
    if prefix and not prefix.endswith("/"):
        raise ValueError("a prefix that is mounted is a folder; end it with '/'")
    return value


Bucket = tuple[str, str]
"""Its name, and the prefix of what is in it for us."""
Location = Annotated[str, AfterValidator(_location)]


def bucket_of(location: str) -> Bucket:
    """Return the bucket in ``bucket`` or ``bucket/prefix/``."""
    bucket, _, prefix = location.partition("/")
    return bucket, prefix


class EfsSettings(Section):
    """An EFS file system: a new one, or access to an existing one."""

    id: str | None = Field(default=None, pattern=r"^fs-[0-9a-f]{8,40}$")
    """ID of an existing file system, which is never changed or deleted. It must have a mount target in every zone of
    the nodes, open to the cluster's security group. Default: a new file system, encrypted, deleted with what made
    it."""
    throughput: Throughput = Throughput.ELASTIC
    """How throughput is paid for: elastic (by the gigabyte), bursting (with what is stored) or provisioned."""
    mibps: int | None = Field(default=None, ge=1, le=_MOST_MIBPS)
    """Provisioned throughput in MiB/s."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """KMS key that encrypts the file system. Default: that of AWS for EFS."""
    uid: int = Field(default=1000, ge=1, le=_POSIX_MAX)
    """User that all files belong to, whatever user the pods run as."""
    gid: int = Field(default=1000, ge=1, le=_POSIX_MAX)
    """Group that all files belong to."""

    @model_validator(mode="after")
    def _agrees(self) -> "EfsSettings":
        if self.id and {"throughput", "mibps", "kms_key_arn"} & self.model_fields_set:
            raise ValueError("an existing file system keeps its own throughput and key; set none of them beside id")
        if (self.throughput == Throughput.PROVISIONED) != (self.mibps is not None):
            raise ValueError(
                "provisioned throughput, and no other, has a rate; set throughput: provisioned with mibps"
            )
        return self

    @property
    def lasting(self) -> dict[str, Any]:
        """What cannot be changed in place: with another value, it is another volume."""
        return self.model_dump(mode="json", include={"id", "kms_key_arn", "uid", "gid"}, exclude_defaults=True)


class FsxSettings(Section):
    """An FSx for Lustre file system: a new one, or access to an existing one."""

    id: str | None = Field(default=None, pattern=r"^fs-[0-9a-f]{8,40}$")
    """ID of an existing file system, which is never changed or deleted; set dnsName and mountName too. Default: a new
    one, encrypted, deleted with what made it."""
    dns_name: str | None = None
    """DNS name of the existing file system."""
    mount_name: str | None = None
    """Mount name of the existing file system, which AWS shows beside its DNS name."""
    zone: Zone | None = None
    """Availability zone of a new file system, which the nodes should be in too; required then."""
    deployment: LustreDeployment = LustreDeployment.PERSISTENT_2
    """persistent-2 keeps data twice; scratch-2 is cheaper, and loses what is on a file server that fails."""
    capacity_gib: int = 1200
    """Size in GiB: 1200, or a multiple of 2400."""
    throughput_per_tib: Literal[125, 250, 500, 1000] | None = None
    """Throughput of persistent-2 in MB/s for each TiB of its size. Default: 250."""
    kms_key_arn: str | None = Field(default=None, pattern=KMS_KEY)
    """KMS key that encrypts persistent-2. Default: that of AWS for FSx."""

    @model_validator(mode="after")
    def _agrees(self) -> "FsxSettings":
        given = [self.id, self.dns_name, self.mount_name]
        if any(given):
            if not all(given):
                raise ValueError("an existing file system has an ID, a DNS name and a mount name; set all three")
            if self.model_fields_set - {"id", "dns_name", "mount_name"}:
                raise ValueError("an existing file system keeps what it is; set nothing beside ID and names")
        elif self.zone is None:
            raise ValueError("a new file system is in one zone; set zone, best that of the nodes")
        if self.capacity_gib != _LUSTRE_STEP // 2 and (self.capacity_gib <= 0 or self.capacity_gib % _LUSTRE_STEP):
            raise ValueError(f"found a capacity of {self.capacity_gib} GiB; allowed are 1200 and multiples of 2400")
        if self.deployment == LustreDeployment.SCRATCH_2 and (self.throughput_per_tib or self.kms_key_arn):
            raise ValueError("scratch-2 has its own throughput and key; set neither, or choose persistent-2")
        return self

    @property
    def throughput(self) -> int:
        """Throughput of persistent-2 in MB/s for each TiB."""
        return self.throughput_per_tib or 250

    @property
    def lasting(self) -> dict[str, Any]:
        """What makes another volume. A capacity that shrinks does; one that grows cannot be told from it."""
        return self.model_dump(mode="json", exclude_defaults=True)


class StorageSettings(Section):
    """Where weights are kept on AWS."""

    efs: EfsSettings | None = None
    """On AWS, an EFS file system for every namespace, shared by all nodes: {} creates one."""
    fsx: FsxSettings | None = None
    """On AWS, an FSx for Lustre file system in one zone, for every namespace."""
    s3: dict[ClaimName, Location] = Field(default_factory=dict)
    """On AWS, claims that mount buckets, read-only, for models whose source names a claim: by name of the claim a
    bucket or bucket/prefix/, in the region of the cluster. Beside a cache."""

    @model_validator(mode="after")
    def _one_file_system(self) -> Self:
        if self.efs is not None and self.fsx is not None:
            raise ValueError("efs: cannot stand beside fsx; set only one of the two")
        return self

    @property
    def cache(self) -> BoundClaim | None:
        """The claim of the cache, if there is one here."""
        kept = {"efs": self.efs, "fsx": self.fsx}
        names = [_claim_name(kind, wanted.lasting) for kind, wanted in kept.items() if wanted is not None]
        return BoundClaim(names[0]) if names else None

    @property
    def buckets(self) -> dict[BoundClaim, Bucket]:
        """The buckets that are mounted, by claim."""
        return {BoundClaim(name, read_only=True): bucket_of(location) for name, location in self.s3.items()}

    @property
    def drivers(self) -> tuple[str, ...]:
        """Names of the EKS add-ons that mount the volumes."""
        wanted = {
            EFS_DRIVER: self.efs is not None,
            FSX_DRIVER: self.fsx is not None,
            S3_DRIVER: bool(self.s3),
        }
        return tuple(name for name, needed in wanted.items() if needed)


def _claim_name(kind: str, lasting: dict[str, Any]) -> str:
    """Name a claim after what cannot be changed of it.

    Neither a claim nor its volume can be changed. A cache of another kind, or of other lasting settings, is therefore
    made beside the former one, which goes when no pod mounts it any more.
    """
    name = f"model-cache-{kind}"
    if not lasting:
        return name
    text = json.dumps(lasting, sort_keys=True)
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"
