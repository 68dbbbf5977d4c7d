"""Packages of the wheel: every folder of components/ with an __init__.py, under the published name."""

from setuptools import find_packages, setup

NAME = "inference_platform"

setup(packages=[NAME, *(f"{NAME}.{package}" for package in find_packages("components"))])
