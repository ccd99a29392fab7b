"""The initial file system of a guest, as the archive that Linux unpacks (cpio, format newc)."""

import os
import re
import subprocess


class InitialFiles:
    """Files by their path in the guest. Folders above them are made."""

    def __init__(self):
        self._entries = {}

    def add_folder(self, path):
        if path in ("", "/") or path in self._entries:
            return
        self.add_folder(os.path.dirname(path))
        self._entries[path] = (0o040755, b"")

    def add_bytes(self, path, content, executable=False):
        self.add_folder(os.path.dirname(path))
        self._entries[path] = (0o100755 if executable else 0o100644, content)

    def add_file(self, path, source, executable=None):
        with open(source, "rb") as file:
            content = file.read()
        if executable is None:
            executable = os.access(source, os.X_OK)
        self.add_bytes(path, content, executable)

    def add_program(self, path, source):
        """The file and every library that it needs, at the places where it looks for them."""
        self.add_file(path, source, executable=True)
        listed = subprocess.run(["ldd", source], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+)", listed):
            if library not in self._entries and os.path.exists(library):
                self.add_file(library, os.path.realpath(library), executable=True)

    def write(self, out):
        position = 0
        entries = sorted(self._entries.items()) + [("/TRAILER!!!", (0, b""))]
        for number, (path, (mode, content)) in enumerate(entries, 1):
            name = path[1:].encode() + b"\0"
            fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
            record = b"070701" + b"".join(b"%08X" % field for field in fields) + name
            record += b"\0" * (-len(record) % 4) + content
            record += b"\0" * (-len(record) % 4)
            out.write(record)
            position += len(record)
        out.write(b"\0" * (-position % 512))
