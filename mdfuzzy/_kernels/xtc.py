"""Find frames in the bytes of XTC files, and unpack their coordinates.

Nothing here trusts the bytes: every length, every table entry and every atom is checked before it is used, so
a damaged file cannot make the program read or write outside of its arrays.

The layout is that of GROMACS (xdr3dfcoord). All numbers are big-endian. A frame begins with a magic number,
the number of atoms, the step, the time and nine numbers of the box. Up to nine atoms follow as plain floats,
more of them as integers, in units of the precision, that are packed as bits: an atom in full within the box
of all atoms, then a run of up to eight atoms relative to the one before.
"""

import numpy as np

from mdfuzzy._kernels.jit import compiled

#: Bytes from the beginning of a frame to its packed coordinates, at most.
HEADER = 96
#: What `find_frames` and `unpack` say of a frame.
WHOLE, CUT, BAD_HEADER, OTHER_ATOMS, BAD_DATA = range(5)

_MAGIC, _MAGIC_LARGE = 1995, 2023  # the second one has 8 bytes for the length of the packed coordinates
_PLAIN_ATOMS = 9
_FIRST, _LAST = 9, 72
#: The number of values of a coordinate in a run, by the index that the file holds: powers of the cube root of
#: two, as the format has them (with its own roundings).
_TABLE = """
0 0 0 0 0 0 0 0 0 8 10 12 16 20 25 32 40 50 64 80 101 128 161 203 256 322 406 512 645 812 1024 1290 1625 2048
2580 3250 4096 5060 6501 8192 10321 13003 16384 20642 26007 32768 41285 52015 65536 82570 104031 131072 165140
208063 262144 330280 416127 524287 660561 832255 1048576 1321122 1664510 2097152 2642245 3329021 4194304
5284491 6658042 8388607 10568983 13316085 16777216
"""
_RANGES = np.array([int(each) for each in _TABLE.split()], dtype=np.int64)


@compiled(inline="always")
def _int(data, at):
    """Return the signed integer at a place."""
    value = (
        (np.int64(data[at]) << 24)
        | (np.int64(data[at + 1]) << 16)
        | (np.int64(data[at + 2]) << 8)
        | np.int64(data[at + 3])
    )
    return value - (np.int64(1) << 32) if value >= np.int64(1) << 31 else value


@compiled(nogil=True)
def find_frames(data, n_atoms, offsets):
    """Find frames one after the other.

    Parameters
    ----------
    data : (m,) uint8
        Bytes that begin with a frame.
    n_atoms : int
        The atoms that each must have.
    offsets : (f + 1,) int64
        Filled with the places of the first f frames, and the end of the last of them.

    Returns
    -------
    count, state, atoms : int
        How many were found whose first `HEADER` bytes are here (their end may lie beyond); why no more:
        `WHOLE` if there is no more room or nothing is left, `CUT` if the bytes end, `BAD_HEADER`,
        or `OTHER_ATOMS` with the number of atoms of the frame.
    """
    at = np.int64(0)
    offsets[0] = 0
    for count in range(len(offsets) - 1):
        left = len(data) - at
        if left <= 0:
            return count, WHOLE, n_atoms
        if left < 16 + 36 + 4:
            return count, CUT, n_atoms
        magic, atoms = _int(data, at), _int(data, at + 4)
        if (magic != _MAGIC and magic != _MAGIC_LARGE) or atoms < 1 or _int(data, at + 52) != atoms:
            return count, BAD_HEADER, n_atoms
        if atoms != n_atoms:
            return count, OTHER_ATOMS, atoms
        if atoms <= _PLAIN_ATOMS:
            at += 56 + 12 * atoms
        else:
            wide = magic == _MAGIC_LARGE
            if left < (96 if wide else 92):
                return count, CUT, n_atoms
            size = _int(data, at + 88)
            if wide:
                size = (size << 32) | (_int(data, at + 92) & 0xFFFFFFFF)
            # An atom takes at least two bits, at most 96 and the six before a run.
            if size < (2 * atoms) // 64 or size > 13 * atoms + 16:
                return count, BAD_HEADER, n_atoms
            at += (96 if wide else 92) + (size + 3) // 4 * 4
        offsets[count + 1] = at
    return len(offsets) - 1, WHOLE, n_atoms


