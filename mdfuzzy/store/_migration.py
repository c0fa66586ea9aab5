"""Run directories of version 0.1: their saved steps under the names and keys of this version.

Version 0.1 kept its files at the top of the run directory, under other names, and hashed the data as a whole.
The keys of its steps are computed again from its own rules, so that only results that were up to date are
taken over.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.store._fingerprint import digest

#: The number of the old format, and the revision of its steps.
FORMAT, _REVISION = 1, 6
#: Old names of settings, of steps, and of the arrays of steps.
_SETTINGS = {
    "window": "bandwidth",
    "weights": "walk_weights",
    "resamples": "bootstrap",
    "graph": "walk_graph",
}
_STEPS = {
    "log_density": "sampled_density",
    "persistence": "peaks",
    "prominence": "gap",
    "window": "bandwidth",
    "interfaces": "transition_regions",
}
_ARRAYS = {
    "cores": {"labels": "core_of"},
    "milestones": {"labels": "core_of"},
    "memberships": {"scale": "bandwidth"},
    "transition_regions": {"populations": "fractions", "balance": "mixing"},
}
#: Plots that version 0.1 wrote.
_PICTURES = (
    *("overview", "density", "free-energy", "states", "transitions", "persistence", "prominences", "beta"),
    *("network", "timescales", "chapman-kolmogorov", "reliability"),
)


class OldRun:
    """Read the results that version 0.1 left in a run directory.

    Parameters
    ----------
    folder : Path
        The run directory.

    Attributes
    ----------
    run : dict
        The content of its run.json.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))

    @staticmethod
    def is_here(folder: Path) -> bool:
        """Return whether version 0.1 ran in this folder."""
        try:
            content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            return bool(content["format"] == FORMAT and "fingerprint" in content and "settings" in content)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of its last run under their present names."""
        values = {name: inf if value == "inf" else value for name, value in self.run["settings"].items()}
        return {_SETTINGS.get(name, name): value for name, value in values.items()}

    def is_of(self, data: Trajectories) -> bool:
        """Whether the run was on `data`."""
        essence = [data.lengths, data.points]
        if not data.metric.superpose:
            periods = {at: period for at, period in enumerate(data.periods) if period is not None}
            periodic, period = np.array([*periods], np.int64), np.array([*periods.values(), 360.0][:1])
            essence = [data.lengths, data.columns, periodic, period]
        return digest(*essence) == self.run["fingerprint"]

    def steps(self, data: Trajectories) -> dict[str, dict[str, np.ndarray]]:
        """Return the arrays of the saved steps of `data` that are up to date, under their present names."""
        found: dict[str, dict[str, np.ndarray]] = {}
        for old, arrays in self._valid(data.timestep):
            name = _STEPS.get(old, old)
            renamed = {_ARRAYS.get(name, {}).get(each, each): array for each, array in arrays.items()}
            if name == "bandwidth" and np.isnan(renamed["value"]):
                del renamed["value"]  # None in this version
            found[name] = renamed
        return found

    def _valid(self, timestep: float | None) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield the saved steps whose keys equal the keys that version 0.1 would compute now."""
        settings = {name: inf if value == "inf" else value for name, value in self.run["settings"].items()}
        keys = {"data": self.run["fingerprint"]}
        arrays: dict[str, dict[str, np.ndarray]] = {}
        for name, needs, used in self._declared(settings, arrays):
            used = used | ({"timestep": timestep} if name == "visits" else {})
            if not all(each in keys for each in needs):
                continue
            text = json.dumps([_REVISION, name, [keys[each] for each in needs], used], sort_keys=True)
            key = hashlib.sha256(text.encode()).hexdigest()[:20]
            saved = self._read(name, key)
            if saved is not None:
                keys[name], arrays[name] = key, saved
                yield name, saved

    def _declared(
        self, settings: dict[str, Any], arrays: dict[str, dict[str, np.ndarray]]
    ) -> Iterator[tuple[str, list[str], dict[str, Any]]]:
        """Yield the name, the inputs and the settings of each step of version 0.1, in their order.

        The generator resumes when its consumer has read a step, so that later steps can use its arrays.
        """
        record = self._record("neighbors")
        k = settings["k"]
        if record is not None:
            n_neighbors = int(np.load(self.folder / record["files"]["indices"], mmap_mode="r").shape[1])
            k = n_neighbors // 2 if k is None else k
            yield "neighbors", ["data"], {"n_neighbors": n_neighbors, "recall": settings["recall"]}
        yield "dimension", ["neighbors"], {"dimension": settings["dimension"], "k": k}
        of_density = {name: settings[name] for name in ("density", "kernel", "window")}
        yield "window", ["neighbors", "dimension"], of_density
        yield "log_density", ["neighbors", "dimension", "window"], {"density": settings["density"]}
        yield "persistence", ["neighbors", "log_density"], {"k": k}
        automatic = settings["prominence"] is None
        yield "prominence", ["persistence"], {"level": settings["level"], "automatic": automatic}
        if "prominence" not in arrays:
            return
        prominence = settings["prominence"] or arrays["prominence"]["threshold"].item()
        rule = {"prominence": prominence, "rule": settings["core_rule"]}
        rule |= {"share": settings["core_share"], "least": settings["core_least"]}
        yield "cores", ["persistence"], rule
        yield "milestones", ["persistence"], {"prominence": prominence}
        needs = ["log_density", "cores", "dimension", "window"]
        used = {name: settings[name] for name in ("graph", "kernel", "weights", "unit_density")}
        scan = used | {"criterion": settings["beta"], "k": settings["k"]}
        yield "beta_scan", ["data", *needs], scan
        beta = settings["beta"]
        if isinstance(beta, str):
            if "beta_scan" not in arrays:
                return
            beta = arrays["beta_scan"]["beta"].item()
        yield "memberships", needs, used | {"beta": beta}
        yield "interfaces", ["data", "milestones", "memberships"], {}
        yield "visits", ["data", "milestones"], {}

    def _record(self, name: str) -> dict[str, Any] | None:
        try:
            record = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            return record if record["format"] == FORMAT else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _read(self, name: str, key: str) -> dict[str, np.ndarray] | None:
        """Return the arrays of a step; None if they have another key or are damaged."""
        record = self._record(name)
        if record is None or record.get("key") != key:
            return None
        try:
            arrays = {each: np.array(value, dtype=kind) for each, (kind, value) in record["values"].items()}
            for each, file in record["files"].items():
                arrays[each] = np.load(self.folder / file, allow_pickle=False)
        except Exception:  # as in `ArrayFolder.get`
            return None
        return arrays

    def remove(self) -> None:
        """Remove the saved steps that version 0.1 recorded; everything else stays."""
        for file in list(self.folder.glob("*.json")):
            record = self._record(file.stem)
            if record is None or file.is_symlink():
                continue
            for stored in record.get("files", {}).values():
                if Path(stored).name == stored:
                    (self.folder / stored).unlink(missing_ok=True)
            file.unlink(missing_ok=True)
        for folder in list(self.folder.glob("*.parts")):
            if not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)

    def pictures(self) -> list[Path]:
        """Return the pictures that version 0.1 drew, relative to the folder of plots."""
        plots = self.folder / "plots"
        names = [file.stem for file in plots.glob("*.png")] if plots.is_dir() else []
        drawn = [n for n in names if n in _PICTURES or n.rstrip("0123456789") in ("state-", "timeline-")]
        return [Path(f"{name}.png") for name in drawn]
