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
    """The pattern of an account in the JSON schema, read only for the schema: it loads the module of the cloud."""

    @staticmethod
    def __get_pydantic_json_schema__(_schema: CoreSchema, _handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{caching().account_pattern}$"}


AccountOfCache = Annotated[str, _AccountPattern()]


class ImageCacheSettings(Section):
    """A private registry (ECR) of an AWS account as a pull-through cache for other registries."""

    account: AccountOfCache | None = None
    """ID of the account with the cache, in quotes."""
    registries: list[str] = Field(default_factory=list)
    """Registries to cache: docker.io, ghcr.io, quay.io, registry.k8s.io,
    public.ecr.aws, registry.gitlab.com, cgr.dev or <name>.azurecr.io. Default: none."""
    prefix: str = ""
    """Prefix of all cached repositories, before that of their registry, such as docker-hub."""

    @model_validator(mode="after")
    def _accepted_by_ecr(self) -> "ImageCacheSettings":
        problems = list(caching().problems(self.registries, self.prefix, self.account))
        if problems:
            raise combined_error(problems)
        return self

    def cache(self, region: str, account: str | None) -> PullThroughCache | None:
        """Return the cache in a region; None without registries or account."""
        if not self.registries or account is None:
            return None
        return caching().cache(region, account, self.registries, self.prefix)
