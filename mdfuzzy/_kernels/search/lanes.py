"""Correlate, rotate and project 64 frames at a time with respect to one centre.

A *lane block* holds one coordinate of 64 frames side by side: entry ``j * LANES + l`` of a flat array is
coordinate j of frame l. Because the stride is constant, the compiler knows that rows do not overlap. It turns
every loop over lanes into packed instructions for any number of atoms, and blocks of 64 stay in the
first-level cache. (This is not possible for a two-dimensional array, whose stride the compiler does not
know.)

Sums over atoms are float32. The eigenvalue problem is float64, so its own rounding is negligible: the largest
eigenvalue of a symmetric matrix changes by no more than the matrix (Weyl), whatever its condition.
"""

import numpy as np

from mdfuzzy._kernels.intrinsics import transpose_rows
from mdfuzzy._kernels.jit import compiled

LANES = 64


@compiled()
def load_lanes(flat, frames, first, size, block):  # OUT block
    """Copy the frames first to first + size (at most 64) of `frames` into a lane block; empty lanes repeat
    the last.
    """
    last, width = first + size - 1, flat.shape[1]
    for l in range(0, LANES, 8):
        at = first + l
        rows = (
            frames[min(at, last)], frames[min(at + 1, last)], frames[min(at + 2, last)],
            frames[min(at + 3, last)], frames[min(at + 4, last)], frames[min(at + 5, last)],
            frames[min(at + 6, last)], frames[min(at + 7, last)],
        )  # fmt: skip
        for j in range(0, width - 7, 8):
            transpose_rows(flat, rows, j, block, j * LANES + l, LANES)
        if width % 8:  # once more what is there already
            transpose_rows(flat, rows, width - 8, block, (width - 8) * LANES + l, LANES)


