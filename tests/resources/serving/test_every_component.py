"""What every public component does with arguments that it cannot use, however deep they are."""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin, is_typeddict

import pulumi
import pytest

from components.resources.plugin import components
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.output_values import determining
from components.resources.serving.typed_args import keys_of
from tests.recorded import deploy
from tests.resources.aws.aws_mock import Aws

PUBLIC = components()


def args_of(component: Any) -> Any:
    return inspect.get_annotations(component.__init__)["args"]


def refused(component: Any, args: Any) -> dict[str, str]:
    """What is wrong, by path."""

    def program() -> None:
        component("x", args())

    with pytest.raises(InvalidArguments) as caught:
        deploy(program, mock=Aws())
    errors = caught.value.errors or []
    paths = [error["property_path"] for error in errors]
    assert len(paths) == len(set(paths)), paths
    return {error["property_path"]: error["reason"] for error in errors}


def later() -> Any:
    """What another resource says of itself once it exists."""
    return pulumi.Output.from_input("value").apply(str)


@pytest.mark.parametrize("component", PUBLIC)
def test_an_output_that_would_decide_what_is_created_is_refused(component: Any) -> None:
    """Whatever else is wrong: each such argument is told once, by its own name."""
    plain = [key for key, typed in keys_of(args_of(component)).items() if determining(typed) is not None]
    assert plain
    found = refused(component, lambda: {key: later() for key in plain})
    for key in plain:
        assert found[key].startswith("must be a plain value, found an output of a resource"), key


@pytest.mark.parametrize("component", PUBLIC)
def test_an_output_deep_in_an_argument_is_refused_at_its_place(component: Any) -> None:
    places = dict(deep(args_of(component), plain_in, later))
    for key, (value, paths) in places.items():
        found = refused(component, lambda key=key, value=value: {key: value()})
        for path in paths:
            assert found[path].startswith("must be a plain value"), path


@pytest.mark.parametrize("component", PUBLIC)
def test_a_key_that_is_none_is_refused_with_the_nearest(component: Any) -> None:
    typed = args_of(component)
    for key in keys_of(typed):
        found = refused(component, lambda key=key: {f"{key}x": 1})
        assert found[f"{key}x"].startswith("unknown argument; did you mean "), key


@pytest.mark.parametrize("component", PUBLIC)
def test_a_key_that_is_none_deep_in_an_argument_is_refused_at_its_place(component: Any) -> None:
    places = dict(deep(args_of(component), misspelt, lambda: 1))
    for key, (value, paths) in places.items():
        found = refused(component, lambda key=key, value=value: {key: value()})
        for path in paths:
            assert found[path].startswith("unknown argument; did you mean "), path


def plain_in(typed: Any) -> list[str]:
    return [key for key, inner in keys_of(typed).items() if determining(inner) is not None]


def misspelt(typed: Any) -> list[str]:
    return [f"{key}x" for key in keys_of(typed)]


Place = tuple[Callable[[], Any], list[str]]


def deep(typed: Any, names: Callable[[Any], list[str]], value: Callable[[], Any]) -> Iterator[tuple[str, Place]]:
    """Arguments that hold types with keys of their own, each with keys of some names, and the paths of these."""
    for key, inner in keys_of(typed).items():
        held, path = inner, key
        if get_origin(inner) is list:
            held, path = get_args(inner)[0], f"{key}[0]"
        elif get_origin(inner) is dict:
            held, path = get_args(inner)[1], f"{key}.a"
        if is_typeddict(held):
            found = names(held)
            yield key, (functools.partial(filled, inner, found, value), [f"{path}.{name}" for name in found])


def filled(typed: Any, names: list[str], value: Callable[[], Any]) -> Any:
    """An argument of a type; outputs are made while the program runs."""
    inside = {name: value() for name in names}
    return {list: [inside], dict: {"a": inside}}.get(get_origin(typed), inside)


def test_there_are_deep_arguments() -> None:
    held = {key for component in PUBLIC for key, _ in deep(args_of(component), misspelt, lambda: 1)}
    assert {"flavors", "hardening", "front_door", "types", "vllm_config", "metrics"} <= held
