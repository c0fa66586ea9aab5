import re

import pytest

import mdfuzzy as mf
from mdfuzzy.cli import main


def test_two_ensembles(tmp_path, capsys):
    frames = mf.datasets.alanine_dipeptide(stride=40)
    top = str(mf.datasets.folder() / "ala2.pdb")
    for at in range(6):
        frames[125 * at : 125 * (at + 1)].trajectory().save_xtc(tmp_path / f"{'ab'[at % 2]}{at}.xtc")
    out = tmp_path / "out"
    paths = [f"one={tmp_path}/a*.xtc", f"two={tmp_path}/b1.xtc", f"two={tmp_path}/b[35].xtc"]
    assert main(["compare", *paths, "--top", top, "-o", str(out), "--n-states", "3"]) == 0
    said = capsys.readouterr().out
    assert "two - one: mixing" in said
    assert re.search(r"one has 3 trajectories, so \d+ blocks of", said)
    assert (out / "exports" / "fractions.csv").is_file()
    assert {path.name for path in (out / "plots").glob("ensemble*")} == {"ensembles.png", "ensemble-maps.png"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<a href="#ensembles">Ensembles</a>' in page
    assert "two minus one: mixing" in page
    assert "two - one: mixing" in (out / "summary.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.xtc"], "NAME=FILES must be a name, '=' and a value, such as wt=run.xtc; got 'a.xtc'"),
        (["a=x.xtc", "a=y.xtc"], "NAME=FILES must name at least 2 ensembles; got 'a' only"),
        (["a=x", "b=y", "--top", "c=t.pdb"], "--top must name one of the ensembles a, b, or be given once"),
        (["a=x", "b=y", "--atoms", "a=all"], "--atoms must be given once, or for every ensemble; .* for 'b'"),
        (["a=x", "b=y", "--share", "a=0"], "--share must name an ensemble and a number > 0; got 'a=0'"),
        (["a=x", "b=y", "--share", "a=much"], "--share must be NAME=NUMBER; got 'a=much'"),
    ],
)
def test_bad_options(arguments, message, capsys):
    import re

    assert main(["compare", *arguments]) == 2
    assert re.search(message, capsys.readouterr().err)
