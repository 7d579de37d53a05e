"""Fetches the data packages from npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from .recipe import Recipe


def fetch(work: Path, recipe: Recipe) -> None:
    """Downloads the packages of the recipe in their versions, unless they exist."""
    packages = work / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for name, version in recipe["packages"].items():
        folder = packages / name.split("/")[-1]
        if folder.exists():
            if json.loads((folder / "package.json").read_text())["version"] == version:
                continue
            shutil.rmtree(folder)
        with tempfile.TemporaryDirectory(dir=packages) as downloads:
            subprocess.run(
                ["npm", "pack", "--silent", f"{name}@{version}"], cwd=downloads, check=True
            )
            (archive,) = Path(downloads).glob("*.tgz")
            with tarfile.open(archive) as tar:
                tar.extractall(downloads, filter="data")
            (Path(downloads) / "package").rename(folder)
        print(f"{name} {version}", flush=True)
