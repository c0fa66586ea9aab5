"""Compute the minimum RMSD of centred frames in float64, for one pair or one frame against many.

For centred x and y with M = sum_i x_i y_i^T and L the largest eigenvalue of Horn's 4 x 4 matrix of M,

    atoms * RMSD^2 = |x|^2 + |y|^2 - 2 L.

Everything in `_kernels` works with this *squared norm*, atoms times RMSD squared.
"""

from typing import NamedTuple

import numpy as np

from mdfuzzy._kernels.jit import compiled
from mdfuzzy._kernels.search.lanes import LANES, correlate, largest_eigenvalues, load_lanes

#: Below this relative slope of the quartic at its root, the root is nearly double and Newton loses digits:
#: its error is about the rounding of the largest term divided by this.
DOUBLE_ROOT = 1e-2
#: A squared norm below this share of |x|^2 + |y|^2 is 0: less than the rounding of float32 coordinates, and
#: of the difference that it is. So an RMSD of less than 2e-7 radii of gyration is none.
SAME = 2e-14


@compiled()
def correlation(x, y):
    """Return the nine entries of sum_i x_i y_i^T; x and y are flat, 3 numbers an atom."""
    a = b = c = d = e = f = g = h = i = 0.0
    for j in range(len(x) // 3):
        x0, x1, x2 = np.float64(x[3 * j]), np.float64(x[3 * j + 1]), np.float64(x[3 * j + 2])
        y0, y1, y2 = np.float64(y[3 * j]), np.float64(y[3 * j + 1]), np.float64(y[3 * j + 2])
        a += x0 * y0
        b += x0 * y1
        c += x0 * y2
        d += x1 * y0
        e += x1 * y1
        f += x1 * y2
        g += x2 * y0
        h += x2 * y1
        i += x2 * y2
    return a, b, c, d, e, f, g, h, i


@compiled()
def eigenvalue_by_svd(m):
    """Return the sum of the singular values, the smallest with the sign of the determinant.

    One-sided Jacobi: pairs of columns are rotated until they are orthogonal. Their norms are then the
    singular values, with an error of the rounding of the largest.
    """
    c = np.empty((3, 3))
    for j in range(9):
        c[j % 3, j // 3] = m[j]
    for _ in range(30):
        moved = False
        for i in range(2):
            for j in range(i + 1, 3):
                x, y = c[i], c[j]
                xx = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
                yy = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
                xy = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
                if abs(xy) <= 1e-16 * np.sqrt(xx * yy):
                    continue
                moved = True
                zeta = (yy - xx) / (2 * xy)
                t = (1.0 if zeta >= 0 else -1.0) / (abs(zeta) + np.sqrt(1 + zeta * zeta))
                cosine = 1 / np.sqrt(1 + t * t)
                sine = cosine * t
                for r in range(3):
                    x[r], y[r] = cosine * x[r] - sine * y[r], sine * x[r] + cosine * y[r]
        if not moved:
            break
    s0 = np.sqrt(c[0, 0] ** 2 + c[0, 1] ** 2 + c[0, 2] ** 2)
    s1 = np.sqrt(c[1, 0] ** 2 + c[1, 1] ** 2 + c[1, 2] ** 2)
    s2 = np.sqrt(c[2, 0] ** 2 + c[2, 1] ** 2 + c[2, 2] ** 2)
    determinant = (
        m[0] * (m[4] * m[8] - m[5] * m[7])
        - m[1] * (m[3] * m[8] - m[5] * m[6])
        + m[2] * (m[3] * m[7] - m[4] * m[6])
    )
    return s0 + s1 + s2 - (2 * min(s0, s1, s2) if determinant < 0 else 0.0)


@compiled()
def largest_eigenvalue(m, start):
    """Return the largest eigenvalue of Horn's matrix of `m`, by Newton from the upper bound `start`."""
    a, b, c, d, e, f, g, h, i = m
    c0, c1, c2 = e * i - f * h, f * g - d * i, d * h - e * g
    c3, c4, c5 = c * h - b * i, a * i - c * g, b * g - a * h
    c6, c7, c8 = b * f - c * e, c * d - a * f, a * e - b * d
    p = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
    q = c0 * c0 + c1 * c1 + c2 * c2 + c3 * c3 + c4 * c4 + c5 * c5 + c6 * c6 + c7 * c7 + c8 * c8
    d8, rest = 8 * (a * c0 + b * c1 + c * c2), p * p - 4 * q
    x = start
    for _ in range(60):
        value = ((x * x - 2 * p) * x - d8) * x + rest
        slope = (4 * x * x - 4 * p) * x - d8
        if not slope > DOUBLE_ROOT * x * x * x:
            return eigenvalue_by_svd(m)
        step = value / slope
        x -= step
        if abs(step) <= 1e-15 * x:
            return x
    return x


@compiled()
def squared_distance(x, y, norms):
    """Return atoms * RMSD^2 of two centred frames; `norms` is |x|^2 + |y|^2."""
    squared = norms - 2 * largest_eigenvalue(correlation(x, y), 0.5 * norms)
    return squared if squared > SAME * norms else 0.0


class Scratch(NamedTuple):
    """Work space to compare one frame with 64 others."""

    query: np.ndarray  # in float64
    block: np.ndarray  # coordinates of the others
    m: np.ndarray  # correlations
    quartic: np.ndarray
    start: np.ndarray
    top: np.ndarray


@compiled()
def scratch(width):
    """Return space to compare flat frames of `width` numbers."""
    return Scratch(
        np.empty(width), np.empty(width * LANES, np.float32), np.empty(9 * LANES), np.empty(3 * LANES),
        np.empty(LANES), np.empty(LANES),
    )  # fmt: skip


@compiled()
def squared_distances(query, norm, flat, norms, targets, out):  # OUT out
    """Set out[i] = atoms * RMSD^2 of `query` and the frame flat[targets[i]]."""
    fill_squared_distances(query, norm, flat, norms, targets, out, scratch(len(query)))


@compiled()
def fill_squared_distances(query, norm, flat, norms, targets, out, space):  # OUT out
    """Set squared distances as `squared_distances` in given space, 64 targets at a time.

    The fixed number of Newton steps suffices for all but a few pairs. These, and nearly double roots, are
    computed one by one.
    """
    x, block, m, quartic, start, top = space
    for j in range(len(query)):
        x[j] = query[j]
    for first in range(0, len(targets), LANES):
        size = min(LANES, len(targets) - first)
        load_lanes(flat, targets, first, size, block)
        for l in range(LANES):
            start[l] = 0.5 * (norm + norms[targets[first + min(l, size - 1)]])
        correlate(block, x, m)
        largest_eigenvalues(m, start, 7, quartic, top)
        for l in range(size):
            y, p2, d8 = top[l], quartic[l], quartic[LANES + l]
            value = ((y * y - p2) * y - d8) * y + quartic[2 * LANES + l]
            slope = (4 * y * y - 2 * p2) * y - d8
            if slope > DOUBLE_ROOT * y * y * y and value <= 1e-14 * y * slope:
                squared = 2 * (start[l] - y)
                out[first + l] = squared if squared > 2 * SAME * start[l] else 0.0
            else:
                out[first + l] = squared_distance(query, flat[targets[first + l]], 2 * start[l])
