"""Colours of states, and the colour maps of everything else: safe for the colour-blind."""

from mdfuzzy._check import check_int

# The first eight are those of Okabe and Ito (with a dark grey for their black), in the order that keeps the
# first few farthest apart. The others were added one by one, each as far as possible from all before it, to
# normal eyes and to eyes without red or green receptors, inside a range of lightness that shows on white.
_PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#f0e442", "#56b4e9", "#cc79a7", "#e69f00", "#4d4d4d"),
    *("#0000ff", "#0f0f96", "#87f096", "#6969ff", "#692d00", "#4b0f5a", "#96f0ff", "#5af0c3"),
    *("#0fb45a", "#6996ff", "#694b78", "#c3e169", "#2d2dd2", "#785a3c", "#2d4bb4", "#5a0f1e"),
)

#: Colour of frames that reach no state.
NO_STATE = "#bbbbbb"
#: Perceptually uniform, from dark to bright: counts, energies, shares.
DENSITY_MAP = "viridis"
ENERGY_MAP = "viridis_r"
MEMBERSHIP_MAP = "viridis"
SECOND_MAP = "inferno"


def state_colors(n: int) -> list[str]:
    """Return the colours of n states, as ``"#rrggbb"``: state i has the same in every picture.

    Parameters
    ----------
    n : int
        The number of states.

    Returns
    -------
    list of str
        The first eight are the colours of Okabe and Ito, which are safe for the colour-blind. After 24
        colours they repeat, so states also need their numbers.

    See Also
    --------
    plots.overview : Uses these colours, as all pictures do.

    Examples
    --------
    >>> import mdfuzzy as mf
    >>> mf.plots.state_colors(3)
    ['#0072b2', '#d55e00', '#009e73']
    """
    n = check_int("n", n, 0)
    return [_PALETTE[state % len(_PALETTE)] for state in range(n)]
