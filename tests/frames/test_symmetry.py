"""Symmetry-equivalent atoms: which they are, how they are told, and what input is refused."""

import warnings

import mdtraj as md
import numpy as np
import pytest

import mdfuzzy as mf
from mdfuzzy.frames._equivalent import find_symmetry
from mdfuzzy.frames._generators import automorphism_generators
from mdfuzzy.frames.symmetry import closure, independent_parts


def molecule(name, atoms, bonds):
    """A topology of one residue, and coordinates of the given places in nm."""
    topology = md.Topology()
    residue = topology.add_residue(name, topology.add_chain(), resSeq=7)
    for label in atoms:
        topology.add_atom(label, md.element.Element.getBySymbol(label[0]), residue)
    own = list(topology.atoms)
    names = list(atoms)
    for a, b in (pair.split("-") for pair in bonds.split()):
        topology.add_bond(own[names.index(a)], own[names.index(b)])
    return topology, np.array(list(atoms.values()), np.float32)[None]


def ring(name="PHE"):
    """A phenyl ring on a carbon: one flip."""
    angles = np.radians([0, 60, -60, 120, -120, 180])
    places = [(0.139 * np.cos(a), 0.139 * np.sin(a), 0.0) for a in angles]
    names = ["CG", "CD1", "CD2", "CE1", "CE2", "CZ"]
    atoms = {"CB": (0.29, 0, 0), **dict(zip(names, places, strict=True))}
    return molecule(name, atoms, "CB-CG CG-CD1 CG-CD2 CD1-CE1 CD2-CE2 CE1-CZ CE2-CZ")


def tetrahedron():
    return 0.153 * np.array([(1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, -1)]) / np.sqrt(3)


def isopropyl():
    """The side chain of valine: two methyl groups that no rotation exchanges."""
    a, b, c, _ = tetrahedron()
    atoms = {"N": 2 * a, "CA": a, "CB": (0.0, 0, 0), "CG1": b, "CG2": c}
    return molecule("VAL", atoms, "N-CA CA-CB CB-CG1 CB-CG2")


def methyl():
    a, b, c, d = tetrahedron()
    atoms = {"CB": (0.0, 0, 0), "CA": a, "H1": 0.7 * b, "H2": 0.7 * c, "H3": 0.7 * d}
    return molecule("ALA", atoms, "CA-CB CB-H1 CB-H2 CB-H3")


def found(made, wanted=True, *, superpose=True, atoms=None):
    topology, xyz = made
    atoms = np.arange(topology.n_atoms) if atoms is None else atoms
    return find_symmetry(wanted, topology, atoms, xyz, None, superpose=superpose)


def test_a_ring_flips_as_a_whole():
    symmetry = found(ring())
    assert str(symmetry) == "Phe 7: ring; group of 2"
    assert symmetry.permutations.tolist() == [[0, 1, 2, 3, 4, 5, 6], [0, 1, 3, 2, 5, 4, 6]]


@pytest.mark.parametrize(("wanted", "size"), [(True, 0), ("graph", 2)])
def test_methyl_groups_of_valine_are_exchanged_by_no_rotation(wanted, size):
    symmetry = found(isopropyl(), wanted)
    assert (0 if symmetry is None else len(symmetry)) == size


@pytest.mark.parametrize(("wanted", "size"), [(True, 3), ("graph", 6)])
def test_hydrogens_of_a_methyl_group_rotate_and_are_not_mirrored(wanted, size):
    symmetry = found(methyl(), wanted)
    assert len(symmetry) == size
    assert str(symmetry).startswith("Ala 7: hydrogens H1/H2/H3; group of")


def test_flat_atoms_are_found_although_they_vibrate():
    topology, xyz = ring()
    noise = np.random.default_rng(0).normal(scale=0.01, size=(25, *xyz.shape[1:]))
    assert len(find_symmetry(True, topology, np.arange(7), xyz + noise, None, superpose=True)) == 2


def test_an_acid_has_no_equivalent_oxygens_and_a_carboxylate_has():
    atoms = {
        "CB": (-0.15, 0, 0), "CG": (0.0, 0, 0), "OD1": (0.07, 0.11, 0), "OD2": (0.07, -0.11, 0),
    }  # fmt: skip
    bonds = "CB-CG CG-OD1 CG-OD2"
    assert str(found(molecule("ASP", atoms, bonds))) == "Asp 7: carboxylate; group of 2"
    acid = molecule("ASP", {**atoms, "HD2": (0.16, -0.11, 0)}, bonds + " OD2-HD2")
    assert found(acid) is None
    assert found(acid, atoms=np.arange(4)) is None  # whether the hydrogen is compared or not


