"""Puts the driver into the wheel, and sets the wheel's platform tag."""

import os
import platform
import re
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "adbc_driver_firebird"
# Libraries of every manylinux system (PEP 600 and the policies of auditwheel) that Rust programs need.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-[\w-]+)\.so\.\d+")


class DriverHook(BuildHookInterface):
    """Adds the library, its manifest template and the tag."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Runs before the files are collected."""
        library = find_library()
        build_data["force_include"][str(library)] = f"{PACKAGE}/libadbc_driver_firebird.so"
        manifest = REPOSITORY / "crates/adbc/manifest/firebird.toml"
        build_data["force_include"][str(manifest)] = f"{PACKAGE}/firebird.toml"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(library)}"


def find_library() -> Path:
    """Returns the library that FIREARROW_ADBC_LIBRARY names, or the one that `cargo build --release` built."""
    named = os.environ.get("FIREARROW_ADBC_LIBRARY")
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    prefix = "" if sys.platform == "win32" else "lib"
    library = Path(named) if named else target / "release" / f"{prefix}adbc_driver_firebird{suffix}"
    if not library.is_file():
        raise FileNotFoundError(f"{library}: build it with `cargo build --release --package firearrow-adbc-library`")
    return library


def platform_tag(library: Path) -> str:
    """Returns `manylinux_2_X_arch` by the newest glibc symbols, `linux_arch` if other libraries are needed.

    FIREARROW_GLIBC names the glibc that the library was built for, which may have newer symbols than were needed.
    """
    if sys.platform == "darwin":
        return f"macosx_11_0_{platform.machine()}"
    if sys.platform == "win32":
        return "win_amd64" if platform.machine() == "AMD64" else "win_arm64"
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        elf = ELFFile(file)
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
        machine = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}.get(elf["e_machine"])
        if machine is None:
            raise ValueError(f"{library} is for the processor {elf['e_machine']}, for which there is no tag here")
        major, minor = os.environ.get("FIREARROW_GLIBC", "2.17").split(".")
        glibc = (int(major), int(minor))
        for _, versions in elf.get_section_by_name(".gnu.version_r").iter_versions():
            for version in versions:
                found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version.name)
                if found:
                    glibc = max(glibc, (int(found[1]), int(found[2])))
    if all(SYSTEM.fullmatch(name) for name in needed):
        return f"manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    return f"linux_{machine}"
