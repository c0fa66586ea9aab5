"""The page: made from the results of all experiments, as they were written last."""

from pathlib import Path

from pages import save_page

from bonis_oudot import alanine, gaussians, links, spirals, table_text

#: In the order of the page: the experiments, and what tells what came out.
EXPERIMENTS = {
    "gaussians": gaussians.text,
    "links": links.text,
    "spirals": spirals.text,
    "table": table_text.text,
    "alanine": alanine.text,
}

_HEAD = """# The paper

<!-- Made by benchmarks/paper.py from the JSON files beside this page; changes here are lost. -->

The experiments of Bonis and Oudot ({{ref}}`2018 <citation>`), repeated with mdfuzzy. Every number, table
and picture on this page is written by

    python benchmarks/paper.py --full

`--only NAME` repeats one part ({names}). **A large beta is hot**: beta = 2 is the temperature of the
sampled ensemble, and beta = 1 is the plain walk of the paper.

The paper does not specify its synthetic data sets. The first three data sets were made for this page, and
their shapes were chosen so that they show the effects described in the paper. They illustrate these
effects but are not independent evidence.
"""


def write_page(folder: Path) -> Path:
    """Write index.md from the results that are there."""
    return save_page(folder, _HEAD.format(names=", ".join(f"`{name}`" for name in EXPERIMENTS)), EXPERIMENTS)
