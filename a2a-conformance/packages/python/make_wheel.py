"""Writes the wheel of a project in Python with a program that was built before."""

import argparse
import base64
import hashlib
import json
import re
import stat
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKSPACE = HERE.parents[2]
TARGETS = {row["target"]: row for row in json.loads((HERE.parent / "targets.json").read_text(encoding="utf-8"))}
PROGRAM = stat.S_IFREG | 0o755
TEXT = stat.S_IFREG | 0o644


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path, help="directory with a pyproject.toml")
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--target", choices=TARGETS, required=True)
    parser.add_argument("-o", "--output", type=Path, default=Path("."))
    arguments = parser.parse_args()
    print(make_wheel(**vars(arguments)))


def make_wheel(project, binary, target, output):
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = python_version(tomllib.loads((WORKSPACE / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"])
    program = binary.read_bytes()
    tag = f"py3-none-{TARGETS[target].get('wheel') or linux_tag(target, program)}"
    stem = f"{about['name'].replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"

    files = {f"{stem}.data/scripts/{binary.name}": (program, PROGRAM)}
    for path in sorted(project.glob("a2a_conformance/*.py")):
        files[path.relative_to(project).as_posix()] = (path.read_bytes(), TEXT)
    licenses = sorted(WORKSPACE.glob("LICENSE-*"))
    for path in licenses:
        files[f"{info}/licenses/{path.name}"] = (path.read_bytes(), TEXT)
    heads = [("Metadata-Version", "2.4"), ("Name", about["name"]), ("Version", version), ("Summary", about["description"])]
    heads += [("License-Expression", about["license"]), ("Requires-Python", about["requires-python"])]
    heads += [("License-File", path.name) for path in licenses]
    heads += [("Project-URL", f"{name}, {url}") for name, url in about["urls"].items()]
    heads += [("Description-Content-Type", "text/markdown")]
    readme = (project / about["readme"]).read_text(encoding="utf-8")
    texts = {"METADATA": lines(heads) + "\n" + readme}
    platforms = tag.removeprefix("py3-none-").split(".")
    heads = [("Wheel-Version", "1.0"), ("Generator", "make_wheel"), ("Root-Is-Purelib", "false")]
    texts["WHEEL"] = lines(heads + [("Tag", f"py3-none-{platform}") for platform in platforms])
    groups = about.get("entry-points", {}).items()
    if groups:
        rows = ([f"[{group}]"] + [f"{name} = {place}" for name, place in entries.items()] for group, entries in groups)
        texts["entry_points.txt"] = "\n".join(row for group in rows for row in group) + "\n"
    files |= {f"{info}/{name}": (text.encode(), TEXT) for name, text in texts.items()}
    record = [f"{name},sha256={digest(content)},{len(content)}" for name, (content, _) in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,", ""]).encode(), TEXT)

    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in files.items():
            # The same bytes for the same files: no time of today.
            entry = zipfile.ZipInfo(name)
            entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def python_version(version):
    """Returns a version of Cargo as Python writes it: `0.1.0-alpha.1` is `0.1.0a1`."""
    return re.sub(r"-(alpha|beta|rc)\.(\d+)$", lambda match: {"alpha": "a", "beta": "b", "rc": "rc"}[match[1]] + match[2], version)


def linux_tag(target, program):
    """Returns the tag of a program that links glibc, like `manylinux_2_34_x86_64`."""
    found = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)\0", program)]
    return f"manylinux_2_{max([17, *found])}_{target.split('-')[0]}"


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def lines(heads):
    return "".join(f"{name}: {value}\n" for name, value in heads)


if __name__ == "__main__":
    main()
