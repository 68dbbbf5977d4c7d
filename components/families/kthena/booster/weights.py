"""The weights of a backend: their cache, and the init containers that download them (Kthena spec 2.4)."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from ....fleet.objects import Object
from ....fleet.workloads import NamedWeights
from .context import BackendContext
from .facts import facts


@dataclass(frozen=True, slots=True)
class Weights:
    """The cache of a backend in its pods.

    Attributes:
        folder: Its mount path.
        model: Path of the model.
        adapters: Name and path of each adapter.
        volume: Its volume.
        loaders: The init containers that fill it.
    """

    folder: str
    model: str
    adapters: tuple[tuple[str, str], ...]
    volume: Object
    loaders: tuple[Object, ...]


def weights_of(backend: BackendContext) -> Weights:
    """Return the cache of a backend."""
    spec, folder = backend.spec, cache_folder(backend.spec.cache_uri)
    adapters = spec.lora_adapters or ()
    sources = [spec.model_uri, *(adapter.artifact_url for adapter in adapters)]
    model, *adapter_paths = (f"{folder}/{digest(source)}" for source in sources)
    # The booster's own cache takes precedence over that of the environment.
    uri, cache = spec.cache_uri, backend.options.cache
    volume_source: Object = {"emptyDir": {}}
    if uri is not None and uri.startswith("pvc://"):
        volume_source = {"persistentVolumeClaim": {"claimName": path_of(uri).strip("/")}}
    elif uri is not None:
        volume_source = {"hostPath": {"path": folder, "type": "DirectoryOrCreate"}}
    elif cache and cache.claim:
        volume_source = {"persistentVolumeClaim": {"claimName": cache.claim}}
    elif cache and cache.host_path:
        volume_source = {"hostPath": {"path": cache.host_path, "type": "DirectoryOrCreate"}}
    volume = {"name": f"{spec.name}-weights", **volume_source}
    names = [f"{backend.model}-model-downloader"]
    names += [f"{backend.model}-lora-downloader-{position}" for position in range(len(adapters))]
    loaders = []
    for name, source, path in zip(names, sources, (model, *adapter_paths), strict=True):
        image, variables = downloader_of(source)
        loader: Object = {
            "name": name,
            "image": backend.options.loader_image or image,
            "args": ["--source", source, "--output-dir", path],
        }
        # It gets only the variables that it reads. The others are for the engine: HF_HUB_OFFLINE would keep the
        # downloader from working.
        env = [item for item in backend.env if item["name"] in variables and item.get("value") != ""]
        if env:
            loader["env"] = env
        if spec.env_from:
            loader["envFrom"] = list(spec.env_from)
        loader["volumeMounts"] = [{"name": volume["name"], "mountPath": folder}]
        loaders.append(loader)
    named = tuple(zip((adapter.name for adapter in adapters), adapter_paths, strict=True))
    return Weights(folder, model, named, volume, tuple(loaders))


def downloader_of(source: str) -> tuple[str, tuple[str, ...]]:
    """Return the image of a source's downloader, and the variables that it reads."""
    if source.startswith("ms://"):
        later = facts().modelscope
        return later.image, (*facts().downloader, *later.variables)
    return facts().images["downloader"], facts().downloader


def named_weights(backend: BackendContext) -> Iterator[NamedWeights]:
    """Yield the sources of the paths in a backend's cache."""
    spec, folder = backend.spec, cache_folder(backend.spec.cache_uri)
    for source in (spec.model_uri, *(adapter.artifact_url for adapter in spec.lora_adapters or ())):
        yield NamedWeights(f"{folder}/{digest(source)}", source.removeprefix("hf://"))


def cache_folder(uri: str | None) -> str:
    """Return the mount path of a cache: always an absolute path without a trailing slash (D-03, D-04)."""
    return f"/{path_of(uri).strip('/')}" if uri else "/weights"


def path_of(uri: str) -> str:
    """Return the part of a URI after its scheme."""
    return uri.partition("://")[2]


def digest(source: str) -> str:
    """Return the folder of a source in a cache, which is the one that Kthena uses."""
    return hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
