"""Steps that read the data: what is known of the frames beside their coordinates."""

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline._cache import step


@step(saved=False, content=True)
def weights(data: Trajectories | None) -> np.ndarray | None:
    """Return the weights of the frames, which the key of the data does not include; None without weights."""
    return None if data is None else data.weights


@step(saved=False)
def timestep(data: Trajectories | None) -> float | None:
    """Return the time between frames, which is not part of the key of the data."""
    return None if data is None else data.timestep
