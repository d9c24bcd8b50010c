"""Puts the driver into the wheel, and says for which systems that wheel is."""

import os
import platform
import re
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = "adbc_driver_firebird"
# What every manylinux system has (PEP 600 and the policies of auditwheel), as far as Rust programs need it.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-[\w-]+)\.so\.\d+")


class DriverHook(BuildHookInterface):
    """Adds the library, the template of its manifest and the tag."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Called before the files are collected."""
        library = find_library()
        build_data["force_include"][str(library)] = f"{PACKAGE}/libadbc_driver_firebird.so"
        manifest = REPOSITORY / "crates/adbc/manifest/firebird.toml"
        build_data["force_include"][str(manifest)] = f"{PACKAGE}/firebird.toml"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(library)}"


def find_library() -> Path:
    """The library that FIREARROW_ADBC_LIBRARY names, or the one that `cargo build --release` made."""
    named = os.environ.get("FIREARROW_ADBC_LIBRARY")
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    prefix = "" if sys.platform == "win32" else "lib"
    library = Path(named) if named else target / "release" / f"{prefix}adbc_driver_firebird{suffix}"
    if not library.is_file():
        raise FileNotFoundError(f"{library}: build it with `cargo build --release --package firearrow-adbc`")
    return library


def platform_tag(library: Path) -> str:
    """`manylinux_2_X_arch` by the newest symbols of glibc that are used, `linux_arch` if others are needed."""
    if sys.platform == "darwin":
        return f"macosx_11_0_{platform.machine()}"
    if sys.platform == "win32":
        return "win_amd64" if platform.machine() == "AMD64" else "win_arm64"
    from elftools.elf.elffile import ELFFile

    with library.open("rb") as file:
        elf = ELFFile(file)
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
        glibc = (2, 17)
        for _, versions in elf.get_section_by_name(".gnu.version_r").iter_versions():
            for version in versions:
                found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version.name)
                if found:
                    glibc = max(glibc, (int(found[1]), int(found[2])))
    machine = platform.machine()
    if all(SYSTEM.fullmatch(name) for name in needed):
        return f"manylinux_{glibc[0]}_{glibc[1]}_{machine}"
    return f"linux_{machine}"
