"""Features of trajectories: against mdtraj, through periodic boundaries, and from every kind of input."""

import mdtraj as md
import numpy as np
import pytest
from helpers.molecules import peptide_topology, peptide_trajectory, residue_topology

import mdfuzzy as mf
from mdfuzzy.features import Contacts, Coordinates, Distances, Function, Given, Torsions


@pytest.fixture
def files(tmp_path):
    """Two files of one peptide in a box, and their topology."""
    for name, seed in (("a", 0), ("b", 1)):
        peptide_trajectory(30, seed=seed).save_xtc(str(tmp_path / f"{name}.xtc"))
    peptide_trajectory(1).save_pdb(str(tmp_path / "top.pdb"))
    return [tmp_path / "a.xtc", tmp_path / "b.xtc"], tmp_path / "top.pdb"


def test_are_those_of_mdtraj(files):
    paths, top = files
    data = mf.featurize(paths, ["torsions", "distances:name C O N"], top=top)
    loaded = [md.load(str(path), top=str(top)) for path in paths]
    phi = np.concatenate([np.degrees(md.compute_phi(each)[1]) for each in loaded])
    np.testing.assert_allclose(data.values[:, :1], phi, atol=1e-3)
    atoms = loaded[0].topology.select("name C O N")
    pairs = [(a, b) for i, a in enumerate(atoms) for b in atoms[i + 1 :]]
    distances = np.concatenate([md.compute_distances(each, pairs) for each in loaded])
    np.testing.assert_allclose(data.values[:, 2:], distances, atol=1e-5)
    assert data.units == ("degrees",) * 2 + ("nm",) * len(pairs)
    assert data.periods[:3] == (360.0, 360.0, None)
    assert data.lengths.tolist() == [30, 30]
    np.testing.assert_allclose(data.times[:3], [10, 12.5, 15])
    np.testing.assert_allclose(data.phi[:, 0], data.values[:, 0])
    assert data.trajectory([40], atoms="all").n_atoms == 12


def test_frames_that_were_loaded_give_the_same(files):
    paths, top = files
    wanted = ["all-torsions", "closest:name C | name N", "coordinates:name C O"]
    wanted[1] = mf.features.ClosestDistances(selection="name C", other="name N", separation=1)
    direct = mf.featurize(paths, wanted, top=top, stride=3)
    again = mf.featurize(mf.load(paths, top=top, stride=3), wanted)
    np.testing.assert_allclose(again.values, direct.values, atol=2e-3)
    assert again.names == direct.names
    np.testing.assert_array_equal(again.times, direct.times)


def test_a_divided_molecule_is_put_together():
    whole = peptide_trajectory(20)
    divided = md.Trajectory(
        whole.xyz.copy(), whole.topology, whole.time, whole.unitcell_lengths, whole.unitcell_angles
    )
    divided.xyz[:, 6:] += np.array([3.0, 0, -3.0], np.float32)
    wanted = ["torsions", "coordinates:name C N O", "distances:name C O"]
    np.testing.assert_allclose(
        mf.featurize(divided, wanted).values, mf.featurize(whole, wanted).values, atol=2e-3
    )


def test_distances_between_molecules_are_those_of_nearest_images():
    pair = peptide_trajectory(1)
    topology = peptide_topology(copies=2)
    xyz = np.concatenate([pair.xyz, pair.xyz + np.array([2.5, 0, 0], np.float32)], axis=1)
    frames = md.Trajectory(xyz, topology, pair.time, pair.unitcell_lengths, pair.unitcell_angles)
    found = mf.featurize(frames, Distances(pairs=[[0, 12], [0, 1]]))
    assert found.values[0, 0] == pytest.approx(0.5, abs=1e-5)  # 3 - 2.5
    assert found.values[0, 1] == pytest.approx(np.linalg.norm(xyz[0, 0] - xyz[0, 1]), abs=1e-5)
    centres = mf.featurize(frames, "groups:chainid 0 | chainid 1")
    assert centres.values[0, 0] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(("residue", "period"), [("PHE", 180), ("TYR", 180), ("LEU", 360), ("ASP", 180)])
def test_a_half_turn_of_equivalent_atoms_is_no_change(residue, period):
    topology = residue_topology([residue, residue])
    frame = md.Trajectory(np.random.default_rng(0).normal(size=(1, topology.n_atoms, 3)), topology)
    bound = Torsions(which="sidechain").bind(frame)
    periods = {name.split()[0]: each for name, each in zip(bound.names, bound.periods, strict=True)}
    assert periods["chi1"] == 360
    assert periods["chi2"] == period


