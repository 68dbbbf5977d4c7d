"""Settings of a stack's model cache."""

from pydantic import model_validator

from components.fleet.options import BoundClaim, ModelCache
from components.plan.settings import Cache
from components.resources.aws.storage.settings import StorageSettings


class CacheSettings(StorageSettings, Cache):
    """Storage for loaded weights: one of claim, hostPath and, on AWS, efs and fsx; and further mounted claims."""

    @model_validator(mode="after")
    def _one_cache(self) -> "CacheSettings":
        if self.cache and super().place:
            raise ValueError("must be one of claim, hostPath, efs and fsx; set only one of them")
        names = [claim.name for claim in self.claims] + ([self.claim] if self.claim and not self.bound else [])
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is the name of two claims; rename one of the two")
        return self

    @property
    def on_aws(self) -> list[str]:
        """Keys of storage on AWS that are set."""
        return [kind for kind in StorageSettings.model_fields if getattr(self, kind) not in (None, {})]

    @property
    def zone(self) -> str | None:
        """Zone of a new FSx file system; None otherwise."""
        return self.fsx.zone if self.fsx else None

    @property
    def place(self) -> ModelCache | None:
        """The model cache; None without one."""
        return ModelCache(self.cache.name) if self.cache else super().place

    @property
    def claims(self) -> tuple[BoundClaim, ...]:
        """Claims to create with the models, the cache's first."""
        return (*((self.cache,) if self.cache else ()), *self.buckets, *super().claims)
