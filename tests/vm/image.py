"""The test machine's kernel and first file system, made of Debian packages, as any user.

    vmlinux       the packaged kernel, unpacked: QEMU starts it without a boot loader, 4 s sooner
    base.cpio     shell, iproute2, ethtool, perftest, the kernel modules it loads, our test NICs
    systemd.cpio  Debian's systemd, for the machine that has it as process 1

Nothing is installed on this machine: packages are downloaded and unpacked in the cache folder: no
hook of a kernel package runs. All is kept there until the recipe (this file, the sources of the
modules) changes; weir itself is not part of it (machine.py adds it at each start).
"""
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess

from cpio import Archive, contents

HERE = pathlib.Path(__file__).resolve().parent

TOOLS = ("bash ip tc rdma dcb ethtool strace setpriv "
         "ib_write_bw ib_send_bw ib_write_lat ping").split()

PACKAGES = """
    busybox-static strace libunwind8
    perftest ibverbs-providers libibverbs1 librdmacm1 libibumad3
    libnl-3-200 libnl-route-3-200 libpci3
    openssh-server libwrap0 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libkeyutils1
    libnsl2 libtirpc3 libsystemd0 zlib1g iputils-ping libidn2-0 libunistring2
    ethtool iproute2 libbpf1 libelf1 libmnl0 libxtables12 libcap2 libbsd0 libmd0
    systemd libsystemd-shared libacl1 libapparmor1 libaudit1 libblkid1 libcap-ng0 libcrypt1
    libgcrypt20 libgpg-error0 libip4tc2 libkmod2 liblz4-1 libmount1 libssl3 libpam0g libseccomp2
    libselinux1 libpcre2-8-0 libzstd1 liblzma5 e2fsprogs libext2fs2 libcom-err2 libuuid1
""".split()

# What process 1 and its tools need; units are Debian's own targets and slices.
SYSTEMD_PROGRAMS = ("lib/systemd/systemd", "lib/systemd/systemd-shutdown",
                    "lib/systemd/systemd-executor", "bin/systemctl", "usr/bin/systemctl",
                    "usr/bin/systemd-run")
SYSTEMD_UNITS = ("*.target", "*.slice", "systemd-reboot.service", "systemd-poweroff.service")

# Soft-RoCE wants crc32_generic through the crypto API, which no list of dependencies shows.
MODULES = """
    virtio_pci virtio_console 9pnet_virtio 9p crc32_generic rdma_rxe ib_uverbs rdma_ucm
    bridge sch_red sch_tbf sch_ingress cls_matchall act_gact act_mirred
    virtio_blk ext4 crc32c_generic
    virtio_net
""".split()

# Where the kernel's package has them.
KERNEL_PARTS = ["./boot/vmlinuz-*", "./lib/modules/*/modules.builtin",
                *(f"./lib/modules/*/kernel/{part}/*" for part in (
                    "net", "crypto", "arch/x86/crypto", "lib", "fs/9p", "fs/netfs", "fs/fscache",
                    "fs/configfs",
                    "fs/ext4", "fs/jbd2", "fs",
                    "drivers/virtio", "drivers/block", "drivers/char", "drivers/infiniband")),
                *(f"./lib/modules/*/kernel/drivers/net/{name}.ko" for name in (
                    "virtio_net", "net_failover"))]

OURS = ("fakenic", "fakehca")
PROVIDERS = "usr/lib/x86_64-linux-gnu/libibverbs"


class Unavailable(Exception):
    """The machine cannot be made here: no packages, no compiler, no QEMU."""