@pytest.mark.parametrize("bonds", ["", "CG-CD1"])
def test_missing_bonds_are_taken_from_distances(bonds):
    topology, xyz = ring("LIG")
    bare = md.Topology()
    residue = bare.add_residue("LIG", bare.add_chain(), resSeq=7)
    own = [bare.add_atom(atom.name, atom.element, residue) for atom in topology.atoms]
    if bonds:
        bare.add_bond(own[1], own[2])
    symmetry = find_symmetry(True, bare, np.arange(7), xyz, None, superpose=True)
    assert symmetry == found(ring())
    assert str(symmetry) == "LIG 7: ring; group of 2"
    # also where the periodic boundary divides the molecule
    box = np.eye(3)[None] * 2.0
    divided = np.where(xyz > 0.1, xyz - 2, xyz)
    assert find_symmetry(True, bare, np.arange(7), divided, box, superpose=True) == symmetry


def test_generators_give_the_whole_group():
    """Orders of the automorphism groups of a path, a cycle, a star, the cube, K5 and the Petersen graph."""
    cube = [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit]
    petersen = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
    petersen += [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    known = [
        ([(i, i + 1) for i in range(6)], 7, 2),
        ([(i, (i + 1) % 6) for i in range(6)], 6, 12),
        ([(0, i) for i in range(1, 5)], 5, 24),
        (cube, 8, 48),
        ([(i, j) for i in range(5) for j in range(i)], 5, 120),
        (petersen, 10, 120),
    ]
    for edges, n, order in known:
        generators = automorphism_generators(np.array(edges), [0] * n)
        assert len(closure(generators.tolist(), 1000)) == order
        for generator in generators:
            images = {frozenset(generator[list(edge)].tolist()) for edge in edges}
            assert images == {frozenset(edge) for edge in edges}
    assert len(automorphism_generators(np.array([(0, 1), (1, 2)]), ["a", "b", "c"])) == 0


def test_independent_parts_are_as_small_as_they_can_be():
    both = closure([[1, 0, 3, 2]], 10)  # only together
    assert [places.tolist() for places in independent_parts(both)] == [[0, 1, 2, 3]]
    even = closure([[1, 0, 3, 2, 4, 5], [0, 1, 3, 2, 5, 4]], 10)  # pairs are independent, all three are not
    assert [places.tolist() for places in independent_parts(even)] == [[0, 1, 2, 3, 4, 5]]


def given(wanted, **options):
    """Frames of a ring with given permutations."""
    topology, xyz = ring("LIG")
    noise = np.random.default_rng(0).normal(scale=0.02, size=(10, *xyz.shape[1:])).astype(np.float32)
    return mf.load(md.Trajectory(xyz + noise, topology), symmetry=wanted, **options)


def test_names_and_indices_give_the_same():
    by_name, by_index = given("CD1 CD2, CE1 CE2"), given([[(2, 3), (4, 5)]])
    assert by_name.symmetry == by_index.symmetry == given(True).symmetry
    assert given(by_name.symmetry).symmetry == by_name.symmetry
    assert by_name.symmetry.cycles(by_name.atoms) == [[[2, 3], [4, 5]]]
    assert "equivalent atoms: LIG 7: CD1/CD2/CE1/CE2; group of 2" in by_name.summary()
    assert by_name.metric.name == "symmetry-corrected RMSD"


def test_arrays_take_indices():
    xyz = np.random.default_rng(0).normal(size=(5, 4, 3))
    assert str(mf.load(xyz, symmetry=[[(0, 2)]]).symmetry) == "atoms 0/2; group of 2"


def test_without_the_option_there_is_a_warning_that_names_it():
    with pytest.warns(UserWarning, match=r"symmetry-equivalent atoms of LIG, .* With `symmetry`"):
        assert given(None).symmetry is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert given(False).symmetry is None
        topology, xyz = isopropyl()  # no rotation exchanges these
        mf.load(md.Trajectory(np.repeat(xyz, 3, axis=0), topology))


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        (7, TypeError, r"`symmetry` must be True, 'graph', or permutations"),
        ([], TypeError, r"`symmetry` must be True, 'graph', or permutations"),
        ([[(0.5, 1)]], TypeError, r"`symmetry` must be True, 'graph', or permutations"),
        ("CD1 CD9", ValueError, r"must name selected atoms of one residue; no residue has all of 'CD1 CD9'"),
        ("CD1", ValueError, r"'CD1' exchanges nothing"),
        ([[(2, 99)]], ValueError, r"must exchange selected atoms; atom 99 is not among the 7"),
        ([[(2, 3), (3, 4)]], ValueError, r"must name an atom once in a permutation"),
    ],
)
def test_bad_permutations(wanted, error, message):
    with pytest.raises(error, match=message):
        given(wanted)


