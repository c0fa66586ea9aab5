"""The file of a run directory that identifies the run: its settings, its data, and how the data was read."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, cast

from mdfuzzy._check import InputValueError
from mdfuzzy.features.memory import from_arrays
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.pipeline.settings import Settings
from mdfuzzy.store._array_folder import FORMAT, ArrayFolder, read_json, reason, to_json, write_json
from mdfuzzy.store._fingerprint import Fingerprint
from mdfuzzy.store._migration import OldRun

#: The folder of the saved steps, and the file in it that identifies the run.
DATA, RUN = "data", "run.json"
#: The features that were clustered, if they were computed from frames.
FEATURES = "features"
#: The weights of the frames, kept beside the steps: the files of the trajectories do not hold them.
WEIGHTS = "frame_weights"
#: Old names of settings in folders of this format; None if there is no such setting any more.
_RENAMED = {"weights": "walk_weights", "core_reach": None}


@dataclass(frozen=True, eq=False)
class RunFile:
    """The file run.json, and the features and weights that belong to the data of the run.

    Attributes
    ----------
    folder : Path
        The run directory.
    arrays : ArrayFolder
        The folder of the saved steps.
    """

    folder: Path
    arrays: ArrayFolder

    def read(self) -> dict[str, Any] | None:
        """Return the content of run.json; None if there is none, or a damaged one that will be replaced."""
        if OldRun.is_here(self.folder):
            old = OldRun(self.folder)
            return old.run | {"settings": old.settings}
        file = self.arrays.path / RUN
        try:
            run = read_json(file)
        except FileNotFoundError:
            return None
        except Exception as error:
            self.arrays._report(file, f"damaged ({reason(error)})")
            return None
        if run.get("format") != FORMAT:
            raise InputValueError(
                f"{self.folder} is in format {run.get('format')!r}; this version of mdfuzzy reads format "
                f"{FORMAT}. Use the version that wrote it, or give another folder."
            )
        return run

    def read_or_refuse(self) -> dict[str, Any]:
        """Return the content of run.json, or raise FileNotFoundError."""
        run = self.read()
        if run is None:
            damaged = "".join(f" {each}: run the same command again." for each in self.arrays.damaged[:1])
            raise FileNotFoundError(
                f"{self.folder} must be the folder of a run; there is no {DATA}/{RUN} in it.{damaged} "
                "`mdfuzzy run` and cluster(..., store=RunDir(...)) make one."
            )
        return run

    def begun(self, steps: Sequence[str]) -> bool:
        """Return whether a run began here; a damaged run.json beside saved `steps` counts as one."""
        if OldRun.is_here(self.folder):
            return True
        try:
            read_json(self.arrays.path / RUN)
            return True
        except FileNotFoundError:
            return False
        except Exception:
            return any(self.arrays.verifies(name) for name in steps)

    def write(self, data: Trajectories, settings: Settings, fingerprint: Fingerprint) -> None:
        """Write run.json, and the weights of the frames."""
        content = {
            "format": FORMAT,
            "fingerprint": vars(fingerprint),
            "data": repr(data),
            "metric": data.metric.name,
            "settings": {name: to_json(value) for name, value in settings.as_dict().items()},
            "reading": data.reading,
            "folder": str(self.folder.absolute()),
            "weighted": data.weights is not None,
        }
        if data.weights is not None:
            self.arrays.put(WEIGHTS, value=data.weights)
        write_json(self.arrays.path / RUN, json.loads(json.dumps(content)))

    @property
    def settings(self) -> Settings | None:
        """The settings of the last run; None if there was none."""
        run = self.read()
        if run is None:
            return None
        values: dict[str | None, Any] = {
            _RENAMED.get(name, name): inf if value == "inf" else value
            for name, value in run["settings"].items()
        }
        values.pop(None, None)
        return Settings(**cast("dict[str, Any]", values))

    @property
    def reading(self) -> dict[str, Any] | None:
        """The arguments of `load` that read the frames of the run; None if they do not come from files.

        Missing files are searched at the places where they would be if they had been moved together with the
        folder.
        """
        run = self.read()
        reading = None if run is None else run.get("reading")
        if run is None or reading is None:
            return None

        def found(trajectories: list[list[str]]) -> list[list[str]]:
            return [[self.find(file, run["folder"]) for file in pieces] for pieces in trajectories]

        paths = reading["paths"]
        if isinstance(paths, dict):  # of ensembles
            tops = {
                name: None if top is None else self.find(top, run["folder"])
                for name, top in reading["tops"].items()
            }
            return reading | {"paths": {name: found(each) for name, each in paths.items()}, "tops": tops}
        paths = found(paths)
        files = {name: reading[name] for name in ("top", "reference") if reading.get(name) is not None}
        return reading | {"paths": paths} | {n: self.find(file, run["folder"]) for n, file in files.items()}

    @property
    def data_summary(self) -> str | None:
        """A description of the clustered data; None if there was no run."""
        run = self.read()
        return None if run is None else str(run["data"])

    def summary(self, steps: Sequence[str]) -> str:
        """Return a text with the data, the changed settings and the finished `steps`."""
        run = self.read_or_refuse()
        default, settings = Settings().as_dict(), (self.settings or Settings()).as_dict()
        changed = [f"{name}={value!r}" for name, value in settings.items() if value != default[name]]
        return "\n".join(
            [
                f"run directory {self.folder}",
                f"data: {run['data']}",
                f"changed settings: {', '.join(changed) or 'none'}",
                f"finished steps: {', '.join(steps) or 'none'}",
            ]
        )

    def find(self, file: str, folder: str) -> str:
        """Return the path of a file that may have been moved together with the run directory `folder`."""
        moved = os.path.normpath(self.folder.absolute() / os.path.relpath(file, folder))
        return moved if not os.path.exists(file) and os.path.exists(moved) else file

    def features(self) -> Trajectories | None:
        """Return the features of the run as they were saved; None for frames, which are read again."""
        run = self.read_or_refuse()
        if FEATURES not in self.arrays.names:
            return None
        arrays = self.arrays.get(FEATURES, key=Fingerprint.read(run["fingerprint"]).key)
        if arrays is None:
            raise InputValueError(
                f"The features in {self.folder} are damaged. Run it again, and it resumes from what is there."
            )
        return from_arrays(arrays, find=lambda file: self.find(file, run["folder"]))

    def with_weights(self, data: Trajectories) -> Trajectories:
        """Return data with the weights of the last run, unless it has its own."""
        run = self.read()
        if run is None or not run.get("weighted", False) or data.weights is not None:
            return data
        kept = self.arrays.get(WEIGHTS)
        if kept is None or len(kept["value"]) != len(data):
            raise InputValueError(
                f"{self.folder} must hold the weights of the {len(data):,} frames; they are missing or "
                "damaged. Run it again with the same weights."
            )
        return data.weighted(kept["value"])

    def check(self, data: Trajectories) -> Fingerprint:
        """Return the fingerprint of `data`; raise FileExistsError if the folder is of other data.

        Data that has grown does not count as other data: its results are computed again.
        """
        fingerprint = Fingerprint.of(data)
        run = self.read()
        if run is None:
            return fingerprint
        difference = ""
        if OldRun.is_here(self.folder):
            same = OldRun(self.folder).is_of(data)
        else:
            known = Fingerprint.read(run["fingerprint"])
            same = known == fingerprint or known.frames_in(data) is not None
            difference = "" if same else known.difference(data)
        metric = run.get("metric", data.metric.name)
        if not same and metric != data.metric.name:
            raise FileExistsError(
                f"{self.folder} holds the results of frames that were compared by {metric}, not by "
                f"{data.metric.name}. Load them in the same way, or give another folder."
            )
        if difference:
            raise FileExistsError(
                f"{self.folder} holds the results for other frames: {difference}. Frames and "
                "trajectories may only be added. Give another folder, or remove this one."
            )
        if not same:
            why = "Components (TICA) and scales of several units change if frames are added. "
            raise FileExistsError(
                f"{self.folder} holds the results for other data: {run['data']}, not {data!r}. "
                f"{'' if data.featurizer is None else why}Give another folder, or remove this one."
            )
        return fingerprint
