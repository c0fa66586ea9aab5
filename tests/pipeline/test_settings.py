"""Settings: every choice is checked when it is made; k by the number of points."""

import dataclasses
import math

import pytest

import mdfuzzy as mf
from mdfuzzy.pipeline.settings import resolve_k


def test_every_setting_has_a_type_a_default_and_a_help_text():
    for field in dataclasses.fields(mf.Settings):
        assert field.default is not dataclasses.MISSING
        assert field.type is not None
        assert field.metadata["help"].endswith(".")


def test_the_defaults_are_valid_and_settings_cannot_be_changed():
    settings = mf.Settings()
    assert settings == mf.Settings(**settings.as_dict())
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.k = 3


@pytest.mark.parametrize(
    ("name", "value", "error", "match"),
    [
        ("k", 0, ValueError, r"`k` must be an int of at least 1; got 0"),
        ("k", 2.0, TypeError, r"`k` must be an int of at least 1; got 2.0"),
        ("recall", 1.5, ValueError, r"`recall` must be a finite number > 0 and <= 1; got 1.5"),
        ("density", "knn", ValueError, r"`density` must be one of 'dtm', 'kde'; got 'knn'"),
        ("dimension", 0, ValueError, r"`dimension` must be a finite number > 0; got 0"),
        ("bandwidth", -1.0, ValueError, r"`bandwidth` must be a finite number > 0; got -1"),
        ("prominence", 0.0, ValueError, r"`prominence` must be a finite number > 0; got 0"),
        ("level", 0.6, ValueError, r"`level` must be a finite number > 0 and <= 0.5; got 0.6"),
        ("core_rule", "top", ValueError, r"`core_rule` must be one of 'reach', .*; got 'top'"),
        ("core_share", 0.0, ValueError, r"`core_share` must be .* > 0 and <= 1; got 0"),
        ("core_least", 2.0, ValueError, r"`core_least` must be .* >= 0 and <= 1; got 2"),
        (
            "walk_graph",
            "radius",
            ValueError,
            r"`walk_graph` must be one of 'union', 'directed'; got 'radius'",
        ),
        ("kernel", "box", ValueError, r"`kernel` must be one of 'uniform', 'gaussian'; got 'box'"),
        (
            "walk_weights",
            "square",
            ValueError,
            r"`walk_weights` must be one of 'power', 'linear'; got 'square'",
        ),
        ("unit_density", 1, TypeError, r"`unit_density` must be True or False; got 1"),
        (
            "beta",
            0,
            ValueError,
            r"`beta` must be a number > 0; got 0.0. 2 is the temperature of the simulation",
        ),
        ("beta", math.nan, ValueError, r"`beta` must be a number > 0; got nan"),
        (
            "beta",
            "best",
            ValueError,
            r"`beta` must be one of 'entropy', 'kinetic'; got 'best'. Or give a number > 0",
        ),
        ("scan_k", "yes", TypeError, r"`scan_k` must be True or False; got 'yes'"),
        ("bootstrap", -1, ValueError, r"`bootstrap` must be an int of at least 0; got -1"),
        ("seed", 1.5, TypeError, r"`seed` must be an int of at least 0; got 1.5"),
        (
            "n_jobs",
            0,
            ValueError,
            r"`n_jobs` must be an int of at least 1; got 0. None or -1 uses all cores",
        ),
    ],
)
def test_bad_values(name: str, value: object, error: type[Exception], match: str):
    with pytest.raises(error, match=match):
        mf.Settings(**{name: value})


def test_good_values_at_the_limits():
    settings = mf.Settings(k=1, recall=1, level=0.5, core_share=1, beta=math.inf, bootstrap=0, n_jobs=-1)
    assert settings.beta == math.inf
    assert isinstance(settings.recall, float)


def test_the_default_k():
    # 3.5 log n: the 50 of the paper at its number of frames; at most a tenth of the points, but enough for
    # a connected graph.
    assert mf.suggest_k(1_420_738) == 50
    assert mf.suggest_k(30_000) == 36
    assert [mf.suggest_k(n) for n in (3, 9, 10, 19, 20, 100)] == [1, 4, 4, 7, 7, 11]
    ks = [mf.suggest_k(n) for n in range(3, 5000)]
    assert ks == sorted(ks)
    assert all(2 * k <= n - 1 for n, k in enumerate(ks, start=3))
    with pytest.raises(ValueError, match=r"`n` must be an int of at least 3; got 2"):
        mf.suggest_k(2)


def test_k_is_checked_against_the_number_of_points():
    assert resolve_k(5, 11) == 5
    assert mf.Settings(k=5).n_neighbors(11) == 10
    with pytest.raises(ValueError, match=r"`k` must be an int in \[1, 4\]; got 5. The density uses 2k"):
        resolve_k(5, 10)


def test_k_is_checked_against_the_neighbours_that_are_known():
    assert resolve_k(None, 10_000, n_neighbors=20) == 10
    assert resolve_k(None, 10_000, n_neighbors=200) == mf.suggest_k(10_000)
    with pytest.raises(ValueError, match=r"`k` must be an int in \[1, 10\]; got 11. .* there are 20"):
        resolve_k(11, 10_000, n_neighbors=20)
    with pytest.raises(ValueError, match=r"`n_neighbors` must be an int of at least 2; got 1"):
        resolve_k(None, 10_000, n_neighbors=1)
