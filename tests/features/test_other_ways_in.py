"""Features in the estimator and in MDAnalysis."""

import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.features import Reduction


def test_the_estimator_takes_features():
    frames = mf.datasets.alanine_dipeptide(stride=30)
    data = mf.featurize(frames, "torsions")
    settings = {"n_states": 3, "k": 25, "beta": 0.5}
    model = mf.FuzzyModeSeeking(**settings).fit(data)
    assert model.n_features_in_ == 4  # cosines and sines
    assert model.predict(data).shape == (len(data),)
    result = mf.cluster(data, mf.Settings(**settings))
    np.testing.assert_array_equal(model.labels_, result.memberships.hard)


def test_mdanalysis_takes_features():
    mda = pytest.importorskip("MDAnalysis")
    positions = 10 * mf.datasets.alanine_dipeptide(stride=60).xyz
    universe = mda.Universe(mf.datasets.folder() / "ala2.pdb", positions)
    with pytest.raises(mf.InputError, match=r"`reduction` must be left out without `features`"):
        mf.mdanalysis.FuzzyModeSeekingAnalysis(universe, reduction=Reduction(method="PCA"))
    analysis = mf.mdanalysis.FuzzyModeSeekingAnalysis(
        universe, features="torsions", n_states=3, beta=0.5
    ).run()
    data = analysis.results.clustering.data
    assert data.names == ("phi ALA2", "psi ALA2")
    assert data.has_structures
