"""Starts the test machine under QEMU and runs commands in it, one at a time."""
import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading

from cpio import Archive
from image import HERE, Unavailable

QEMU = "qemu-system-x86_64"


class Dead(Exception):
    """The machine stopped, or did not answer in time."""


class Done:
    """A command that ended."""

    def __init__(self, command, status, out, err):
        self.command = command
        self.status = status
        self.out = out
        self.err = err

    def __str__(self):
        return f"$ {self.command}\n[exit {self.status}]\n{self.out}{self.err}"


def accelerator():
    """Hardware where there is some. /dev/kvm alone proves nothing: where the CPU shows neither vmx
    nor svm, a stock kernel hangs in it."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
        with open("/dev/kvm", "r+b", buffering=0):
            if re.search(r"^flags.* (vmx|svm)\b", flags, re.MULTILINE):
                return ["-accel", "kvm", "-cpu", "host"]
    except OSError:
        pass
    return ["-accel", "tcg,thread=multi", "-cpu", "max"]


class Machine:
    """A context: the machine is up inside it."""

    def __init__(self, cache, programs, with_systemd=False, name="", devices=()):
        """programs: path in the guest to file here; libraries follow. With systemd it is process 1,
        and the state of weir is on a disk that outlives a restart. name: of one machine of several
        (cluster.py); devices: more words for QEMU."""
        if shutil.which(QEMU) is None:
            raise Unavailable(f"{QEMU} is not installed (apt-get install qemu-system-x86)")
        self.programs = programs
        self.folder = cache / f"run{os.getpid()}{name}"
        self.share = self.folder / "share"
        self.share.mkdir(parents=True)
        initrd = self.folder / "initrd"
        shutil.copyfile(cache / "base.cpio", initrd)
        self._append(initrd, programs, cache / "systemd.cpio" if with_systemd else None)
        self.command = [
            QEMU, *accelerator(), "-machine", "q35", "-smp", "1", "-m", "768", "-nodefaults",
            "-display", "none", "-no-reboot", "-serial", f"file:{self.folder / 'console'}",
            "-virtfs", f"local,path={self.share},mount_tag=work,security_model=none",
            "-device", "virtio-serial-pci", "-chardev", "stdio,id=port,signal=off",
            "-device", "virtserialport,chardev=port",
            "-kernel", str(cache / "vmlinux"), "-initrd", str(initrd),
            "-append", "console=ttyS0 panic=-1 quiet no_timer_check"
            + (" weir.systemd systemd.log_target=kmsg" if with_systemd else "")]
        if with_systemd:
            disk = self.folder / "disk"
            with open(disk, "wb") as out:
                out.truncate(32 << 20)
            self.command += ["-drive", f"file={disk},if=virtio,format=raw,cache=writethrough"]
        self.command += devices
        self.process = None
        self.answers = queue.Queue()
        self.count = 0

    def _append(self, initrd, programs, systemd):
        archive = Archive(["/"])
        archive.add("init", HERE / "guest/init")
        for script in (*(HERE / "guest").glob("*.sh"), *HERE.glob("*.yaml")):
            archive.add(f"guest/{script.name}", script)
        if systemd is not None:
            self._add_units(archive)
        for guest, source in programs.items():
            archive.add_program(guest, source)
        more = self.folder / "more.cpio"
        archive.write(more)
        with open(initrd, "ab") as out:
            for part in [*([systemd] if systemd else []), more]:
                out.write(b"\0" * (-out.tell() % 4) + part.read_bytes())

    def _add_units(self, archive):
        """The unit of the package, as it is installed, and two of the test's."""
        settle = self.folder / "weir-settle.service"
        packaged = HERE.parent.parent / "packaging/weir-settle.service.in"
        settle.write_text(packaged.read_text(encoding="utf-8").replace("@BINDIR@", "/bin"),
                          encoding="utf-8")
        archive.add("lib/systemd/system/weir-settle.service", settle)
        units = [settle.name]
        for unit in (HERE / "guest").glob("*.service"):
            archive.add(f"lib/systemd/system/{unit.name}", unit)
            units.append(unit.name)
        for name in units:
            archive.add_link(f"lib/systemd/system/multi-user.target.wants/{name}", f"../{name}")
        archive.add_link("lib/systemd/system/default.target", "multi-user.target")
        archive.add("etc/machine-id", HERE / "guest/machine-id")

    def __enter__(self):
        self.launch()
        self.wait_until_up()
        return self

    def launch(self):
        """Starts QEMU; wait_until_up() follows."""
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()

    def wait_until_up(self):
        self._wait_for("up", 240)

    def restart(self, command=None):
        """Ends the machine, by a command in it or as a power cut does, and starts it again."""
        if command is None:
            self.process.kill()
        else:
            (self.share / "restart.sh").write_text(command + "\n", encoding="utf-8")
            self.process.stdin.write("restart\n")
            self.process.stdin.flush()
        try:
            self.process.wait(timeout=180)
        except subprocess.TimeoutExpired:
            raise Dead(f"did not stop\n{self._last_words()}") from None
        while self.answers.get(timeout=10) is not None:
            pass
        self.launch()
        self.wait_until_up()

    def __exit__(self, *_):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder)

    def _listen(self, process):
        for line in process.stdout:
            self.answers.put(line.split())
        self.answers.put(None)

    def _wait_for(self, name, seconds):
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise Dead(f"no answer in {seconds} s\n{self._last_words()}") from None
        if answer is None or len(answer) != 2 or answer[0] != name:
            raise Dead(f"the machine stopped\n{self._last_words()}")
        return int(answer[1])

    def _last_words(self):
        console = self.folder / "console"
        text = console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""
        if self.process.poll() is not None:
            text += self.process.stderr.read()
        return text[-3000:]

    def run(self, command, seconds=300):
        """Runs a bash script to its end."""
        self.count += 1
        name = f"{self.count:03}"
        (self.share / f"{name}.sh").write_text(command + "\n", encoding="utf-8")
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        status = self._wait_for(name, seconds)
        texts = [(self.share / f"{name}.{end}").read_text(encoding="utf-8", errors="replace")
                 for end in ("out", "err")]
        return Done(command, status, *texts)

    def put(self, name, text):
        """A file for the guest, /mnt/NAME there."""
        (self.share / name).write_text(text, encoding="utf-8")
