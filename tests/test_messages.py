"""Warnings point at the line of the user's own that led to them."""

import inspect

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy._messages import warn_user


def test_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="two are equal") as caught:
        warn_user("two are equal")
    assert caught[0].filename == __file__
    assert (
        "warn_user("
        in inspect.getsource(inspect.getmodule(test_the_line_of_the_caller)).splitlines()[
            caught[0].lineno - 1
        ]
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: mf.cluster(np.random.default_rng(0).normal(size=(200, 2))),
        lambda: mf.load(
            mf.datasets.folder() / "ala2_00.xtc",
            top=mf.datasets.folder() / "ala2.pdb",
            stride=999,
            timestep=7.0,
        ),
    ],
    ids=["deep in a step", "deep in reading"],
)
def test_from_any_depth(call):
    with pytest.warns(UserWarning, match=r"one state only|`timestep` is 7") as caught:
        call()
    assert {each.filename for each in caught} == {__file__}
