"""How many frames a file should hold, for formats whose readers pass over a missing end in silence."""

import os
import struct
from typing import BinaryIO

#: Bytes per value of the netCDF types 1 to 11 (byte, char, short, int, float, double, then those of CDF-5).
_NETCDF_WIDTH = (0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8)


def readable_if_short(path: str, extension: str, count: int) -> int | None:
    """Return the number of whole frames if the file ends too early, else None.

    Parameters
    ----------
    path : str
        The file.
    extension : str
        Its format.
    count : int
        The number of frames that mdtraj read without complaint.
    """
    if extension in (".xtc", ".trr"):  # XDR: everything is a multiple of four bytes
        short = os.path.getsize(path) % 4 != 0
    elif extension in _BEGUN:
        short = _BEGUN[extension](path) > count
    else:
        short = False
    return count if short else None


def dcd_frames(path: str) -> int:
    """Return the number of frames that the header of a DCD file names (0 if it names none)."""
    with open(path, "rb") as file:
        head = file.read(16)
    for order in "<>":
        # Fortran record markers of 4 or 8 bytes enclose the first block: 84 bytes that start with CORD.
        for marker in "iq":
            start = struct.calcsize(marker)
            if head[start : start + 4] == b"CORD" and struct.unpack_from(order + marker, head)[0] == 84:
                return max(0, struct.unpack_from(order + "i", head, start + 4)[0])
    return 0


def lammps_frames(path: str) -> int:
    """Return the number of frames that were begun in a LAMMPS dump file."""
    with open(path, "rb") as file:
        return sum(line.startswith(b"ITEM: TIMESTEP") for line in file)


def xyz_frames(path: str) -> int:
    """Return the number of frames begun in an XYZ file: a count, a title, and a line for each atom."""
    lines = 0
    with open(path, "rb") as file:
        atoms = int(file.readline())
        for number, line in enumerate(file, start=2):
            if line.strip():  # blank lines at the end are none of a frame
                lines = number
    return -(-lines // (atoms + 2))


def netcdf_frames(path: str) -> tuple[int, int]:
    """Return (records claimed by the header, whole records in the file) of a classic netCDF file.

    The netCDF library fills what is missing with zeros. The layout is that of the "NetCDF Classic Format
    Specification": header, arrays of fixed size, then the records one after the other. NetCDF-4 files
    are HDF5, which notices a missing end by itself: for those both numbers are 0.
    """
    with open(path, "rb") as file:
        if file.read(3) != b"CDF":
            return 0, 0
        try:
            claimed, record, begin = _read_netcdf_header(file)
        except (struct.error, IndexError):  # not even the header is whole: the reader will say so
            return 0, 0
    if claimed <= 0 or record == 0:
        return 0, 0
    return claimed, min(claimed, max(0, os.path.getsize(path) - begin) // record)


def _read_netcdf_header(file: BinaryIO) -> tuple[int, int, int]:
    """Return (number of records, bytes per record, place of the first) from a header, after ``CDF``."""
    version = file.read(1)[0]
    count_type = ">q" if version == 5 else ">i"

    def number(kind: str = count_type) -> int:
        return struct.unpack(kind, file.read(struct.calcsize(kind)))[0]

    def skip(size: int) -> None:
        file.seek(-(-size // 4) * 4, os.SEEK_CUR)  # padded to a multiple of four bytes

    def entries() -> range:
        number(">i")  # the tag of the list
        return range(number())

    def skip_attributes() -> None:
        for _ in entries():
            skip(number())
            width = _NETCDF_WIDTH[number(">i")]
            skip(number() * width)

    claimed = number()
    dimensions = []
    for _ in entries():
        skip(number())
        dimensions.append(number())
    skip_attributes()
    record, begins = 0, [0]
    for _ in entries():
        skip(number())
        shape = [dimensions[number()] for _ in range(number())]
        skip_attributes()
        number(">i")  # the type
        size = number()
        begin = number(">i" if version == 1 else ">q")
        if shape and shape[0] == 0:  # the length of the unlimited dimension is written as 0
            record += size
            begins.append(begin)
    return claimed, record, min(begins[1:], default=0)


#: Formats in which the number of frames that were begun can be told.
_BEGUN = {".dcd": dcd_frames, ".lammpstrj": lammps_frames, ".xyz": xyz_frames}
