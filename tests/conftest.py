"""What several test modules need."""

import os
import shutil
import signal
from pathlib import Path

import pytest

import mdfuzzy

#: Full-size data that is too large for the repository.
SHARED_DATA = Path(os.environ.get("MDFUZZY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_configure() -> None:
    """Answer Ctrl-C, which a shell lets its background jobs ignore, and the programs that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """Say which copy of the package is tested: the installed one or the source tree."""
    return f"mdfuzzy {mdfuzzy.__version__} from {Path(mdfuzzy.__file__).parent}"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the full-size data sets; tests that ask for it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(
            f"the full-size data sets are not here ({SHARED_DATA}); set MDFUZZY_SHARED_DATA to their folder"
        )
    return SHARED_DATA


@pytest.fixture(scope="session")
def copied_peptide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bundled files: MDAnalysis writes an index beside each trajectory that it reads."""
    return shutil.copytree(mdfuzzy.datasets.folder(), tmp_path_factory.mktemp("copied") / "ala2")


@pytest.fixture(scope="session")
def peptide_result() -> mdfuzzy.Clustering:
    """The bundled alanine dipeptide, every ps, clustered at beta = 2 and scanned over beta."""
    frames = mdfuzzy.datasets.alanine_dipeptide(stride=5)
    return mdfuzzy.cluster(frames, mdfuzzy.Settings(scan_beta=True, n_jobs=1))


@pytest.fixture(scope="session")
def peptide_report(peptide_result: mdfuzzy.Clustering, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of `peptide_result`, with all that a report can have."""
    validation = mdfuzzy.validate_model(peptide_result, n_bootstrap=5)
    path = tmp_path_factory.mktemp("report") / "report.html"
    tests = {"timescales": validation.timescales, "test": validation.test}
    return mdfuzzy.report.write_report(path, peptide_result, title="Alanine dipeptide", **tests)
