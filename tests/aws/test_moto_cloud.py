"""Programs carried out in moto: what is right is made and deleted again, what is wrong is told."""

from tests.aws.moto_cloud import UNSUPPORTED, MotoCloud
from tests.aws.program import REGION, everything
from tests.aws.requests import KINDS
from tests.recorded import deploy


def test_everything_is_made_and_deleted_again():
    with MotoCloud(REGION) as cloud:
        made = deploy(everything, mock=cloud)
        assert cloud.problems == []
        assert all(cloud.exists(c) for c in cloud.created)
        assert {e.type for e in made.graph} == set(KINDS)
        assert cloud.unsupported == UNSUPPORTED
        assert cloud.destroy() == []
