"""Frames that are fitted on some atoms and compared by others."""

import pickle

import mdtraj as md
import numpy as np
import pytest
from helpers.complexes import ATOMS, PEPTIDE, complex_topology, complex_trajectory
from helpers.molecules import peptide_topology, peptide_trajectory, peptide_xyz

import mdfuzzy as mf

ALIGN, LIGAND = "resname ACE ALA NME", "resname BEN"


def load(trajectory, **options):
    return mf.load(trajectory, **{"align": ALIGN, "atoms": LIGAND, "symmetry": False, **options})


@pytest.mark.parametrize("angle", [90.0, 70.0, 110.0])
@pytest.mark.parametrize("bonds", ["all", "peptide", "none"])
def test_the_pose_is_found_in_any_orientation_and_image(angle, bonds):
    topology = complex_topology(bonds=bonds != "none", ligand_bonds=bonds == "all")
    trajectory, poses = complex_trajectory(60, angle=angle, topology=topology)
    frames = load(trajectory)
    assert isinstance(frames, mf.AlignedFrames)
    np.testing.assert_allclose(frames.xyz, poses, atol=3e-6)
    assert 0 < frames.alignment.moved < 60
    assert f"moved to their nearest image in {frames.alignment.moved} frames" in frames.summary()


def test_how_many_frames_were_moved_is_logged(caplog):
    trajectory, _ = complex_trajectory(60)
    with caplog.at_level("INFO", "mdfuzzy"):
        frames = load(trajectory)
    text = f"molecules moved to their nearest image in {frames.alignment.moved} of 60 frames"
    assert text in caplog.text
    # A trajectory in which the ligand is where it belongs has nothing to move.
    trajectory.image_molecules(inplace=True, anchor_molecules=[set(trajectory.topology.chain(0).atoms)])
    together = md.Trajectory(
        np.concatenate([frames.alignment.reference[None] + np.zeros((60, 1, 1)), frames.xyz], axis=1) + 1.5,
        trajectory.topology, None, trajectory.unitcell_lengths, trajectory.unitcell_angles,
    )  # fmt: skip
    assert load(together).alignment.moved == 0


def test_distances_are_rmsds_without_superposition():
    trajectory, poses = complex_trajectory(80)
    frames = load(trajectory)
    assert frames.metric.name == "RMSD after alignment"
    found = mf.cluster(frames, mf.Settings(k=5, n_states=2)).neighbors
    differences = poses[:, None] - poses[None]
    rmsd = np.sqrt(np.square(differences).sum(axis=(2, 3)) / len(ATOMS))
    np.fill_diagonal(rmsd, np.inf)
    np.testing.assert_array_equal(found.indices[:, 0], rmsd.argmin(axis=1))
    np.testing.assert_allclose(found.distances, np.sort(rmsd, axis=1)[:, :10], rtol=1e-4)


def test_mass_weights():
    trajectory, poses = complex_trajectory(40)
    frames = load(trajectory, mass_weighted=True)
    assert frames.metric.name == "mass-weighted RMSD after alignment"
    masses = np.array([trajectory.topology.atom(i).element.mass for i in ATOMS])
    squares = np.square(poses[0] - poses[1]).sum(axis=1)
    # The alignment is weighted as well, but the peptide is rigid.
    expected = np.sqrt(masses @ squares / masses.sum())
    assert np.linalg.norm(frames.points[0] - frames.points[1]) == pytest.approx(expected, rel=1e-4)


def test_mass_weighted_rmsd_is_that_of_a_weighted_superposition():
    frames = mf.load(peptide_trajectory(30), mass_weighted=True)
    masses = frames.masses[:, None]
    assert frames.metric.name == "mass-weighted RMSD"
    assert frames.masses.mean() == pytest.approx(1)
    found = mf.rmsd_neighbors(frames, n_neighbors=29)
    x, others = frames.xyz[0].astype(float), frames.xyz[found.indices[0]].astype(float)
    centred = [each - (masses * each).sum(axis=-2, keepdims=True) / masses.sum() for each in (x, others)]
    for distance, other in zip(found.distances[0], centred[1], strict=True):
        u, s, v = np.linalg.svd((masses * centred[0]).T @ other)
        s[2] *= np.sign(np.linalg.det(u) * np.linalg.det(v))
        square = (masses * (centred[0] ** 2 + other**2)).sum() - 2 * s.sum()
        assert distance == pytest.approx(np.sqrt(square / masses.sum()), rel=1e-4)


def test_a_reference_structure_may_have_other_atoms(tmp_path):
    trajectory, poses = complex_trajectory(20)
    peptide = md.Trajectory(peptide_xyz(1), peptide_topology(waters=2).subset(PEPTIDE))
    turn = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    peptide.xyz = peptide.xyz @ turn + 7
    peptide.save(str(tmp_path / "reference.pdb"))
    frames = load(trajectory, reference=tmp_path / "reference.pdb")
    np.testing.assert_allclose(frames.xyz, poses @ turn, atol=1e-3)
    again = load(trajectory, reference=peptide)
    np.testing.assert_allclose(again.xyz, frames.xyz, atol=1e-3)


