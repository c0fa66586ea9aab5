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

What Bonis and Oudot ({{ref}}`2018 <citation>`) show of their algorithm, computed again with mdfuzzy.
Every number, table and picture below is written by

    python benchmarks/paper.py --full

`--only NAME` computes one part again ({names}).
**Large beta is hot**: 2 is the ensemble's own diffusion, 1 the plain walk of the paper.

The paper gives no recipe for its synthetic sets. Those of the first three parts were made for this page, and
their shapes chosen until they showed the effects that the paper describes: they illustrate, they are no
independent evidence.
"""


def write_page(folder: Path) -> Path:
    """Write index.md from the results that are there."""
    return save_page(folder, _HEAD.format(names=", ".join(f"`{name}`" for name in EXPERIMENTS)), EXPERIMENTS)
