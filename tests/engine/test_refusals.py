"""What an engine must refuse, before anything happens, in words that help."""

import gc
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from tests.engine.support import Stack, config_map, kube_object, register
from workbench.errors import WorkbenchError


def with_provider(body: Callable[[Stack, pulumi.ResourceOptions], Any]) -> Callable[[Stack], Callable[[], None]]:
    def make(stack: Stack) -> Callable[[], None]:
        def program() -> None:
            body(stack, pulumi.ResourceOptions(provider=stack.provider()))

        return program

    return make


def duplicate(_: Stack, opts: pulumi.ResourceOptions) -> None:
    config_map("twin", opts)
    config_map("twin", pulumi.ResourceOptions(provider=opts.provider))


def default_provider(_: Stack, __: pulumi.ResourceOptions) -> None:
    config_map("lost", pulumi.ResourceOptions())


def remote(_: Stack, opts: pulumi.ResourceOptions) -> None:
    pulumi.ComponentResource("kubernetes:helm.sh/v4:Chart", "chart", {}, remote=True)


def invoke(_: Stack, __: pulumi.ResourceOptions) -> None:
    pulumi.runtime.invoke("aws:ec2/getAmi:getAmi", {})


def unnamed(_: Stack, opts: pulumi.ResourceOptions) -> None:
    value = kube_object("v1", "ConfigMap", "x")
    del value["metadata"]["name"]
    register(value, opts, "nameless")


def imported(_: Stack, __: pulumi.ResourceOptions) -> None:
    pulumi.CustomResource("kubernetes:helm.sh/v3:Release", "old", {}, pulumi.ResourceOptions(import_="models/old"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (duplicate, ["duplicate resource URN", "::twin"]),
        (default_provider, ["'lost'", "no explicit provider"]),
        (remote, ["'chart'", "remote component", "--engine pulumi"]),
        (invoke, ["aws:ec2/getAmi:getAmi", "--engine pulumi"]),
        (unnamed, ["'nameless'", "metadata.name"]),
        (imported, ["'old'", "imports 'models/old'"]),
    ],
)
def test_refused_with_a_reason_and_nothing_is_stored(
    offline: Stack,
    body: Callable[[Stack, pulumi.ResourceOptions], Any],
    words: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(WorkbenchError) as refused:
        offline.preview(with_provider(body)(offline))
    for word in words:
        assert word in str(refused.value)
    assert "Traceback" not in str(refused.value)
    assert offline.rows() == {}
    gc.collect()  # futures that nobody awaited speak up when they go
    assert caplog.text == ""


def test_words_of_the_program_come_out_alone(offline: Stack) -> None:
    def program() -> None:
        raise pulumi.RunError("models/a.yaml:3: Playground/a: spec.replicas: must not be 0")

    with pytest.raises(WorkbenchError) as refused:
        offline.preview(program)
    assert str(refused.value) == "models/a.yaml:3: Playground/a: spec.replicas: must not be 0"


def test_a_fault_of_the_program_shows_only_its_own_frames(offline: Stack) -> None:
    script = offline.folder / "faulty.py"
    script.write_text("def inner():\n    return {}['missing']\n\n\ninner()\n")
    from workbench.engine.program.adapter import program_at

    with pytest.raises(WorkbenchError) as refused:
        offline.preview(program_at(offline.folder, "faulty.py"))
    text = str(refused.value)
    assert "faulty.py" in text
    assert "KeyError: 'missing'" in text
    assert "asyncio" not in text
    assert "site-packages" not in text


def test_a_failure_inside_apply_is_a_failure(offline: Stack) -> None:
    def program() -> None:
        pulumi.Output.from_input(1).apply(lambda value: value / 0)

    with pytest.raises(WorkbenchError, match="ZeroDivisionError"):
        offline.preview(program)


def test_provider_without_kubeconfig_takes_nothing_from_the_surroundings(
    live: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", live.kubeconfig)

    def program() -> None:
        provider = pulumi.ProviderResource("kubernetes", "bare", {})
        config_map("never", pulumi.ResourceOptions(provider=provider))

    with pytest.raises(WorkbenchError, match="no kubeconfig"):
        live.up(program)


def test_default_providers_of_other_packages_are_refused_where_disabled(offline: Stack) -> None:
    offline.config = {"pulumi:disable-default-providers": '["aws"]'}

    def program() -> None:
        pulumi.CustomResource("aws:s3/bucket:Bucket", "b", {})

    with pytest.raises(WorkbenchError, match="default providers are disabled"):
        offline.preview(program)


class TestClouds:
    """What waits for a cloud that the local engine cannot make."""

    @staticmethod
    def cloud(stack: Stack, *, alone: bool) -> Callable[[], None]:
        def program() -> None:
            aws = pulumi.ProviderResource("aws", "cloud", {})
            cluster = pulumi.CustomResource("aws:eks/cluster:Cluster", "c", {}, pulumi.ResourceOptions(provider=aws))
            eks = pulumi.ProviderResource("kubernetes", "eks", {"kubeconfig": cluster.id})
            config_map("there", pulumi.ResourceOptions(provider=eks))
            if not alone:
                config_map("here", pulumi.ResourceOptions(provider=stack.provider()))

        return program

    def test_up_deploys_nothing_where_everything_waits_and_says_so(self, offline: Stack) -> None:
        with pytest.raises(WorkbenchError) as wrong:
            offline.up(self.cloud(offline, alone=True))
        assert wrong.value.exit_code == 1
        assert str(wrong.value).startswith("nothing was deployed: the local engine has no provider for aws, ")
        assert "workbench preview --stack dev" in str(wrong.value)
        assert offline.rows() == {}

    def test_its_preview_is_shown(self, offline: Stack) -> None:
        offline.preview(self.cloud(offline, alone=True))
        assert "there" in offline.screen

    def test_up_goes_on_where_something_does_not_wait(self, offline: Stack) -> None:
        """There is no cluster behind the provider here, which is as far as it comes."""
        outcome = offline.up(self.cloud(offline, alone=False))
        assert [failure.urn.rsplit("::")[-1] for failure in outcome.failures] == ["here"]


def test_the_log_of_a_program_carries_the_level(offline: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        pulumi.log.debug("quiet")
        pulumi.log.info("two replicas are enough")
        pulumi.log.warn("the volume is a hostPath")
        pulumi.log.error("wrong")

    offline.preview(program)
    offline.preview(program)
    told = ["info: two replicas are enough", "warning: the volume is a hostPath", "error: wrong"]
    assert capsys.readouterr().err.splitlines() == told * 2
