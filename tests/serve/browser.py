"""Headless Chromium over its DevTools pipe: JSON with a NUL after each message, on two descriptors.

    with Browser(scratch) as browser:
        page = browser.open(url)
        page.wait("Weir.stats.updates > 0")

Nothing but the standard library; the browser of Debian, with a profile of its own.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--remote-debugging-pipe"]


def find_or_skip():
    program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if program:
        return program
    if "chromium" in os.environ.get("WEIR_REQUIRE", "").split(","):
        sys.exit("FAILED: chromium is not installed, and WEIR_REQUIRE names chromium")
    print("skipped: chromium is not installed (apt-get install chromium)")
    sys.exit(77)


class Browser:
    def __init__(self, scratch, size=(1440, 900)):
        to_read, self.out = os.pipe()
        self.inp, to_write = os.pipe()

        def place():
            # The pipe's ends as 3 and 4, whatever numbers they had.
            copies = os.dup(to_read), os.dup(to_write)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(
            [find_or_skip(), *FLAGS, f"--user-data-dir={scratch}/chromium",
             f"--window-size={size[0]},{size[1]}", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.number = 0
        self.rest = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", seconds=5)
        except (OSError, AssertionError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.inp)
        os.close(self.out)

    def receive(self, seconds):
        """The next message; None where none comes."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                return None
            piece = os.read(self.inp, 1 << 16)
            if not piece:
                raise AssertionError("chromium has ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, seconds=30, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = self.receive(end - time.monotonic())
            if answer is None:
                break
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise AssertionError(f"{method}: no answer after {seconds} s")

    def open(self, url, size=(1440, 900), features=()):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            page.call(f"{domain}.enable")
        page.call("Performance.enable", timeDomain="threadTicks")
        page.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                  deviceScaleFactor=1, mobile=False)
        page.features(*features)
        page.call("Page.navigate", url=url)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def features(self, *pairs):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name, "value": value} for name, value in pairs])

    def run(self, script):
        """The value of an expression; of its promise, where it is one."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{script}\n{json.dumps(answer['exceptionDetails'])[:800]}")
        return answer["result"].get("value")

    def wait(self, condition, seconds=20):
        """Until the expression is true; gives the seconds it took. On a machine that does other
        work all takes longer: four times that."""
        begin = time.monotonic()
        seconds *= 4
        last = None
        while time.monotonic() < begin + seconds:
            try:
                last = self.run(condition)
                if last:
                    return time.monotonic() - begin
            except AssertionError as error:
                last = error
            time.sleep(0.05)
        raise AssertionError(f"not true after {seconds} s: {condition}\nlast: {last}\n"
                             f"{self.problems()}")

    def problems(self):
        """What the page complained about: exceptions, errors of the console, refused requests."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            what = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            if event["method"] == "Log.entryAdded" and what["entry"]["level"] == "error":
                found.append(what["entry"]["text"] + " " + what["entry"].get("url", ""))
        return found

    def requests(self):
        sent = [e["params"]["request"]["url"] for e in self.browser.events
                if e.get("sessionId") == self.session
                and e["method"] == "Network.requestWillBeSent"]
        return sent

    def busy(self):
        """Seconds of CPU that the tasks of the main thread have taken so far: script, style,
        layout, paint, all of it. Other work on the machine does not count."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", landscape=True, printBackground=True)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
