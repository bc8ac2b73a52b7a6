"""Puts the program `loci` into the wheel, and names the platform that it runs on.

The program is `LOCI_BINARY`, else that of the release build, which is made if it is not there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The machine of an ELF file and of a Mach-O file, by its number in the header.
ELF_MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
MACH_MACHINES = {0x0100_0007: "x86_64", 0x0100_000C: "arm64"}
# The oldest macOS that Rust builds for unless MACOSX_DEPLOYMENT_TARGET says otherwise.
MACOS = {"x86_64": "10.12", "arm64": "11.0"}


class CustomBuildHook(BuildHookInterface):
    """Adds the program to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before the wheel is made."""
        del version
        binary = find_binary(Path(self.root).parent)
        name = "loci.exe" if os.name == "nt" else "loci"
        build_data["shared_scripts"][str(binary)] = name
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(binary)}"


def find_binary(workspace: Path) -> Path:
    """The program, which is built if need be."""
    if named := os.environ.get("LOCI_BINARY"):
        binary = Path(named).absolute()
        if not binary.is_file():
            raise FileNotFoundError(f"LOCI_BINARY names no file: {binary}")
        return binary
    target = Path(os.environ.get("CARGO_TARGET_DIR") or workspace / "target").absolute()
    binary = target / "release" / ("loci.exe" if os.name == "nt" else "loci")
    if not binary.is_file():
        subprocess.run(["cargo", "build", "--release", "--locked", "--package", "loci-cli"], cwd=workspace, check=True)
    return binary


def platform_tag(binary: Path) -> str:
    """The tag of the platforms that a program runs on.

    It depends on the program and not on the machine that builds: the least glibc is that of the newest symbol.
    """
    data = binary.read_bytes()
    if data.startswith(b"\xcf\xfa\xed\xfe"):
        machine = MACH_MACHINES[int.from_bytes(data[4:8], "little")]
        oldest = os.environ.get("MACOSX_DEPLOYMENT_TARGET") or MACOS[machine]
        return f"macosx_{oldest.replace('.', '_')}_{machine}"
    if not data.startswith(b"\x7fELF"):
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    machine = ELF_MACHINES[int.from_bytes(data[18:20], "little")]
    # The names of versions stand in the table of strings, each between two zeros.
    minors = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=(?:\.\d+)?\0)", data)]
    if b"\0GLIBC_ABI_DT_RELR\0" in data:
        minors.append(36)
    if not minors:
        return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    return f"manylinux_2_{max(17, *minors)}_{machine}"
