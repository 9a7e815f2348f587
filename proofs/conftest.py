"""Chooses the Hypothesis profile before any test is collected, and adds `--examples-report`."""

from __future__ import annotations

import pytest

import hypothesis_profiles  # noqa: F401  (importing it registers and loads the profiles)


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("examples_report")  # once, however many folders ask for it
