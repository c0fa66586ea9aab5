"""The workers of a Dask cluster: connecting to them, what they can hold, and their results as they come."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import mdfuzzy

if TYPE_CHECKING:
    from distributed import Client, Future, Worker

logger = logging.getLogger("mdfuzzy")

#: Seconds after which a scheduler that does not answer is taken not to be there.
_PATIENCE = 5
#: Before the number of workers on this machine.
_LOCAL = "local:"


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "Neighbours on a Dask cluster need the package `distributed`: pip install 'mdfuzzy[dask]'."
        ) from error


@contextmanager
def connect(address: str) -> Iterator["Client"]:
    """Inside the block, be the client of a Dask cluster.

    Parameters
    ----------
    address : str
        That of a scheduler, such as ``"tcp://10.0.0.1:8786"``; or the JSON file that it wrote
        (``dask scheduler --scheduler-file``); or ``"local:4"`` for four workers of one thread on this
        machine, which end with the block.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ConnectionRefusedError
        If no scheduler answers there, after 5 s at most.
    ValueError
        If it is no address.
    """
    _require_dask()
    from distributed import Client, LocalCluster

    if address.startswith(_LOCAL):
        options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with (
            LocalCluster(n_workers=_count(address), **options, silence_logs=logging.ERROR) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    if address.endswith(".json"):
        if not os.path.exists(address):
            raise FileNotFoundError(
                f"`dask` must be the address or the file of a running scheduler; got {address!r}, and there "
                "is no such file."
            )
        where = {"scheduler_file": address}
    elif ":" not in address:
        raise ValueError(
            "`dask` must be the address of a scheduler with its port, such as 'tcp://10.0.0.1:8786', its "
            f"JSON file, or 'local:N'; got {address!r}."
        )
    else:
        where = {"address": address}
    try:
        client = Client(**where, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConnectionRefusedError(
            "`dask` must be the address of a running scheduler, such as 'tcp://10.0.0.1:8786', or 'local:4' "
            f"for 4 workers on this machine; got {address!r}, where none answers ({error})."
        ) from error
    with client:
        yield client


def _count(address: str) -> int:
    """Return the number of workers in ``"local:4"``."""
    count = address.removeprefix(_LOCAL)
    if not count.isdecimal() or int(count) == 0:
        raise ValueError(
            f"`dask` must be 'local:N' with a number of workers N of at least 1, or the address of a "
            f"scheduler; got {address!r}."
        )
    return int(count)


@dataclass(frozen=True)
class Workers:
    """What the workers of a cluster offer.

    Attributes
    ----------
    addresses : tuple of str
        One for each.
    threads : int
        All together.
    memory : int or None
        The bytes that each may use, those of the smallest one; None without a limit.
    """

    addresses: tuple[str, ...]
    threads: int
    memory: int | None

    def __str__(self) -> str:
        limit = "without a limit" if self.memory is None else f"of at least {self.memory / 1e9:.1f} GB"
        count = len(self.addresses)
        return f"{count} worker{'s' * (count > 1)} {limit}, {self.threads} thread{'s' * (self.threads > 1)}"


def find_workers(client: "Client") -> Workers:
    """Return what the workers of the client's cluster offer, when there is at least one.

    Raises
    ------
    TypeError
        If it is no client of Dask, or an asynchronous one.
    ImportError
        If mdfuzzy is not installed on the workers.
    ValueError
        If it is not the same version there.
    ConnectionError
        If the client is not connected.
    """
    _require_dask()
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            f"`client` must be a `distributed.Client` that is not asynchronous; got {client!r}. Use "
            "Client(address)."
        )
    with explained(client):
        answers = on_workers(client, _describe)
        if not answers:
            logger.info("waiting for the first worker of %s", client.scheduler.address)
            client.wait_for_workers(1)
            answers = on_workers(client, _describe)
    for worker, answer in answers.items():
        _check_answer(worker, answer)
    limits = [limit for _, _, limit in answers.values() if limit]
    threads = sum(count for _, count, _ in answers.values())
    return Workers(tuple(answers), threads, min(limits, default=None))


def _describe(dask_worker: "Worker") -> tuple[str, int, int | None]:
    """Return the version of mdfuzzy on a worker, its threads and the bytes that it may use."""
    return mdfuzzy.__version__, dask_worker.state.nthreads, dask_worker.memory_manager.memory_limit


def _check_answer(worker: str, answer: tuple[str, int, int | None] | Exception) -> None:
    if isinstance(answer, ImportError):
        raise ImportError(
            f"mdfuzzy must be installed on the workers of `client`, as it is here; {worker}: {answer}."
        )
    if isinstance(answer, Exception):
        raise answer
    if answer[0] != mdfuzzy.__version__:
        raise ValueError(
            f"mdfuzzy must be the same on the workers of `client` as here, {mdfuzzy.__version__}; got "
            f"{answer[0]} on {worker}."
        )


def on_workers(client: "Client", function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a function returns on each worker, or the error there; without workers that just ended."""
    answers = client.run(function, on_error="return")
    return {worker: each for worker, each in answers.items() if not isinstance(each, OSError)}


def results(
    client: "Client", tasks: Iterator[tuple[Any, "Future"]], in_flight: int
) -> Iterator[tuple[Any, Any]]:
    """Yield (label, result) of tasks as they are done.

    Parameters
    ----------
    client : distributed.Client
        Whose cluster they run on.
    tasks : iterator of (label, Future)
        Makes each future when it is asked for the next.
    in_flight : int
        How many there are at a time: so the memory that they take is bounded, here and there.
    """
    from distributed import KilledWorker, as_completed

    labels: dict[str, Any] = {}
    running = as_completed()

    def begin(count: int) -> None:
        for label, future in islice(tasks, count):
            labels[future.key] = label
            running.add(future)

    with explained(client):
        begin(in_flight)
    while labels:
        with explained(client):
            future = next(running)
            failed = future.status == "error"
            result = future.exception() if failed else future.result()
        if isinstance(result, KilledWorker):
            raise RuntimeError(
                "Several workers ended while they computed the same block, perhaps for want of memory: "
                f"{result}"
            ) from result
        if failed:
            raise result
        yield labels.pop(future.key), result
        with explained(client):
            begin(1)


@contextmanager
def explained(client: "Client") -> Iterator[None]:
    """Raise errors of the connection as what they mean."""
    from distributed import CancelledError

    try:
        yield
    except (CancelledError, Exception) as error:
        if client.status == "running" and not isinstance(error, CancelledError | OSError):
            raise
        raise ConnectionError(
            f"The Dask cluster of `client` is lost, or all workers with some of the data ({error!r}). What "
            "is finished is kept in the run directory, if there is one: run it again to go on from there."
        ) from error
