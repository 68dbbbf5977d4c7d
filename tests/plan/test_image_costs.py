"""What a bill says of the images that a cache keeps."""

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.images import RegistryCache
from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import plan
from components.plan.sections.costs import bill_of
from tests.fleets import open_model, playground


def items(region: str, *registries: str) -> dict[str, str]:
    cache = RegistryCache("123456789012", region, registries) if registries else None
    aws = AwsEnvironment(region, existing=True, image_cache=cache)
    bill = bill_of(plan(objects([open_model(), playground("p", "m")], "models.yaml"), Environment(cloud=aws)))
    return {item.name: f"{item.counts.now} {item.unit}: {item.unpriced}" for item in bill.items}


def test_cached_images_are_a_line_without_a_price_that_names_the_price_of_a_gb() -> None:
    """The loader's image and the engine's; nothing says how large they are."""
    line = items("us-east-1", "docker.io")["cached images"]
    assert line.startswith("2 images: their sizes are not known; ECR keeps a GB for 0.10 US dollars a month")


def test_where_no_source_has_a_price_the_line_says_so() -> None:
    line = items("eu-south-2", "docker.io")["cached images"]
    assert line.startswith("2 images: their sizes are not known; ")
    assert "US dollars a month" not in line


def test_without_a_cache_there_is_no_line() -> None:
    assert "cached images" not in items("us-east-1")
