"""Pictures over two coordinates: binning, colours, projections, the Ramachandran plot and its twin."""

from itertools import pairwise

import mdtraj as md
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mdfuzzy as mf
from mdfuzzy.plots import planes, projections
from mdfuzzy.plots._axes import percent
from mdfuzzy.plots.bins import suggest_bins
from mdfuzzy.plots.places import push_apart
from mdfuzzy.plots.planes import second_highest
from mdfuzzy.plots.projections import superpose


def random_rotations(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return n proper rotations (n, 3, 3)."""
    return Rotation.from_quat(rng.normal(size=(n, 4))).as_matrix()


def memberships_of(values) -> mf.Memberships:
    values = np.asarray(values, dtype=float)
    n = len(values)
    return mf.Memberships(
        values=values, lost=1 - values.sum(axis=1), beta=2.0, log_weights=np.zeros(n), exponent=1.0
    )


def frames_with(phi, psi, residues=("ALA2",)) -> mf.Frames:
    """Frames with given torsions (n, residues) and nothing else."""
    phi, psi = (np.asarray(angle, dtype=float).reshape(-1, len(residues)) for angle in (phi, psi))
    xyz = np.zeros((len(phi), 4, 3))
    return mf.Frames(xyz, [len(phi)], phi=phi, psi=psi, residues=residues)


@pytest.fixture(scope="module")
def two_states() -> tuple[mf.Frames, mf.Memberships, mf.Cores]:
    """Two states on the Ramachandran plot, one of them across the edge at 180 degrees."""
    rng = np.random.default_rng(0)
    phi = np.concatenate([rng.normal(-60, 12, 600), rng.normal(180, 12, 400)])
    psi = np.concatenate([rng.normal(-40, 12, 600), rng.normal(180, 12, 400)])
    wrapped = ((np.stack([phi, psi]) + 180) % 360) - 180
    first = np.where(np.arange(1000) < 600, 0.9, 0.2)
    labels = (np.arange(1000) >= 600).astype(int)
    cores = mf.Cores(labels, labels, [10, 700], [np.inf, 1.0])
    return frames_with(*wrapped), memberships_of(np.stack([first, 1 - first], axis=1)), cores


def image_of(ax) -> np.ndarray:
    """The picture with the first coordinate first, as in `Bins`."""
    (image,) = ax.images
    return np.swapaxes(np.ma.filled(image.get_array(), np.nan), 0, 1)


# --- colours


def lab(colors: list[str], matrix: np.ndarray) -> np.ndarray:
    """CIE Lab of colours as an eye sees them that mixes linear RGB by `matrix`."""
    rgb = np.array([[int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)] for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ matrix.T, 0, 1)
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
    xyz = linear @ np.array(to_xyz).T / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


#: How eyes without red (protan) or green (deutan) receptors mix linear RGB: Machado and others 2009.
EYES = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize(("n", "apart"), [(5, 24), (8, 16), (24, 16)])
def test_colors_of_states_can_be_told_apart(eye: str, n: int, apart: float):
    seen = lab(mf.plots.state_colors(n), EYES[eye])
    distances = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(n, 1)]
    assert distances.min() > apart  # about 2 is the smallest difference that people see


def test_the_eyes_see_what_is_known():
    # Pure red and green of equal lightness: far apart for most, near each other without green receptors.
    pair = ["#d04040", "#5f7a00"]
    apart = {eye: np.linalg.norm(np.subtract(*lab(pair, matrix))) for eye, matrix in EYES.items()}
    assert apart["normal"] > 70
    assert apart["deutan"] < 25


def test_colors_of_states_do_not_depend_on_their_number():
    assert mf.plots.state_colors(30)[:8] == mf.plots.state_colors(8)
    assert mf.plots.state_colors(30)[24:] == mf.plots.state_colors(6)
    assert mf.plots.state_colors(0) == []
    with pytest.raises(ValueError, match=r"`n` must be an int of at least 0; got -1"):
        mf.plots.state_colors(-1)


# --- bins


def test_bins_count_and_wrap():
    bins = mf.plots.bin_points([[-180, 0], [180, 0], [540, 179.9], [0, -0.1]], number=4, periods=(360, 360))
    expected = np.zeros((4, 4), int)
    expected[0, 2], expected[0, 3], expected[2, 1] = 2, 1, 1
    np.testing.assert_array_equal(bins.counts, expected)
    assert bins.extent == (-180, 180, -180, 180)
    np.testing.assert_array_equal(bins.centers[0], [-135, -45, 45, 135])


def test_bins_of_plain_coordinates_hold_every_point():
    points = np.random.default_rng(1).normal(size=(500, 2))
    bins = mf.plots.bin_points(points, number=7)
    assert bins.counts.sum() == 500
    left, right, bottom, top = bins.extent
    assert left < points[:, 0].min() < points[:, 0].max() < right
    expected, _, _ = np.histogram2d(*points.T, bins=bins.edges)
    np.testing.assert_array_equal(bins.counts, expected)
    assert mf.plots.bin_points([[2.0, 0.0], [2.0, 0.0]], number=3).counts[1, 1] == 2  # no extent at all
    assert (bottom, top) != (0, 0)


def test_bins_mean_and_most_common():
    bins = mf.plots.bin_points([[0, 0], [0, 0], [0, 0], [9, 9]], number=2)
    np.testing.assert_array_equal(bins.mean([1.0, 2.0, 6.0, 5.0]), [[3, np.nan], [np.nan, 5]])
    assert bins.mean(np.ones((4, 3))).shape == (2, 2, 3)
    np.testing.assert_array_equal(bins.most_common([1, 2, 2, 0]), [[2, -1], [-1, 0]])
    np.testing.assert_array_equal(bins.most_common([2, 1, -1, -1]), [[1, -1], [-1, -1]])  # a tie: the smaller


def test_free_energy_is_in_kt():
    points = np.repeat([[-90.0, -90.0], [90.0, 90.0]], [1000, 100], axis=0)
    energy = mf.plots.bin_points(points, number=24, periods=(360, 360)).free_energy(0.0)
    assert energy[6, 6] == 0
    assert energy[18, 18] == pytest.approx(np.log(10))
    assert np.isnan(energy).sum() == 24 * 24 - 2


def test_smoothing_wraps_round_periodic_coordinates_only():
    points = np.random.default_rng(2).normal(scale=20, size=(2000, 2))
    around = {"number": 24, "periods": (360, 360)}
    here, there = (mf.plots.bin_points(points + shift, **around).smooth_counts() for shift in (0, [180, 0]))
    np.testing.assert_allclose(np.roll(here, 12, axis=0), there, atol=1e-9)
    assert here.sum() == pytest.approx(2000)
    at_edge = mf.plots.bin_points([[0.0, 0.0], [1.0, 1.0]], number=10).smooth_counts()
    assert at_edge[0, -1] < 1e-12


@pytest.mark.parametrize(("n", "number"), [(10, 24), (1000, 34), (10**7, 180)])
def test_more_points_more_bins(n: int, number: int):
    assert suggest_bins(n) == number


def test_bins_refuse_what_they_cannot_count():
    with pytest.raises(ValueError, match=r"`points` must have shape \(n, 2\), n at least 1; got \(3, 3\)"):
        mf.plots.bin_points(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"`points` must be finite; got nan"):
        mf.plots.bin_points([[0, np.nan]])
    with pytest.raises(ValueError, match=r"`number` must be an int in \[2, 2000\]; got 1"):
        mf.plots.bin_points([[0, 0]], number=1)
    with pytest.raises(
        ValueError, match=r"`values` must have one entry or row per frame, 1; got shape \(2,\)"
    ):
        mf.plots.bin_points([[0, 0]]).mean([1, 2])
    with pytest.raises(ValueError, match=r"`width` must be a finite number >= 0; got -1"):
        mf.plots.bin_points([[0, 0]]).smooth_counts(-1)


# --- projections


def test_superposition_is_that_of_mdtraj():
    frames = mf.datasets.alanine_dipeptide(stride=500)
    placed = superpose(frames.xyz.astype(float), frames.xyz[3].astype(float))
    ours = np.sqrt(np.mean(np.sum((placed - frames.xyz[3]) ** 2, axis=2), axis=1))
    theirs = md.rmsd(frames.trajectory(), frames.trajectory(), 3)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)  # in single precision


def test_mirror_images_are_not_superposed():
    rng = np.random.default_rng(3)
    hand = rng.normal(size=(5, 3))
    hand -= hand.mean(axis=0)
    placed = superpose((hand * [1, 1, -1])[None], hand)
    assert np.abs(placed - hand).max() > 0.1


def test_principal_components_find_a_known_motion():
    rng = np.random.default_rng(4)
    mean = rng.normal(size=(8, 3))
    mean -= mean.mean(axis=0)
    mean = mean @ np.linalg.svd(mean, full_matrices=False)[2].T  # along its axes, a stretch does not turn it
    stretch = mean * [1.0, -0.4, 0.2]
    amplitudes = rng.uniform(-0.02, 0.02, 300)
    moved = mean + amplitudes[:, None, None] * stretch
    frames = mf.load(moved @ random_rotations(rng, 300))
    found = mf.plots.project(frames)
    assert found.labels[0] == "PC 1 (nm), 100 % of variance"
    assert found.equal
    assert found.periods == (None, None)
    size = np.sqrt(np.mean(np.sum(stretch**2, axis=1)))
    assert abs(np.corrcoef(found.values[:, 0], amplitudes)[0, 1]) > 0.9999
    assert found.values[:, 0].std() == pytest.approx(size * amplitudes.std(), rel=0.02)
    assert np.abs(found.values[:, 1]).max() < 0.02 * np.abs(found.values[:, 0]).max()


@pytest.mark.parametrize("shape", [(30, 60), (60, 30)])
def test_principal_axes_are_those_of_the_covariance(shape):
    deviations = np.random.default_rng(0).normal(size=shape) * np.linspace(1, 3, shape[1])
    variances, vectors = np.linalg.eigh(deviations.T @ deviations / len(deviations))
    found, axes = projections._principal_axes(deviations, (1, 0))
    np.testing.assert_allclose(found, variances[[-2, -1]])
    np.testing.assert_allclose(np.abs(np.sum(axes * vectors[:, [-2, -1]], axis=0)), 1)
    none, axes = projections._principal_axes(deviations[:3], (0, 20))
    assert none[0] > 0
    assert none[1] == 0
    assert not axes[:, 1].any()


def test_principal_components_do_not_depend_on_how_frames_lie():
    rng = np.random.default_rng(5)
    xyz = mf.datasets.alanine_dipeptide(stride=100).xyz
    turned = mf.load(xyz @ random_rotations(rng, len(xyz)).astype(np.float32))
    here, there = mf.plots.project(mf.load(xyz)).values, mf.plots.project(turned).values
    for column in (0, 1):
        assert abs(np.corrcoef(here[:, column], there[:, column])[0, 1]) > 0.999


def test_projection_of_features():
    features = mf.Features(np.arange(12.0).reshape(4, 3) * 100, periodic=[2])
    found = mf.plots.project(features, columns=(0, 2))
    assert found.labels == ("feature 0", "feature 2")
    assert found.periods == (None, 360.0)
    assert not found.equal
    np.testing.assert_allclose(found.values[:, 1], [-160, 140, 80, 20])
    named = mf.plots.project(np.eye(3), labels=("a (nm)", "b (nm)"))
    assert named.labels == ("a (nm)", "b (nm)")


def test_torsions_of_a_residue_by_place_or_name():
    frames = frames_with([[1, 2], [3, 4]], [[5, 6], [7, 8]], residues=("ALA2", "GLY3"))
    by_name, by_place = mf.plots.torsions(frames, "GLY3"), mf.plots.torsions(frames, 1)
    np.testing.assert_array_equal(by_name.values, [[2, 6], [4, 8]])
    np.testing.assert_array_equal(by_place.values, by_name.values)
    assert by_name.labels == ("φ of GLY3 (degrees)", "ψ of GLY3 (degrees)")


def test_projections_refuse_bad_input():
    frames = frames_with([0, 1], [0, 1])
    with pytest.raises(
        ValueError, match=r"`residue` must be one of those with phi and psi, ALA2; got 'GLY3'"
    ):
        mf.plots.torsions(frames, "GLY3")
    with pytest.raises(ValueError, match=r"`residue` must be an int in \[0, 0\]; got 1. They are ALA2"):
        mf.plots.torsions(frames, 1)
    with pytest.raises(ValueError, match=r"`frames` must be Frames with phi and psi.*use `plots.plane`"):
        mf.plots.ramachandran(mf.load(np.random.default_rng(0).normal(size=(3, 4, 3))))
    with pytest.raises(ValueError, match=r"`columns` must be two different columns; got \(0, 0\)"):
        mf.plots.project(np.eye(3), columns=(0, 0))
    with pytest.raises(ValueError, match=r"`columns` must be an int in \[0, 2\]; got 3. So many features"):
        mf.plots.project(np.eye(3), columns=(0, 3))
    with pytest.raises(ValueError, match=r"`labels` must be two texts, one per axis; got 'ab'"):
        mf.plots.project(np.eye(3), labels="ab")
    with pytest.raises(ValueError, match=r"`values` must have shape \(frames, 2\); got \(3, 3\)"):
        mf.plots.Projection(np.eye(3), ("a", "b"))
    with pytest.raises(ValueError, match=r"`values` must be finite; got nan"):
        mf.plots.Projection([[0, np.nan]], ("a", "b"))


# --- the picture


def test_ramachandran_of_frames_alone_shows_their_number(two_states):
    frames = two_states[0]
    ax = mf.plots.ramachandran(frames, bins=36)
    counts = mf.plots.torsions(frames).bin(36).counts
    np.testing.assert_array_equal(image_of(ax), np.where(counts > 0, counts, np.nan))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("φ (degrees)", "ψ (degrees)")
    assert ax.get_xlim() == ax.get_ylim() == (-180, 180)
    assert list(ax.images[0].get_extent()) == [-180, 180, -180, 180]
    assert ax.get_xticks().tolist() == [-180, -90, 0, 90, 180]
    assert ax.get_aspect() == 1
    assert ax.child_axes[0].get_ylabel() == "frames per bin"


def test_contours_of_the_free_energy_meet_across_the_edge(two_states):
    frames = two_states[0]
    ax = mf.plots.ramachandran(frames, kind="free_energy", bins=36)
    (lines,) = [each for each in ax.collections if hasattr(each, "levels")]
    assert lines.levels[0] == 1

    def crossings(x: float) -> np.ndarray:
        """Where the contours cross a vertical line."""
        found = []
        for path in lines.get_paths():
            for points in path.to_polygons(closed_only=False):
                for (x0, y0), (x1, y1) in pairwise(points):
                    if (x0 - x) * (x1 - x) < 0:
                        found.append(y0 + (x - x0) * (y1 - y0) / (x1 - x0))
        return np.sort(found)

    left, right = crossings(-180), crossings(180)
    assert len(left) >= 4
    np.testing.assert_allclose(left, right, atol=1e-9)


def test_states_have_their_colors_and_empty_bins_are_white(two_states):
    from matplotlib.colors import to_rgb

    frames, memberships, cores = two_states
    ax = mf.plots.ramachandran(frames, memberships, cores=cores, bins=36)
    grid = mf.plots.torsions(frames).bin(36)
    picture, state = image_of(ax), grid.most_common(memberships.hard)
    assert np.all(picture[grid.counts == 0] == 1.0)
    for number, color in enumerate(mf.plots.state_colors(2)):
        # A tint of the colour: nearer to white by the same share in red, green and blue.
        tints = (1 - picture[state == number]) / (1 - np.array(to_rgb(color)))
        np.testing.assert_allclose(tints, tints[:, :1].repeat(3, axis=1), atol=1e-9)
        assert tints.min() > 0.6
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0: 60 %", "1: 40 %"]
    assert [text.get_text() for text in ax.texts] == ["0", "1"]
    np.testing.assert_allclose([text.xy for text in ax.texts], mf.plots.torsions(frames).values[cores.peaks])


def test_frames_of_no_state_are_grey():
    frames = frames_with([0, 0, 90], [0, 0, 90])
    lost = mf.Memberships(
        values=[[1.0], [1.0], [0.0]], lost=[0, 0, 1.0], beta=2.0, log_weights=np.zeros(3), exponent=1.0
    )
    ax = mf.plots.ramachandran(frames, lost, bins=4)
    red, green, blue = image_of(ax)[3, 3]
    assert red == green == blue < 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0: 67 %", "none: 33 %"]


def test_memberships_of_a_state_and_second_highest(two_states):
    frames, memberships, _ = two_states
    grid = mf.plots.torsions(frames).bin(36)
    ax = mf.plots.ramachandran(frames, memberships, kind="membership", state=1, bins=36)
    np.testing.assert_allclose(image_of(ax), grid.mean(memberships.values[:, 1]))
    assert ax.images[0].get_clim() == (0, 1)
    assert ax.child_axes[0].get_ylabel() == "membership of state 1"
    ax = mf.plots.ramachandran(frames, memberships, kind="second", bins=36)
    np.testing.assert_allclose(image_of(ax), grid.mean(memberships.values.min(axis=1)))
    assert ax.images[0].get_clim() == (0, 0.5)
    np.testing.assert_array_equal(second_highest(np.ones((3, 1))), np.zeros(3))


def test_plane_draws_features_and_components(two_states):
    frames, memberships, cores = two_states
    features = mf.Features(np.concatenate([frames.phi, frames.psi], axis=1), periodic=[0, 1])
    ax = mf.plots.plane(features, memberships, cores=cores, bins=36, labels=("φ (degrees)", "ψ (degrees)"))
    same = mf.plots.ramachandran(frames, memberships, cores=cores, bins=36)
    np.testing.assert_array_equal(image_of(ax), image_of(same))
    assert ax.get_aspect() == 1
    plain = mf.plots.plane(features.values / 100, kind="free_energy", columns=(1, 0))
    assert plain.get_aspect() == "auto"
    assert plain.get_xlabel() == "feature 1"


def test_draws_on_the_axes_that_it_is_given(two_states):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    assert mf.plots.ramachandran(two_states[0], ax=axes[1], guide=False) is axes[1]
    assert not axes[0].has_data()
    assert not axes[1].child_axes


def test_the_picture_does_not_grow_with_the_frames():
    for n in (1_000, 100_000):
        rng = np.random.default_rng(6)
        ax = mf.plots.ramachandran(frames_with(rng.normal(size=n), rng.normal(size=n)))
        assert len(ax.images) == 1
        assert ax.images[0].get_array().size <= 180**2


def test_percent_is_readable():
    assert [percent(share) for share in (1.0, 0.5, 0.0099, 0.0005)] == ["100 %", "50 %", "1.0 %", "< 0.1 %"]


def test_refuses_bad_input(two_states):
    frames, memberships, cores = two_states
    draw = mf.plots.ramachandran
    with pytest.raises(ValueError, match=r"`kind` must be one of 'density', .*; got 'energy'"):
        draw(frames, kind="energy")
    with pytest.raises(
        ValueError, match=r"`values` must be Memberships or a Clustering for kind='second'; got None"
    ):
        draw(frames, kind="second")
    with pytest.raises(
        TypeError,
        match=r"`values` must be `Memberships` or `Clustering` or `Assignment` or None; got ndarray",
    ):
        draw(frames, memberships.values)
    with pytest.raises(ValueError, match=r"`values` must belong to the same frames, 1000; got 2 rows"):
        draw(frames, memberships_of([[1.0, 0.0], [0.0, 1.0]]))
    with pytest.raises(TypeError, match=r"`state` must be an int in \[0, 1\]; got None"):
        draw(frames, memberships, kind="membership")
    with pytest.raises(ValueError, match=r"`state` must be an int in \[0, 1\]; got 2"):
        draw(frames, memberships, kind="membership", state=2)
    with pytest.raises(
        ValueError, match=r"`state` must be given with kind='membership' only; got 1 with 'states'"
    ):
        draw(frames, memberships, state=1)
    with pytest.raises(TypeError, match=r"`cores` must be `Cores` or None; got list"):
        draw(frames, cores=[0])
    with pytest.raises(ValueError, match=r"`cores` must belong to the same frames, 1000; got Cores"):
        draw(frames, cores=mf.Cores([0], [0], [0], [np.inf]))
    with pytest.raises(TypeError, match=r"`ax` must be matplotlib Axes; got 3"):
        draw(frames, ax=3)
    with pytest.raises(ValueError, match=r"`number` must be an int in \[2, 2000\]; got 1"):
        draw(frames, bins=1)
    assert cores.peaks.shape == (2,)


def test_marks_of_peaks_do_not_hide_each_other():
    rng = np.random.default_rng(7)
    places = np.concatenate([np.full((3, 2), 0.5), rng.uniform(size=(5, 2))])
    moved = push_apart(places, 0.065)
    distances = np.linalg.norm(moved[:, None] - moved, axis=2)[np.triu_indices(8, 1)]
    assert distances.min() > 0.06
    np.testing.assert_array_equal(push_apart(places[4:6], 0.065), places[4:6])  # those that are apart stay


@pytest.mark.parametrize(("ratio", "rows"), [(1.0, 1), (0.3, 3)])
def test_figures_fit_planes_of_one_scale(ratio: float, rows: int):
    """A low plane gets a low figure, and the pictures of the overview come below each other."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 2))
    points[300:, 0] += 12
    result = mf.cluster(points, mf.Settings(n_states=2))
    spread = np.ptp(points, axis=0)
    plane = mf.plots.Projection(points * [1, ratio * spread[0] / spread[1]], ("a (nm)", "b (nm)"), equal=True)
    width, height = planes.draw(plane, result).figure.get_size_inches()
    assert (height < 0.6 * width) == (rows == 3)
    overview = mf.plots.overview(result, projection=plane)
    places = {round(ax.get_subplotspec().rowspan.start) for ax in overview.axes}
    assert len(places) == rows
