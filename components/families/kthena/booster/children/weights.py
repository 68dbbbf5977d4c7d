"""Where the weights of a backend are, and what brings them there (Kthena spec 2.4)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from .....fleet.objects import Object
from .....fleet.workloads import NamedWeights
from ..facts import facts
from ..setup import Part
from .env import downloader_env

_HUB = "hf://"
OWN_FOLDER = "/weights"
"""Where the weights of a backend are that names no cache."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The cache of a backend in its pods.

    Attributes:
        folder: Where it is mounted.
        model: Folder of the model in it.
        adapters: Name and folder of each adapter.
        volume: Its volume.
        loaders: The init containers that fill it.
    """

    folder: str
    model: str
    adapters: tuple[tuple[str, str], ...]
    volume: Object
    loaders: tuple[Object, ...]


def weights_of(part: Part) -> Weights:
    """Return the cache of a backend."""
    backend, folder = part.backend, cache_folder(part.backend.cache_uri)
    sources = [backend.model_uri, *(each.artifact_url for each in backend.lora_adapters or ())]
    model, *adapters = (f"{folder}/{digest(source)}" for source in sources)
    volume = {"name": f"{backend.name}-weights", **_volume(part, folder)}
    mount = {"name": volume["name"], "mountPath": folder}
    names = [f"{part.model}-model-downloader"]
    names += [f"{part.model}-lora-downloader-{place}" for place in range(len(adapters))]
    targets = (model, *adapters)
    loaders = tuple(
        _loader(part, name, source, target, mount)
        for name, source, target in zip(names, sources, targets, strict=True)
    )
    named = tuple(zip((each.name for each in backend.lora_adapters or ()), adapters, strict=True))
    return Weights(folder, model, named, volume, loaders)


def named_weights(part: Part) -> Iterator[NamedWeights]:
    """Yield where the folders of a backend's cache are from, as its engine is told them."""
    backend, folder = part.backend, cache_folder(part.backend.cache_uri)
    for source in (backend.model_uri, *(each.artifact_url for each in backend.lora_adapters or ())):
        yield NamedWeights(f"{folder}/{digest(source)}", source.removeprefix(_HUB))


def cache_folder(uri: str | None) -> str:
    """Return where a cache is mounted: always an absolute path, without a slash behind it (D-03, D-04)."""
    return f"/{address_of(uri).strip('/')}" if uri else OWN_FOLDER


def address_of(uri: str) -> str:
    """Return what follows the scheme."""
    return uri.partition("://")[2]


def digest(source: str) -> str:
    """Return the folder of a source within a cache."""
    return hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()


def _volume(part: Part, folder: str) -> Object:
    uri, cache = part.backend.cache_uri, part.setup.cache
    if uri is None:
        if cache and cache.claim:
            return {"persistentVolumeClaim": {"claimName": cache.claim}}
        if cache and cache.host_path:
            return {"hostPath": {"path": cache.host_path, "type": "DirectoryOrCreate"}}
        return {"emptyDir": {}}
    if uri.startswith("pvc://"):
        return {"persistentVolumeClaim": {"claimName": address_of(uri).strip("/")}}
    return {"hostPath": {"path": folder, "type": "DirectoryOrCreate"}}


def _loader(part: Part, name: str, source: str, target: str, mount: Object) -> Object:
    loader: Object = {
        "name": name,
        "image": part.setup.loader_image or facts().images["downloader"],
        "args": ["--source", source, "--output-dir", target],
    }
    env = downloader_env(part)
    if env:
        loader["env"] = env
    if part.backend.env_from:
        loader["envFrom"] = list(part.backend.env_from)
    return {**loader, "volumeMounts": [mount]}
