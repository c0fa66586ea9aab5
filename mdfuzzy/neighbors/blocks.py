"""Search blocks of queries, and keep finished blocks in a store."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Protocol

import numpy as np
from tqdm import tqdm


class BlockStore(Protocol):
    """A store for finished blocks of a search, such as a run directory."""

    def get(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays kept under `name`, or None."""

    def put(self, name: str, /, **arrays: np.ndarray) -> None:
        """Keep arrays under `name`."""


class Found(Protocol):
    """The result of a search, filled in by blocks."""

    def put(self, rows: np.ndarray, **arrays: np.ndarray) -> None:
        """Fill in the rows of a block."""

    def get(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arguments with which `put` fills in this block."""


class Search(Protocol):
    """A search of queries in named blocks, in this process or elsewhere."""

    @property
    def blocks(self) -> Mapping[str, object]:
        """All blocks by name; the values are for the search itself."""

    def announce(self, to_do: int) -> None:
        """Log the expected time and memory for the search of `to_do` queries."""

    def run(
        self, names: Sequence[str], found: Found, advance: Callable[[int], object]
    ) -> Generator[tuple[str, np.ndarray], None, None]:
        """Put the results for these blocks into `found`; yield the name and the rows of each finished block.

        The rows of a block are its queries. `advance` receives the number of queries done since its last
        call.
        """


def run_blocks(search: Search, n: int, found: Found, store: BlockStore | None, progress: bool | None) -> None:
    """Put all blocks of the `n` queries into `found`, from the store or by a search, and store new ones."""
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
