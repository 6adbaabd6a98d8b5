#!/usr/bin/env python3
"""`weir serve` with a real Prometheus and Alertmanager.  COVERS K1 K2

    serve_test.py WEIR CACHE

Prometheus scrapes a lab and a recorded host over TLS with a password; every query of the rendered
dashboard is answered; a fault in the lab makes an alert that Alertmanager delivers to a receiver of
this test. What is rendered passes promtool and amtool.
"""
import base64
import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from prometheus import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data"
WEIR = ""
TOOLS = {}
# bcrypt of "secret" with a cost of 4: a test needs no strength.
HASH = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"


def run(*words, good=(0,)):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in good:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done.stdout


def weir(*words, good=(0, 1, 5)):
    return run(WEIR, *map(str, words), good=good)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(*words, log, **options):
    with open(log, "w", encoding="utf-8") as out:
        with subprocess.Popen([str(word) for word in words], stdout=out, stderr=out,
                              **options) as process:
            try:
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(20)


@contextlib.contextmanager
def serving(scratch, *words):
    """`weir serve` on a free port; gives its URL."""
    log = scratch / f"serve{time.monotonic_ns()}.log"
    with running(WEIR, "serve", "--listen", "127.0.0.1:0", *words, log=log):
        yield wait_for(lambda: re.search(r"Serving (\S+)/metrics", log.read_text()), "weir serve",
                       log).group(1)


def wait_for(ask, what, log=None, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, urllib.error.URLError, KeyError, ValueError):
            if answer := ask():
                return answer
        time.sleep(0.2)
    raise AssertionError(f"{what}: nothing after {seconds} s\n" + (log.read_text() if log else ""))


def get(url, user=None, context=None):
    request = urllib.request.Request(url)
    if user:
        request.add_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
    with urllib.request.urlopen(request, timeout=20, context=context) as answer:
        return answer.read().decode()


def status_of(url, **options):
    try:
        get(url, **options)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def certificate(scratch):
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", scratch / "key.pem", "-out", scratch / "cert.pem", "-days", "2", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    config = scratch / "web.yml"
    config.write_text("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"
                      f"basic_auth_users:\n  prom: {HASH}\n")
    return config