def run(command, **options):
    """The output of a command; Unavailable with its last words where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        last = (done.stderr + done.stdout).strip()[-2000:]
        raise Unavailable(f"{' '.join(words)[:200]}: exit {done.returncode}\n{last}")
    return done.stdout


def recipe():
    """What the image is made from, in one number."""
    digest = hashlib.sha256()
    for path in [HERE / "image.py", HERE / "cpio.py", *sorted((HERE / "modules").iterdir())]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def build(cache, say):
    """Makes the image in the folder `cache` where it is not there or its recipe changed."""
    cache.mkdir(parents=True, exist_ok=True)
    made_from = cache / "recipe"
    if made_from.exists() and made_from.read_text(encoding="ascii") == recipe():
        return
    made_from.unlink(missing_ok=True)
    work = cache / "work"
    shutil.rmtree(work, ignore_errors=True)
    (work / "debs").mkdir(parents=True)
    release = fetch(work, say)
    unpack_kernel(work / f"kernel/boot/vmlinuz-{release}", cache / "vmlinux")
    modules = compile_modules(work, release)
    say("our modules are compiled")
    write_archive(work, release, modules, cache / "base.cpio")
    write_systemd(work / "root", cache / "systemd.cpio")
    shutil.rmtree(work)
    made_from.write_text(recipe(), encoding="ascii")
    say(f"image of Linux {release}: {(cache / 'base.cpio').stat().st_size >> 20} MiB")


def fetch(work, say):
    """Downloads and unpacks the packages; the release of the kernel."""
    if shutil.which("apt-get") is None:
        raise Unavailable("apt-get is not here: the image is made of Debian packages")
    apt = ["-q", "-o", "APT::Sandbox::User=root"]
    try:
        release, packages = package_names(apt)
    except Unavailable:  # this machine keeps no lists of packages: ours, in the cache
        lists = work / "apt"
        (lists / "lists/partial").mkdir(parents=True)
        apt += ["-o", f"Dir::State={lists}", "-o", f"Dir::Cache={lists}"]
        run(["apt-get", *apt, "update"])
        release, packages = package_names(apt)
    run(["apt-get", *apt, "download", *packages], cwd=work / "debs")
    size = sum(path.stat().st_size for path in (work / "debs").iterdir())
    say(f"{len(packages)} packages, {size // 10**6} MB, are here")
    for package in packages:
        place = "root"
        if package.startswith("linux-"):
            place = "kernel" if package.startswith("linux-image") else "headers"
        unpack(next((work / "debs").glob(f"{package}_*.deb")), work / place)
    shutil.rmtree(work / "debs")
    say("packages are unpacked")
    return release


def unpack(package, folder):
    """All of a package; of a kernel's, which is large, the parts we take modules from."""
    folder.mkdir(exist_ok=True)
    if folder.name != "kernel":
        run(["dpkg-deb", "-x", package, folder])
        return
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
        subprocess.run(["tar", "-x", "-C", folder, "--wildcards", *KERNEL_PARTS],
                       stdin=files.stdout, check=True)


def package_names(apt):
    """The release of the kernel, and every package to fetch."""
    found = re.search(r"Depends: linux-image-(\d\S*)",
                      run(["apt-cache", *apt, "depends", "linux-image-amd64"]))
    if not found:
        raise Unavailable("apt-cache knows no linux-image-amd64")
    release = found.group(1)
    headers = run(["apt-cache", *apt, "depends", f"linux-headers-{release}"])
    more = re.findall(r"Depends: (linux-(?:headers|kbuild|compiler)\S*)", headers)
    return release, [*PACKAGES, f"linux-image-{release}", f"linux-headers-{release}", *more]


def unpack_kernel(compressed, out):
    """The kernel proper inside vmlinuz."""
    data = compressed.read_bytes()
    start = data.find(b"\xfd7zXZ\0")
    if start < 0:
        raise Unavailable(f"{compressed.name} is not compressed with xz")
    out.write_bytes(lzma.LZMADecompressor().decompress(data[start:]))


