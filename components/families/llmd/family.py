"""llm-d's Workload Variant Autoscaler as a family."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...contract.base import Json
from ...contract.load import LoadedResource
from ...contract.problems import Problem
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...performance.sizing.cases import ModelVariant, Profile
from ..family import (
    AnnotationReader,
    Family,
    Member,
    Migrating,
    OperatorObjects,
    OperatorSite,
    SharedObjects,
    VariantDescriber,
)
from .annotations import annotation_problems, scaled_by
from .controller.installation import uninstallable
from .controller.objects import controller_objects
from .kinds import VARIANT_AUTOSCALING
from .names import OPERATOR
from .profiles import described_variant, profile_entry
from .rendering import render_variant_autoscaling
from .shared import shared_objects

if TYPE_CHECKING:
    from ..migration import ReleaseStep


class Llmd(Family, AnnotationReader, Migrating, OperatorObjects, SharedObjects, VariantDescriber):
    """llm-d's autoscaler: variants with profiles, and one controller with ConfigMaps for all of them."""

    def operator_objects(self, site: OperatorSite) -> tuple[Object, ...]:
        return controller_objects(site)

    def uninstallable(self, release: str) -> str:
        return uninstallable(release)

    def family_objects(
        self, rendered: Sequence[Rendered], library: Library, options: Options
    ) -> tuple[list[Problem], tuple[Rendered, ...]]:
        return shared_objects(rendered, library, options)

    def annotation_problems(self, value: Object) -> Iterator[tuple[str, str]]:
        return annotation_problems(value)

    def steps(self) -> "tuple[ReleaseStep, ...]":
        from .migration import steps

        return steps()

    def edits(self, value: Object) -> bool:
        return scaled_by(value) is not None

    def variant(self, source: LoadedResource) -> ModelVariant | None:
        return described_variant(source)

    def profile_entry(self, profile: Profile) -> Json:
        return profile_entry(profile)


FAMILY = Llmd(
    name="llmd",
    package=__package__ or "",
    operator=OPERATOR,
    members=(Member(VARIANT_AUTOSCALING, render_variant_autoscaling, attached=True, component="VariantAutoscaling"),),
)
