"""Places of labels that do not cover each other."""

import numpy as np


def push_apart(places: np.ndarray, least: float, *, fixed: np.ndarray | None = None) -> np.ndarray:
    """Move places (K, 2) that are nearer than `least` to each other, or to `fixed` ones, until none is.

    Examples
    --------
    >>> push_apart(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.2]]), 0.06).round(2)
    array([[0.47, 0.5 ],
           [0.53, 0.5 ],
           [0.1 , 0.2 ]])
    """
    own = len(places)
    places = places.copy() if fixed is None else np.concatenate([places, fixed])
    for _ in range(100):
        still = True
        for j in range(1, len(places)):
            for i in range(min(j, own)):
                apart = places[j] - places[i]
                distance = np.linalg.norm(apart)
                if distance < 0.999 * least:
                    direction = apart / distance if distance > 1e-9 else np.array([1.0, 0.0])
                    push = (least - distance) * direction
                    share = 0.5 if j < own else 0.0  # a fixed place stays
                    places[i] -= (1 - share) * push
                    places[j] += share * push
                    still = False
        if still:
            break
    return places[:own]
