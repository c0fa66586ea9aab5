"""No text that a person reads has a phrase that the writing rules of the project replace.

The rules are in `docs/design/writing.md`: terms of the field, subject-verb-object, one idea per sentence.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Phrases that a reader must decode or that have an established name, each with the words to use instead.
BANNED = {
    r"drawn anew|drawing [a-z ]{0,30}anew|draws? whole trajectories anew": "bootstrap samples",
    r"\banew\b": "again",
    r"(?<!_)resampl(?:e|es|ed|ing)\b(?!-based)": "bootstrap, bootstrap samples",
    r"foret(?:ell|old)": "predict",
    r"to and fro": "recrossings, back and forth",
    r"from there on|from which on": "beyond",
    r"how firmly|how sure (?:they|it)": "support, how reliable",
    r"who imports whom": "module structure",
    r"what is not given|what was not given|what is not is chosen|what you omit": "anything you omit",
    r"every so many|every few frames": "every Nth frame",
    r"no other option than": "only ... is required",
    r"(?:needs?|with) no network|no network needed": "self-contained",
    r"that a rotation exchanges": "symmetry-equivalent",
    r"really (?:made|went|passed|reach(?:es|ed)?)\b": "observed",
    r"what was asked for|was asked for": "requested",
    r"states that are none|that are no cores|is no state|are no states": "spurious states, are not cores",
    r"ha(?:s|ve) to be said to be": "must be declared",
    r"is no accident": "is robust",
    r"that of which|those of which|of which each|of which the": "two sentences",
    r"\b(?:atom|atoms) alike": "equally",
    r"\b(?:is|are|was|were) told\b(?! apart)": "is reported, requires",
    r"as (?:often|hot|many) as it is told": "a given number",
    r"is no more than a label": "is only nominal",
    r"for the record": "for comparison",
    r"goes on (?:where|from|after)|go on where": "resumes",
    r"files of others|of other people": "files that mdfuzzy did not write",
    r"ends well": "succeeds, passes",
    r"\bcopies of (?:points|frames)": "duplicate points",
    r"one lonely|lonely point": "isolated",
    r"come with mdanalysis": "use with MDAnalysis",
    r"\bthe same, fitted": "the full heading",
    r"2 is that of the simulation": "2 = simulation temperature",
    r"looked at together": "processed together",
    r"without being asked|unless (?:it is|they are) asked for": "requested",
    r"\bno way to (?:any|some) core": "no path to any core",
    r"\bgap (?:is|was) (?:not )?clear": "the number of states is well (poorly) determined",
}
PATTERN = {
    re.compile(phrase.replace(" ", r"\s+"), re.IGNORECASE): better for phrase, better in BANNED.items()
}
#: Names of releases before this rule, and the rule itself, may keep their words.
EXEMPT = {"docs/changelog.md", "docs/design/writing.md", "tests/test_language.py"}


def texts() -> list[Path]:
    found = [ROOT / "README.md"]
    for folder, kinds in {
        "docs": ("md",),
        "mdfuzzy": ("py", "html", "js"),
        "examples": ("py", "rst", "md", "ipynb"),
        "benchmarks": ("py", "md"),
    }.items():
        for kind in kinds:
            found += sorted((ROOT / folder).rglob(f"*.{kind}"))
    built = {"_build", "generated", "gallery", "reference"}
    return [
        path
        for path in found
        if path.exists()
        and str(path.relative_to(ROOT)) not in EXEMPT
        and not built & set(path.relative_to(ROOT).parts)
    ]


def test_texts_use_the_terms_of_the_field():
    if not (ROOT / "README.md").exists():
        pytest.skip("the tests are run without the repository around them")
    found = []
    for path in texts():
        # Comment signs and quotes at line ends would hide a phrase that runs over two lines.
        text = re.sub(r"[\"']?\n\s*(?:#:?|\"|')?\s*[fr]?[\"']?", "\n", path.read_text(encoding="utf-8"))
        for phrase, better in PATTERN.items():
            for match in phrase.finditer(text):
                found.append(f"{path.relative_to(ROOT)}: {' '.join(match[0].split())!r}; better: {better}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    ["intervals come from drawing whole\ntrajectories anew", "What is not given is chosen", "to and fro"],
)
def test_a_banned_phrase_is_found(text: str):
    assert any(phrase.search(text) for phrase in PATTERN)
