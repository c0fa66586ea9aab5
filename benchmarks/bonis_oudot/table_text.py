"""Table 1 in words: ours beside the paper's numbers, what was chosen, each miss, the other readings."""

import numpy as np

from bonis_oudot.table import GAUSSIAN, PAPER, SETS

_TEXT = """## Table 1: three data sets of the UCI repository

The score is the entropic purity with epsilon = 0.001; 0 is perfect. The number of clusters K is given in
brackets, because more clusters score higher. Every coordinate has unit variance. Labels are used for
scoring only: k is `mf.suggest_k`, and the prominence is `Persistence.prominence_gap`. The scan has 13
values of beta from 0.3 to 5; the automatic beta is the one at which the entropy falls fastest.

| | Waveform | Pendigits | Statlog |
|---|--:|--:|--:|
{scores}

![entropic purity against beta]({figure})

The dotted vertical line marks the automatic beta. On Waveform equal memberships in three clusters would
score -1.10, the value in the paper, so this data set is not informative.

| set | points | coordinates | labels | k | dimension | states above noise | K | cores | largest prominences |
|---|--:|--:|--:|--:|--:|---|--:|---|---|
{choices}

{doubtful}Comparison with the values in the paper, at the printed precision:

{verdicts}

{reaching}

### What the paper specifies

"In all our experiments we use a k-nearest neighbor graph along with a distance to measure density
estimator [...] computed using the 2k nearest-neighbors" (section 5, before 5.1). We read this as a walk
without a Gaussian kernel, because in step 1 of section 2 the neighbour graph replaces the kernel graph.
The interpretations with a Gaussian kernel are ours. The paper does not specify k, whether edges are
directed, or which power of 1/DTM is the density. Its automatic beta maximises the slope of H against beta
(section 5.2), not against log beta; the rows "by the slope against beta" above use this rule.

### Other interpretations of the paper

The table gives the scores of the alternatives that the paper leaves open: best beta / automatic beta (K).
The weights as printed, w = 1 + (1 - beta)/beta f, depend on the unit of f and are negative where f is
large and beta above 1 ([memberships](../theory/memberships.md)).

A star marks an automatic beta at the end of the scanned range.

| interpretation | Waveform | Pendigits | Statlog |
|---|--:|--:|--:|
{readings}
"""

_DOUBTFUL = """On {names} the test of the noise calls the number of states poorly determined. The prominence
is chosen there as one would by eye, in the widest gap (the largest ratio of successive prominences) above the
expected noise.

"""


_WHY = """The default walk gives all edges the same weight. In many dimensions, points between clusters
have long edges to several clusters. A Gaussian kernel weakens long edges: without the pull of the density,
{ours:.1%} of the steps of the default walk on Statlog lead to a point with another label, compared with
{gauss:.1%} with the Gaussian kernel."""


def text(found: dict) -> str:
    """Return the section as Markdown."""
    names = [name.capitalize() for name in SETS if not found[name]["ours"]["clear"]]
    return _TEXT.format(
        figure=found["figure"],
        scores="\n".join(_scores([found[name] for name in SETS])),
        choices="\n".join(_choice(name, found[name]) for name in SETS),
        doubtful=_DOUBTFUL.format(names=_listed(names)) if names else "",
        verdicts="\n".join(_verdicts(found)),
        reaching=_reaching([found[name] for name in SETS]),
        readings="\n".join(_readings([found[name] for name in SETS])),
    )


def _listed(names: list[str]) -> str:
    """Return names with commas and "and"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _scores(sets: list[dict]) -> list[str]:
    """Return the rows of the table, the paper's before ours."""
    ours = [each["ours"] for each in sets]
    clusters = [each["K"] for each in ours]
    gauss = [next(other for other in each["others"] if other["words"] == GAUSSIAN) for each in sets]
    lines = []
    for words, key in (("best beta", "best"), ("automatic beta", "automatic")):
        lines.append(_row(f"paper, {words}", PAPER[words]))
        lines.append(_row(f"**ours, {words}**", [each[key] for each in ours], clusters))
        lines.append(_row(f"ours with a Gaussian kernel, {words}", [each[key] for each in gauss], clusters))
    for words, scored in (("ours", ours), ("ours with a Gaussian kernel", gauss)):
        scores = [_by_plain_slope(each) for each in scored]
        lines.append(_row(f"{words}, automatic beta by the slope against beta", scores, clusters))
    lines.append(_row("paper, fuzzy c-means", PAPER["fuzzy c-means"]))
    for words, wanted in (("as labels", [each["labels"] for each in sets]), ("as ours", clusters)):
        scores = [
            next(run["best"] for run in each["c_means"] if run["c"] == c)
            for each, c in zip(sets, wanted, strict=True)
        ]
        lines.append(_row(f"fuzzy c-means, as many clusters {words}", scores, wanted))
    lines.append(_row("paper, single-point cores (Chen and others)", PAPER["single-point cores"]))
    lines.append(_row("single-point cores, best beta", [each["point"]["best"] for each in sets], clusters))
    lines.append(_row("equal memberships in all our clusters", [each["uniform"] for each in sets], clusters))
    return lines