@compiled(inline="always")
def _word(data, at):
    """Return the eight bytes at a place that counts bytes, the first of them as the highest."""
    # An unsigned index is not checked for counting from the end, so one load reads all eight.
    first = np.uint64(at)
    word = np.uint64(0)
    for i in range(8):
        word = (word << np.uint64(8)) | np.uint64(data[first + np.uint64(i)])
    return word


@compiled(inline="always")
def _bits(data, at, count):
    """Return the number of up to 32 bits at a place that counts bits; there must be eight bytes to read."""
    word = _word(data, at >> 3) << np.uint64(at & 7)
    return np.int64(word >> np.uint64(64 - count)) if count else np.int64(0)


@compiled(inline="always")
def _reversed_bytes(word):
    """Return a word with its eight bytes in reverse order."""
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )
    return (word << np.uint64(32)) | (word >> np.uint64(32))


@compiled(inline="always")
def _low_bytes(data, at, count):
    """Return the number of 1 to 57 bits at a place that counts bits, its bytes from low to high."""
    word = _word(data, at >> 3) << np.uint64(at & 7)
    full = np.uint64((count - 1) & ~7)  # bits of whole bytes, without the last, which may be a part of one
    value = _reversed_bytes(word)
    low = value & ((np.uint64(1) << full) - np.uint64(1))
    return low | (((value >> full) & np.uint64(0xFF)) >> np.uint64(8 + full - np.uint64(count))) << full


@compiled()
def _three(data, at, count, sizes, out):
    """Unpack three integers from `count` bits: one number in mixed radix, its bytes from low to high."""
    if count <= 64:
        value = _low_bytes(data, at, min(count, 32))
        if count > 32:
            value |= _low_bytes(data, at + 32, count - 32) << np.uint64(32)
        for i in (2, 1):
            size = np.uint64(sizes[i])
            rest = value // size
            out[i] = np.int64(value - rest * size)
            value = rest
        out[0] = np.int64(value)
        return
    digits = np.zeros(12, np.int64)  # more bits than a machine word: long division, byte by byte
    n = 0
    while count > 8:
        digits[n] = _bits(data, at, 8)
        n += 1
        at += 8
        count -= 8
    digits[n] = _bits(data, at, count)
    for i in (2, 1):
        rest = np.int64(0)
        for j in range(n, -1, -1):
            rest = (rest << 8) | digits[j]
            digits[j] = rest // sizes[i]
            rest -= digits[j] * sizes[i]
        out[i] = rest
    out[0] = digits[0] | (digits[1] << 8) | (digits[2] << 16) | (digits[3] << 24)


@compiled()
def _width(size):
    """Return the number of bits of a number."""
    bits = 0
    while size > 0:
        bits += 1
        size >>= 1
    return bits


@compiled()
def _width_of_three(sizes):
    """Return the number of bits of the product of three numbers below 2**24."""
    low = sizes[0] * sizes[1]
    high = (low >> 24) * sizes[2] + (((low & 0xFFFFFF) * sizes[2]) >> 24)
    return 24 + _width(high) if high else _width((low & 0xFFFFFF) * sizes[2])


