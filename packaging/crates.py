#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the licence texts of the crates that the programs have linked in.

    packaging/crates.py DIRECTORY PACKAGE...

One file a crate, NAME-VERSION, for all that the PACKAGEs of this workspace
depend on at run time; the index says each crate's licence.
"""

import json
import pathlib
import subprocess
import sys

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE")


def cargo(*arguments):
    command = ["cargo", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(package):
    """Names and versions of what `package` links in, itself not included."""
    lines = cargo("tree", "-p", package, "-e", "normal", "--prefix", "none", "-f", "{p}")
    for line in lines.splitlines():
        words = line.split()
        # Crates of the workspace carry their path behind the version.
        if len(words) > 1 and not any(word.startswith("(/") for word in words):
            yield words[0], words[1].removeprefix("v")


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: packaging/crates.py DIRECTORY PACKAGE...")
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    known = {
        (package["name"], package["version"]): package
        for package in json.loads(cargo("metadata", "--format-version", "1"))["packages"]
    }
    wanted = sorted({crate for package in sys.argv[2:] for crate in linked(package)})
    index = []
    for name, version in wanted:
        package = known[name, version]
        folder = pathlib.Path(package["manifest_path"]).parent
        texts = [
            path.read_text(errors="replace")
            for path in sorted(folder.iterdir())
            if path.is_file() and path.name.upper().startswith(NAMES)
        ]
        if texts:
            (directory / f"{name}-{version}").write_text("\n".join(texts))
        index.append(f"{name} {version}: {package['license'] or 'see its text'}")
    (directory / "index").write_text("\n".join(index) + "\n")


main()
