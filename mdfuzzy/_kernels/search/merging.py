"""Rows of neighbours put together."""

from mdfuzzy._kernels.jit import compiled


@compiled(nogil=True)
def merge_rows(
    start_a,
    frames_a,
    squares_a,
    start_b,
    frames_b,
    squares_b,
    start,
    frames,  # OUT
    squares,  # OUT
):
    """Fill each row with the first of two rows, both in order of squares and then of frames.

    Row i is at start[i] to start[i + 1]; as much of it is filled as there is room for.
    """
    for row in range(len(start) - 1):
        a, b = start_a[row], start_b[row]
        end_a, end_b = start_a[row + 1], start_b[row + 1]
        for at in range(start[row], start[row + 1]):
            first = b == end_b
            if not first and a < end_a:
                first = squares_a[a] < squares_b[b] or (
                    squares_a[a] == squares_b[b] and frames_a[a] < frames_b[b]
                )
            if first:
                frames[at], squares[at] = frames_a[a], squares_a[a]
                a += 1
            else:
                frames[at], squares[at] = frames_b[b], squares_b[b]
                b += 1
