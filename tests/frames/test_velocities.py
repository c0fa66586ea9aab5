"""Velocities of frames, from every format that has them, and in the structures of seeds."""

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import N_ATOMS, peptide_topology, peptide_xyz
from mdtraj.formats import HDF5TrajectoryFile, NetCDFTrajectoryFile, TRRTrajectoryFile

import mdfuzzy as mf
from mdfuzzy.frames.velocities import read_velocities

pytestmark = pytest.mark.filterwarnings("ignore:Warning. The .netCDF4. Python package")  # slower, of mdtraj

N = 12
XYZ = peptide_xyz(N).astype(np.float32)
VELOCITIES = np.random.default_rng(3).normal(size=(N, N_ATOMS, 3)).astype(np.float32)
CHOSEN = np.array([7, 2, 11])


def write_trr(path, velocities):
    box = np.tile(np.eye(3, dtype=np.float32) * 5, (N, 1, 1))
    steps, zeros = np.arange(N, dtype=np.int32), np.zeros(N, np.float32)
    with TRRTrajectoryFile(str(path), "w") as file:
        file._write(XYZ, steps.astype(np.float32), steps, box, zeros, velocities)


def write_h5(path, velocities):
    with HDF5TrajectoryFile(str(path), "w") as file:
        file.write(XYZ, velocities=velocities)
        file.topology = peptide_topology()


def write_nc(path, velocities):
    from scipy.io import netcdf_file

    with NetCDFTrajectoryFile(str(path), "w") as file:
        file.write(XYZ * 10, time=np.arange(N))
    if velocities is None:
        return
    with netcdf_file(path, "a") as file:  # as AMBER writes them
        variable = file.createVariable("velocities", "f4", ("frame", "atom", "spatial"))
        variable.units, variable.scale_factor = "angstrom/picosecond", np.float32(20.455)
        variable[:] = velocities * 10 / 20.455


def write_gro(path, velocities):
    text = []
    for frame in range(N):
        text += [f"frame t= {frame}.0", str(N_ATOMS)]
        for atom in peptide_topology().atoms:
            numbers = "".join(f"{x:9.4f}" for x in XYZ[frame, atom.index])
            if velocities is not None:
                numbers += "".join(f"{x:9.5f}" for x in velocities[frame, atom.index])
            residue = atom.residue
            text.append(f"{residue.index + 1:>5}{residue.name:<5}{atom.name:>5}{atom.index + 1:>5}{numbers}")
        text.append("   5.00000   5.00000   5.00000")
    path.write_text("\n".join(text) + "\n")


WRITERS = {"trr": write_trr, "h5": write_h5, "nc": write_nc, "gro": write_gro}


def loaded(tmp_path, kind, velocities):
    if kind == "h5":
        pytest.importorskip("tables", reason="PyTables is not installed: pip install '.[hdf5]'")
    path, top = tmp_path / f"run.{kind}", tmp_path / "top.pdb"
    WRITERS[kind](path, velocities)
    md.Trajectory(XYZ[:1], peptide_topology()).save(str(top))
    return mf.load(path, top=top, progress=False)


@pytest.mark.parametrize("kind", WRITERS)
def test_velocities_are_those_of_the_file(tmp_path, kind):
    found = read_velocities(loaded(tmp_path, kind, VELOCITIES), CHOSEN)
    # GRO: five digits; NetCDF: divided and multiplied by a factor in float32
    np.testing.assert_allclose(found, VELOCITIES[CHOSEN], atol={"gro": 5.1e-6}.get(kind, 1e-6))


@pytest.mark.parametrize("kind", WRITERS)
def test_no_velocities(tmp_path, kind):
    assert read_velocities(loaded(tmp_path, kind, None), CHOSEN) is None


def test_frames_of_several_files_and_strides(tmp_path):
    loaded(tmp_path, "trr", VELOCITIES)
    write_gro(tmp_path / "run.gro", VELOCITIES[::-1])
    frames = mf.load(
        [tmp_path / "run.trr", tmp_path / "run.gro"], top=tmp_path / "top.pdb", stride=3, progress=False
    )
    found = read_velocities(frames, np.array([5, 1, 4]))
    np.testing.assert_allclose(found, VELOCITIES[[8, 3, 11]], atol=5.1e-6)


def test_velocities_of_a_universe(tmp_path):
    mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed")
    loaded(tmp_path, "trr", VELOCITIES)
    universe = mda.Universe(str(tmp_path / "top.pdb"), str(tmp_path / "run.trr"))
    frames = mf.load(universe, atoms="all", progress=False)
    np.testing.assert_allclose(read_velocities(frames, CHOSEN), VELOCITIES[CHOSEN], atol=1e-5)
    assert universe.trajectory.frame == 0


@pytest.mark.filterwarnings("ignore:There is one state only")
def test_seeds_have_velocities_and_pdb_files_have_none(tmp_path):
    frames = loaded(tmp_path, "trr", VELOCITIES)
    result = mf.cluster(frames, mf.Settings(k=4, n_states=1), progress=False)
    seeds = mf.suggest_seeds(result, 2)
    first = mf.exports.write_seeds(tmp_path / "seeds", result, seeds)[1]
    again = mf.load(first, progress=False)
    found = read_velocities(again, np.array([0]))
    np.testing.assert_allclose(found[0], VELOCITIES[seeds.frames[0]], atol=5.1e-5)
    np.testing.assert_allclose(md.load(str(first)).xyz[0], XYZ[seeds.frames[0]], atol=5.1e-4)
    assert mf.exports.write_seeds(tmp_path / "pdb", result, seeds, format="pdb")[1].suffix == ".pdb"
