"""Writes a newc archive, the form in which Linux takes its first file system: without root, and
with the libraries that a program needs. Archives may follow one another in a file."""
import lzma
import os
import pathlib
import re
import subprocess

LIBRARY_FOLDERS = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib", "usr/lib",
                   "lib/x86_64-linux-gnu/systemd", "usr/lib/x86_64-linux-gnu/systemd",
                   "lib/systemd")
PROGRAM_FOLDERS = ("usr/bin", "bin", "usr/sbin", "sbin")
LOADER = "ld-linux-x86-64.so.2"


class Archive:
    """Files by their path in the guest. Looked for in `roots`, first to last: trees of unpacked
    packages, or this machine's own."""

    def __init__(self, roots):
        self.roots = [pathlib.Path(root) for root in roots]
        self.files = {}  # path in the guest: ("file", source) or ("link", target)

    def add(self, guest, source):
        self.files[guest.strip("/")] = ("file", pathlib.Path(source))

    def add_link(self, guest, target):
        self.files.setdefault(guest.strip("/"), ("link", target))

    def add_program(self, guest, source):
        """A program, and every library that it needs and that is not in the archive."""
        self.add(guest, source)
        if pathlib.Path(source).read_bytes()[:4] != b"\x7fELF":
            return
        dynamic = subprocess.run(["readelf", "-d", "-l", str(source)], capture_output=True,
                                 text=True, check=True).stdout
        if "Requesting program interpreter" in dynamic:
            self.add(f"lib64/{LOADER}", self.find(LIBRARY_FOLDERS + ("lib64",), LOADER))
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            guest_path = f"lib/x86_64-linux-gnu/{name}"
            if name != LOADER and guest_path not in self.files:
                self.add_program(guest_path, self.find(LIBRARY_FOLDERS, name))

    def add_named(self, name):
        self.add_program(f"bin/{name}", self.find(PROGRAM_FOLDERS, name))

    def find(self, folders, name):
        for root in self.roots:
            for folder in folders:
                found = resolve(root, f"{folder}/{name}")
                if found is not None:
                    return found
        raise FileNotFoundError(f"{name}: in none of {', '.join(map(str, self.roots))}")

    def write(self, path):
        folders = set()
        for name in self.files:
            folders.update(str(folder) for folder in pathlib.PurePath(name).parents)
        with open(path, "wb") as out:
            number = 0
            for folder in sorted(folders - {"."}):
                number += 1
                write_entry(out, number, folder, 0o040755, b"")
            for name, (kind, source) in sorted(self.files.items()):
                number += 1
                if kind == "link":
                    write_entry(out, number, name, 0o120777, source.encode())
                    continue
                mode = 0o100755 if os.access(source, os.X_OK) else 0o100644
                write_entry(out, number, name, mode, contents(source))
            write_entry(out, 0, "TRAILER!!!", 0, b"")


def resolve(root, name):
    """The file that `name` is below `root`; a link is followed as if `root` were the top."""
    for _ in range(10):
        path = root / name
        if not path.is_symlink():
            return path if path.is_file() else None
        target = os.readlink(path)
        name = target.lstrip("/") if target.startswith("/") else os.path.normpath(
            os.path.join(os.path.dirname(name), target))
    return None


def contents(source):
    data = source.read_bytes()
    return lzma.decompress(data) if source.name.endswith(".ko.xz") else data


def write_entry(out, number, name, mode, data):
    label = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(label), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + label
    out.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))