def _by_plain_slope(scored: dict) -> float:
    """Return the purity where the entropy falls most steeply against beta itself, not its logarithm."""
    falls = -np.gradient(scored["entropy"], scored["betas"])
    return scored["purity"][int(np.argmax(falls))]


def _reaches(score: float, paper: float) -> bool:
    """Whether a score is at least the paper's, at the precision that it is printed with."""
    return round(score, len(f"{paper:g}".split(".")[1])) >= paper


def _row(name: str, scores: list[float], clusters: list[int] | None = None) -> str:
    if clusters is None:
        cells = [f"{score:g}" for score in scores]
    else:
        cells = [f"{score:.2f} ({K})" for score, K in zip(scores, clusters, strict=True)]
    return f"| {name} | " + " | ".join(cells) + " |"


def _choice(name: str, each: dict) -> str:
    """Return what was chosen for a set, and how clear it was."""
    ours = each["ours"]
    clear = "clear" if ours["clear"] else "not clear"
    states, noise = ours["spectrum"][: ours["K"] - 1], ours["spectrum"][ours["K"] - 1 : ours["K"] + 2]
    cores = f"{min(ours['core_sizes'])} to {max(ours['core_sizes'])} points"
    spectrum = r" \| ".join(" ".join(f"{value:.2f}" for value in part) for part in (states, noise))
    return (
        f"| {name.capitalize()} | {each['points']:,} | {each['coordinates']} | {each['labels']} "
        f"| {each['k']} "
        f"| {ours['dimension']:.1f} | {ours['tested']}, {clear} | {ours['K']} | {cores} | {spectrum} |"
    )


def _verdicts(found: dict) -> list[str]:
    """Say for each of the paper's own numbers whether it is matched, at the precision of its print."""
    lines = []
    for words, key in (("best beta", "best"), ("automatic beta", "automatic")):
        for name, paper in zip(SETS, PAPER[words], strict=True):
            each = found[name]
            score, clusters = each["ours"][key], each["ours"]["K"]
            what = f"- {name.capitalize()}, {words}:"
            if _reaches(score, paper):
                word = "better" if score > paper else "matched"
                lines.append(f"{what} {word}, {score:.3f} (K = {clusters}); the paper has {paper:g}.")
                continue
            scored = [other for other in (*each["others"], *each["k_scan"]) if "failed" not in other]
            better = [other for other in scored if _reaches(other[key], paper)]
            how = "; ".join(f"{_name(other)}: {other[key]:.3f} (K = {other['K']})" for other in better)
            lines.append(
                f"{what} **missed**, {score:.3f} (K = {clusters}); the paper has {paper:g}. "
                + (
                    f"Interpretations that reach it: {how}."
                    if better
                    else "No other interpretation reaches it."
                )
            )
    return lines


def _reaching(sets: list[dict]) -> str:
    """Name the readings that match or beat all of the paper's own numbers."""
    names = [
        _name(scored[0])
        for scored in zip(*([each["ours"], *each["others"]] for each in sets), strict=True)
        if all(
            "failed" not in each and _reaches(each[key], paper)
            for words, key in (("best beta", "best"), ("automatic beta", "automatic"))
            for each, paper in zip(scored, PAPER[words], strict=True)
        )
    ]
    if not names:
        return "No single interpretation reaches all six values."
    reaching = "; ".join(names)
    gauss = next(other for other in sets[-1]["others"] if other["words"] == GAUSSIAN)
    why = _WHY.format(ours=sets[-1]["ours"]["astray"], gauss=gauss["astray"])
    selected = "(This interpretation was selected using the labels.)"
    return f"All six values are reached by: {reaching}. {selected} {why}"


def _readings(sets: list[dict]) -> list[str]:
    """Return a row for every other reading, and for ours with other k."""
    lines = []
    for kind in ("others", "k_scan"):
        for scored in zip(*(each[kind] for each in sets), strict=True):
            name = _name(scored[0])
            if kind == "k_scan":
                name = f"ours with k = {', '.join(str(each['k']) for each in scored)}"
            lines.append(f"| {name} | " + " | ".join(_cell(each) for each in scored) + " |")
    return lines


def _name(scored: dict) -> str:
    return scored["words"] + (f" with k = {scored['k']}" if "k" in scored else "")


def _cell(scored: dict) -> str:
    if "failed" in scored:
        return f"weights not positive ({scored['K']})"
    star = "\\*" if scored["automatic_beta"] in (scored["betas"][0], scored["betas"][-1]) else ""
    return f"{scored['best']:.2f} / {scored['automatic']:.2f}{star} ({scored['K']})"
