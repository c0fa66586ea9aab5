"""Connect to the workers of a Dask cluster, query their resources, and collect their results."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import mdfuzzy
from mdfuzzy._check import InputTypeError, InputValueError

if TYPE_CHECKING:
    from distributed import Client as Client  # for other modules, too
    from distributed import Future as Future
    from distributed import Worker

logger = logging.getLogger("mdfuzzy")

#: Seconds to wait for an answer of the scheduler.
_PATIENCE = 5
#: Seconds to wait for another worker after all workers with some of the data are lost.
_RETURN = 60
#: How often a forgotten task is submitted again: as often as Dask repeats a task whose worker ended.
_TRIES = 3
#: The prefix of the number of workers on this machine.
_LOCAL = "local:"
_LOOPBACK = "127.0.0.1"


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "A Dask cluster needs the package `distributed`: pip install 'mdfuzzy[dask]'."
        ) from error


@contextmanager
def connect(address: str) -> Iterator["Client"]:
    """Connect to a Dask cluster inside the block, and yield the client.

    Parameters
    ----------
    address : str
        The address of a scheduler, such as ``"tcp://10.0.0.1:8786"``; or the JSON file that it wrote
        (``dask scheduler --scheduler-file``); or ``"local:4"`` for four workers with one thread each on this
        machine, which end with the block.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ConnectionRefusedError
        If no scheduler answers there within 5 s.
    ValueError
        If `address` is not a valid address.
    """
    _require_dask()
    from distributed import Client, LocalCluster

    if address.startswith(_LOCAL):
        # Only this machine may connect, because a scheduler lets its clients run code on the workers.
        options = {"threads_per_worker": 1, "processes": True, "host": _LOOPBACK}
        pages = {"dashboard_address": f"{_LOOPBACK}:0", "worker_dashboard_address": f"{_LOOPBACK}:0"}
        count = _count(address)
        with (
            LocalCluster(n_workers=count, **options, **pages, silence_logs=logging.ERROR) as cluster,
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
        raise InputValueError(
            "`dask` must be the address of a scheduler with its port, such as 'tcp://10.0.0.1:8786', its "
            f"JSON file, or 'local:N'; got {address!r}."
        )
    else:
        where = {"address": address}
    try:
        client = Client(**where, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError, KeyError, AssertionError) as error:
        raise ConnectionRefusedError(
            "`dask` must be the address of a running scheduler, such as 'tcp://10.0.0.1:8786', or 'local:4' "
            f"for 4 workers on this machine; got {address!r}, where none answers "
            f"({error or type(error).__name__})."
        ) from error
    with client:
        yield client


def _count(address: str) -> int:
    """Return the number of workers in ``"local:4"``."""
    count = address.removeprefix(_LOCAL)
    if not count.isdecimal() or int(count) == 0:
        raise InputValueError(
            f"`dask` must be 'local:N' with a number of workers N of at least 1, or the address of a "
            f"scheduler; got {address!r}."
        )
    return int(count)


@dataclass(frozen=True)
class Workers:
    """The resources of the workers of a cluster.

    Attributes
    ----------
    addresses : tuple of str
        The address of each worker.
    threads : int
        The number of threads of all workers.
    memory : int or None
        The bytes that each worker may use, the smallest limit of all; None without a limit.
    """

    addresses: tuple[str, ...]
    threads: int
    memory: int | None

    def __str__(self) -> str:
        limit = "without a limit" if self.memory is None else f"of at least {self.memory / 1e9:.1f} GB"
        count = len(self.addresses)
        return f"{count} worker{'s' * (count > 1)} {limit}, {self.threads} thread{'s' * (self.threads > 1)}"


def find_workers(client: "Client") -> Workers:
    """Return the resources of the workers of a cluster, when there is at least one worker.

    Raises
    ------
    TypeError
        If `client` is not a Dask client, or is asynchronous.
    ImportError
        If mdfuzzy is not installed on the workers.
    ValueError
        If the workers have another version of mdfuzzy.
    ConnectionError
        If the client is not connected.
    """
    _require_dask()
    from distributed import Client

    if not isinstance(client, Client) or client.asynchronous:
        raise InputTypeError(
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
        raise InputValueError(
            f"mdfuzzy must be the same on the workers of `client` as here, {mdfuzzy.__version__}; got "
            f"{answer[0]} on {worker}."
        )


def on_workers(client: "Client", function: Callable[..., Any]) -> dict[str, Any]:
    """Return the result or error of a function on each worker, without workers that have just ended."""
    answers = client.run(function, on_error="return")
    return {worker: each for worker, each in answers.items() if not isinstance(each, OSError)}


def can_access(client: "Client", paths: Sequence[str]) -> bool:
    """Return whether all workers see files under these paths, when there is at least one worker."""
    find_workers(client)
    return set(on_workers(client, partial(_exist, paths)).values()) == {True}


def _exist(paths: Sequence[str]) -> bool:
    return all(map(os.path.exists, paths))


class Scattered:
    """Data that are copied to every worker.

    Dask drops all but one of the copies that no task needs at the moment. It cannot restore the last copy
    when its worker ends. It then forgets the data and the tasks that use them, even finished tasks whose
    result was on that worker. Therefore the data stay in this process and are sent again.
    """

    def __init__(self, client: "Client", data: object) -> None:
        self._client = client
        self._data = data
        self._future: Future | None = None

    def future(self) -> "Future":
        """Return the data as an argument of tasks; send them to the workers again if they were lost."""
        if self._future is not None and self._future.cancelled():
            logger.info("all workers with some of the data are lost: it is sent again")
            self._future = None
        if self._future is None:
            options = {"broadcast": True, "hash": False, "timeout": _RETURN}
            self._future = self._client.scatter(self._data, **options)
        return self._future


def results(
    client: "Client", tasks: Iterator[tuple[Any, Callable[[], "Future"]]], in_flight: int
) -> Iterator[tuple[Any, Any]]:
    """Yield (label, result) of tasks as they finish.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster that runs the tasks.
    tasks : iterator of (label, function)
        The function submits the task. It is called again if the cluster forgot the task because data were
        lost.
    in_flight : int
        The number of tasks at a time, which bounds their memory here and on the workers.
    """
    from distributed import CancelledError, as_completed

    begun: dict[str, tuple[Any, Callable[[], Future], int]] = {}
    running = as_completed()
    fresh = ((label, submit, _TRIES) for label, submit in tasks)

    def begin(some: Iterable[tuple[Any, Callable[[], "Future"], int]]) -> None:
        for label, submit, tries in some:
            future = submit()
            begun[future.key] = label, submit, tries
            running.add(future)

    with explained(client):
        begin(islice(fresh, in_flight))
    while begun:
        with explained(client):
            future = next(running)
            label, submit, tries = begun.pop(future.key)
            try:
                failed = future.status == "error"
                result = future.exception() if failed else future.result()
            except CancelledError as error:
                if client.status != "running":
                    raise
                if not tries:
                    raise RuntimeError(
                        f"All workers with data of a block were lost {_TRIES + 1} times, perhaps "
                        "for want of memory. What is finished is kept in the run directory, if there is one: "
                        "rerun with more memory or more workers to resume."
                    ) from error
                begin([(label, submit, tries - 1)])
                continue
        if failed:
            raise_error(result)
        yield label, result
        with explained(client):
            begin(islice(fresh, 1))


def raise_error(error: BaseException) -> NoReturn:
    """Raise the error of a task, with an explanation if its workers ended."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        raise RuntimeError(
            f"Several workers ended while they computed the same block, perhaps for want of memory: {error}"
        ) from error
    raise error


@contextmanager
def explained(client: "Client") -> Iterator[None]:
    """Raise errors of the connection with an explanation."""
    from distributed import CancelledError

    try:
        yield
    except (CancelledError, Exception) as error:
        if client.status == "running" and not isinstance(error, CancelledError | OSError):
            raise
        raise ConnectionError(
            f"The Dask cluster of `client` is lost, or all workers with some of the data ({error!r}). What "
            "is finished is kept in the run directory, if there is one: rerun to resume."
        ) from error
