"""What is published: the wheel installs in an empty environment and works in five lines."""

from __future__ import annotations

import email
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from pathlib import Path

import pytest
from processes import servers_of, wait_until
from server import PACKAGE, ROOT

WHEEL = os.environ.get("LOCI_TEST_WHEEL")
pytestmark = pytest.mark.skipif(WHEEL is None, reason="LOCI_TEST_WHEEL does not name the wheel; scripts/python.sh builds it")

FIVE_LINES = """
from loci import Memory
memory = Memory()
memory.remember("I am allergic to peanuts")
answer = memory.recall("what am I allergic to?")
print(answer.data[0].memory.content)
"""
# Libraries that every Linux with glibc has, by the rules for manylinux wheels.
ALLOWED = {"ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "libc.so.6", "libgcc_s.so.1", "libm.so.6"}


@pytest.fixture(scope="module")
def version() -> str:
    found = re.search(r'\[workspace\.package\][^[]*?\nversion = "([^"]+)"', (ROOT / "Cargo.toml").read_text())
    assert found is not None
    return found[1]


def test_the_wheel_is_described_in_full_and_its_version_is_that_of_the_workspace(version: str) -> None:
    assert WHEEL is not None
    with zipfile.ZipFile(WHEEL) as archive:
        names = archive.namelist()
        info = f"loci_memory-{version}.dist-info"
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        tags = email.message_from_bytes(archive.read(f"{info}/WHEEL"))
        program = archive.getinfo(f"loci_memory-{version}.data/scripts/loci")
    assert (metadata["Name"], metadata["Version"]) == ("loci-memory", version)
    assert metadata["License-Expression"] == "Apache-2.0 OR MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert metadata.get_payload(decode=True) == (PACKAGE / "README.md").read_bytes()
    needed = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert needed == ["httpx<1,>=0.27"]
    assert set(metadata.get_all("Provides-Extra", [])) == {"langchain", "langgraph", "llama-index", "openai-agents"}
    assert {f"{info}/licenses/LICENSE-APACHE", f"{info}/licenses/LICENSE-MIT", "loci/py.typed"} <= set(names)
    assert not [name for name in names if not name.startswith(("loci/", f"loci_memory-{version}."))]
    assert tags["Root-Is-Purelib"] == "false"
    assert Path(WHEEL).name == f"loci_memory-{version}-{tags['Tag']}.whl"
    assert program.external_attr >> 16 & 0o111, "the program can be run"
    assert re.search(rf"^## {re.escape(version)}\b", (PACKAGE / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads ELF files")
def test_the_tag_of_the_platform_is_what_the_program_needs(tmp_path: Path) -> None:
    assert WHEEL is not None
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is missing")
    with zipfile.ZipFile(WHEEL) as archive:
        [program] = [name for name in archive.namelist() if name.endswith(".data/scripts/loci")]
        archive.extract(program, tmp_path)

    def shown(option: str) -> str:
        return subprocess.run([readelf, option, tmp_path / program], capture_output=True, text=True, check=True).stdout

    newest = max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", shown("--version-info")))
    assert f"-manylinux_2_{max(17, newest)}_" in Path(WHEEL).name
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", shown("--dynamic"))) <= ALLOWED


ELF = b"\x7fELF" + bytes(14)
INTEL, ARM = (0x3E).to_bytes(2, "little"), (0xB7).to_bytes(2, "little")


@pytest.mark.parametrize(
    ("program", "tag"),
    [
        (ELF + INTEL + b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0", "manylinux_2_34_x86_64"),
        (ELF + ARM + b"\0GLIBC_2.4\0 says GLIBC_2.99 \0", "manylinux_2_17_aarch64"),
        (ELF + ARM + b"\0GLIBC_2.28\0GLIBC_ABI_DT_RELR\0", "manylinux_2_36_aarch64"),
        (ELF + INTEL, "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
        (b"\xcf\xfa\xed\xfe\x0c\0\0\x01", "macosx_11_0_arm64"),
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", "macosx_10_12_x86_64"),
        (b"MZ", re.sub(r"[-.]", "_", sysconfig.get_platform())),
    ],
)
def test_the_tag_is_read_from_the_program(program: bytes, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.delenv("MACOSX_DEPLOYMENT_TARGET", raising=False)
    build = importlib.import_module("hatch_build")
    (tmp_path / "program").write_bytes(program)
    assert build.platform_tag(tmp_path / "program") == tag


def test_the_wheel_installs_in_an_empty_environment_and_five_lines_remember_and_recall(tmp_path: Path) -> None:
    assert WHEEL is not None
    home = tmp_path.resolve() / "home"
    home.mkdir()
    start = time.monotonic()
    venv.create(tmp_path / "venv", with_pip=True)
    made = time.monotonic()
    # No Rust, no settings, no data. Settings of pip stay, because they say where packages come from.
    kept = [name for name in os.environ if name.startswith("PIP_") or name.endswith("CERT_FILE")]
    environment = {**{name: os.environ[name] for name in kept}, "PATH": "/usr/bin:/bin", "HOME": str(home)}
    python = str(tmp_path / "venv/bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pins = PACKAGE / "requirements/test.txt"
    subprocess.run([*pip, "--constraint", str(pins), WHEEL], env=environment, check=True)
    installed = time.monotonic()
    environment["LOCI_EMBEDDINGS"] = "none"
    result = subprocess.run([python, "-c", FIVE_LINES], env=environment, cwd=home, capture_output=True, text=True, check=False)
    done = time.monotonic()
    assert (result.stdout, result.stderr) == ("I am allergic to peanuts\n", "")

    def loci(*arguments: str) -> str:
        command = [str(tmp_path / "venv/bin/loci"), *arguments]
        return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=True).stdout

    assert "I am allergic to peanuts" in loci("recall", "what am I allergic to?")
    data = Path(json.loads(loci("--json", "config", "check"))["data"])
    assert home in data.parents
    wait_until(lambda: not servers_of(data), "the server has ended")
    print(f"venv {made - start:.1f} s, installed in {installed - made:.1f} s, five lines in {done - installed:.2f} s")
