"""Blocks of queries: where finished ones are kept, and how all of them are searched."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Protocol

import numpy as np
from tqdm import tqdm


class BlockStore(Protocol):
    """Where finished blocks of a search are kept; a run directory is one."""

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays kept under `name`, or None."""

    def put(self, name: str, /, **arrays: np.ndarray) -> None:
        """Keep arrays under `name`."""


class Found(Protocol):
    """What was found, filled in by blocks."""

    def put(self, rows: np.ndarray, **arrays: np.ndarray) -> None:
        """Fill in the rows of a block."""

    def get(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments with which `put` fills in this block."""


class Search(Protocol):
    """Queries in named blocks, wherever they are searched."""

    @property
    def blocks(self) -> Mapping[str, object]:
        """All blocks by name; what there is to say of each is for the search itself."""

    def announce(self, to_do: int) -> None:
        """Log how long the search of so many queries will take and how much memory it needs."""

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """Put what is found for these blocks into `found`; yield the name and the rows of each when done.

        Its rows are its queries. `advance` is told how many are done since it was last told.
        """


def run_blocks(search: Search, n: int, found: Found, store: BlockStore | None, progress: bool | None) -> None:
    """Put all blocks of the `n` queries into `found`: those in the store, then the others, which it keeps."""
    waiting, done = [], 0
    for name in search.blocks:
        block = store.get(name) if store is not None else None
        if block is None:
            waiting.append(name)
        else:
            found.put(**block)
            done += len(block["rows"])
    if not waiting:
        return
    search.announce(n - done)
    hidden = None if progress is None else not progress
    bar = tqdm(total=n, initial=done, unit=" frames", desc="neighbours", disable=hidden)
    with bar, closing(search.run(waiting, found, bar.update)) as finished:
        for name, rows in finished:
            if store is not None:
                store.put(name, **found.get(rows))
