"""Pages that are made of results: a JSON file for each benchmark, and a page that tells what they hold."""

import json
from collections.abc import Callable
from pathlib import Path

from mdfuzzy._atomic import whole_file


def save_text(path: Path, text: str) -> None:
    """Write a file, in a folder that is made if need be; it is whole whenever it is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))


def tell(text: str, path: Path | None) -> None:
    """Print a text, or write it to a file if there is one."""
    if path is None:
        print(text)
    else:
        save_text(path, text)


def save_result(folder: Path, name: str, found: dict) -> None:
    """Keep what a benchmark found."""
    save_text(folder / f"{name}.json", json.dumps(found, indent=1) + "\n")


def save_page(folder: Path, head: str, parts: dict[str, Callable[[dict], str]]) -> Path:
    """Write index.md: its head, and what each part tells of its result, of those that are there."""
    texts = [head]
    for name, text in parts.items():
        file = folder / f"{name}.json"
        if file.exists():
            texts.append(text(json.loads(file.read_text(encoding="utf-8"))))
    page = folder / "index.md"
    save_text(page, "\n".join(texts))
    return page
