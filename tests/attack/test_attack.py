"""A short part of the attacks in ``benchmarks/attack``: nothing ends badly."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks_on_the_path(monkeypatch):
    if not BENCHMARKS.is_dir():
        pytest.skip("the benchmarks are not here")
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def ending_badly(name: str, cases: list[dict], folder: Path) -> list[dict]:
    """Try cases, and return those that end badly."""
    from attack.outcomes import BAD
    from attack.pool import try_all

    results = list(try_all(cases, name, folder, patience=120.0))
    assert len(results) == len(cases)
    return [{**case, **answer} for case, answer in results if answer["outcome"] in BAD]


@pytest.mark.parametrize(("name", "count"), [("files", 320), ("folders", 6), ("kills", 2)])
def test_attack(name, count, tmp_path):
    cases = import_module(f"attack.{name}").cases(count, seed=7)
    assert ending_badly(name, cases, tmp_path) == []


def test_attack_with_command_lines(tmp_path):
    cases = import_module("attack.lines").cases(10_000)
    assert len(cases) > 150
    assert ending_badly("lines", cases[::9], tmp_path) == []


def test_damage_is_the_same_for_a_seed_and_real():
    from attack.damage import IN_PLACE, KINDS, damage

    data = np.random.default_rng(1).bytes(500)
    for kind in KINDS:
        changed = 0
        for seed in range(20):
            broken = damage(data, kind, np.random.default_rng(seed))
            assert broken == damage(data, kind, np.random.default_rng(seed))
            assert len(broken) == 500 or kind not in IN_PLACE
            changed += broken != data
        assert changed > 15, kind
    text = b"12 atoms\n1.5 2.5 3.5\n"
    assert any(damage(text, "number", np.random.default_rng(s), text=True) != text for s in range(5))


def test_wrong_answers_are_told_from_others(tmp_path):
    from attack.files import _judge, _load, make

    make("xtc", tmp_path / "whole.xtc")
    whole = _load(tmp_path / "whole.xtc")
    small, large = b"x" * 100, b"x" * 300
    assert _judge(whole, whole, "cut", large, small, []) == "same"
    assert _judge(whole[:5], whole, "cut", large, small, []) == "silent"
    assert _judge(whole[:5], whole, "cut", large, small, ["a warning"]) == "warned"
    other = whole.xyz.copy()
    other[3] *= 1.5
    changed = type(whole)(other, whole.lengths, times=whole.times)
    assert _judge(changed, whole, "flip", large, large, []) == "value"
    assert _judge(changed, whole, "cut end", large, small, []) == "silent"


def test_processes_that_die_or_hang_are_noted(tmp_path):
    from attack.pool import Worker

    case = {"row": "xtc", "kind": "flip", "seed": 0}
    worker = Worker(sys.executable, "files", tmp_path)
    assert worker.ask(case, 0.0)["outcome"] == "hang"
    assert worker.ask(case, 60.0)["outcome"] == "crash"
    assert not worker.alive


def test_what_libraries_print_is_no_answer(tmp_path):
    from attack.pool import Worker

    worker = Worker(sys.executable, "files", tmp_path)
    answer = worker.ask({"row": "dcd", "kind": "append", "seed": 0}, 120.0)  # its reader prints
    assert answer["outcome"] in ("same", "clear")
    worker.end()


def test_table():
    from attack import outcomes

    text = outcomes.table([("xtc", "clear"), ("xtc", "same"), ("pdb", "crash")])
    assert text.splitlines()[2:] == [
        "| pdb | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |",
        "| xtc | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "| **all** | **3** | **1** | **1** | **0** | **0** | **0** | **0** | **1** | **0** | **0** |",
    ]
