"""
Simulate alanine dipeptide
==========================

Trajectories like the bundled ones, with OpenMM (``pip install 'mdfuzzy[simulate]'``)::

    python examples/simulate_alanine_dipeptide.py ala2 --trajectories 10 --nanoseconds 28.4

ACE-ALA-NME with Amber ff99SB-ILDN in OBC implicit solvent, Langevin dynamics at 300 K, steps of 4 fs with
heavy hydrogens and constrained bonds to them. Every trajectory starts from another conformation, heated to
800 K, with random numbers of its own that follow from ``--seed``. It is written in pieces (heavy atoms, XTC),
each with a checkpoint beside it: rerun the command to resume an interrupted simulation, with the same
result as without the interruption. Load each trajectory from its pieces::

    frames = mf.load([sorted(folder.glob("*.xtc")) for folder in sorted(Path("ala2").glob("run*"))],
                     top="ala2/ala2.pdb")
"""

import argparse
import json
import os
from pathlib import Path

import mdtraj as md
import numpy as np
from tqdm import tqdm

import mdfuzzy as mf

try:
    import openmm
    from openmm import app, unit
except ImportError as error:
    raise SystemExit("This example needs OpenMM: pip install 'mdfuzzy[simulate]'") from error

STEP = 0.004  # ps
HEATING = 20.0  # ps at 800 K, before every trajectory


def build() -> tuple[app.Topology, openmm.System, unit.Quantity]:
    """Return the topology, the system and the positions of the molecule with its hydrogens."""
    forcefield = app.ForceField("amber99sbildn.xml", "amber99_obc.xml")
    heavy = app.PDBFile(str(mf.datasets.folder() / "ala2.pdb"))
    model = app.Modeller(heavy.topology, heavy.positions)
    model.addHydrogens(forcefield)
    system = forcefield.createSystem(
        model.topology,
        nonbondedMethod=app.NoCutoff,
        constraints=app.HBonds,
        hydrogenMass=3.0 * unit.amu,
    )
    return model.topology, system, model.positions


def make_context(system: openmm.System, seed: int) -> openmm.Context:
    """Return a context on one core, whose random numbers follow from `seed`."""
    integrator = openmm.LangevinMiddleIntegrator(
        300 * unit.kelvin, 1 / unit.picosecond, STEP * unit.picoseconds
    )
    integrator.setRandomNumberSeed(seed)
    platform = openmm.Platform.getPlatformByName("CPU")
    return openmm.Context(system, integrator, platform, {"Threads": "1", "DeterministicForces": "true"})


def start(context: openmm.Context, positions: unit.Quantity, seed: int) -> None:
    """Put the molecule into a conformation of its own by heating it."""
    integrator = context.getIntegrator()
    context.setPositions(positions)
    openmm.LocalEnergyMinimizer.minimize(context)
    integrator.setTemperature(800 * unit.kelvin)
    context.setVelocitiesToTemperature(800 * unit.kelvin, seed)
    integrator.step(round(HEATING / STEP))
    integrator.setTemperature(300 * unit.kelvin)
    context.setVelocitiesToTemperature(300 * unit.kelvin, seed + 1)
    context.setTime(0)


def write(path: Path, content: bytes) -> None:
    """Write a file so that it is either whole or not there."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_bytes(content)
    os.replace(part, path)


def check_same_options(path: Path, options: argparse.Namespace) -> None:
    """Remember the options of a trajectory, or stop if it was begun with others."""
    now = {name: getattr(options, name) for name in ("nanoseconds", "interval", "piece", "seed")}
    if not path.exists():
        write(path, json.dumps(now).encode())
    elif (then := json.loads(path.read_text())) != now:
        raise SystemExit(f"{path.parent} was begun with {then}: use these options, or another folder.")


def simulate_piece(
    context: openmm.Context, heavy: np.ndarray, top: md.Topology, frames: int, steps: int, bar: tqdm
) -> md.Trajectory:
    """Return the next frames of the heavy atoms."""
    xyz, times = np.empty((frames, len(heavy), 3), np.float32), np.empty(frames)
    for frame in range(frames):
        context.getIntegrator().step(steps)
        state = context.getState(positions=True)
        xyz[frame] = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)[heavy]
        times[frame] = state.getTime().value_in_unit(unit.picosecond)
        bar.update(steps * STEP)
    return md.Trajectory(xyz, top, times)


def simulate(folder: Path, number: int, options: argparse.Namespace) -> None:
    """Run one trajectory to its end, from the last piece that has a checkpoint."""
    run = folder / f"run{number:02d}"
    run.mkdir(parents=True, exist_ok=True)
    check_same_options(run / "options.json", options)
    topology, system, positions = build()
    everything = md.Topology.from_openmm(topology)
    heavy = everything.select("not element H")
    steps = round(options.interval / STEP)
    total = round(1000 * options.nanoseconds / (steps * STEP))
    per_piece = max(1, min(total, round(1000 * options.piece / (steps * STEP))))
    seed = int(np.random.SeedSequence([options.seed, number]).generate_state(1)[0] % 2**31)
    context = make_context(system, seed)
    pieces = range(-(-total // per_piece))
    done = next((piece for piece in reversed(pieces) if (run / f"{piece:04d}.chk").exists()), -1)
    if done >= 0:
        context.loadCheckpoint((run / f"{done:04d}.chk").read_bytes())
    else:
        start(context, positions, seed)
    initial = min(total, (done + 1) * per_piece) * steps * STEP
    with tqdm(total=total * steps * STEP, initial=initial, unit=" ps", desc=run.name, disable=None) as bar:
        for piece in pieces[done + 1 :]:
            count = min(per_piece, total - piece * per_piece)
            frames = simulate_piece(context, heavy, everything.subset(heavy), count, steps, bar)
            part = run / f"part-{piece:04d}.xtc"
            frames.save(str(part))
            os.replace(part, run / f"{piece:04d}.xtc")
            write(run / f"{piece:04d}.chk", context.createCheckpoint())
    top = folder / "ala2.pdb"
    if not top.exists():
        md.load(str(run / "0000.xtc"), top=everything.subset(heavy))[0].save(str(top))


def main() -> None:
    """Read the options and run the trajectories one after the other."""
    parser = argparse.ArgumentParser(description="Simulate alanine dipeptide in implicit solvent.")
    parser.add_argument("folder", type=Path, help="where the trajectories go")
    parser.add_argument("--trajectories", type=int, default=2, help="how many (default 2)")
    parser.add_argument("--nanoseconds", type=float, default=1.0, help="length of each (default 1)")
    parser.add_argument("--interval", type=float, default=0.2, help="ps between frames (default 0.2)")
    parser.add_argument("--piece", type=float, default=1.0, help="ns between checkpoints (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="the random numbers follow from it (default 0)")
    options = parser.parse_args()
    if options.interval < STEP or options.nanoseconds <= 0 or options.piece <= 0 or options.trajectories < 1:
        parser.error(f"lengths and counts must be positive, and --interval at least one step of {STEP} ps")
    for number in range(options.trajectories):
        simulate(options.folder, number, options)


if __name__ == "__main__":
    main()
