import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.frames.matching import match_atoms

md = pytest.importorskip("mdtraj")


def peptide(*residues, first=1, atoms=("N", "CA", "CB", "C", "O")):
    """Return the topology of a chain of residues, without the CB of glycine."""
    topology = md.Topology()
    chain = topology.add_chain()
    for at, name in enumerate(residues):
        residue = topology.add_residue(name, chain, resSeq=first + at)
        for atom in atoms:
            if (name, atom) != ("GLY", "CB"):
                topology.add_atom(atom, md.element.get_by_symbol(atom[0]), residue)
        if name in ("LEU", "ASP"):
            topology.add_atom("CG", md.element.carbon, residue)
    return topology


def frames_of(topology, n=20, seed=0):
    xyz = np.random.default_rng(seed).normal(size=(n, topology.n_atoms, 3)).astype(np.float32)
    return mf.load(md.Trajectory(xyz, topology), atoms="all")


def test_atoms_are_matched_by_residue_number_and_name():
    wild, mutant = peptide("ALA", "LEU", "ALA"), peptide("ALA", "ASP", "GLY")
    found = match_atoms({"wt": wild, "mutant": mutant})
    names = [f"{wild.atom(i).residue.resSeq}{wild.atom(i).name}" for i in found.atoms["wt"]]
    assert names == ["1N", "1CA", "1CB", "1C", "1O", "2N", "2CA", "2CB", "2C", "2O", "3N", "3CA", "3C", "3O"]
    assert found.left_out == {"wt": ("LEU2-CG", "ALA3-CB"), "mutant": ("ASP2-CG",)}
    for a, b in zip(found.atoms["wt"], found.atoms["mutant"], strict=True):
        assert wild.atom(a).name == mutant.atom(b).name


def test_protonation_states_are_one_residue_and_caps_match_no_amino_acid():
    one, other = peptide("ALA", "HIS", "NME"), peptide("ALA", "HIE", "ALA")
    found = match_atoms({"one": one, "other": other})
    assert len(found) == 10
    assert all(name.startswith("NME3") for name in found.left_out["one"])


def test_frames_of_two_molecules_of_different_size():
    one, other = frames_of(peptide("ALA", "ALA"), 30), frames_of(peptide("ALA", "ALA", "ALA"), 10)
    both = mf.join_ensembles({"one": one, "other": other})
    assert both.n_atoms == 10
    assert both.lengths.tolist() == [30, 10]
    expected = other.xyz[:, :10] - other.xyz[:, :10].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(both.xyz[30:], expected, atol=1e-6)
    np.testing.assert_allclose([part.sum() for part in both.split(both.weights)], [10, 10])
    assert "left out of other: ALA3-N" in both.summary()
    assert "ensemble one: 1 trajectory, 30 frames" in both.summary()
    assert both[np.arange(35, 40)].ensembles.of.tolist() == [1]
    uneven = mf.join_ensembles({"one": one, "other": other}, shares={"one": 6, "other": 1})
    np.testing.assert_allclose(np.divide(*[part.sum() for part in uneven.split(uneven.weights)]), 6)
    same = mf.join_ensembles({"a": one, "b": one})
    assert same.weights is None


@pytest.mark.filterwarnings("ignore:Labels and basins")
def test_files_of_ensembles_are_read_again(tmp_path):
    frames = mf.datasets.alanine_dipeptide(stride=60)
    top = mf.datasets.folder() / "ala2.pdb"
    for at, name in enumerate(("a1", "a2", "b1")):
        frames[150 * at : 150 * (at + 1)].trajectory().save_xtc(tmp_path / f"{name}.xtc")
    paths = {"a": str(tmp_path / "a*.xtc"), "b": [str(tmp_path / "b1.xtc")]}
    both = mf.load(paths, tops={"a": top, "b": top})
    assert both.ensembles.of.tolist() == [0, 0, 1]
    assert both.residues == ("ALA2",)
    assert both.trajectory([0, 449], atoms="all").n_atoms == 10
    run = mf.RunDir(tmp_path / "out")
    result = mf.cluster(both, mf.Settings(n_states=2), store=run)
    again = run.load()
    assert again.data.ensembles.of.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(again.memberships.values, result.memberships.values)
    np.testing.assert_array_equal(again.data.weights, both.weights)
    chosen = {"a": "name CA or name N or name C", "b": "name N CA C"}
    in_order = mf.load(paths, top=top, atoms=chosen)
    assert in_order.n_atoms == 6
    assert mf.load(**in_order.reading).n_atoms == 6


A, B = peptide("ALA", "ALA"), peptide("GLY", "ALA", first=50)


@pytest.mark.parametrize(
    ("ensembles", "options", "message"),
    [
        (
            {"a": A, "b": B},
            {},
            "at least 3 atoms of the same residue number and name; got no atoms in common",
        ),
        ({"a": A, "b": B}, {"in_order": True}, "`atoms` must select the same number .* 10 of a, 9 of b"),
        ({"a": A}, {}, "`ensembles` must hold at least 2 ensembles; got 1"),
        ({"a": A, "b": A}, {"shares": {"a": 1}}, "`shares` must name every ensemble once, a, b; got a"),
        ({"a": A, "b": A}, {"shares": {"a": 1, "b": 0}}, r"`shares\['b'\]` must be a finite number > 0"),
    ],
)
def test_bad_ensembles(ensembles, options, message):
    with pytest.raises(mf.InputError, match=message):
        mf.join_ensembles({name: frames_of(top) for name, top in ensembles.items()}, **options)


def test_other_bad_ensembles():
    twice = md.Topology()
    residue = twice.add_residue("LIG", twice.add_chain(), resSeq=1)
    for _ in range(3):
        twice.add_atom("C", md.element.carbon, residue)
    good = frames_of(A)
    with pytest.raises(
        mf.InputError, match=r"told apart by chain, residue number and name; got LIG1-C twice"
    ):
        mf.join_ensembles({"a": good, "b": frames_of(twice)})
    bare = mf.Frames(good.xyz, good.lengths)
    with pytest.raises(mf.InputError, match="`ensembles` must hold frames with a topology; got 'b' without"):
        mf.join_ensembles({"a": good, "b": bare})
    heavy = mf.load(good.trajectory(), atoms="all", mass_weighted=True)
    with pytest.raises(mf.InputError, match="compared in the same way; got frames with and without"):
        mf.join_ensembles({"a": good, "b": heavy})
    with pytest.raises(
        TypeError, match="must hold Frames that are superposed in pairs; got Features for 'b'"
    ):
        mf.join_ensembles({"a": good, "b": mf.Features(np.zeros((5, 2)))})


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        ({"a": "x.xtc"}, {}, "`paths` must be a dict of at least 2 ensembles"),
        ({"a": "x", "b": "y"}, {"tops": {"c": "t"}}, "`tops` must name ensembles, a, b; got 'c'"),
        (
            {"a": "x", "b": "y"},
            {"atoms": {"a": "all"}},
            "`atoms` must select atoms of every ensemble; .* 'b'",
        ),
        ({"a": "x", "b": "y"}, {"align": "name CA"}, "`align` must be left out with several ensembles"),
        ("x.xtc", {"tops": {"a": "t"}}, "`tops` must be left out unless `paths` is a dict of ensembles"),
        ("x.xtc", {"atoms": {"a": "all"}}, "`atoms` must be a selection or indices unless `paths` is a dict"),
    ],
)
def test_bad_arguments_of_load(paths, options, message):
    with pytest.raises(mf.InputError, match=message):
        mf.load(paths, **options)
