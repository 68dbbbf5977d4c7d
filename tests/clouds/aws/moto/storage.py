"""The file systems of that program, in plain pulumi_aws."""

from pulumi_aws import ec2, efs, fsx


def storage(network: ec2.Vpc, subnets: list[ec2.Subnet]) -> None:
    group = ec2.SecurityGroup("weights", description="Weights", vpc_id=network.id)
    system = efs.FileSystem(
        "weights",
        encrypted=True,
        performance_mode="generalPurpose",
        throughput_mode="provisioned",
        provisioned_throughput_in_mibps=256,
        kms_key_id="arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
        tags={"Name": "weights"},
    )
    for index, subnet in enumerate(subnets):
        efs.MountTarget(f"weights-{index}", file_system_id=system.id, subnet_id=subnet.id, security_groups=[group.id])
    efs.AccessPoint(
        "weights",
        file_system_id=system.id,
        posix_user={"uid": 1000, "gid": 1000, "secondary_gids": [100]},
        root_directory={
            "path": "/models",
            "creation_info": {"owner_uid": 1000, "owner_gid": 1000, "permissions": "0750"},
        },
        tags={"Name": "weights"},
    )
    fsx.LustreFileSystem(
        "weights",
        deployment_type="PERSISTENT_2",
        file_system_type_version="2.15",
        storage_capacity=2400,
        storage_type="SSD",
        subnet_ids=subnets[0].id,
        security_group_ids=[group.id],
        per_unit_storage_throughput=500,
        kms_key_id="arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
        automatic_backup_retention_days=0,
        data_compression_type="LZ4",
        tags={"Name": "weights"},
    )
