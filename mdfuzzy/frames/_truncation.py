"""Find the expected number of frames of a file, for formats whose readers ignore a missing end."""

import os
import struct
from typing import BinaryIO

from mdfuzzy.frames._damage import DamageError

_CUT = "then the file ends too early"
#: Bytes per value of the netCDF types 1 to 11 (byte, char, short, int, float, double, then those of CDF-5).
_NETCDF_WIDTH = (0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8)


def dcd_frames(path: str) -> int:
    """Return the number of frames in the header of a DCD file (0 if it states none)."""
    with open(path, "rb") as file:
        head = file.read(16)
    for order in "<>":
        # Fortran record markers of 4 or 8 bytes enclose the first block: 84 bytes that start with CORD.
        for marker in "iq":
            start = struct.calcsize(marker)
            if head[start : start + 4] == b"CORD" and struct.unpack_from(order + marker, head)[0] == 84:
                return max(0, struct.unpack_from(order + "i", head, start + 4)[0])
    return 0


def netcdf_frames(path: str) -> tuple[int, int, Exception | None]:
    """Return the numbers of claimed and of complete records of a classic netCDF file, and any error.

    The netCDF library fills what is missing with zeros. The layout is that of the "NetCDF Classic Format
    Specification": header, arrays of fixed size, then the records one after the other. NetCDF-4 files
    are HDF5, which notices a missing end by itself: for those both numbers are 0.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        if file.read(3) != b"CDF":
            return 0, 0, None
        try:
            claimed, record, begin = _read_netcdf_header(file)
        except (struct.error, IndexError, OSError, ValueError, OverflowError, MemoryError):
            return 0, 0, DamageError("its header is damaged")
    if claimed == 0 or record <= 0:
        return 0, 0, None if record >= 0 else DamageError("its header is damaged")
    whole, rest = divmod(size - begin, record)
    if claimed < 0:  # the writer did not know how many it would write
        return whole, whole, DamageError(_CUT) if rest else None
    if whole < claimed:
        return claimed, max(0, whole), DamageError(_CUT)
    if rest or whole > claimed:
        return (
            claimed,
            claimed,
            DamageError(f"but the file is {size - begin - claimed * record} bytes longer than that"),
        )
    return claimed, claimed, None


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
