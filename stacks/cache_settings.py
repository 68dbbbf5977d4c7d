"""The settings of where a stack keeps weights."""

from pydantic import model_validator

from components.fleet.options import BoundClaim, ModelCache
from components.plan.settings import Cache
from components.resources.aws.storage.settings import StorageSettings


class CacheSettings(StorageSettings, Cache):
    """Where loaded weights are kept: one of claim, hostPath and, on AWS, efs and fsx; and what else is mounted."""

    @model_validator(mode="after")
    def _one_cache(self) -> "CacheSettings":
        if self.cache and super().place:
            raise ValueError("must be one of claim, hostPath, efs and fsx; set only one of them")
        names = [claim.name for claim in self.claims] + ([self.claim] if self.claim and not self.bound else [])
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is the name of two claims; rename one of them")
        return self

    @property
    def on_aws(self) -> list[str]:
        """What is made on AWS, by its key."""
        return [kind for kind in StorageSettings.model_fields if getattr(self, kind) not in (None, {})]

    @property
    def zone(self) -> str | None:
        """Zone of the file system that is made, if it is in one."""
        return self.fsx.zone if self.fsx else None

    @property
    def place(self) -> ModelCache | None:
        """Where weights are kept; None where they are not."""
        return ModelCache(self.cache.name) if self.cache else super().place

    @property
    def claims(self) -> tuple[BoundClaim, ...]:
        """Claims that are made with the models, the cache's first."""
        return (*((self.cache,) if self.cache else ()), *self.buckets, *super().claims)
