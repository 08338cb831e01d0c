"""Figures that chapters gather by star: none may hide another."""

import importlib
import pkgutil

import pytest


@pytest.mark.parametrize("chapter", ["nht1"])
def test_no_figure_is_hidden_by_a_helper_of_its_name(chapter):
    figures = importlib.import_module(f"companion.chapters.{chapter}.figures")
    for module in pkgutil.iter_modules(figures.__path__):
        room = importlib.import_module(f"{figures.__name__}.{module.name}")
        for name, own in vars(room).items():
            if not name.startswith("_") and getattr(own, "__module__", None) == room.__name__:
                assert getattr(figures, name, own) is own, f"{name} of {room.__name__}"
