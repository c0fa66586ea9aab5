"""Pages that show how to change the package: their changes applied to a copy of it."""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\{code-block\} )?(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of code of a page: a change of a file, a new file, or code to run.

    Attributes
    ----------
    name : str
        The page and the number of the block, for messages.
    language : str
        ``"diff"`` for a change.
    file : str
        What is changed or made; empty for code to run.
    text : str
        The lines.
    """

    name: str
    language: str
    file: str
    text: str

    def apply(self, root: Path) -> None:
        """Make the change below the folder `root`."""
        path = root / self.file
        if self.language != "diff":
            assert not path.exists(), f"{self.name}: {self.file} is not new"
            path.write_text(self.text, encoding="utf-8")
            return
        assert path.exists(), f"{self.name}: there is no file {self.file}"
        for change in re.split(r"^@@\n", self.text, flags=re.MULTILINE):
            self._replace(path, change.splitlines())

    def _replace(self, path: Path, lines: list[str]) -> None:
        assert all(line[:1] in ("", " ", "+", "-") for line in lines), f"{self.name}: a line without its sign"
        assert any(line[:1] in ("+", "-") for line in lines), f"{self.name}: nothing is changed"
        before = [line[1:] for line in lines if not line.startswith("+")]
        after = [line[1:] for line in lines if not line.startswith("-")]
        text = path.read_text(encoding="utf-8").splitlines()
        places = [at for at in range(len(text)) if text[at : at + len(before)] == before]
        shown = "\n".join(before)
        rule = f"{self.name}: {self.file} must hold these lines once, not {len(places)} times"
        assert len(places) == 1, f"{rule}:\n{shown}"
        text[places[0] : places[0] + len(before)] = after
        path.write_text("\n".join(text) + "\n", encoding="utf-8")


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of code of a page, in order."""
    blocks = []
    for number, (directive, language, text) in enumerate(_FENCE.findall(page.read_text("utf-8")), 1):
        file = ""
        if directive:
            file, text = re.fullmatch(r":caption: (\S+)\n\n(.*)", text, flags=re.DOTALL).groups()
        elif language == "diff":
            file, text = re.fullmatch(r"--- (\S+)\n(.*)", text, flags=re.DOTALL).groups()
        blocks.append(Block(f"{page.name}, block {number}", language, file, text))
    return blocks
