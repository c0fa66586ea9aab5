"""Fuzzy mode-seeking clustering as an analysis of MDAnalysis: a thin wrapper around the pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from MDAnalysis.analysis.base import AnalysisBase

from mdfuzzy._check import InputTypeError, InputValueError, check_optional_bool
from mdfuzzy.features.featurizing import featurize
from mdfuzzy.features.reduction import Reduction
from mdfuzzy.frames.recording import Recording, check_group, kept_place
from mdfuzzy.frames.trajectories import Trajectories
from mdfuzzy.frames.weights import Weights
from mdfuzzy.pipeline.run import cluster
from mdfuzzy.pipeline.settings import Settings, describe_settings

if TYPE_CHECKING:
    from MDAnalysis import AtomGroup, Universe


#: Keywords that give frames weights, as in `Trajectories.weighted`.
_WEIGHTS = ("weights", "log_weights", "temperature")


def _with_settings(kind: type[FuzzyModeSeekingAnalysis]) -> type[FuzzyModeSeekingAnalysis]:
    """Give a class the fields of `Settings` as keywords, explained by their help texts."""
    names = [each.name for each in fields(Settings)]
    text = kind.__doc__ or ""  # python -OO leaves none
    kind.__doc__ = text.replace("    {settings}", describe_settings(names))
    own = [
        Parameter("atomgroup", Parameter.POSITIONAL_OR_KEYWORD),
        Parameter("align", Parameter.KEYWORD_ONLY, default=None),
        Parameter("reference", Parameter.KEYWORD_ONLY, default=None),
        Parameter("mass_weighted", Parameter.KEYWORD_ONLY, default=False),
        Parameter("symmetry", Parameter.KEYWORD_ONLY, default=None),
        Parameter("whole", Parameter.KEYWORD_ONLY, default=None),
        *(Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in _WEIGHTS),
        Parameter("features", Parameter.KEYWORD_ONLY, default=None),
        Parameter("reduction", Parameter.KEYWORD_ONLY, default=None),
        Parameter("verbose", Parameter.KEYWORD_ONLY, default=False),
    ]
    chosen = [Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default) for each in fields(Settings)]
    kind.__signature__ = Signature([*own, *chosen])
    return kind


@_with_settings
class FuzzyModeSeekingAnalysis(AnalysisBase):
    """Find the metastable states in a trajectory, and the membership of every frame in each state.

    ``run(start, stop, step)`` reads frames one by one, in chunks of bounded size, and then clusters them by
    RMSD. The universe stays at its current frame.

    Parameters
    ----------
    atomgroup : AtomGroup or Universe
        The atoms to compare; for a universe the heavy atoms of the solute.
    align : AtomGroup, str or (m,) array of int, optional
        Superpose every frame by these atoms on one structure, and compare `atomgroup` without another
        superposition, as in `load`.
    reference : path, md.Trajectory or AlignedFrames, optional
        The structure on which frames are aligned; by default the first frame.
    mass_weighted : bool
        Whether atoms are weighted by their masses.
    symmetry : True, "graph", str, list or Symmetry, optional
        Compare frames by the least RMSD over exchanges of symmetry-equivalent atoms, as in `load`.
    whole : bool, optional
        Whether to make molecules whole that the periodic boundary divides. By default this is done if there
        are both a box and bonds.
    weights, log_weights : array, path, or sequence of them, optional
        The weight of each frame, or its logarithm, if the simulation was biased. They are the weights of the
        analysed frames, or of all frames of the trajectory, or a text file such as PLUMED's COLVAR, as in
        `load`.
    temperature : float, optional
        The temperature in K, for a column that holds a bias in kJ/mol.
    features : str, Feature, callable, or a list of these, optional
        Compare features instead of RMSD, as in `featurize`.
    reduction : features.Reduction, optional
        The components of the features to compare, such as TICA components.
    verbose : bool
        Show progress bars.
    {settings}

    Attributes
    ----------
    results.labels : (n,) int32
        The state with the largest membership of each analysed frame; -1 for a frame that reaches no core.
    results.memberships : (n, states) float64
        The memberships of the frames in every state; rows sum to 1.
    results.cores : (n,) int32
        The state whose core contains the frame; -1 outside every core.
    results.log_density : (n,) float64
        Logarithm of the density of conformations at the frame, up to a constant.
    results.states : StateTable
        The table of states: frames, fraction, core, prominence, densest frame, torsions, visits.
    results.n_states : int
        The number of states.
    results.beta : float
        The walk temperature that was used.
    results.clustering : Clustering
        The results of all steps, with the automatic choices, their reasons, and the warnings. Its ``data``
        are the frames (`Frames`), for plots, exports and kinetics.
    frames, times : (n,) int, (n,) float
        The numbers and times (ps) of the analysed frames.

    Examples
    --------
    >>> import MDAnalysis as mda, mdfuzzy as mf
    >>> positions = 10 * mf.datasets.alanine_dipeptide(stride=10).xyz  # in Angstrom
    >>> universe = mda.Universe(mf.datasets.folder() / "ala2.pdb", positions)  # or your own files
    >>> heavy = universe.select_atoms("not name H*")
    >>> analysis = mf.mdanalysis.FuzzyModeSeekingAnalysis(heavy, prominence=1.0).run(step=2)
    >>> analysis.results.memberships.shape == (1500, analysis.results.n_states)
    True
    >>> analysis.frames[analysis.results.labels == 0]  # the frames of the universe in the first state
    array([...])
    """

    def __init__(
        self,
        atomgroup: AtomGroup | Universe,
        *,
        align: AtomGroup | str | npt.ArrayLike | None = None,
        reference: object = None,
        mass_weighted: bool = False,
        symmetry: Any = None,
        whole: bool | None = None,
        weights: Weights | None = None,
        log_weights: Weights | None = None,
        temperature: float | None = None,
        features: Any = None,
        reduction: Reduction | None = None,
        verbose: bool = False,
        **settings: Any,
    ) -> None:
        unknown = sorted(set(settings) - {each.name for each in fields(Settings)})
        if unknown:
            raise InputTypeError(
                f"`{unknown[0]}` must be one of the settings; got an unknown name. `mf.Settings` lists them."
            )
        check_group(atomgroup)
        super().__init__(atomgroup.universe.trajectory, verbose=verbose)
        self._group = atomgroup
        self._whole = check_optional_bool("whole", whole)
        self._compare = {"align": align, "reference": reference, "mass_weighted": mass_weighted}
        self._compare["symmetry"] = symmetry
        if reduction is not None and features is None:
            raise InputValueError(
                "`reduction` must be left out without `features`; give features='distances', for example."
            )
        self._features, self._reduction = features, reduction
        self._weights = {"weights": weights, "log_weights": log_weights, "temperature": temperature}
        self._settings = Settings(**settings)

    def run(
        self,
        start: int | None = None,
        stop: int | None = None,
        step: int | None = None,
        frames: Iterable[int] | None = None,
        verbose: bool | None = None,
        **options: object,
    ) -> FuzzyModeSeekingAnalysis:
        """Analyse frames of the trajectory.

        Parameters
        ----------
        start, stop, step : int, optional
            Every `step`-th frame from `start` to before `stop`; all by default.
        frames : array of int or bool, optional
            Instead of a range: the numbers of the frames in ascending order, or a mask.
        verbose : bool, optional
            Show progress bars; by default the setting of the class.
        **options
            Other options of `MDAnalysis.analysis.base.AnalysisBase.run`, such as `progressbar_kwargs`. The
            analysis runs in one process (the clustering uses `n_jobs` threads); other backends are rejected.

        Returns
        -------
        FuzzyModeSeekingAnalysis
            The analysis itself, with its `results`.
        """
        self._progress = bool(self._verbose if verbose is None else verbose)
        with kept_place(self._group):
            super().run(start, stop, step, frames, verbose, **options)
        return self

    def _prepare(self) -> None:
        self._recording = Recording(self._group, whole=self._whole, **self._compare)

    def _single_frame(self) -> None:
        self._recording.take()

    def _conclude(self) -> None:
        if self.n_frames < 3:
            raise InputValueError(
                f"`start`, `stop`, `step` and `frames` must choose at least 3 frames; got {self.n_frames} of "
                f"{self._trajectory.n_frames}. States need a sample."
            )
        frames = self._recording.frames()
        del self._recording  # its memory
        frames = frames.weighted(**{name: self._of_these(given) for name, given in self._weights.items()})
        data: Trajectories = frames
        if self._features is not None:
            data = featurize(frames, self._features, reduction=self._reduction)
        found = cluster(data, self._settings, progress=self._progress)
        self.results.clustering = found
        self.results.labels = found.labels
        self.results.memberships = found.memberships.values
        self.results.cores = found.cores.core_of
        self.results.log_density = found.log_density
        self.results.states = found.states
        self.results.n_states = found.n_states
        self.results.beta = found.memberships.beta

    def _of_these(self, given: Any) -> Any:
        """Return the weights of the analysed frames, selected if weights of all frames are given."""
        if np.ndim(given) == 1 and len(given) == self._trajectory.n_frames and not isinstance(given[0], str):
            return np.asarray(given)[self.frames]
        return given
