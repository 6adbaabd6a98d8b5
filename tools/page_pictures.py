#!/usr/bin/env python3
"""Pictures of the live page under docs/img, made anew: `make pictures`.

    page_pictures.py PATH/TO/weir

A lab of pod16 with a slow receiver, in both themes and printed; a lab of 1,024 hosts with eight
rails, whose ports are a heat map.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/serve"))
from browser import Browser  # noqa: E402  (beside the tests that use it)

IMAGES = ROOT / "docs/img"


class Server:
    def __init__(self, weir, *words):
        self.process = subprocess.Popen(
            [weir, "serve", "--listen", "127.0.0.1:0", *map(str, words)],
            stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.page = re.search(r"http\S+", self.process.stdout.readline())[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(300)
        self.process.stdout.close()


def run(weir, *words):
    subprocess.run([weir, *map(str, words), "--quiet"], check=True)


def lab(weir, folder, template, edit=lambda text: text):
    design = folder / f"{template}.yaml"
    run(weir, "init", "--template", template, "--output", design)
    design.write_text(edit(design.read_text(encoding="utf-8")), encoding="utf-8")
    run(weir, "lab", "up", design, "--dir", template, "--factory", "none")
    return template


def pod(weir, folder, browser):
    place = lab(weir, folder, "pod16")
    for fault in ("pool-too-small,at=leaf1", "slow-receiver,at=gpu05"):
        run(weir, "lab", "fault", "add", fault, "--dir", place)
    with Server(weir, "--lab", place, "--judge-every", "5s", "--load",
                "incast,to=gpu05,size=4MB") as server:
        page = browser.open(server.page, size=(1440, 960))
        page.wait("Weir.stats.updates > 20", 300)
        # The second look, while the pause spreads: the time cursor is there.
        page.run("(() => {const s = document.getElementById('scrub'); s.value = 1; "
                 "s.dispatchEvent(new Event('input'))})()")
        page.wait("document.getElementById('when').className === 'past'", 60)
        page.wait("!document.getElementById('follow-longest').disabled", 300)
        page.run("document.getElementById('follow-longest').click()")
        page.wait("document.querySelector('#follow [data-root=\"gpu05 mlx5_0\"]') !== null", 120)
        page.wait("[...document.querySelectorAll('#findings code')].some((c) => "
                  "c.textContent === 'receiver.slow')", 300)
        page.picture(IMAGES / "page-light.png")
        page.features(("prefers-color-scheme", "dark"))
        page.run("document.querySelector('[data-device=leaf1]').dispatchEvent("
                 "new MouseEvent('click', {bubbles: true}))")
        page.wait("document.querySelectorAll('#table tr').length > 10", 60)
        page.run("new Promise((done) => setTimeout(done, 2000))")
        page.picture(IMAGES / "page-dark.png")
        page.features()
        page.pdf(folder / "page.pdf")
        subprocess.run(["pdftoppm", "-r", "80", "-png", "-f", "1", "-l", "1", "-singlefile",
                        folder / "page.pdf", IMAGES / "page-print"], check=True)
        page.close()


def large(weir, folder, browser):
    place = lab(weir, folder, "rail256",
                lambda text: text.replace("gpu[01-32]", "gpu[0001-1024]"))
    run(weir, "lab", "fault", "add", "slow-receiver,at=gpu0040", "--dir", place)
    with Server(weir, "--lab", place, "--load",
                "flows,load=30%,duration=300us") as server:
        page = browser.open(server.page + "#q=sent", size=(1440, 1100))
        page.wait("Weir.stats.updates > 30", 900)
        page.picture(IMAGES / "page-large.png")
        page.features(("prefers-color-scheme", "dark"))
        page.run("document.querySelector('[data-rail=\"3\"]').click()")
        page.run("new Promise((done) => setTimeout(done, 3000))")
        page.picture(IMAGES / "page-large-dark.png")
        page.close()


def main():
    weir = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or ["pod", "large"]
    if not shutil.which("pdftoppm"):
        sys.exit("page_pictures: no pdftoppm: apt-get install poppler-utils")
    with tempfile.TemporaryDirectory(prefix="weir-pictures-") as folder:
        # Short names on the page: the lab is in the directory that it is served from.
        os.chdir(folder)
        with Browser(folder) as browser:
            for name in wanted:
                {"pod": pod, "large": large}[name](weir, pathlib.Path(folder), browser)


if __name__ == "__main__":
    main()
