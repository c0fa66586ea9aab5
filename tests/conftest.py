"""What several test modules need."""

import os
from pathlib import Path

import pytest

import mdfuzzy

#: Full-size data that is too large for the repository.
SHARED_DATA = Path(os.environ.get("MDFUZZY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


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