def compile_modules(work, release):
    """Our modules against the packaged headers; the folder they are in."""
    headers = work / "headers/usr/src"
    makefile = headers / f"linux-headers-{release}/Makefile"
    makefile.write_text(makefile.read_text(encoding="utf-8")
                        .replace("include /usr/src/", f"include {headers}/"), encoding="utf-8")
    modules = work / "modules"
    shutil.copytree(HERE / "modules", modules)
    # objtool of the headers' package wants libelf, which is among the guest's libraries.
    libraries = {**os.environ, "LD_LIBRARY_PATH": library_path(work / "root"), "MAKEFLAGS": ""}
    run(["make", "-s", "-C", makefile.parent, f"M={modules}", "modules"], env=libraries)
    for name in OURS:
        run(["strip", "-g", modules / f"{name}.ko"])
    return modules


def library_path(root):
    return f"{root}/lib/x86_64-linux-gnu:{root}/usr/lib/x86_64-linux-gnu"


def write_archive(work, release, modules, out):
    root = work / "root"
    archive = Archive([root, "/"])
    for name in TOOLS:
        archive.add_named(name)
    # Where it looks for itself, and for the user it drops its privileges to.
    archive.add_program("usr/sbin/sshd", archive.find(("usr/sbin",), "sshd"))
    busybox = archive.find(("bin", "usr/bin"), "busybox")
    archive.add_link("bin/sh", "bash")  # busybox' own would take its own ping before the package's
    archive.add("bin/busybox", busybox)
    for applet in run([busybox, "--list"]).split():
        archive.add_link(f"bin/{applet}", "/bin/busybox")
    for path in (root / PROVIDERS).glob("librxe*"):
        archive.add_program(f"{PROVIDERS}/{path.name}", path)
    archive.add("etc/libibverbs.d/rxe.driver", root / "etc/libibverbs.d/rxe.driver")
    for name in OURS:
        archive.add(f"modules/{name}.ko", modules / f"{name}.ko")
    add_kernel_modules(archive, work, release)
    archive.write(out)


def write_systemd(root, out):
    archive = Archive([root, "/"])
    archive.add_named("mke2fs")
    for name in SYSTEMD_PROGRAMS:
        if (root / name).is_file() and not (root / name).is_symlink():
            folder = "bin" if "bin/" in name else "lib/systemd"
            archive.add_program(f"{folder}/{pathlib.PurePath(name).name}", root / name)
    units = root / "lib/systemd/system"
    for pattern in SYSTEMD_UNITS:
        for path in units.glob(pattern):
            if path.is_symlink():
                archive.add_link(f"lib/systemd/system/{path.name}", os.readlink(path))
            else:
                archive.add(f"lib/systemd/system/{path.name}", path)
    archive.write(out)


def add_kernel_modules(archive, work, release):
    tree = work / f"kernel/lib/modules/{release}"
    files = {module_name(path): path for path in tree.rglob("*.ko*")}
    built_in = {module_name(pathlib.PurePath(line)) for line in
                (tree / "modules.builtin").read_text(encoding="utf-8").split()}
    needs = {}
    waiting = list(MODULES)
    while waiting:
        name = waiting.pop()
        if name in needs or name in built_in:
            continue
        if name not in files:
            raise Unavailable(f"the kernel's package has no module {name} where we look")
        needs[name] = wanted_by(files[name])
        waiting += needs[name]
    guest = f"lib/modules/{release}"
    for name in needs:
        archive.add(f"{guest}/{name}.ko", files[name])
    listing = work / "modules.dep"
    listing.write_text("".join(f"{name}.ko: {' '.join(in_order(name, needs))}\n"
                               for name in sorted(needs)), encoding="utf-8")
    archive.add(f"{guest}/modules.dep", listing)


def module_name(path):
    return path.name.split(".ko")[0].replace("-", "_")


def wanted_by(path):
    """The modules that one names as its dependencies."""
    found = re.search(rb"\0depends=([^\0]*)\0", contents(path))
    return [name.replace("-", "_") for name in found.group(1).decode().split(",") if name]


def in_order(name, needs):
    """Files of everything below a module, as modules.dep lists them: the deepest last."""
    listed = []
    for wanted in needs[name]:
        if wanted in needs:
            listed = [f"{wanted}.ko", *in_order(wanted, needs), *listed]
    return list(reversed(list(dict.fromkeys(reversed(listed)))))