def test_contacts_against_mdtraj():
    frames = peptide_trajectory(5, box=False)
    found = mf.featurize(frames, Contacts(separation=2, cutoff=0.4, width=0.05))
    closest = md.compute_contacts(frames, [(0, 2)], scheme="closest-heavy", ignore_nonprotein=False)[0]
    np.testing.assert_allclose(found.values, 1 / (1 + np.exp((closest - 0.4) / 0.05)), atol=1e-5)


def test_coordinates_do_not_depend_on_where_the_molecule_is():
    rng = np.random.default_rng(0)
    frames = peptide_trajectory(1, box=False)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    moved = md.Trajectory(frames.xyz @ rotation.astype(np.float32) + 5, frames.topology)
    both = md.join([frames, moved], check_topology=False)
    values = mf.featurize(both, Coordinates(selection="name C N CA O")).values
    np.testing.assert_allclose(values[1], values[0], atol=1e-4)


def test_functions_arrays_and_files_as_columns(tmp_path):
    frames = peptide_trajectory(6, box=False)
    np.save(tmp_path / "more.npy", np.arange(6.0))
    lines = "".join(f"{time} {np.cos(time)} {time}\n" for time in np.arange(10, 40, 0.5))
    (tmp_path / "COLVAR").write_text(
        "#! FIELDS time cosine phi\n#! SET min_phi -pi\n#! SET max_phi pi\n" + lines
    )
    wanted = [
        md.compute_rg,
        Function(function=lambda part: part.xyz[:, 0], names=["x", "y", "z"], unit="nm"),
        f"columns:{tmp_path / 'more.npy'}",
        f"columns:{tmp_path / 'COLVAR'}:phi,cosine",
        Given(data=2 * np.arange(6.0), names=["given"], period=5.0),
    ]
    data = mf.featurize(frames, wanted)
    assert data.names == ("compute_rg", "x", "y", "z", "column 1", "phi", "cosine", "given")
    assert data.periods[5] == pytest.approx(2 * np.pi)
    assert data.periods[7] == 5
    np.testing.assert_allclose(data.values[:, 6], np.cos(frames.time), atol=1e-5)
    np.testing.assert_allclose(data.values[:, 0], md.compute_rg(frames), rtol=1e-6)
    assert data.featurizer is None  # columns of new frames cannot be computed


def test_several_units_count_the_same_and_weights_multiply_that(caplog):
    frames = mf.datasets.alanine_dipeptide(stride=20)
    caplog.set_level("INFO")
    data = mf.featurize(frames, ["torsions", "distances:name C"])
    assert "features of different units are divided by their spread" in caplog.text
    spread = data.embedded.var(axis=0)  # three distances, two cosines, two sines
    assert spread[:3].mean() == pytest.approx(1, rel=1e-3)
    assert spread[3:].sum() / 2 == pytest.approx(1, rel=1e-3)
    double = mf.featurize(frames, ["torsions", "2 * distances:name C"])
    np.testing.assert_allclose(double.column_weights, data.column_weights * [1, 1, 2, 2, 2])


@pytest.mark.filterwarnings("ignore:There is one state only")
def test_the_same_features_of_new_files_and_what_is_saved(files, tmp_path):
    paths, top = files
    first = mf.featurize(paths[0], ["torsions", "coordinates:name C N O"], top=top)
    new = mf.featurize(paths[1], first, top=top)
    assert new.names == first.names
    np.testing.assert_array_equal(new.column_weights, first.column_weights)
    result = mf.cluster(first, mf.Settings(k=5), store=mf.RunDir(tmp_path / "out"))
    loaded = mf.RunDir(tmp_path / "out").load()
    np.testing.assert_array_equal(loaded.data.values, first.values)
    assert loaded.data.names == first.names
    assert loaded.data.trajectory([3], atoms="all").n_atoms == 12
    np.testing.assert_array_equal(mf.featurize(paths[1], loaded.data, top=top).values, new.values)
    assert len(mf.assign(result, new)) == 30


def test_names_tell_atoms_apart():
    two = peptide_trajectory(6, box=False).stack(peptide_trajectory(6, box=False, seed=1))
    names = mf.featurize(two, ["coordinates:name C", "torsions"]).names
    assert {"x 0:ACE0-C", "x 1:ACE0-C"} <= set(names)
    assert len(set(names)) == len(names)
    same = peptide_trajectory(6, box=False)
    for atom in same.topology.atoms:
        atom.name = atom.element.symbol
    assert mf.featurize(same, Distances(selection=[0, 1, 2])).names[0].endswith("#1")
    arrays = mf.featurize(same, [np.arange(6.0), np.arange(6.0) ** 2])
    assert arrays.names == ("column 1", "column 2")


