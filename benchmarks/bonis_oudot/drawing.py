"""What the figures have in common: colours, points in the plane, small files."""

from io import BytesIO
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap

#: Low, equal and high membership: blue, gold, red, which differ in lightness too.
MEMBERSHIP = LinearSegmentedColormap.from_list("membership", ["#2c4ba0", "#e8c33c", "#a50026"])
BLUE, RED, GREY = "#0072b2", "#d55e00", "#999999"
#: More points than this are not all drawn.
_DRAWN = 4_000


def panels(rows: int, columns: int, *, height: float = 2.9, width: float = 3.3) -> tuple:
    """Return a figure and its axes, (rows, columns) of them."""
    return plt.subplots(
        rows, columns, figsize=(width * columns, height * rows), layout="constrained", squeeze=False
    )


def plane(axes: plt.Axes, points: np.ndarray, values: np.ndarray, title: str, **options: object) -> object:
    """Draw points (n, 2) coloured by values (n,), by default memberships."""
    shown = np.random.default_rng(0).permutation(len(points))[:_DRAWN]
    style = {"cmap": MEMBERSHIP, "vmin": 0, "vmax": 1, "s": 3, "linewidths": 0} | options
    drawn = axes.scatter(*points[shown].T, c=values[shown], **style)
    axes.set(title=title, aspect="equal", xticks=[], yticks=[])
    return drawn


def save(figure: plt.Figure, path: Path) -> str:
    """Write a figure as a small PNG, of 128 colours, and return its name."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=110, format="png")
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(128).save(path, optimize=True)
    return path.name