@compiled()
def _unpack_frame(data, at, end, n_atoms, scale, xyz):
    """Unpack the coordinates of one frame; return whether they are what a writer can have written."""
    least, most, sizes = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    widths = np.zeros(3, np.int64)
    large = False
    for k in range(3):
        least[k], most[k] = _int(data, at + 60 + 4 * k), _int(data, at + 72 + 4 * k)
        sizes[k] = most[k] - least[k] + 1
        if sizes[k] < 1 or sizes[k] > 0xFFFFFFFF:
            return False
        large = large or sizes[k] > 0xFFFFFF
    full = np.int64(0)
    if large:
        for k in range(3):
            widths[k] = _width(sizes[k])
    else:
        full = _width_of_three(sizes)
    index = _int(data, at + 84)
    if index < _FIRST or index > _LAST:
        return False
    wide = _int(data, at) == _MAGIC_LARGE
    size = _int(data, at + (92 if wide else 88)) & 0xFFFFFFFF
    begin = 8 * (at + (96 if wide else 92))
    stop = begin + 8 * size
    if size > end - begin // 8:
        return False
    place = np.int64(begin)
    # Between two checks at most one atom in full, a run of eight atoms and what is before it are read.
    this, last, ranges = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    run = np.int64(0)
    atom = 0
    while atom < n_atoms:
        needed = (widths[0] + widths[1] + widths[2] if large else full) + 1
        if place + needed > stop:
            return False
        if large:
            for k in range(3):
                this[k] = _bits(data, place, widths[k])
                place += widths[k]
        else:
            _three(data, place, full, sizes, this)
            place += full
        for k in range(3):
            this[k] += least[k]
            last[k] = this[k]
        change = np.int64(0)
        flag = _bits(data, place, 1)
        place += 1
        if flag:
            if place + 5 > stop:
                return False
            run = _bits(data, place, 5)
            place += 5
            change = run % 3
            run -= change
            change -= 1
        followers = run // 3
        if atom + 1 + followers > n_atoms or place + followers * index > stop:
            return False
        if not _put(xyz, atom, this, least, most, scale):
            return False
        atom += 1
        ranges[:] = _RANGES[index]
        half = _RANGES[index] // 2
        for follower in range(followers):
            _three(data, place, index, ranges, this)
            place += index
            for k in range(3):
                this[k] += last[k] - half
            first = follower == 0  # writers exchange the first two atoms, which packs water better
            inside = _put(xyz, atom - first, this, least, most, scale)
            if first:
                inside = _put(xyz, atom, last, least, most, scale) and inside
            if not inside:
                return False
            for k in range(3):
                last[k] = this[k]
            atom += 1
        index += change
        if index < _FIRST or index > _LAST:
            return False
    return place > stop - 32  # what a writer packs, it packs to the end


@compiled(inline="always")
def _put(xyz, atom, place, least, most, scale):
    """Write the place of an atom, and return whether it is in the box of all atoms."""
    inside = True
    for k in range(3):
        inside = inside and least[k] <= place[k] <= most[k]
        xyz[atom, k] = np.float32(place[k]) * scale
    return inside


@compiled(inline="always")
def _float(data, at):
    """Return the number of single precision at a place."""
    return np.uint32(_int(data, at) & 0xFFFFFFFF).view(np.float32)


@compiled(nogil=True)
def unpack(first, last, data, offsets, xyz, head, states):
    """Unpack frames `first` to `last` - 1 of those that begin at `offsets`.

    Parameters
    ----------
    first, last : int
        Which of them.
    data : (m + 8,) uint8
        The bytes of all frames, and eight more that are read and not used.
    offsets : (f + 1,) int64
        Where each frame begins, and the end of the last.
    xyz : (f, atoms, 3) float32
        Filled with the coordinates.
    head : (f, 10) float32
        Filled with the time and the three vectors of the box.
    states : (f,) int64
        Filled with `WHOLE`, `CUT` or `BAD_DATA`.
    """
    n_atoms = xyz.shape[1]
    for frame in range(first, last):
        at, end = offsets[frame], offsets[frame + 1]
        if end > len(data) - 8:
            states[frame] = CUT
            continue
        for k in range(10):
            head[frame, k] = _float(data, at + 12 + 4 * k)
        states[frame] = WHOLE
        if n_atoms <= _PLAIN_ATOMS:
            for atom in range(n_atoms):
                for k in range(3):
                    xyz[frame, atom, k] = _float(data, at + 56 + 4 * (3 * atom + k))
            continue
        precision = _float(data, at + 56)
        usable = 0 < precision < np.inf
        if not usable or not _unpack_frame(data, at, end, n_atoms, np.float32(1.0) / precision, xyz[frame]):
            states[frame] = BAD_DATA
