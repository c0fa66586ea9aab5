"""List the features that a molecule has."""

import warnings
from typing import TYPE_CHECKING

from mdfuzzy._check import InputError
from mdfuzzy.features._parsing import WORDS
from mdfuzzy.features.feature import Feature
from mdfuzzy.frames.streaming import atoms_of

if TYPE_CHECKING:
    import mdtraj as md

#: The listed features: those that need no selection.
_LISTED = ("torsions", "sidechains", "all-torsions", "distances", "closest", "contacts", "coordinates")
#: The most residues of the solute for which closest distances are counted; larger molecules take long.
_MOST_RESIDUES = 150


def available_features(first: "md.Trajectory") -> dict[str, int | None]:
    """Return the number of columns that each kind of feature has by default for the molecule in a frame.

    Parameters
    ----------
    first : md.Trajectory
        A frame with all atoms.

    Returns
    -------
    dict of str to (int or None)
        The number of columns by kind, only for kinds that the molecule has; None if counting takes long.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> available_features(mf.datasets.alanine_dipeptide().trajectory([0]))["torsions"]
    2
    """
    found: dict[str, int | None] = {}
    solute = atoms_of(first.topology, None, name="features")
    large = len({first.topology.atom(at).residue.index for at in solute.tolist()}) > _MOST_RESIDUES
    for name in _LISTED:
        kind, options, _ = WORDS[name]
        if not issubclass(kind, Feature):
            continue
        if large and name in ("closest", "contacts"):
            found[name] = None
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = len(kind(**options).bind(first).names)
            except InputError:
                continue
    return found


def feature_table(first: "md.Trajectory") -> str:
    """Return the features of `first` as text, one line for each kind, in the syntax of ``--features``.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> print(feature_table(mf.datasets.alanine_dipeptide().trajectory([0])))
    features (--features)...
      torsions             2  phi and psi [of the residues of a SELECTION]
    ...
    """
    lines = ["features (--features) and their numbers of columns:"]
    for name, count in available_features(first).items():
        number = "" if count is None else f"{count:,}"
        lines.append(f"  {name:<14}{number:>7}  {WORDS[name][2]}")
    lines += [f"  {name:<14}{'':>7}  {WORDS[name][2]}" for name in ("groups", "columns")]
    return "\n".join(lines)