@compiled(fastmath=True)
def correlate(block, centre, m):  # OUT m
    """Set m[3r + s] = sum over atoms of coordinate r of the frame times coordinate s of the centre.

    `block` holds an even number of atoms (pad with zeros): two atoms in each pass halve the memory traffic of
    the sums.
    """
    for l in range(9 * LANES):
        m[l] = 0
    for i in range(len(centre) // 6):
        x, y, z = centre[6 * i], centre[6 * i + 1], centre[6 * i + 2]
        u, v, w = centre[6 * i + 3], centre[6 * i + 4], centre[6 * i + 5]
        b = 6 * i * LANES
        for l in range(LANES):
            ax, ay, az = block[b + l], block[b + LANES + l], block[b + 2 * LANES + l]
            bx, by, bz = block[b + 3 * LANES + l], block[b + 4 * LANES + l], block[b + 5 * LANES + l]
            m[l] += ax * x + bx * u
            m[LANES + l] += ax * y + bx * v
            m[2 * LANES + l] += ax * z + bx * w
            m[3 * LANES + l] += ay * x + by * u
            m[4 * LANES + l] += ay * y + by * v
            m[5 * LANES + l] += ay * z + by * w
            m[6 * LANES + l] += az * x + bz * u
            m[7 * LANES + l] += az * y + bz * v
            m[8 * LANES + l] += az * z + bz * w


@compiled(fastmath=True)
def largest_eigenvalues(m, start, steps, quartic, eigenvalue):  # OUT quartic, eigenvalue
    """Take `steps` Newton steps from above to the largest root of L^4 - 2 p L^2 - 8 d L + (p^2 - 4 q).

    `start` is an upper bound, half the sum of the two squared norms. The iterates decrease monotonically.
    Stopping early therefore overestimates the eigenvalue and underestimates the RMSD, which is safe for
    pruning.
    """
    for l in range(LANES):
        a, b, c = np.float64(m[l]), np.float64(m[LANES + l]), np.float64(m[2 * LANES + l])
        d, e, f = np.float64(m[3 * LANES + l]), np.float64(m[4 * LANES + l]), np.float64(m[5 * LANES + l])
        g, h, i = np.float64(m[6 * LANES + l]), np.float64(m[7 * LANES + l]), np.float64(m[8 * LANES + l])
        c0, c1, c2 = e * i - f * h, f * g - d * i, d * h - e * g
        c3, c4, c5 = c * h - b * i, a * i - c * g, b * g - a * h
        c6, c7, c8 = b * f - c * e, c * d - a * f, a * e - b * d
        p = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
        q = c0 * c0 + c1 * c1 + c2 * c2 + c3 * c3 + c4 * c4 + c5 * c5 + c6 * c6 + c7 * c7 + c8 * c8
        quartic[l] = 2 * p
        quartic[LANES + l] = 8 * (a * c0 + b * c1 + c * c2)
        quartic[2 * LANES + l] = p * p - 4 * q
        eigenvalue[l] = start[l]
    newton(quartic, steps, eigenvalue)


@compiled(fastmath=True)
def newton(quartic, steps, eigenvalue):  # OUT eigenvalue
    """Take `steps` more Newton steps."""
    for _ in range(steps):
        for l in range(LANES):
            x = eigenvalue[l]
            p2, d8, rest = quartic[l], quartic[LANES + l], quartic[2 * LANES + l]
            value = ((x * x - p2) * x - d8) * x + rest
            slope = (4 * x * x - 2 * p2) * x - d8
            # near a double root, rounding can make the slope zero or negative: keep the value
            step = value / slope if slope > 1e-9 * x * x * x else 0.0
            eigenvalue[l] = x - (step if step > 0 else 0.0)


@compiled(fastmath=True)
def rotations(m, eigenvalue, rotation, torque):  # OUT rotation, torque
    """Set the rotation (9 rows) that superposes each frame on the centre, and the remaining torque.

    The unit quaternion is a column of the adjugate of N - L (N the 4 x 4 matrix of Horn), the one with
    the largest diagonal entry. `torque` is |sum_i centre_i x frame_i| after the rotation: zero for the
    exact optimum.
    """
    for l in range(LANES):
        xx, xy, xz = np.float64(m[l]), np.float64(m[LANES + l]), np.float64(m[2 * LANES + l])
        yx, yy, yz = np.float64(m[3 * LANES + l]), np.float64(m[4 * LANES + l]), np.float64(m[5 * LANES + l])
        zx, zy, zz = np.float64(m[6 * LANES + l]), np.float64(m[7 * LANES + l]), np.float64(m[8 * LANES + l])
        lam = eigenvalue[l]
        # N - L, upper triangle
        a = xx + yy + zz - lam
        b, c, d = yz - zy, zx - xz, xy - yx
        e = xx - yy - zz - lam
        f, g = xy + yx, zx + xz
        h = yy - xx - zz - lam
        i = yz + zy
        j = zz - xx - yy - lam
        # adjugate of the symmetric matrix [[a b c d], [b e f g], [c f h i], [d g i j]]
        hj_ii, fj_gi, fi_gh = h * j - i * i, f * j - g * i, f * i - g * h
        ej_gg, ei_fg, eh_ff = e * j - g * g, e * i - f * g, e * h - f * f
        bj_dg, bi_cg, bh_cf = b * j - d * g, b * i - c * g, b * h - c * f
        q00 = e * hj_ii - f * fj_gi + g * fi_gh
        q01 = -(b * hj_ii - c * fj_gi + d * fi_gh)
        q02 = b * fj_gi - c * ej_gg + d * ei_fg
        q03 = -(b * fi_gh - c * ei_fg + d * eh_ff)
        q11 = a * hj_ii - c * (c * j - d * i) + d * (c * i - d * h)
        q12 = -(a * fj_gi - c * bj_dg + d * (b * i - d * f))
        q13 = a * fi_gh - c * bi_cg + d * bh_cf
        q22 = a * ej_gg - b * bj_dg + d * (b * g - d * e)
        q23 = -(a * ei_fg - b * bi_cg + d * (b * f - c * e))
        q33 = a * eh_ff - b * bh_cf + c * (b * f - c * e)
        w, x, y, z, best = q00, q01, q02, q03, abs(q00)
        second = abs(q11) > best
        w, x, y, z = (
            (q01 if second else w),
            (q11 if second else x),
            (q12 if second else y),
            (q13 if second else z),
        )
        best = max(best, abs(q11))
        third = abs(q22) > best
        w, x, y, z = (
            (q02 if third else w),
            (q12 if third else x),
            (q22 if third else y),
            (q23 if third else z),
        )
        best = max(best, abs(q22))
        last = abs(q33) > best
        w, x, y, z = (q03 if last else w), (q13 if last else x), (q23 if last else y), (q33 if last else z)
        norm = w * w + x * x + y * y + z * z
        scale = 2 / max(norm, 1e-300)
        # rotation applied to the frame: r_ab
        r00 = 1 - scale * (y * y + z * z)
        r01 = scale * (x * y - w * z)
        r02 = scale * (x * z + w * y)
        r10 = scale * (x * y + w * z)
        r11 = 1 - scale * (x * x + z * z)
        r12 = scale * (y * z - w * x)
        r20 = scale * (x * z - w * y)
        r21 = scale * (y * z + w * x)
        r22 = 1 - scale * (x * x + y * y)
        rotation[l], rotation[LANES + l], rotation[2 * LANES + l] = r00, r01, r02
        rotation[3 * LANES + l], rotation[4 * LANES + l], rotation[5 * LANES + l] = r10, r11, r12
        rotation[6 * LANES + l], rotation[7 * LANES + l], rotation[8 * LANES + l] = r20, r21, r22
        # antisymmetric part of R m
        tx = (r10 * xz + r11 * yz + r12 * zz) - (r20 * xy + r21 * yy + r22 * zy)
        ty = (r20 * xx + r21 * yx + r22 * zx) - (r00 * xz + r01 * yz + r02 * zz)
        tz = (r00 * xy + r01 * yy + r02 * zy) - (r10 * xx + r11 * yx + r12 * zx)
        torque[l] = np.sqrt(tx * tx + ty * ty + tz * tz)


@compiled(fastmath=True)
def displacements(block, rotation, centre, moved, squared):  # OUT moved, squared
    """Set moved = rotated frame - centre, and squared = its squared norm."""
    for l in range(LANES):
        squared[l] = 0
    for i in range(len(centre) // 3):
        cx, cy, cz = centre[3 * i], centre[3 * i + 1], centre[3 * i + 2]
        b = 3 * i * LANES
        for l in range(LANES):
            x, y, z = block[b + l], block[b + LANES + l], block[b + 2 * LANES + l]
            dx = rotation[l] * x + rotation[LANES + l] * y + rotation[2 * LANES + l] * z - cx
            dy = rotation[3 * LANES + l] * x + rotation[4 * LANES + l] * y + rotation[5 * LANES + l] * z - cy
            dz = rotation[6 * LANES + l] * x + rotation[7 * LANES + l] * y + rotation[8 * LANES + l] * z - cz
            moved[b + l] = dx
            moved[b + LANES + l] = dy
            moved[b + 2 * LANES + l] = dz
            squared[l] += dx * dx + dy * dy + dz * dz


@compiled(fastmath=True)
def project(moved, axes, coordinates):  # OUT coordinates
    """Set coordinates[p] = sum_j axes[p, j] moved[j]; the number of rows of `moved` is a multiple of 6."""
    for p in range(len(axes)):
        at = p * LANES
        for l in range(LANES):
            coordinates[at + l] = 0
        for j in range(axes.shape[1] // 6):
            a, b, c = axes[p, 6 * j], axes[p, 6 * j + 1], axes[p, 6 * j + 2]
            d, e, f = axes[p, 6 * j + 3], axes[p, 6 * j + 4], axes[p, 6 * j + 5]
            o = 6 * j * LANES
            for l in range(LANES):
                coordinates[at + l] += (
                    (a * moved[o + l] + b * moved[o + LANES + l])
                    + (c * moved[o + 2 * LANES + l] + d * moved[o + 3 * LANES + l])
                    + (e * moved[o + 4 * LANES + l] + f * moved[o + 5 * LANES + l])
                )


@compiled(fastmath=True)
def residual_norms(moved, axes, coordinates, at):  # OUT row `at` of coordinates
    """Set the row `at` of `coordinates` to the norm of the part of `moved` outside the axes.

    It is computed from the difference itself, because the difference of the squared norms would lose half the
    digits.
    """
    total = at * LANES
    for l in range(LANES):
        coordinates[total + l] = 0
    left = np.empty(LANES, np.float32)
    for j in range(axes.shape[1]):
        for l in range(LANES):
            left[l] = moved[j * LANES + l]
        for group in range(len(axes) // 4):
            p = 4 * group
            a, b, c, d = axes[p, j], axes[p + 1, j], axes[p + 2, j], axes[p + 3, j]
            o = p * LANES
            for l in range(LANES):
                left[l] -= (
                    a * coordinates[o + l]
                    + b * coordinates[o + LANES + l]
                    + c * coordinates[o + 2 * LANES + l]
                    + d * coordinates[o + 3 * LANES + l]
                )
        for l in range(LANES):
            coordinates[total + l] += left[l] * left[l]
    for l in range(LANES):
        coordinates[total + l] = np.sqrt(coordinates[total + l])


@compiled(fastmath=True)
def remaining_norms(squared, coordinates, at):  # OUT row `at` of coordinates
    """Set the residual norms from squared norms: a tenth of the work, and half of the digits."""
    total = at * LANES
    for l in range(LANES):
        coordinates[total + l] = squared[l]
    for p in range(at):
        for l in range(LANES):
            coordinates[total + l] -= coordinates[p * LANES + l] ** 2
    for l in range(LANES):
        coordinates[total + l] = np.sqrt(max(coordinates[total + l], np.float32(0)))
