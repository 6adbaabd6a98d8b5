"""Debian's Prometheus and Alertmanager, unpacked: nothing is installed and no daemon starts.

programs(cache) gives the paths of prometheus, promtool, prometheus-alertmanager and amtool: those
of this machine, else of the packages, downloaded once into `cache`. Without both the test is
skipped (exit 77), unless WEIR_REQUIRE names prometheus.
"""
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = {"prometheus": ["prometheus", "promtool"],
            "prometheus-alertmanager": ["prometheus-alertmanager", "amtool"]}


def download(package, folder):
    """Unpacks it into `folder`; whether that worked."""
    scratch = folder.parent / (folder.name + ".partial")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    done = subprocess.run(["apt-get", "download", "-q", package], cwd=scratch, check=False,
                          capture_output=True, text=True)
    for file in scratch.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(file), str(scratch)], check=True)
        file.unlink()
    if done.returncode != 0:
        shutil.rmtree(scratch)
        return False
    scratch.rename(folder)
    return True


def skip(why):
    if "prometheus" in os.environ.get("WEIR_REQUIRE", "").split(","):
        sys.exit(f"FAILED: {why}, and WEIR_REQUIRE names prometheus")
    print(f"skipped: {why} (apt-get install prometheus prometheus-alertmanager)")
    sys.exit(77)


def programs(cache):
    found = {}
    for package, names in PACKAGES.items():
        here = {name: shutil.which(name) for name in names}
        if not all(here.values()):
            folder = pathlib.Path(cache) / package
            if not folder.exists() and not (shutil.which("apt-get") and download(package, folder)):
                skip(f"{package} is not installed and could not be downloaded")
            here = {name: str(folder / "usr/bin" / name) for name in names}
        found.update(here)
    return found