@pytest.mark.parametrize("symmetry", [False, True])
def test_everything_after_it_works(tmp_path, symmetry):
    trajectory, _ = complex_trajectory(300, seed=1)
    for name, part in (("a", trajectory[:200]), ("b", trajectory[200:])):
        part.save(str(tmp_path / f"{name}.xtc"))
    trajectory[0].save(str(tmp_path / "top.pdb"))
    options = {"top": tmp_path / "top.pdb", "align": ALIGN, "atoms": LIGAND, "symmetry": symmetry}
    frames = mf.load(tmp_path / "a.xtc", **options)
    assert (frames.symmetry is not None) == symmetry
    run = mf.RunDir(tmp_path / "out")
    result = mf.cluster(frames, mf.Settings(n_states=2), store=run)
    back = mf.RunDir(tmp_path / "out").load()
    assert isinstance(back.data, mf.AlignedFrames)
    np.testing.assert_array_equal(back.labels, result.labels)

    new = mf.load(tmp_path / "b.xtc", **options, reference=result.data)
    assert len(mf.assign(back, new)) == 100
    with pytest.raises(ValueError, match=r"aligned on the reference structure of `result`.*reference=result"):
        mf.assign(back, mf.load(tmp_path / "b.xtc", **options))

    mf.plots.write_plots(tmp_path / "plots", result, kinds=["overview", "density"])
    mf.report.write_report(tmp_path / "report.html", result)
    assert "aligned on" in (tmp_path / "report.html").read_text(encoding="utf-8")
    mf.exports.write_exports(tmp_path / "exports", result, kinds=["structures"])
    peaks = [md.load(str(path)) for path in sorted(tmp_path.glob("exports/**/state_*_peak.pdb"))]
    assert len(peaks) == 2
    np.testing.assert_allclose(peaks[0].xyz[0][PEPTIDE], peaks[1].xyz[0][PEPTIDE], atol=4e-3)
    poses = frames.xyz[result.cores.peaks]
    apart = np.sqrt(np.square(peaks[0].xyz[0][ATOMS] - peaks[1].xyz[0][ATOMS]).sum(axis=1).mean())
    assert apart == pytest.approx(np.sqrt(np.square(poses[0] - poses[1]).sum(axis=1).mean()), abs=4e-3)

    part = frames[10:40]
    np.testing.assert_array_equal(part.xyz, frames.xyz[10:40])
    assert pickle.loads(pickle.dumps(part)).alignment.selection == frames.alignment.selection
    np.testing.assert_array_equal(frames.columns.argsort(axis=0), frames.columns.argsort(axis=0))
    variances = frames.columns.var(axis=0)
    assert (np.diff(variances) <= 1e-12).all()
    assert variances.sum() == pytest.approx(frames.vectors.var(axis=0).sum())


def test_command_line(tmp_path, capsys):
    from mdfuzzy.cli import main

    trajectory, _ = complex_trajectory(200, seed=2)
    trajectory[:150].save(str(tmp_path / "a.xtc"))
    trajectory[150:].save(str(tmp_path / "b.xtc"))
    trajectory[0].save(str(tmp_path / "top.pdb"))
    out = str(tmp_path / "out")
    arguments = ["run", str(tmp_path / "a.xtc"), "--top", str(tmp_path / "top.pdb"), "--align", ALIGN]
    arguments += ["--atoms", LIGAND, "-o", out, "--bare", "--n-states", "2", "--symmetry"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "aligned on: 'resname ACE ALA NME' (12 of 21 atoms)" in printed
    assert "equivalent atoms: BEN 3: ring, BEN 3: N1/N2; group of 4" in printed
    assert main(["assign", out, str(tmp_path / "b.xtc")]) == 0
    assert main([*arguments, "--mass-weighted"]) != 0
    assert "mass-weighted RMSD after alignment" in capsys.readouterr().err


def test_universes():
    mda = pytest.importorskip("MDAnalysis")
    trajectory, poses = complex_trajectory(60)
    universe = mda.Universe.empty(
        21, n_residues=4, atom_resindex=[a.residue.index for a in trajectory.topology.atoms], trajectory=True
    )
    universe.add_TopologyAttr("names", [atom.name for atom in trajectory.topology.atoms])
    universe.add_TopologyAttr("elements", [atom.element.symbol for atom in trajectory.topology.atoms])
    universe.add_TopologyAttr("resnames", [residue.name for residue in trajectory.topology.residues])
    universe.add_TopologyAttr("resids", np.arange(1, 5))
    box = np.array([30, 30, 30, 90, 90, 90], np.float32)
    universe.load_new(10 * trajectory.xyz, dimensions=np.tile(box, (60, 1)), dt=2.5)
    ligand, peptide = universe.atoms[ATOMS], universe.atoms[PEPTIDE]
    for align in (peptide, ALIGN):
        np.testing.assert_allclose(mf.load(ligand, align=align, symmetry=False).xyz, poses, atol=1e-5)
    analysis = mf.mdanalysis.FuzzyModeSeekingAnalysis(ligand, align=peptide, symmetry=False, n_states=2).run()
    np.testing.assert_allclose(analysis.results.clustering.data.xyz, poses, atol=1e-5)


# --- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"align": "name CA"}, r"`align` must select at least 3 atoms, or a rotation is not determined"),
        ({"align": "name XX"}, r"`align` must select at least 3 atoms; 'name XX' matches none of 21"),
        ({"align": "nonsense ("}, r"`align` must be a selection in the language of mdtraj"),
        ({"align": [0, 1, 99]}, r"`align` must be indices in \[0, 20\]; got 99"),
        ({"reference": "top.xyz"}, r"`reference` must be an existing file"),
        ({"reference": 5}, r"`reference` must be a path, an md.Trajectory or aligned frames; got int"),
        ({"align": None, "reference": "a.pdb"}, r"`reference` must be left out without `align`"),
        ({"mass_weighted": "yes"}, r"`mass_weighted` must be"),
    ],
)
def test_bad_alignment(options, message):
    trajectory, _ = complex_trajectory(4)
    with pytest.raises((mf.InputError, FileNotFoundError), match=message):
        load(trajectory, **options)


