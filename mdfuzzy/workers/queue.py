"""Run tasks on a cluster, and take their results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from mdfuzzy.workers.cluster import explained, find_workers, raise_error

if TYPE_CHECKING:
    from distributed import Client, Future

#: Tasks that a thread of a worker has in progress or waiting at a time.
_IN_FLIGHT = 2


def results_in_order(client: "Client", tasks: Iterable[Callable[[], "Future"]]) -> Iterator[Any]:
    """Yield the results of tasks in their order.

    The results that wait for their turn stay on the workers. If a worker ends, Dask computes its results
    again on another one.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster that runs the tasks.
    tasks : iterable of functions
        Each submits a task that depends on no scattered data, which could be lost.
    """
    fresh = iter(tasks)
    with explained(client):
        waiting = deque(submit() for submit in islice(fresh, _IN_FLIGHT * find_workers(client).threads))
    while waiting:
        with explained(client):
            future = waiting.popleft()
            error = future.exception()
            result = None if error is not None else future.result()
        if error is not None:
            for each in waiting:
                each.cancel()
            raise_error(error)
        yield result
        with explained(client):
            waiting.extend(submit() for submit in islice(fresh, 1))