def authority(scratch, name):
    """Its own certificate, and one of a client, signed by it."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    run("openssl", "req", "-x509", *key, "-keyout", scratch / f"{name}.key", "-out",
        scratch / f"{name}.crt", "-days", "2", "-subj", f"/CN={name}")
    run("openssl", "req", *key, "-keyout", scratch / f"{name}-client.key", "-out",
        scratch / "request.pem", "-subj", "/CN=prometheus")
    run("openssl", "x509", "-req", "-in", scratch / "request.pem", "-CA", scratch / f"{name}.crt",
        "-CAkey", scratch / f"{name}.key", "-CAcreateserial", "-days", "2", "-out",
        scratch / f"{name}-client.crt")


def make_lab(scratch):
    design = scratch / "fabric.yaml"
    weir("init", "--template", "pod16", "--output", design)
    lab = scratch / "lab"
    weir("lab", "up", design, "--dir", lab)
    weir("apply", "--lab", lab, "--yes")
    return design, lab


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what Alertmanager delivers."""
    delivered = []

    def do_POST(self):  # noqa: N802, the name that the library calls
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.delivered += [alert["labels"] for alert in json.loads(body)["alerts"]]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def test_metrics_of_recorded_hosts_pass_promtool(self):
        for name in ("mlx5-ofed", "mlx5-inbox", "bnxt", "irdma", "ionic", "hgx01"):
            for profile in ("lean", "full"):
                file = self.scratch / "host.prom"
                weir("serve", "--root", DATA / "host" / name, "--profile", profile, "--textfile",
                     file)
                done = subprocess.run([TOOLS["promtool"], "check", "metrics"],
                                      input=file.read_text(), capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, f"{name} {profile}: {done.stderr}")

    def test_a_device_that_is_excluded_has_no_series(self):
        for words, expected in (([], True), (["--exclude-device", "mlx5_1"], False)):
            file = self.scratch / "host.prom"
            weir("serve", "--root", DATA / "host" / "hgx01", *words, "--textfile", file)
            self.assertEqual('device="mlx5_1"' in file.read_text(), expected)

    def test_beyond_this_machine_only_with_users(self):
        refused = subprocess.run([WEIR, "serve", "--listen", ":0"], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--without-auth", refused.stderr)

    def test_tls_and_users(self):
        config = certificate(self.scratch)
        run(TOOLS["promtool"], "check", "web-config", config)
        trusted = ssl.create_default_context(cafile=str(self.scratch / "cert.pem"))
        with serving(self.scratch, "--root", DATA / "host" / "hgx01", "--web-config",
                     config) as url:
            self.assertTrue(url.startswith("https://"))
            metrics = url + "/metrics"
            self.assertEqual(status_of(metrics, context=trusted), 401)
            self.assertEqual(status_of(metrics, context=trusted, user="prom:guess"), 401)
            self.assertIn("weir_port_up{", get(metrics, user="prom:secret", context=trusted))

    def client_context(self, authority_name=None, newest=ssl.TLSVersion.TLSv1_3):
        context = ssl.create_default_context(cafile=str(self.scratch / "cert.pem"))
        context.maximum_version = newest
        if authority_name:
            context.load_cert_chain(self.scratch / f"{authority_name}-client.crt",
                                    self.scratch / f"{authority_name}-client.key")
        return context

    def test_client_certificates(self):
        config = certificate(self.scratch)
        for name in ("ours", "theirs"):
            authority(self.scratch, name)
        config.write_text("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"
                          "  client_auth_type: RequireAndVerifyClientCert\n"
                          "  client_ca_file: ours.crt\n")
        run(TOOLS["promtool"], "check", "web-config", config)
        with serving(self.scratch, "--root", DATA / "host" / "hgx01", "--web-config",
                     config) as url:
            for refused in (None, "theirs"):
                with self.assertRaises(OSError):
                    get(url + "/metrics", context=self.client_context(refused))
            for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = self.client_context("ours", newest)
                self.assertIn("weir_port_up{", get(url + "/metrics", context=context))
                self.assertEqual(status_of(url + "/", context=context), 200, "the page, no token")
                self.check_resumes(url, context)

    def check_resumes(self, url, context):
        """A browser's second connection takes up the session of its first."""
        session = None
        for is_second in (False, True):
            with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(url).port)) as plain:
                with context.wrap_socket(plain, server_hostname="127.0.0.1",
                                         session=session) as secure:
                    secure.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                    self.assertIn(b"200 OK", secure.recv(100))
                    self.assertEqual(secure.session_reused, is_second)
                    session = secure.session

    @unittest.skipUnless(os.geteuid() == 0, "not root")
    def test_root_is_given_up(self):
        log = self.scratch / "log"
        with running(WEIR, "serve", "--listen", "127.0.0.1:0", "--root", DATA / "host" / "hgx01",
                     log=log) as process:
            wait_for(lambda: "Serving" in log.read_text(), "weir serve", log)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            self.assertRegex(status, r"Uid:\t65534\t65534\t65534\t65534")
            self.assertRegex(status, r"CapEff:\t0000000000000004")

    def test_the_packaged_unit_may_do_little(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not installed")
        unit = self.scratch / "weir-serve.service"
        unit.write_text((ROOT / "packaging/weir-serve.service.in").read_text()
                        .replace("@BINDIR@", "/bin").replace("weir serve", "true"))
        run("systemd-analyze", "verify", "--man=no", unit)
        shown = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
        level = re.search(r"exposure level for weir-serve.service: ([0-9.]+)", shown).group(1)
        self.assertLessEqual(float(level), 2.0, shown)

    def test_rendered_files_are_good(self):
        design, _ = make_lab(self.scratch)
        for target in ("prometheus", "alertmanager", "grafana"):
            weir("render", design, "--to", target, "--out", self.scratch)
        run(TOOLS["promtool"], "check", "config", self.scratch / "prometheus.yml")
        run(TOOLS["amtool"], "check-config", self.scratch / "alertmanager.yml")

    def test_prometheus_scrapes_alerts_and_fills_the_dashboard(self):
        design, lab = make_lab(self.scratch)
        for target in ("prometheus", "grafana"):
            weir("render", design, "--to", target, "--out", self.scratch)
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(serving(self.scratch, "--lab", lab, "--judge-every", "1s",
                                              "--load", "none"))
            receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
            stack.callback(receiver.server_close)
            stack.callback(receiver.shutdown)
            threading.Thread(target=receiver.serve_forever, daemon=True).start()
            alertmanager = self.start_alertmanager(stack, receiver.server_port)
            prometheus = self.start_prometheus(stack, url, alertmanager)
            self.check_dashboard(prometheus, lab)
            weir("lab", "fault", "add", "wrong-trust,at=gpu03", "--dir", lab)
            wait_for(lambda: [alert for alert in Receiver.delivered
                              if alert["alertname"] == "WeirFinding"
                              and alert["id"] == "trust.not_dscp" and alert["host"] == "gpu03"],
                     "an alert at the receiver", seconds=240)

    def make_fleet(self):
        """A stub per host: NAME.dead cannot be reached, NAME.slow never answers."""
        bundle = self.scratch / "host.bundle"
        weir("bundle", "--root", DATA / "host" / "hgx01", "--keep-names", "-o", bundle)
        stub = self.scratch / "stub.sh"
        stub.write_text(f"#!/bin/sh\ncd {self.scratch}\necho $1 >>calls\n"
                        "[ ! -e $1.dead ] || { echo gone >&2; exit 1; }\n"
                        "[ ! -e $1.slow ] || exec sleep 600\nexec cat host.bundle\n")
        stub.chmod(0o755)
        return ["--hosts", "n[1-4]", "--via", "exec", "--exec", f"{stub} %h", "--judge-every", "1s",
                "--as-root"]

    def test_a_fleet_is_looked_at_in_rounds(self):
        words = self.make_fleet()
        (self.scratch / "n4.slow").touch()
        (self.scratch / "n3.dead").touch()
        with serving(self.scratch, *words, "--interval", "1s", "--host-timeout", "15s") as url:
            seen = 'weir_fleet_host_seen{host="n%d"} %d'
            first = wait_for(lambda: (text := get(url + "/metrics")) and seen % (1, 1) in text
                             and seen % (2, 1) in text and seen % (3, 0) in text and text, "hosts")
            # Shown as they arrive: one that never answers holds nobody up, and is not called dead
            # before its time is over.
            self.assertIn("weir_fleet_rounds_total 0", first)
            self.assertNotIn('host_seen{host="n4"}', first)
            self.assertIn('weir_port_up{host="n1",device="mlx5_0"', first)
            self.assertNotIn('weir_port_up{host="n3"', first)
            self.assertNotIn("last_seen_timestamp_seconds{host=\"n3\"}", first)
            judged = wait_for(lambda: (text := get(url + "/metrics"))
                              and "weir_findings{" in text and text, "a judgement")
            self.assertIn('weir_checks_unknown{reason="host_not_seen"} 2', judged)
            later = wait_for(lambda: (text := get(url + "/metrics")) and seen % (4, 0) in text
                             and text, "the slow host's time")
            self.assertIn(seen % (1, 1), later)
            # Scrapes and judgements cost the hosts nothing: a login per host and round.
            for _ in range(20):
                get(url + "/metrics")
            calls = (self.scratch / "calls").read_text().split()
            rounds = int(re.search(r"weir_fleet_rounds_total (\d+)",
                                   get(url + "/metrics")).group(1))
            self.assertLessEqual(calls.count("n1"), rounds + 1)
        done = subprocess.run([TOOLS["promtool"], "check", "metrics"], input=later, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_prometheus_alerts_for_a_host_of_a_fleet_that_went_away(self):
        design = self.scratch / "fabric.yaml"
        weir("init", "--template", "pod16", "--output", design)
        weir("render", design, "--to", "prometheus", "--out", self.scratch)
        words = self.make_fleet()
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(serving(self.scratch, *words, "--interval", "1s"))
            prometheus = self.start_prometheus(stack, url, free_port())
            wait_for(lambda: len(self.query(prometheus, "weir_fleet_host_seen == 1")) == 4, "hosts")
            (self.scratch / "n2.dead").touch()
            alert = 'ALERTS{alertname="WeirHostNotSeen",host="n2",alertstate="firing"}'
            wait_for(lambda: self.query(prometheus, alert), "the alert", seconds=120)
            self.assertFalse(self.query(prometheus, 'weir_port_up{host="n2"}'))
            self.assertTrue(self.query(prometheus, 'weir_port_up{host="n1"}'))
            (self.scratch / "n2.dead").unlink()
            wait_for(lambda: self.query(prometheus, 'weir_port_up{host="n2"}'), "the host again")

    def test_the_page_of_a_fleet_names_the_hosts_that_are_missing(self):
        words = self.make_fleet()
        log = self.scratch / "fleet.log"
        with running(WEIR, "serve", "--listen", "127.0.0.1:0", *words, "--interval", "1s", log=log):
            page = wait_for(lambda: re.search(r"Page: (\S+)/\?token=(\S+)", log.read_text()),
                            "weir serve", log)

            def ask(path):
                request = urllib.request.Request(page.group(1) + path)
                request.add_header("Authorization", "Bearer " + page.group(2))
                with urllib.request.urlopen(request, timeout=20) as answer:
                    return json.load(answer)

            topology = wait_for(lambda: (all_of := ask("/api/topology"))["ports"] and all_of,
                                "a frame", log)
            self.assertEqual(topology["mode"], "fleet")
            self.assertEqual({f"n{i}" for i in range(1, 5)},
                             {device[0] for device in topology["devices"]})
            (self.scratch / "n2.dead").touch()
            wait_for(lambda: "not seen: n2: status 1: gone" in json.dumps(ask("/api/events")),
                     "an event", log)
            (self.scratch / "n2.dead").unlink()
            wait_for(lambda: "n2: seen again" in json.dumps(ask("/api/events")), "another", log)

    def test_the_page_of_a_fleet_does_not_wait_for_the_slowest_host(self):
        words = self.make_fleet()
        (self.scratch / "n4.slow").touch()
        log = self.scratch / "fleet.log"
        with running(WEIR, "serve", "--listen", "127.0.0.1:0", *words, "--host-timeout", "60s",
                     log=log):
            page = wait_for(lambda: re.search(r"Page: (\S+)/\?token=(\S+)", log.read_text()),
                            "weir serve", log)

            def ask(path):
                request = urllib.request.Request(page.group(1) + path)
                request.add_header("Authorization", "Bearer " + page.group(2))
                with urllib.request.urlopen(request, timeout=20) as answer:
                    return answer.read().decode()

            wait_for(lambda: {device[0] for device in json.loads(ask("/api/topology"))["devices"]}
                     == {"n1", "n2", "n3"}, "the hosts that have answered", log, seconds=40)
            with urllib.request.urlopen(page.group(1) + "/metrics", timeout=20) as answer:
                self.assertIn("weir_fleet_rounds_total 0", answer.read().decode())
            # A host that may still answer is no event.
            self.assertNotIn("n4", ask("/api/events"))

    @unittest.skipIf(os.geteuid() != 0, "needs root to be refused")
    def test_a_fleet_is_not_served_as_root_unless_that_is_said(self):
        words = self.make_fleet()
        words.remove("--as-root")
        done = subprocess.run([WEIR, "serve", "--listen", "127.0.0.1:0", *words], text=True,
                              capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a fleet is not served as root", done.stderr)
        self.assertIn("--as-root", done.stderr)
        self.assertFalse((self.scratch / "calls").exists(), "a host was asked")
        # Once, without a socket: as every other verb that asks a fleet.
        weir("serve", *words, "--textfile", self.scratch / "fleet.prom")
        # Files of a recording are never read as root, whatever else is named.
        done = subprocess.run([WEIR, "serve", *words, "--as-root", "--replay", self.scratch],
                              text=True, capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("leave out --hosts", done.stderr)

    def test_a_fleet_is_written_once_for_node_exporter(self):
        words = self.make_fleet()
        (self.scratch / "n3.dead").touch()
        file = self.scratch / "fleet.prom"
        weir("serve", *words, "--textfile", file)
        self.assertIn('weir_port_up{host="n1",device="mlx5_0"', file.read_text())
        self.assertIn('weir_checks_unknown{reason="host_not_seen"} 1', file.read_text())
        done = subprocess.run([WEIR, "top", *words[:-3], "--once", "--interval", "1s"], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("n1", done.stdout)
        self.assertIn("could not read n3: status 1: gone", done.stderr)

    def alertmanager(self):
        """Debian's has the directory of its templates built in, and ends without them. Where it is
        unpacked and not installed: a copy with another directory, of the same length."""
        program = pathlib.Path(TOOLS["prometheus-alertmanager"])
        installed = "/usr/share/prometheus/alertmanager"
        if pathlib.Path(installed).is_dir():
            return program
        folder = tempfile.mkdtemp(prefix="am", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        for file in (program.parents[2] / installed[1:]).glob("*.tmpl"):
            shutil.copy(file, folder)
        code = program.read_bytes()
        self.assertIn(installed.encode(), code)
        copy = self.scratch / "alertmanager"
        copy.write_bytes(code.replace(installed.encode(),
                                      folder.ljust(len(installed), "/").encode()))
        copy.chmod(0o755)
        return copy

    def start_alertmanager(self, stack, receiver):
        port = free_port()
        config = self.scratch / "alertmanager.yml"
        config.write_text("route: {receiver: test, group_wait: 1s, group_interval: 1s, "
                          "group_by: ['...']}\nreceivers:\n  - name: test\n"
                          f"    webhook_configs: [{{url: 'http://127.0.0.1:{receiver}/'}}]\n")
        stack.enter_context(running(
            self.alertmanager(), f"--config.file={config}",
            f"--storage.path={self.scratch / 'am'}", f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=", log=self.scratch / "am.log"))
        return port

    def start_prometheus(self, stack, url, alertmanager):
        """With the rendered rules and configuration; what takes minutes is made to take seconds."""
        rules = self.scratch / "weir.rules.yml"
        rules.write_text(re.sub(r"for: \d+[mh]", "for: 1s", rules.read_text()))
        config = self.scratch / "prometheus.yml"
        text = config.read_text().replace("interval: 15s", "interval: 1s")
        text = text.replace("127.0.0.1:9093", f"127.0.0.1:{alertmanager}")
        text = re.sub(r"targets:\n(?: +- .*\n)+",
                      f"targets: ['{urllib.parse.urlsplit(url).netloc}']\n", text)
        config.write_text(text)
        port = free_port()
        log = self.scratch / "prometheus.log"
        stack.enter_context(running(
            TOOLS["prometheus"], f"--config.file={config}",
            f"--storage.tsdb.path={self.scratch / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}", log=log))
        base = f"http://127.0.0.1:{port}"
        wait_for(lambda: self.query(base, 'up{job="weir"} == 1'), "the first scrape", log)
        return base

    @staticmethod
    def query(base, text):
        answer = get(f"{base}/api/v1/query?" + urllib.parse.urlencode({"query": text}))
        return json.loads(answer)["data"]["result"]

    def check_dashboard(self, prometheus, lab):
        for _ in range(2):
            weir("verify", "--lab", lab, "--", "incast", "size=1MB")
            time.sleep(2)
        dashboard = json.loads((self.scratch / "weir.dashboard.json").read_text())
        for panel in dashboard["panels"]:
            # A table of open findings is empty where there is none.
            if panel["title"] == "Findings":
                continue
            for target in panel["targets"]:
                wait_for(lambda expr=target["expr"]: self.query(prometheus, expr),
                         f"{panel['title']}: {target['expr']}", seconds=30)


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv[1])
    TOOLS = programs(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
