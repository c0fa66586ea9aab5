"""Arrays that grow at their end."""

import pickle

import numpy as np

from mdfuzzy.frames._column import Column


def test_a_column_from_another_process_can_be_read():
    # Large arrays come without a copy, in memory that belongs to the message: they cannot be resized.
    column = Column((3,), np.float32)
    rows = np.arange(33, dtype=np.float32).reshape(11, 3)
    for first in range(0, 11, 2):
        column.append(rows[first : first + 2])
    buffers = []
    message = pickle.dumps(column, protocol=5, buffer_callback=buffers.append)
    back = pickle.loads(message, buffers=[bytes(buffer) for buffer in buffers])
    assert not back.values.flags.owndata
    assert back.values.nbytes == rows.nbytes  # without the reserve
    np.testing.assert_array_equal(back.filled, rows)
    other = Column((3,), np.float32)
    other.append(back.filled)
    np.testing.assert_array_equal(other.finish(), rows)
