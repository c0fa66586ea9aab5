"""Find the topology of trajectories, given or in the files, and check that it is the same in all."""

import os
from typing import TYPE_CHECKING

from mdfuzzy._check import InputTypeError, InputValueError
from mdfuzzy.frames import _formats
from mdfuzzy.frames._elements import with_elements_of_names
from mdfuzzy.frames._readers import FilePiece, Piece

if TYPE_CHECKING:
    from typing import TypeAlias

    import mdtraj as md

    Top: TypeAlias = str | os.PathLike[str] | md.Topology | md.Trajectory | None


def find_topology(pieces: list[Piece], top: "Top") -> "tuple[md.Topology | None, str | md.Topology | None]":
    """Return the topology of the sources, and the file or object that it can be found from again."""
    import mdtraj as md

    handle: str | md.Topology | None
    if isinstance(top, str | os.PathLike):
        handle = os.path.abspath(os.path.expanduser(os.fspath(top)))
        topology = _formats.read_topology(handle)
    elif isinstance(top, md.Topology | md.Trajectory):
        topology = top.topology if isinstance(top, md.Trajectory) else top
        topology = handle = with_elements_of_names(topology, "`top`")
    elif top is not None:
        raise InputTypeError(
            f"`top` must be a path, an md.Topology or an md.Trajectory; got {type(top).__name__}."
        )
    else:
        topology, handle = _own_topology(pieces)
    expected = pieces[0].n_atoms if topology is None else topology.n_atoms
    for piece in pieces:
        if piece.n_atoms not in (None, expected):  # files are checked while they are read
            raise InputValueError(
                f"All trajectories must have the same atoms, those of `top` if it is given; got {piece.name} "
                f"with {piece.n_atoms} atoms instead of {expected}."
            )
    return topology, handle


def _own_topology(pieces: list[Piece]) -> "tuple[md.Topology | None, str | md.Topology | None]":
    """Return the topology that the pieces hold; None if they are arrays."""
    found = None
    for piece in pieces:
        topology = piece.topology()
        if topology is None:
            if isinstance(piece, FilePiece) and found is None:
                raise InputValueError(
                    f"`top` must be given for the format of {piece.name}, which does not name its atoms. "
                    f"Pass a PDB file or an md.Topology of the same atoms."
                )
        elif found is None:
            found = topology, piece
        else:
            _check_same_atoms(*found, topology, piece)
    if found is None:
        return None, None
    topology, piece = found
    topology = with_elements_of_names(topology, piece.name)
    return topology, topology if piece.path is None else piece.path


def _check_same_atoms(
    topology: "md.Topology", piece: Piece, other_topology: "md.Topology", other_piece: Piece
) -> None:
    ours, theirs = (
        [f"{atom.residue.name}-{atom.name}" for atom in each.atoms] for each in (topology, other_topology)
    )
    if len(ours) != len(theirs):
        difference = f"{len(ours)} and {len(theirs)} atoms"
    elif ours != theirs:
        at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        difference = f"{ours[at]} and {theirs[at]} as atom {at}"
    else:
        return
    raise InputValueError(
        f"All trajectories must have the same atoms; got {piece.name} and {other_piece.name} "
        f"with {difference}. Load them apart, or give `top` if only the names differ."
    )
