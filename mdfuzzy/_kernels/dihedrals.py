"""Dihedral angles of four atoms each."""

import math

import numpy as np

from mdfuzzy._kernels.jit import compiled


@compiled(nogil=True)
def dihedral_angles(
    first: int,
    last: int,
    xyz: np.ndarray,
    quartets: np.ndarray,
    angles: np.ndarray,  # OUT
) -> None:
    """Set the dihedral angles in degrees of frames `first` to `last` - 1.

    With bonds u, v, w from each atom to the next, the angle is that of
    (v x w . u x v, |v| u . v x w), in the sign convention of IUPAC.
    """
    degrees = 180.0 / math.pi
    for frame in range(first, last):
        for i in range(len(quartets)):
            a, b, c, d = quartets[i, 0], quartets[i, 1], quartets[i, 2], quartets[i, 3]
            ux = np.float64(xyz[frame, b, 0]) - np.float64(xyz[frame, a, 0])
            uy = np.float64(xyz[frame, b, 1]) - np.float64(xyz[frame, a, 1])
            uz = np.float64(xyz[frame, b, 2]) - np.float64(xyz[frame, a, 2])
            vx = np.float64(xyz[frame, c, 0]) - np.float64(xyz[frame, b, 0])
            vy = np.float64(xyz[frame, c, 1]) - np.float64(xyz[frame, b, 1])
            vz = np.float64(xyz[frame, c, 2]) - np.float64(xyz[frame, b, 2])
            wx = np.float64(xyz[frame, d, 0]) - np.float64(xyz[frame, c, 0])
            wy = np.float64(xyz[frame, d, 1]) - np.float64(xyz[frame, c, 1])
            wz = np.float64(xyz[frame, d, 2]) - np.float64(xyz[frame, c, 2])
            mx, my, mz = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            across = math.sqrt(vx * vx + vy * vy + vz * vz) * (ux * mx + uy * my + uz * mz)
            angles[frame, i] = degrees * math.atan2(across, mx * nx + my * ny + mz * nz)
