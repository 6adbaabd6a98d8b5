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

    def __init__(self, cache, programs):
        """programs: path in the guest to file here; libraries follow."""
        if shutil.which(QEMU) is None:
            raise Unavailable(f"{QEMU} is not installed (apt-get install qemu-system-x86)")
        self.folder = cache / f"run{os.getpid()}"
        self.share = self.folder / "share"
        self.share.mkdir(parents=True)
        initrd = self.folder / "initrd"
        shutil.copyfile(cache / "base.cpio", initrd)
        self._append(initrd, programs)
        self.command = [
            QEMU, *accelerator(), "-machine", "q35", "-smp", "1", "-m", "768", "-nodefaults",
            "-display", "none", "-no-reboot", "-serial", f"file:{self.folder / 'console'}",
            "-virtfs", f"local,path={self.share},mount_tag=work,security_model=none",
            "-device", "virtio-serial-pci", "-chardev", "stdio,id=port,signal=off",
            "-device", "virtserialport,chardev=port",
            "-kernel", str(cache / "vmlinux"), "-initrd", str(initrd),
            "-append", "console=ttyS0 panic=-1 quiet no_timer_check"]
        self.process = None
        self.answers = queue.Queue()
        self.count = 0

    def _append(self, initrd, programs):
        archive = Archive(["/"])
        archive.add("init", HERE / "guest/init")
        for script in (*(HERE / "guest").glob("*.sh"), *HERE.glob("*.yaml")):
            archive.add(f"guest/{script.name}", script)
        for guest, source in programs.items():
            archive.add_program(guest, source)
        more = self.folder / "more.cpio"
        archive.write(more)
        with open(initrd, "ab") as out:
            out.write(b"\0" * (-out.tell() % 4) + more.read_bytes())

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._listen, daemon=True).start()
        self._wait_for("up", 120)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def _listen(self):
        for line in self.process.stdout:
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
