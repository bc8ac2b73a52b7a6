"""Runs the Python of the documentation.

The blocks of a page are one program, which is checked by mypy and runs in a folder of its own. A block that cannot run is
fenced as `py no-run`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import servers_of, wait_until
from server import LOCI, PACKAGE, ROOT

PAGES = {
    "README.md": 1,
    "python/README.md": 3,
    "docs/guides/python.md": 10,
    "docs/guides/langgraph.md": 4,
    "docs/guides/frameworks.md": 2,
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The program of each page."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for page, least in PAGES.items():
        blocks = re.findall(r"^```py\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
        assert len(blocks) >= least, f"{page} has examples"
        found[page] = folder / (re.sub(r"\W", "_", page) + ".py")
        found[page].write_text("\n".join(blocks))
    return found


def test_the_examples_have_the_types_that_they_should(programs: dict[str, Path]) -> None:
    command = [sys.executable, "-m", "mypy", "--config-file", str(PACKAGE / "pyproject.toml"), "--scripts-are-modules"]
    result = subprocess.run([*command, *map(str, programs.values())], cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path.resolve()
    yield folder
    for data in (folder / "data", folder / "scratch"):
        wait_until(lambda data=data: not servers_of(data), "the server has ended with its last user")  # type: ignore[misc]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, programs: dict[str, Path], folder: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(folder),
        "LOCI_BINARY": str(LOCI),
        "LOCI_DATA": str(folder / "data"),
        "LOCI_EMBEDDINGS": "none",
    }
    command = [sys.executable, str(programs[page])]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
