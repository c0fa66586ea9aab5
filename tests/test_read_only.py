"""Results cannot be written to, and neither can copies of them."""

import copy
import dataclasses
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

import mdfuzzy as mf


def arrays(value: object, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield all arrays in a result and in the results that it holds."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, tuple):
        for place, each in enumerate(value):
            yield from arrays(each, f"{name}[{place}]")
    elif type(value).__module__.startswith("mdfuzzy.") and hasattr(value, "__dict__"):
        for field, each in vars(value).items():
            yield from arrays(each, f"{name}.{field}")


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_of_results_cannot_be_written_to(peptide_result, again):
    result = dataclasses.replace(peptide_result)
    same = dict(arrays(again(result)))
    assert {"._xyz", ".data.xyz"} & {*same} or any(name.endswith(".xyz") for name in same)
    assert len(same) > 10
    assert [name for name, array in same.items() if array.flags.writeable] == []
    for name, array in arrays(result):
        np.testing.assert_array_equal(same[name], array)


def test_copies_of_features_and_models_cannot_be_written_to():
    features = mf.Features([np.zeros((3, 2)), np.ones((2, 2))], periodic=[1])
    other = pickle.loads(pickle.dumps(features))
    with pytest.raises(ValueError, match="read-only"):
        other.values[0] = 1
    assert (other.lengths == [3, 2]).all()
    assert other.periods == (None, 360)
