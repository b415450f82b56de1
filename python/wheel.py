# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel from a folder of package files (PEP 427): wheel.py PACKAGE WHEEL --version V --tag TAG ...

The same files give the same bytes: members in the order of their names, the release's date as every time, and no
machine's user, mode or compression settings. RECORD holds a SHA-256 and a size for each member.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

SUMMARY = "What a GPU workload will need and do, before any GPU is rented"


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def stripped(path: pathlib.Path, strip: str) -> bytes:
    """A library without its symbols; the file itself stays as it was built."""
    if not strip:
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / path.name
        shutil.copyfile(path, copy)
        subprocess.run([strip, "--strip-unneeded", str(copy)], check=True)
        return copy.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--tag", required=True, help="cp311-cp311-linux_x86_64")
    parser.add_argument("--date", required=True, help="2026-11-22")
    parser.add_argument("--strip", default="")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--license", type=pathlib.Path)
    given = parser.parse_args()

    python = given.tag[2:3] + "." + given.tag[3:].split("-")[0]
    info = f"headroom-{given.version}.dist-info"
    members: dict[str, bytes] = {}
    for path in sorted(given.package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = f"headroom/{path.relative_to(given.package).as_posix()}"
            members[name] = stripped(path, given.strip) if path.suffix == ".so" else path.read_bytes()
    metadata = (
        "Metadata-Version: 2.1\n"
        "Name: headroom\n"
        f"Version: {given.version}\n"
        f"Summary: {SUMMARY}\n"
        "License: Apache-2.0\n"
        f"Requires-Python: =={python}.*\n"
        "Provides-Extra: frames\n"
        'Requires-Dist: pandas; extra == "frames"\n'
    )
    if given.readme:
        metadata += "Description-Content-Type: text/markdown\n\n" + given.readme.read_text(encoding="utf-8")
    members[f"{info}/METADATA"] = metadata.encode()
    members[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: headroom {given.version}\nRoot-Is-Purelib: false\nTag: {given.tag}\n"
    ).encode()
    if given.license:
        members[f"{info}/LICENSE"] = given.license.read_bytes()
    record = f"{info}/RECORD"
    rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in sorted(members.items())]
    members[record] = ("\n".join([*rows, f"{record},,"]) + "\n").encode()

    year, month, day = (int(part) for part in given.date.split("-"))
    partial = given.wheel.with_suffix(".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in [*sorted(n for n in members if n != record), record]:
            member = zipfile.ZipInfo(name, (year, month, day, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            member.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(member, members[name])
    os.replace(partial, given.wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
