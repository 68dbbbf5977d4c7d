"""The settings of where a stack keeps weights."""

from pydantic import model_validator

from components.aws.components.storage.settings import StorageSettings
from components.fleet.options import BoundClaim, ModelCache
from components.plan.settings import Cache


class CacheSettings(StorageSettings, Cache):
    """Where loaded weights are kept: one of claim, hostPath and, on AWS, efs."""

    @model_validator(mode="after")
    def _one_cache(self) -> "CacheSettings":
        if self.cache and super().place:
            raise ValueError("must be one of claim, hostPath and efs; set only one of them")
        return self

    @property
    def on_aws(self) -> list[str]:
        """What is made on AWS, by its key."""
        return [kind for kind in StorageSettings.model_fields if getattr(self, kind) is not None]

    @property
    def place(self) -> ModelCache | None:
        """Where weights are kept; None where they are not."""
        return ModelCache(self.cache.name) if self.cache else super().place

    @property
    def claims(self) -> tuple[BoundClaim, ...]:
        """Claims that are made with the models, the cache's first."""
        return (*((self.cache,) if self.cache else ()), *super().claims)
