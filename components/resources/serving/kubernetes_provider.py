"""The provider for Kubernetes, without the classes of pulumi_kubernetes, which take 64 MB."""

import os

import pulumi

from .objects import provider_version

# The values that pulumi_kubernetes reads from the environment (get_env_bool in its _utilities.py).
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_SWITCHES = {
    "deleteUnreachable": "PULUMI_K8S_DELETE_UNREACHABLE",
    "enableConfigMapMutable": "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE",
    "enablePatchForce": "PULUMI_K8S_ENABLE_PATCH_FORCE",
    "enableSecretMutable": "PULUMI_K8S_ENABLE_SECRET_MUTABLE",
    "enableServerSideApply": "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY",
    "skipUpdateUnreachable": "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    "suppressDeprecationWarnings": "PULUMI_K8S_SUPPRESS_DEPRECATION_WARNINGS",
    "suppressHelmHookWarnings": "PULUMI_K8S_SUPPRESS_HELM_HOOK_WARNINGS",
    "upsertExistingObjects": "PULUMI_K8S_UPSERT_EXISTING_OBJECTS",
}
"""Switches of the provider, each with the variable that sets it where the program does not."""


class KubernetesProvider(pulumi.ProviderResource):
    """To engine and provider what ``pulumi_kubernetes.Provider`` is; programs may pass that one to our components."""

    def __init__(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Input[str],
        cluster_identifier: str,
        context: str | None = None,
        enable_server_side_apply: bool | None = None,
        upsert_existing_objects: bool | None = None,
        enable_patch_force: bool | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the provider; the parameters are those of the SDK."""
        switches = {
            **{setting: _switch(variable) for setting, variable in _SWITCHES.items()},
            **_given("enableServerSideApply", enable_server_side_apply),
            **_given("upsertExistingObjects", upsert_existing_objects),
            **_given("enablePatchForce", enable_patch_force),
        }
        inputs = {
            "kubeconfig": kubeconfig,
            "context": context,
            "clusterIdentifier": cluster_identifier,
            # A provider's inputs are texts; others are JSON in a text.
            **{setting: str(value).lower() for setting, value in switches.items() if value is not None},
        }
        versioned = pulumi.ResourceOptions(version=provider_version())
        super().__init__("kubernetes", name, inputs, pulumi.ResourceOptions.merge(versioned, opts))


def _given(setting: str, value: bool | None) -> dict[str, bool]:  # noqa: FBT001  the value of a switch
    return {} if value is None else {setting: value}


def _switch(variable: str) -> bool | None:
    value = os.environ.get(variable)
    return True if value in _TRUE else False if value in _FALSE else None
