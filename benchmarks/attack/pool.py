"""Cases in processes of their own, many in each: one that dies or hangs is noted and replaced."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_HERE = Path(__file__).parent


class Worker:
    """A process that tries cases one by one."""

    def __init__(self, python: str, kind: str, folder: Path) -> None:
        command = [python, "-W", "ignore", str(_HERE / "worker.py"), kind, str(folder)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, "MPLBACKEND": "agg", "NUMBA_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, text=True, env=environment, cwd=folder, **pipes)
        self._answers: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def ask(self, case: dict, patience: float) -> dict:
        """Return what the process says of a case; if it dies or does not answer, that."""
        try:
            self._process.stdin.write(json.dumps(case) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=patience)
        except queue.Empty:
            self.end()
            return {"outcome": "hang", "words": f"no answer in {patience:g} s"}
        except (OSError, ValueError):  # it is gone, or was ended
            line = ""
        if not line:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
            self.end()
            return {"outcome": "crash", "words": f"exit status {self._process.returncode}"}
        return json.loads(line)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        self._process.stdout.close()
        with suppress(OSError):  # a line that it did not read
            self._process.stdin.close()


def try_all(
    cases: list[dict],
    kind: str,
    folder: Path,
    *,
    python: str = sys.executable,
    processes: int = 2,
    patience: float = 30.0,
) -> Iterator[tuple[dict, dict]]:
    """Yield every case with its outcome, as they come.

    Parameters
    ----------
    cases : list of dict
        What the worker understands.
    kind : str
        The module of cases: ``"files"`` or ``"folders"``.
    folder : Path
        Where files are made.
    python : str
        The interpreter whose mdfuzzy is attacked.
    processes : int
        How many at a time.
    patience : float
        Seconds for a case.
    """
    todo: queue.Queue[dict | None] = queue.Queue()
    done: queue.Queue[tuple[dict, dict]] = queue.Queue()
    for case in cases:
        todo.put(case)
    for _ in range(processes):
        todo.put(None)

    def work(number: int) -> None:
        place = folder / f"worker-{number}"
        place.mkdir(parents=True, exist_ok=True)
        worker = None
        while (case := todo.get()) is not None:
            if worker is None or not worker.alive:
                worker = Worker(python, kind, place)
                worker.ask({"warm": True}, 1800.0)
            done.put((case, worker.ask(case, patience)))
        if worker is not None:
            worker.end()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(processes)]
    for thread in threads:
        thread.start()
    for _ in cases:
        yield done.get()
    for thread in threads:
        thread.join()
