#!/usr/bin/env python3
"""Runs programs on real RDMA verbs (soft-RoCE) in a virtual machine:
rdma_vm.py --work DIR [--real-time] PROGRAM...

Boots the distribution's own kernel in QEMU without hardware acceleration, with an initial file
system that is made here of busybox, the kernel's RDMA modules, the verbs library and the programs,
and runs cases.sh there. By default the guest lives in virtual time (icount): waits cost nothing and
a busy host cannot make a timeout fire. Leaves with the number of failed cases. Prints a line that
begins with SKIPPED, and leaves with 0, where the machine cannot be had."""

import argparse
import os
import shutil
import subprocess
import sys

import kernel_package
from initial_files import InitialFiles

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "depmod": "kmod",
         "ip": "iproute2", "tc": "iproute2", "rdma": "iproute2", "dpkg": "dpkg",
         "apt-get": "apt", "ldd": "libc-bin"}
PROVIDER = "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so"
PROVIDER_NAME = "/etc/libibverbs.d/rxe.driver"
# Loaded by name where the C library ends a thread.
UNWINDER = "/lib/x86_64-linux-gnu/libgcc_s.so.1"
MODULES = ["rdma_rxe", "veth", "sch_netem", "crc32_generic"]
# Longest time on this machine. Chosen: four times what it took on one that a dozen builds shared.
TIMEOUT_SECONDS = 3600
# What QEMU leaves with: (status of the guest << 1) | 1, through the isa-debug-exit device.
NO_STATUS = 90


class Unavailable(Exception):
    """The virtual machine cannot be had here; the text says why."""


def check_tools():
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    for path in (PROVIDER, PROVIDER_NAME):
        if not os.path.exists(path):
            missing.append("ibverbs-providers")
    if missing:
        raise Unavailable("not installed: " + " ".join(dict.fromkeys(missing)))


def make_initial_files(path, kernel, programs):
    files = InitialFiles()
    files.add_file("/bin/busybox", shutil.which("busybox"))
    for tool in ("ip", "tc", "rdma"):
        files.add_program(f"/bin/{tool}", shutil.which(tool))
    files.add_program(PROVIDER, PROVIDER)
    files.add_file(PROVIDER_NAME, PROVIDER_NAME)
    files.add_program(UNWINDER, UNWINDER)
    for program in programs:
        files.add_program("/test/" + os.path.basename(program), program)
    for script in ("cases.sh", "jobs.sh", "network.sh"):
        files.add_file("/test/" + script, os.path.join(HERE, script))
    order = kernel.load_order(MODULES)
    for module in order:
        files.add_file("/modules/" + os.path.basename(module), module)
    files.add_bytes("/modules/order", "".join(os.path.basename(m) + "\n" for m in order).encode())
    files.add_bytes("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    files.add_bytes("/etc/hosts", b"127.0.0.1 localhost\n")
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/sbin", "/root"):
        files.add_folder(folder)
    files.add_file("/init", os.path.join(HERE, "guest_init.sh"), executable=True)
    with open(path, "wb") as out:
        files.write(out)


def boot(kernel_image, initial_files, real_time):
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
               "-serial", "stdio", "-no-reboot", "-M", "q35", "-cpu", "max", "-m", "1536M",
               "-kernel", kernel_image, "-initrd", initial_files, "-append",
               "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable no_timer_check "
               "random.trust_cpu=on",
               "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
    if real_time:
        command += ["-accel", "tcg,thread=multi", "-smp", "2"]
    else:
        command += ["-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=0,sleep=off"]
    try:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS,
                                check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"FAILED: the guest did not end within {TIMEOUT_SECONDS} s")
        return NO_STATUS
    if status & 1 == 0 or status < 0:
        print(f"FAILED: QEMU ended with {status} and without a status of the guest")
        return NO_STATUS
    return status >> 1


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs programs on soft-RoCE in a machine.")
    parser.add_argument("--work", required=True, help="folder for the kernel; kept between runs")
    parser.add_argument("--real-time", action="store_true", help="two processors, no virtual time")
    parser.add_argument("programs", nargs="+", help="programs that cases.sh runs")
    options = parser.parse_args(arguments)
    os.makedirs(options.work, exist_ok=True)
    try:
        check_tools()
        kernel = kernel_package.fetch(options.work)
    except (Unavailable, kernel_package.Unavailable) as reason:
        print(f"SKIPPED: no soft-RoCE machine here: {reason}")
        return 0
    initial_files = os.path.join(options.work, f"initial_files.{os.getpid()}.cpio")
    try:
        make_initial_files(initial_files, kernel, options.programs)
        return boot(kernel.image, initial_files, options.real_time)
    finally:
        if os.path.exists(initial_files):
            os.remove(initial_files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
