"""What all tests share: the folder of real data, and how Hypothesis draws."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a kernel may compile it, so no example has a deadline; every run draws the same.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def _one_signature_a_kernel() -> Iterator[None]:
    """Hold every kernel that the tests called to the signature that it declares.

    Another one would compile unseen at a first call, for `warm` knows the declared ones only.
    """
    yield
    kernel = sys.modules.get("purport.fold.kernel")
    called = kernel.KERNELS if kernel else {}
    others = [name for name, (dispatcher, _) in called.items() if len(dispatcher.signatures) > 1]
    assert not others, f"compiled for types that are not declared: {others}"


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
