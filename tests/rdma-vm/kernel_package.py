"""The distribution's kernel, fetched as a package and unpacked without being installed."""

import glob
import lzma
import os
import re
import struct
import subprocess

META_PACKAGE = "linux-image-amd64"
ELF_MAGIC = b"\x7fELF"
# Of the package, what a guest with soft-RoCE may need.
PARTS = ["./boot/vmlinuz-*", "./lib/modules/*/modules.*", "*/drivers/infiniband/*",
         "*/drivers/net/veth.ko*", "*/net/sched/*", "*/net/ipv4/udp_tunnel.ko*",
         "*/net/ipv6/ip6_udp_tunnel.ko*", "*/crypto/crc32*", "*/lib/libcrc32c.ko*"]


class Unavailable(Exception):
    """The kernel cannot be had; the text says why."""


class Kernel:
    """An unpacked kernel: `image` boots, `load_order` names its modules."""

    def __init__(self, folder, version):
        self.image = os.path.join(folder, "vmlinux")
        self._modules = os.path.join(folder, "lib", "modules", version)

    def load_order(self, names):
        """Paths of the modules and of what they need, each after what it needs."""
        needs = {}
        with open(os.path.join(self._modules, "modules.dep"), encoding="ascii") as file:
            for line in file:
                path, _, rest = line.partition(":")
                needs[path] = rest.split()
        by_name = {re.sub(r"\.ko.*", "", os.path.basename(path)): path for path in needs}
        order = []
        for name in names:
            if name not in by_name:
                raise Unavailable(f"the kernel has no module {name}")
            # depmod lists the needs of a module from the nearest to the farthest.
            for path in [*reversed(needs[by_name[name]]), by_name[name]]:
                if path not in order:
                    order.append(path)
        return [os.path.join(self._modules, path) for path in order]


def _run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        tail = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Unavailable(f"{' '.join(command[:3])}: {' '.join(tail)}")
    return done.stdout


def _unpack_image(compressed, image):
    """A bzImage carries the kernel proper compressed; unpacked here it boots seconds sooner."""
    with open(compressed, "rb") as file:
        data = file.read()
    setup_sectors = data[0x1f1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    payload = data[(setup_sectors + 1) * 512 + offset:][:length]
    if payload[:6] == b"\xfd7zXZ\0":
        content = lzma.LZMADecompressor().decompress(payload)
    else:
        content = subprocess.run(["zstd", "-dcq"], input=payload, capture_output=True,
                                 check=False).stdout
    if content[:4] != ELF_MAGIC:
        raise Unavailable(f"the kernel in {compressed} is packed in an unknown way")
    with open(image, "wb") as file:
        file.write(content)


def fetch(work):
    """The kernel that the package lists name now; fetched if `work` does not have it."""
    depends = _run(["apt-cache", "depends", META_PACKAGE])
    found = re.search(r"Depends: (linux-image-(\S+))", depends)
    if not found:
        raise Unavailable(f"the package lists have no {META_PACKAGE}")
    package, version = found.groups()
    folder = os.path.join(work, version)
    kernel = Kernel(folder, version)
    if os.path.exists(os.path.join(folder, "complete")):
        return kernel
    os.makedirs(folder, exist_ok=True)
    _run(["apt-get", "-o", "APT::Sandbox::User=root", "download", package], cwd=folder)
    archive = glob.glob(os.path.join(folder, package + "_*.deb"))[0]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as tar:
        _run(["tar", "-x", "-C", folder, "--wildcards", *PARTS], stdin=tar.stdout)
    os.remove(archive)
    _run(["depmod", "-b", folder, version])
    _unpack_image(os.path.join(folder, "boot", "vmlinuz-" + version), kernel.image)
    with open(os.path.join(folder, "complete"), "w", encoding="ascii"):
        pass
    return kernel