def test_aligned_atoms_on_a_line():
    trajectory, _ = complex_trajectory(4)
    xyz = trajectory.xyz.copy()
    xyz[:, :3] = np.arange(3)[:, None] * np.array([0.1, 0.1, 0.0])
    straight = md.Trajectory(xyz, trajectory.topology)
    with pytest.raises(
        ValueError, match=r"`align` must select atoms that are not all on one line.*first frame"
    ):
        load(straight, align=[0, 1, 2])
    with pytest.raises(ValueError, match=r"not all on one line.*the reference structure"):
        load(trajectory, align=[0, 1, 2], reference=straight[0])


def test_bad_reference():
    trajectory, _ = complex_trajectory(4)
    with pytest.raises(ValueError, match=r"`reference` must be one structure; got 4"):
        load(trajectory, reference=trajectory)
    few = trajectory[0].atom_slice(np.arange(8))
    with pytest.raises(ValueError, match=r"gives 8 atoms instead of 12 there"):
        load(trajectory, reference=few)
    with pytest.raises(
        ValueError, match=r"`reference` must have the atoms of the trajectories if `align` are"
    ):
        load(trajectory, align=[5, 7, 9, 11], reference=few)
    with pytest.raises(ValueError, match=r"NME4-N instead of ALA2-CA|instead of"):
        load(trajectory, align="element C", reference=trajectory[0].atom_slice(np.arange(1, 21)))
    with pytest.raises(ValueError, match=r"aligned on 6: .* Give the same `align`"):
        load(trajectory, reference=load(trajectory, align="element O N"))


def test_arrays_without_topology():
    xyz = np.random.default_rng(0).random((5, 9, 3))
    with pytest.raises(
        ValueError, match=r"`align` must be left out for arrays without a topology.*Give `top`"
    ):
        mf.load(xyz, align=[0, 1, 2], atoms=[3, 4])
    with pytest.raises(ValueError, match=r"`mass_weighted` must be left out for arrays without a topology"):
        mf.load(xyz, mass_weighted=True)


def test_atoms_without_residue():
    trajectory, _ = complex_trajectory(4)
    trajectory.topology.atom(14).residue = None
    with pytest.raises(ValueError, match=r"must be part of a residue.*atom 14 \(C2\) is part of none"):
        load(trajectory, atoms=ATOMS)


def test_atoms_without_mass():
    trajectory, _ = complex_trajectory(4)
    trajectory.topology.atom(14).element = None
    with pytest.raises(ValueError, match=r"`mass_weighted` must be False for atoms without a mass; BEN3-C2"):
        load(trajectory, mass_weighted=True)


def test_nan_is_reported_with_its_frame():
    trajectory, _ = complex_trajectory(6)
    trajectory.xyz[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"Coordinates must be finite; .* in frame 3"):
        load(trajectory)
    trajectory.xyz[0, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite ones in its first frame"):
        load(trajectory)


def test_other_metric_than_that_of_the_run(tmp_path):
    trajectory, _ = complex_trajectory(60)
    frames = load(trajectory)
    result = mf.cluster(frames, mf.Settings(n_states=2), store=mf.RunDir(tmp_path / "out"))
    other = load(trajectory, mass_weighted=True)
    message = r"by RMSD after alignment, not by mass-weighted RMSD after alignment"
    with pytest.raises(FileExistsError, match=message):
        mf.cluster(other, store=mf.RunDir(tmp_path / "out"))
    with pytest.raises(ValueError, match=r"must be compared as `result` was, by RMSD after alignment"):
        mf.assign(result, other)
    with pytest.raises(ValueError, match=r"must be compared as `result` was"):
        mf.assign(result, mf.load(trajectory, atoms=LIGAND, symmetry=False))
