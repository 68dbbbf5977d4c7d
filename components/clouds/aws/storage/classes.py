"""The storage classes of volumes that EBS provides: what claims get that name no class.

Sources: kubernetes-sigs/aws-ebs-csi-driver 429e202e, docs/parameters.md (``encrypted``, ``kmsKeyId``, ``type``) and
charts/aws-ebs-csi-driver/templates/ebs-csi-default-sc.yaml; Kubernetes documentation, "Storage Classes".
"""

from ....fleet.objects import Object

VOLUME_DRIVER = "aws-ebs-csi-driver"
"""Name of the EKS add-on that provides the volumes."""
ENCRYPTED_CLASS = "ebs-encrypted"
FORMER_CLASS = "ebs-csi-default-sc"
"""The class that the add-on makes if it is told to (``defaultStorageClass.enabled``)."""
_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def encrypted_class(key_arn: str = "") -> Object:
    """Return the default class, whose volumes are encrypted whatever the account's setting is.

    Its name is the same with every key. A class cannot be changed, so another key replaces it; claims know a class by
    its name alone, and the volumes of claims that are bound stay as they are.

    Args:
        key_arn: ARN of a KMS key; empty for the account's key for EBS.
    """
    key = {"kmsKeyId": key_arn} if key_arn else {}
    return _class(ENCRYPTED_CLASS, {"type": "gp3", "encrypted": "true", **key}, is_default=True)


def former_class() -> Object:
    """Return the class that claims of an earlier release of this package name, no longer as the default.

    The class of a claim cannot be changed. Without the class, a bound claim can no longer grow, and one that is not
    bound yet stays Pending. Apart from the annotation it equals the class in the add-on's chart, so that it is taken
    over whether or not EKS has removed it by then.
    """
    return _class(FORMER_CLASS, {}, is_default=False)


def _class(name: str, parameters: dict[str, str], *, is_default: bool) -> Object:
    annotations = {_DEFAULT: "true" if is_default else "false"}
    if not is_default:
        # The annotation belongs to EKS until it is taken over (Pulumi Kubernetes provider, "Server-Side Apply").
        annotations["pulumi.com/patchForce"] = "true"
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "ebs.csi.aws.com",
        **({"parameters": parameters} if parameters else {}),
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
