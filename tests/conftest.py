"""What all tests share: the folder of real data, and how Hypothesis draws."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a kernel may compile it, so no example has a deadline; every run draws the same.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder named by PURPORT_DATA, or skip the test."""
    named = os.environ.get("PURPORT_DATA")
    if not named:
        pytest.skip("PURPORT_DATA is not set")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"PURPORT_DATA={named} is not a folder")
    return folder