def test_two_sets_of_atoms_that_overlap_have_each_pair_once():
    one = peptide_trajectory(6, box=False)
    both = mf.featurize(one, "distances:name C O | name C O")
    alone = mf.featurize(one, "distances:name C O")
    assert sorted(map(sorted, map(str.split, both.names))) == sorted(map(sorted, map(str.split, alone.names)))
    np.testing.assert_allclose(np.sort(both.values), np.sort(alone.values))


BAD = [
    ("nonsense", r"`features` must be one of torsions, .*; got 'nonsense'"),
    ([], r"`features` must name at least one feature"),
    ("x*torsions", r"The weight before \* in `features` must be a finite number > 0.*; got 'x\*torsions'"),
    ("0*torsions", r"The weight before \* in `features` must be a finite number > 0"),
    ("torsions:name C | name N", r"'torsions' in `features` takes 1 selection at most"),
    ("distances:name C | name N | name O", r"takes 2 selections at most"),
    ("distances:name C |", r"must have a selection on both sides of \|"),
    ("distances:name XX", r"`features` must select at least 1 atom; 'name XX' matches none"),
    ("distances:name CB", r"`features` must name at least one pair of atoms; got none in 'name CB'"),
    ("contacts", r"at least one pair of residues; got none that are 3 residues apart"),
    ("sidechains", r"must name torsions that the molecule has; there is no chi"),
    ("torsions:resname ACE", r"there is no phi or psi in 'resname ACE'"),
    ("groups:name C", r"`features` must have two groups of atoms or more; got 1"),
    (Torsions(quartets=[[0, 1, 2, 99]]), r"`quartets` must be four atoms in \[0, 11\]"),
    (Distances(pairs=[[0, 99]]), r"`pairs` must be two atoms in \[0, 11\]"),
    (Coordinates(selection="name CB"), r"must be superposed by at least 3 atoms, .*; got 1"),
    (Coordinates(selection="name C", reference=np.zeros((2, 3))), r"`reference` must have the fitted atoms"),
    (lambda part: part.xyz, r"must return one row of numbers per frame; <lambda> returned shape"),
    (Function(function=md.compute_rg, names=["a", "b"]), r"`names` must name the 1 columns"),
    (np.zeros(3), r"must have one row per frame, 6; got shape \(3,\)"),
    (Given(data=np.zeros(6), names=["a", "b"]), r"`names` must name the 1 columns"),
    ([Given(data=np.zeros(6), names=["a"])] * 2, r"must be different columns; got 'a' twice"),
    (["torsions", "torsions"], r"must be different columns; got 'phi ALA1' twice"),
    (np.full(6, np.nan), r"`features` must be finite"),
    (lambda part: np.full(len(part), np.nan), r"Features must be finite; .* in frame 0"),
    (Given(data=[np.zeros(6), np.zeros(6)]), r"for each of the 1 trajectories; got 2"),
]


@pytest.mark.parametrize(("wanted", "message"), BAD)
def test_bad_features(wanted, message):
    with pytest.raises(mf.InputError, match=message):
        mf.featurize(peptide_trajectory(6, box=False), wanted)


def test_other_bad_input(tmp_path):
    frames = peptide_trajectory(6, box=False)
    with pytest.raises(TypeError, match=r"`features` must be texts such as 'torsions'"):
        mf.featurize(frames, 3)
    with pytest.raises(mf.InputError, match=r"`weight` must be a finite number > 0"):
        Torsions(weight=0)
    with pytest.raises(FileNotFoundError, match=r"Columns in `features` must be existing files"):
        mf.featurize(frames, "columns:nowhere.npy")
    with pytest.raises(
        mf.InputError, match=r"at most 3 columns \(`max_features`\); got 10 \(10 of distances\)"
    ):
        mf.featurize(frames, "distances:name C O", max_features=3)
    with pytest.raises(mf.InputError, match=r"`top` must be given for arrays"):
        mf.featurize(np.zeros((5, 4, 3)))
    with pytest.raises(mf.InputError, match=r"`stride` must be left out for frames that are loaded already"):
        mf.featurize(mf.load(frames), stride=2)
    with pytest.raises(TypeError, match=r"these came from arrays or files"):
        mf.featurize(frames, mf.Features(np.zeros((6, 1))))
    reduced = mf.pca(mf.featurize(frames, "distances:name C O"), dim=1)
    with pytest.raises(
        mf.InputError, match=r"those of the clustered frames, 10; got 1, 9 of them are missing, the"
    ):
        mf.featurize(frames.atom_slice(range(8)), reduced)
    with pytest.raises(mf.InputError, match=r"`data` must have the features of `result`; got 'psi ALA2'"):
        mf.Features(np.zeros((6, 1)), names=["phi ALA2"]).like(
            mf.Features(np.zeros((6, 1)), names=["psi ALA2"])
        )
