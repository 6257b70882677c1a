#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols.py WHEEL_OR_TARBALL_OR_PROGRAM...: which glibc each program and library in it asks for, and which libraries.

Ends with 1 where that is more than glibc 2.28 has, or anything but glibc.
"""

import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

NEWEST = (2, 28)
OF_GLIBC = re.compile(r"(libc|libm|libpthread|libdl|librt|ld-linux[\w-]*)\.so\.\d+")


def unpacked(path, folder):
    """The files to look at."""
    if path.suffix == ".whl":
        zipfile.ZipFile(path).extractall(folder)
    elif path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder)
    else:
        return [path]
    return sorted(file for file in pathlib.Path(folder).rglob("*") if file.is_file() and not file.is_symlink())


def read_elf(path):
    """(needed libraries, versions of glibc) of a program or shared library; None for another file."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    told = subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", str(path)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()
    versions = re.findall(r"Name: GLIBC_([\d.]+)", told)
    return re.findall(r"NEEDED.*\[(.*)\]", told), {tuple(map(int, version.split("."))) for version in versions}


def problems_of(needed, versions):
    for library in needed:
        if not OF_GLIBC.fullmatch(library):
            yield f"needs {library}"
    for version in versions:
        if version > NEWEST:
            yield f"needs glibc {'.'.join(map(str, version))}"


def look_at(path, tell=print):
    """How many programs and libraries there are, and everything that is wrong with them."""
    count, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for file in unpacked(path, folder):
            found = read_elf(file)
            if found is None:
                continue
            count += 1
            needed, versions = found
            newest = ".".join(map(str, max(versions, default=(0,))))
            tell(f"{file.name}: glibc {newest}, {' '.join(needed)}")
            wrong += [f"{file.name} {problem}" for problem in problems_of(needed, versions)]
    return count, wrong


def main(paths):
    status = 0
    for path in map(pathlib.Path, paths):
        print(f"{path.name}, {path.stat().st_size / 1e6:.1f} MB")
        count, wrong = look_at(path)
        for problem in wrong if count else ["there is no program in it"]:
            print(f"error: {problem}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