def test_other_elements_are_not_exchanged():
    topology, xyz = molecule("LIG", {"C1": (0, 0, 0), "N1": (0.1, 0, 0), "O1": (0, 0.1, 0)}, "C1-N1 C1-O1")
    with pytest.raises(ValueError, match=r"must exchange atoms of the same element; got LIG7-N1 and LIG7-O1"):
        mf.load(md.Trajectory(xyz, topology), symmetry="N1 O1")


def test_arrays_have_no_bonds():
    xyz = np.random.default_rng(0).normal(size=(5, 4, 3))
    for wanted in (True, "graph", "C1 C2"):
        with pytest.raises(ValueError, match=r"`symmetry` must be permutations of atom indices for arrays"):
            mf.load(xyz, symmetry=wanted)


def many(count):
    """So many rings in one molecule, as residues."""
    single, xyz = ring("LIG")
    topology, parts = single.copy(), [xyz[0]]
    for number in range(1, count):
        topology = topology.join(single)
        parts.append(xyz[0] + [0, 0, 0.5 * number])
    return topology, np.concatenate(parts)[None].astype(np.float32)


def test_a_group_that_is_too_large_is_cut_and_said():
    topology, xyz = many(9)
    with pytest.warns(UserWarning, match=r"leaves out equivalent atoms, as more than 128 permutations"):
        symmetry = find_symmetry(True, topology, np.arange(63), xyz, None, superpose=True)
    assert len(symmetry) == 128
    assert len(symmetry.left_out) == 2
    symmetry = find_symmetry(True, topology, np.arange(63), xyz, None, superpose=False)
    assert len(symmetry) == 512  # independent of each other, so there is no limit


def test_a_group_beyond_the_cap():
    xyz = np.random.default_rng(0).normal(size=(5, 10, 3))
    all_of_six = [[(0, 1)], [(0, 1, 2, 3, 4, 5)]]
    with pytest.raises(ValueError, match=r"must give a group of at most 128 permutations; got 720"):
        mf.load(xyz, symmetry=all_of_six)
    with pytest.raises(ValueError, match=r"at most 128 permutations; got more than 20,000"):
        mf.load(xyz, symmetry=[[(0, 1)], [tuple(range(10))]])
    swaps = [[(a, a + 1)] for a in range(0, 16, 2)]
    with pytest.raises(ValueError, match=r"at most 128 permutations; got 256"):
        mf.load(np.random.default_rng(0).normal(size=(5, 16, 3)), symmetry=swaps)


def test_a_found_group_of_which_nothing_fits():
    """Five branches of two atoms on one: 120 permutations with, 5! of each; all hydrogens of two such."""
    n = 7
    places = [(0.15 * np.cos(a), 0.15 * np.sin(a), 0.0) for a in 2 * np.pi * np.arange(n) / n]
    atoms = {"S": (0, 0, 0), **{f"F{i}": place for i, place in enumerate(places)}}
    star = molecule("SF", atoms, " ".join(f"S-F{i}" for i in range(n)))
    with pytest.raises(ValueError, match=r"must find a group of at most 128 permutations; got SF 7"):
        found(star, "graph")


def test_symmetry_of_other_atoms():
    frames = given(True)
    with pytest.raises(ValueError, match=r"`symmetry` must be of the loaded atoms, 3; got one of 7 atoms"):
        given(frames.symmetry, atoms="name CB CG CZ")
    with pytest.raises(ValueError, match=r"`symmetry` must be of the atoms of `xyz`"):
        mf.Frames(np.zeros((2, 3, 3)), np.array([2]), symmetry=frames.symmetry)


def test_frames_with_other_equivalent_atoms_are_not_compared():
    frames = given(True)
    assert len(frames.like(given("CD1 CD2, CE1 CE2"))) == 10
    with pytest.raises(ValueError, match=r"`data` must be compared as `result` was"):
        frames.like(given(False))
    with pytest.raises(ValueError, match=r"`data` must exchange the same equivalent atoms"):
        frames.like(given("CD1 CD2"))


def test_images_look_alike():
    """Flipped rings are one again, with and without superposition."""
    symmetry, random = found(ring()), np.random.default_rng(0)
    xyz = random.normal(size=(7, 3)) + random.normal(scale=0.02, size=(20, 7, 3))
    xyz -= xyz.mean(axis=1, keepdims=True)
    flipped = xyz.copy()
    flipped[::2] = flipped[::2][:, symmetry.permutations[1]]
    for superpose in (True, False):
        assert np.array_equal(symmetry.nearest_images(flipped, xyz[1], superpose=superpose), xyz)
    frames = mf.Frames(flipped, np.array([20]), symmetry=symmetry)
    images = frames.images
    assert np.abs(images - images[0]).max() < 0.2 < np.abs(flipped - flipped[0]).max()
