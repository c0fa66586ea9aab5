"""Kabsch superposition in float64, and neighbours by comparing all pairs with it."""

import numpy as np


def superpose(frame: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return `frame` (atoms, 3), centred, rotated onto `centre`, both float64."""
    u, _, vt = np.linalg.svd(frame.T @ centre)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return frame @ (u @ flip @ vt)


def rmsd(x: np.ndarray, y: np.ndarray) -> float:
    """Return the minimum RMSD of two frames (atoms, 3)."""
    x, y = (np.asarray(frame, np.float64) for frame in (x, y))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return float(np.sqrt(np.mean(np.sum((superpose(x, y) - y) ** 2, axis=1))))


def all_rmsds(queries: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return the (queries, frames) matrix of minimum RMSDs, from singular values."""
    x, y = (
        a - a.mean(axis=1, keepdims=True) for a in (np.asarray(queries, float), np.asarray(frames, float))
    )
    m = np.einsum("qai,faj->qfij", x, y)
    u, s, vt = np.linalg.svd(m)
    s[..., 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))
    norms = np.sum(x**2, axis=(1, 2))[:, None] + np.sum(y**2, axis=(1, 2))[None]
    return np.sqrt(np.maximum(norms - 2 * s.sum(axis=-1), 0) / x.shape[1])
