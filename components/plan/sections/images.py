"""The settings of a pull-through cache for images."""

from typing import Annotated

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ...contract.base import combined_error
from ...fleet.cloud_providers import caching
from ...fleet.images import PullThroughCache
from ..section import Section


class _AccountPattern:
    """The form of an account in the JSON schema; only that needs the cloud that knows it."""

    @staticmethod
    def __get_pydantic_json_schema__(_schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{caching().account_pattern}$"}


AccountOfCache = Annotated[str, _AccountPattern()]


class ImageCacheSettings(Section):
    """Images by way of the private registry (ECR) of an AWS account, which caches other registries."""

    account: AccountOfCache | None = None
    """ID of the account whose registry caches images, in quotes."""
    registries: list[str] = Field(default_factory=list)
    """Registries that images are pulled from by way of the cache: docker.io, ghcr.io, quay.io, registry.k8s.io,
    public.ecr.aws, registry.gitlab.com, cgr.dev or <name>.azurecr.io. Default: none."""
    prefix: str = ""
    """What the names of all cached repositories begin with, before the part of their registry, such as docker-hub."""

    @model_validator(mode="after")
    def _as_ecr_takes_them(self) -> "ImageCacheSettings":
        found = list(caching().problems(self.registries, self.prefix, self.account))
        if found:
            raise combined_error(found)
        return self

    def cache(self, region: str, account: str | None) -> PullThroughCache | None:
        """Return the cache in a region; None where there is none, or nothing says in which account."""
        if not self.registries or account is None:
            return None
        return caching().cache(region, account, self.registries, self.prefix)
