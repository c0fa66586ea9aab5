"""Scripts that open exported structures in PyMOL, VMD and ChimeraX, coloured as in the report."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdfuzzy.plots.colors import state_colors

#: Formats that all three programs read: structures with atom names, and trajectories that need a topology.
STRUCTURES, TRAJECTORIES = (".pdb", ".cif"), (".xtc", ".dcd", ".trr")
#: VMD has 33 colours. The first 17 are the colours of its menus, and the last 16 are free to change.
_VMD_FIRST, _VMD_COLORS = 17, 16


@dataclass(frozen=True)
class Shown:
    """Describe a file that the scripts open.

    Attributes
    ----------
    file : str
        The name of the file in the folder of the scripts.
    states : tuple of int
        The state that it shows, or the two states of a transition.
    visible : bool
        Whether it is shown at first.
    """

    file: str
    states: tuple[int, ...]
    visible: bool

    @property
    def name(self) -> str:
        """The name of the object in the viewer."""
        return self.file.partition(".")[0]


def viewer_scripts(
    shown: Sequence[Shown], n_states: int, *, topology: str | None, style: str
) -> dict[str, str]:
    """Return the scripts by name.

    Parameters
    ----------
    shown : sequence of Shown
        The files to open.
    n_states : int
        The number of states, which have the colours of the report.
    topology : str or None
        The structure file to be opened before each trajectory.
    style : {"cartoon", "trace", "sticks"}
        The style in which molecules are drawn.

    Returns
    -------
    dict of str to str
        ``view.pml`` for PyMOL, ``view.vmd`` for VMD, ``view.cxc`` for ChimeraX.

    Examples
    --------
    >>> shown = [Shown("state_0.xtc", (0,), True)]
    >>> scripts = viewer_scripts(shown, 1, topology="topology.pdb", style="sticks")
    >>> print(scripts["view.cxc"])
    # ChimeraX: open this file, or run "chimerax view.cxc"
    open topology.pdb
    open state_0.xtc structureModel #1
    rename #1 state_0
    hide #1 atoms,cartoons
    show #1 atoms
    style #1 stick
    color #1 #0072b2
    color #1 byhetero
    view
    """
    colors = [_mixed(each.states, state_colors(n_states)) for each in shown]
    return {
        "view.pml": _pymol(shown, colors, topology, style),
        "view.vmd": _vmd(shown, colors, topology, style),
        "view.cxc": _chimerax(shown, colors, topology, style),
    }


def molecule_style(topology: object) -> str:
    """Return the style of a molecule in drawings: a cartoon for proteins, a trace for C-alpha atoms alone."""
    atoms = list(topology.atoms)  # type: ignore[attr-defined]
    alphas = sum(atom.name == "CA" and atom.residue.is_protein for atom in atoms)
    if alphas == len(atoms):
        return "trace"
    return "cartoon" if alphas >= 8 else "sticks"


def _mixed(states: tuple[int, ...], colors: Sequence[str]) -> str:
    """Return the mean of the colours of some states, as ``"#rrggbb"``."""
    parts = [[int(colors[state][at : at + 2], 16) for at in (1, 3, 5)] for state in states]
    return "#" + "".join(f"{round(sum(each) / len(parts)):02x}" for each in zip(*parts, strict=True))


def _pymol(shown: Sequence[Shown], colors: Sequence[str], topology: str | None, style: str) -> str:
    lines = [
        '# PyMOL: open this file, or run "pymol view.pml"',
        "/import os; os.chdir(os.path.dirname(os.path.abspath(__script__)))",
        "set defer_builds_mode, 3",
        "set retain_order, 1",
    ]
    for each, color in zip(shown, colors, strict=True):
        if topology is None:
            lines.append(f"load {each.file}, {each.name}")
        else:
            lines += [f"load {topology}, {each.name}", f"load_traj {each.file}, {each.name}, state=1"]
        lines += [f"hide everything, {each.name}", f"show {_PYMOL_STYLES[style]}, {each.name}"]
        lines += [f"color 0x{color[1:]}, {each.name}", f"util.cnc {each.name}"]
        if not each.visible:
            lines.append(f"disable {each.name}")
    lines += {"trace": ["set ribbon_trace_atoms, 1"], "sticks": ["set stick_radius, 0.12"]}.get(style, [])
    return "\n".join([*lines, "orient visible", ""])


_PYMOL_STYLES = {"cartoon": "cartoon", "trace": "ribbon", "sticks": "sticks"}


def _vmd(shown: Sequence[Shown], colors: Sequence[str], topology: str | None, style: str) -> str:
    lines = ["# VMD: vmd -e view.vmd", "set here [file dirname [file normalize [info script]]]"]
    for number, (each, color) in enumerate(zip(shown, colors, strict=True)):
        if topology is None:
            lines.append(f"mol new [file join $here {each.file}] waitfor all")
        else:
            lines += [f"mol new [file join $here {topology}] waitfor all", "animate delete all"]
            lines.append(f"mol addfile [file join $here {each.file}] waitfor all")
        place = _VMD_FIRST + number % _VMD_COLORS
        red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        lines += [
            f"mol rename top {each.name}",
            f"color change rgb {place} {red:.3f} {green:.3f} {blue:.3f}",
            f"mol modstyle 0 top {_VMD_STYLES[style]}",
            f"mol modcolor 0 top ColorID {place}",
        ]
        if not each.visible:
            lines.append("mol off top")
    return "\n".join([*lines, "display resetview", ""])


_VMD_STYLES = {"cartoon": "NewCartoon", "trace": "Trace", "sticks": "Licorice"}


def _chimerax(shown: Sequence[Shown], colors: Sequence[str], topology: str | None, style: str) -> str:
    lines = ['# ChimeraX: open this file, or run "chimerax view.cxc"']
    for number, (each, color) in enumerate(zip(shown, colors, strict=True), start=1):
        if topology is None:
            lines.append(f"open {each.file} coordsets true")
        else:
            lines += [f"open {topology}", f"open {each.file} structureModel #{number}"]
        lines += [f"rename #{number} {each.name}", f"hide #{number} atoms,cartoons"]
        if style == "sticks":
            lines += [f"show #{number} atoms", f"style #{number} stick"]
        else:
            lines.append(f"show #{number} {'cartoons' if style == 'cartoon' else 'atoms'}")
        lines += [f"color #{number} {color}", f"color #{number} byhetero"]
        if not each.visible:
            lines.append(f"hide #{number} models")
    return "\n".join([*lines, "view", ""])
