"""A cluster of two processes, and trajectories that they read."""

import logging
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

import mdfuzzy as mf


@pytest.fixture(scope="session")
def client() -> Iterator:
    """Return the client of two worker processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": "4GB"}
    with (
        distributed.LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> dict:
    """Eight trajectories of different lengths."""
    folder = tmp_path_factory.mktemp("files")
    whole = mf.datasets.alanine_dipeptide(stride=10).trajectory()
    whole.time = 0.2 * np.arange(whole.n_frames)
    whole[0].save(str(folder / "top.pdb"))
    cuts = [0, 300, 700, 800, 1300, 1301, 1900, 2500, 3000]
    for number, (first, last) in enumerate(pairwise(cuts)):
        whole[first:last].save(str(folder / f"run{number}.xtc"))
    return {"paths": str(folder / "run*.xtc"), "top": str(folder / "top.pdb")}
