"""Wheels with the programs of the simulated cluster, by platform, with their licenses and bills of materials."""

import base64
import hashlib
import json
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.bom_ref import BomRef
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from .sources import ReleaseError, ReleaseSource

TAGS = {
    "linux-amd64": "manylinux2014_x86_64",
    "linux-arm64": "manylinux2014_aarch64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "darwin-arm64": "macosx_12_0_arm64",
}
"""Tag of the wheels by platform. The programs are linked statically; Go 1.26 needs macOS 12."""
PACKAGES = {
    "": ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    "-live": ("kwok", "translator", "prometheus", "adapter"),
    "-groups": ("lws-controller",),
}
"""Programs by the end of the package's name. Several packages, because a file on PyPI may have 100 MB."""
LARGEST = 100_000_000
_LICENSES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "PATENTS")
_BUILDERS = ("workbench.cluster.shipping", "livefleet.shipping")
_MANIFEST = "programs.json"
_FILE, _PROGRAM = 0o100644, 0o100755


def build_programs(source: ReleaseSource, out: Path, platforms: Iterable[str]) -> None:
    """Compile the programs for some platforms, which takes minutes for each, and write their wheels.

    Raises:
        ReleaseError: a platform is unknown, there are uncommitted changes, or a build failed.
    """
    if source.changed:
        raise ReleaseError("the programs are built from the files of the checkout: commit the changes first")
    for platform in platforms:
        if platform not in TAGS:
            raise ReleaseError(f"platform {platform!r} is unknown; known are {', '.join(TAGS)}")
        with tempfile.TemporaryDirectory() as place:
            for builder in _BUILDERS:
                done = subprocess.run(
                    [sys.executable, "-m", builder, place, *platform.split("-")], cwd=source.root, check=False
                )
                if done.returncode:
                    raise ReleaseError(f"{builder} failed for {platform}")
            write_wheels(source, Path(place), out, platform)


def write_wheels(source: ReleaseSource, built: Path, out: Path, platform: str) -> list[Path]:
    """Write the wheels of the programs in a folder. The same programs give the same bytes.

    Raises:
        ReleaseError: a wheel is larger than a file on PyPI may be, or a module has no license.
    """
    wheels = [
        ProgramWheel(source, built, f"{source.name}-cluster{end}", names).write(out, platform)
        for end, names in PACKAGES.items()
    ]
    for wheel in wheels:
        if wheel.stat().st_size > LARGEST:
            raise ReleaseError(f"{wheel.name} has {wheel.stat().st_size} bytes; PyPI accepts {LARGEST}")
    return wheels


@dataclass(frozen=True)
class ProgramWheel:
    """One wheel.

    Attributes:
        built: Folder of the programs, with ``programs.json``.
        name: Name of the package.
        programs: Names of its programs.
    """

    source: ReleaseSource
    built: Path
    name: str
    programs: tuple[str, ...]

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def info(self) -> str:
        return f"{self.module}-{self.source.version}.dist-info"

    def write(self, out: Path, platform: str) -> Path:
        """Write the wheel and return its path."""
        manifest = json.loads((self.built / _MANIFEST).read_text())
        entries = {name: manifest[name] for name in self.programs}
        # Two programs may contain a module in two versions.
        modules = {
            (path, version): Path(folder) for each in entries.values() for path, version, folder in each["modules"]
        }
        licenses = self._licenses(modules)
        files = {
            f"{self.module}/__init__.py": f'"""Programs of {self.source.name}: see programs.json."""\n'.encode(),
            f"{self.module}/{_MANIFEST}": json.dumps(
                {name: {"inputs": entry["inputs"]} for name, entry in entries.items()}, indent=1
            ).encode(),
            **{f"{self.module}/bin/{name}": (self.built / name).read_bytes() for name in self.programs},
            **{f"{self.info}/licenses/{name}": content for name, content in licenses.items()},
            f"{self.info}/sboms/{self.name}.cdx.json": self._bill(modules).encode(),
            f"{self.info}/METADATA": self._metadata(licenses).encode(),
            f"{self.info}/WHEEL": (
                f"Wheel-Version: 1.0\nGenerator: {self.source.name}\nRoot-Is-Purelib: false\n"
                f"Tag: py3-none-{TAGS[platform]}\n"
            ).encode(),
        }
        record = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
        files[f"{self.info}/RECORD"] = f"{record}{self.info}/RECORD,,\n".encode()
        path = out / f"{self.module}-{self.source.version}-py3-none-{TAGS[platform]}.whl"
        self._zip(path, files)
        return path

    def _zip(self, path: Path, files: Mapping[str, bytes]) -> None:
        date = datetime.fromtimestamp(self.source.epoch, UTC).timetuple()[:6]
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name, date)
                entry.create_system = 3  # Unix, also where the wheel is built elsewhere
                entry.external_attr = (_PROGRAM if "/bin/" in name else _FILE) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, content)

    def _licenses(self, modules: Mapping[tuple[str, str], Path]) -> dict[str, bytes]:
        """Return the license files of the modules, by path and version of the module."""
        licenses: dict[str, bytes] = {}
        for (path, version), folder in modules.items():
            found = [file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(_LICENSES)]
            if not found:
                raise ReleaseError(f"{path} {version} has no license file in {folder}")
            licenses |= {f"{path}@{version}/{file.name}": file.read_bytes() for file in sorted(found)}
        return dict(sorted(licenses.items()))

    def _metadata(self, licenses: Iterable[str]) -> str:
        lines = ["Metadata-Version: 2.4", f"Name: {self.name}", f"Version: {self.source.version}"]
        lines += [f"Summary: Programs of the simulated cluster of {self.source.name}: {', '.join(self.programs)}"]
        lines += ["Requires-Python: >=3.11", *(f"License-File: {name}" for name in licenses)]
        if self.name.endswith("-cluster"):  # one name brings all programs
            lines += [f"Requires-Dist: {self.name}{end}=={self.source.version}" for end in PACKAGES if end]
        lines.append("Description-Content-Type: text/plain")
        text = (
            f"{', '.join(self.programs)}, compiled for the simulated cluster of {self.source.name}, which uses them "
            "if they are installed. programs.json has the digest of their inputs, .dist-info the licenses and a "
            "bill of materials."
        )
        return "\n".join(lines) + f"\n\n{text}\n"

    def _bill(self, modules: Mapping[tuple[str, str], Path]) -> str:
        """Return the bill of materials (CycloneDX 1.6, in the place of PEP 770)."""
        bom = Bom()
        bom.metadata = BomMetaData(timestamp=datetime.fromtimestamp(self.source.epoch, UTC))
        purl = PackageURL("pypi", None, self.name, self.source.version)
        root = Component(
            type=ComponentType.APPLICATION, name=self.name, version=self.source.version, purl=purl,
            bom_ref=BomRef(purl.to_string()),
        )  # fmt: skip
        bom.metadata.component = root
        for path, version in sorted(modules):
            namespace, _, name = path.rpartition("/")
            purl = PackageURL("golang", namespace or None, name, version)
            reference = BomRef(purl.to_string())
            part = Component(type=ComponentType.LIBRARY, name=path, version=version, purl=purl, bom_ref=reference)
            bom.components.add(part)
        bom.register_dependency(root, list(bom.components))
        bom.serial_number = uuid.UUID(int=0)
        digest = hashlib.sha256(JsonV1Dot6(bom).output_as_string().encode()).hexdigest()
        bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, digest)
        return str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
