#!/usr/bin/env python3
"""Writes what an installation would say of the package firearrow, so that its sources can be tested with its entry points.

Usage: python-metadata.py FOLDER
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("python/firearrow/pyproject.toml").read_text(encoding="utf-8"))["project"]
folder = Path(sys.argv[1]) / "firearrow-0.dist-info"
folder.mkdir(parents=True)
(folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: 0\n", encoding="utf-8")
lines = []
for group, entries in project["entry-points"].items():
    lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()), ""]
(folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
