"""Read trajectories on the workers of a Dask cluster, which see the same files."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mdfuzzy._messages import warn_user
from mdfuzzy.frames._accumulator import Store
from mdfuzzy.frames._clock import Clock
from mdfuzzy.frames._readers import FilePiece, Piece
from mdfuzzy.frames._window import Window

if TYPE_CHECKING:
    from tqdm import tqdm

    from mdfuzzy.workers.cluster import Client, Future


@dataclass(frozen=True, eq=False)
class ReadTrajectory:
    """The frames of a trajectory, as a worker read them.

    Attributes
    ----------
    store : Store
        The frames.
    clock : Clock
        The times of the files.
    read : int
        The number of frames that were read, before the stride.
    messages : tuple of str
        The warnings.
    """

    store: Store
    clock: Clock
    read: int
    messages: tuple[str, ...]


class _Counter:
    """Counts as a progress bar does."""

    def __init__(self) -> None:
        self.count = 0

    def update(self, count: int) -> None:
        self.count += count


def are_readable(client: "Client", trajectories: Sequence[Sequence[Piece]]) -> bool:
    """Return whether all frames are in files, and all workers can access them."""
    from mdfuzzy.workers.cluster import can_access

    pieces = [piece for trajectory in trajectories for piece in trajectory]
    paths = [piece.path for piece in pieces if isinstance(piece, FilePiece)]
    return can_access(client, paths) and len(paths) == len(pieces)


def read_trajectory(store: Store, pieces: list[Piece], window: Window) -> ReadTrajectory:
    """Read a trajectory in the way of `store`, which stays as it is."""
    found, clock, counter = store.empty(), Clock(window.timestep), _Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found.add_trajectory(pieces, window, clock=clock, bar=counter)
    messages = [str(each.message) for each in caught if each.category is UserWarning]
    return ReadTrajectory(found, clock, counter.count, tuple(dict.fromkeys(messages)))


def read_elsewhere(
    store: Store,
    trajectories: list[list[Piece]],
    window: Window,
    *,
    clock: Clock,
    bar: "tqdm",
    client: "Client",
) -> None:
    """Read trajectories into a store, each on a worker.

    If frames are fitted on the first one, or equivalent atoms are sought in the first ones, the first
    trajectory is read before the others.
    """
    from mdfuzzy.workers.queue import results_in_order

    told = set[str]()

    def absorb(found: ReadTrajectory) -> None:
        for message in found.messages:
            if message not in told:
                told.add(message)
                warn_user(message)
        store.absorb(found.store)
        clock.absorb(found.clock)
        bar.update(found.read)

    def read(some: list[list[Piece]]) -> None:
        like = store.empty()
        tasks: list[Callable[[], Future]] = [
            partial(client.submit, read_trajectory, like, pieces, window, pure=False) for pieces in some
        ]
        for found in results_in_order(client, tasks):
            absorb(found)

    waiting = list(trajectories)
    while waiting and store.count == 0 and store.depends_on_first:
        read([waiting.pop(0)])
    read(waiting)
