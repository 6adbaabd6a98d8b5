#!/usr/bin/env python3
"""What `weir render` writes for hosts: clean, valid, idempotent, and in the safe order.

The scripts run against tools that remember (fake_tool.py) and a made-up /sys. shellcheck and
systemd-analyze are used where they are installed; WEIR_REQUIRE=shellcheck,systemd-analyze makes
their absence a failure.

Usage: render_test.py WEIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WEIR = ""
# The parameters of mlx5's ecn/ directory, all with a value that nobody designs.
KNOBS = {
    "roce_np": ("cnp_dscp", "cnp_802p_prio", "min_time_between_cnps"),
    "roce_rp": ("clamp_tgt_rate", "clamp_tgt_rate_after_time_inc", "dce_tcp_g", "dce_tcp_rtt",
                "initial_alpha_value", "rate_reduce_monitor_period", "rate_to_set_on_first_cnp",
                "rpg_ai_rate", "rpg_byte_reset", "rpg_gd", "rpg_hai_rate", "rpg_max_rate",
                "rpg_min_dec_fac", "rpg_min_rate", "rpg_threshold", "rpg_time_reset"),
}


def has_tool(name):
    if shutil.which(name):
        return True
    if name in os.environ.get("WEIR_REQUIRE", "").split(","):
        raise AssertionError(f"{name} is not installed and WEIR_REQUIRE names it")
    return False


class Machine:
    """A folder with a /sys, tools in a PATH of their own, and a design."""

    def __init__(self, folder, edit=lambda text: text):
        self.folder = folder
        self.root = folder / "root"
        self.state = folder / "state.json"
        self.design = folder / "fabric.yaml"
        self.weir("init", "--quiet", "--template", "pod16", "--output", str(self.design))
        self.design.write_text(edit(self.design.read_text()))
        tools = folder / "bin"
        tools.mkdir()
        for name in ("mlnx_qos", "dcb", "ethtool", "ip"):
            shutil.copy(HERE / "fake_tool.py", tools / name)
            (tools / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
                            "WEIR_ROOT": str(self.root), "FAKE_STATE": str(self.state)}
        self.make_sys()

    def make_sys(self):
        net = self.root / "sys/class/net/rail0"
        (net).mkdir(parents=True)
        (net / "mtu").write_text("1500\n")
        (net / "carrier").write_text("1\n")
        for point, files in KNOBS.items():
            (net / "ecn" / point / "enable").mkdir(parents=True)
            for name in files:
                (net / "ecn" / point / name).write_text("77\n")
            for priority in range(8):
                (net / "ecn" / point / "enable" / str(priority)).write_text("0\n")
        cm = self.root / "sys/kernel/config/rdma_cm/mlx5_0/ports/1"
        cm.mkdir(parents=True)
        (cm / "default_roce_tos").write_text("0\n")
        forced = self.root / "sys/class/infiniband/mlx5_0/tc/1"
        forced.mkdir(parents=True)
        (forced / "traffic_class").write_text("")

    def weir(self, *words):
        done = subprocess.run([WEIR, *words], capture_output=True, text=True, check=False,
                              cwd=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def render(self, *words):
        return self.weir("render", str(self.design), *words)

    def script(self, tool):
        path = self.folder / f"{tool}.sh"
        path.write_text(self.render("--to", "host-script", "--node", "gpu01", "--using", tool))
        return path

    def run(self, script, *words):
        done = subprocess.run(["sh", str(script), *words], capture_output=True, text=True,
                              check=False, env=self.environment, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def writes(self):
        log = pathlib.Path(f"{self.state}.log")
        return log.read_text().splitlines() if log.exists() else []


class RenderTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="weir-render-")
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    # rows: B4
    def test_a_script_makes_the_host_as_designed_and_a_second_run_changes_nothing(self):
        for tool in ("mlnx_qos", "dcb"):
            with self.subTest(tool=tool):
                folder = self.folder / tool
                folder.mkdir()
                machine = Machine(folder)
                script = machine.script(tool)
                code, text = machine.run(script, "--check")
                self.assertEqual(code, 1, text)
                self.assertEqual(machine.writes(), [], "--check writes nothing")
                code, text = machine.run(script)
                self.assertEqual(code, 0, text)
                first = machine.writes()
                self.assertIn("pfc", first[-1], "PFC may take the link down: it comes last")
                self.check_state(machine)
                code, text = machine.run(script)
                self.assertEqual(code, 0, text)
                self.assertIn("all is as designed; 0 settings changed", text)
                self.assertEqual(machine.writes(), first, "a second run writes nothing")
                self.assertEqual(machine.run(script, "--check")[0], 0)

    def check_state(self, machine):
        nic = json.loads(machine.state.read_text())["rail0"]
        self.assertEqual(nic["pfc"], [0, 0, 0, 1, 0, 0, 0, 0])
        self.assertEqual([nic["map"][str(d)] for d in (0, 24, 26, 31, 48)], [0, 3, 3, 3, 6])
        self.assertEqual(len(nic["map"]), 64)
        self.assertEqual(nic["dcbx"], "os")
        self.assertFalse(nic["pause"])
        self.assertEqual(nic["tsa"][6], "strict")
        self.assertEqual(sum(bw for bw, how in zip(nic["bw"], nic["tsa"]) if how == "ets"), 100)
        net = machine.root / "sys/class/net/rail0"
        self.assertEqual((net / "mtu").read_text().strip(), "9000")
        self.assertEqual((net / "ecn/roce_np/cnp_dscp").read_text().strip(), "48")
        self.assertEqual((net / "ecn/roce_np/enable/3").read_text().strip(), "1")
        self.assertEqual((net / "ecn/roce_rp/enable/3").read_text().strip(), "1")
        tos = machine.root / "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"
        self.assertEqual(tos.read_text().strip(), "106")
        forced = machine.root / "sys/class/infiniband/mlx5_0/tc/1/traffic_class"
        self.assertEqual(forced.read_text(), "", "what was not forced stays so")

    # rows: B4
    def test_a_traffic_class_is_forced_where_the_design_asks(self):
        machine = Machine(self.folder, lambda text: text + "\nmarking:\n  force: on\n")
        code, text = machine.run(machine.script("mlnx_qos"))
        self.assertIn("set to DSCP 26, but the driver shows not forced", text)
        forced = machine.root / "sys/class/infiniband/mlx5_0/tc/1/traffic_class"
        self.assertEqual(forced.read_text().strip(), "106")
        self.assertEqual(code, 1, "a plain file does not show it back as the driver does")

    # rows: B4
    def test_what_cannot_be_read_is_left_alone_and_said(self):
        machine = Machine(self.folder)
        shutil.rmtree(machine.root / "sys/class/net/rail0/ecn")
        code, text = machine.run(machine.script("mlnx_qos"))
        self.assertEqual(code, 5, text)
        self.assertIn("could not be read", text)
        self.assertIn("rail0 ECN reaction of priority 3", text)

    # rows: B4
    def test_a_driver_that_refuses_is_a_failure_and_the_rest_is_done(self):
        machine = Machine(self.folder)
        (self.folder / "bin/ip").write_text(
            "#!/bin/sh\necho 'RTNETLINK answers: busy' >&2\nexit 2\n")
        code, text = machine.run(machine.script("mlnx_qos"))
        self.assertEqual(code, 1, text)
        self.assertIn("rail0 MTU: could not be set to 9000: RTNETLINK answers: busy", text)
        self.assertIn("1 settings could not be made", text)
        self.assertIn("pfc", machine.writes()[-1])

    # rows: B4
    def test_scripts_are_clean(self):
        if not has_tool("shellcheck"):
            self.skipTest("shellcheck is not installed")
        machine = Machine(self.folder)
        for tool in ("mlnx_qos", "dcb", "weir"):
            done = subprocess.run(["shellcheck", "--severity=style", str(machine.script(tool))],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)

    # rows: B4
    def test_ansible_tasks_are_yaml_and_name_files_that_are_there(self):
        machine = Machine(self.folder)
        out = self.folder / "roce"
        machine.render("--to", "ansible", "--all", "--out", str(out))
        tasks = sorted(path.name for path in out.glob("*.tasks.yml"))
        self.assertEqual(len(tasks), 16)
        text = (out / "gpu01.tasks.yml").read_text()
        for line in text.splitlines():
            if "src: " in line:
                self.assertTrue((out / line.split("src: ")[1]).exists(), line)
        try:
            import yaml  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        parsed = yaml.safe_load(text)
        self.assertTrue(all("name" in task for task in parsed))
        play = yaml.safe_load((out / "roce.yml").read_text())
        self.assertEqual(len(play[0]["hosts"]), 16)
        self.assertEqual(play[0]["serial"], 1)

    # rows: B4
    def test_a_unit_passes_systemd(self):
        if not has_tool("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        machine = Machine(self.folder)
        out = self.folder / "units"
        machine.render("--to", "systemd", "--node", "gpu01", "--out", str(out))
        unit = (out / "gpu01.roce.service").read_text()
        script = out / "gpu01.roce.sh"
        self.assertTrue(os.access(script, os.X_OK))
        unit = unit.replace("/usr/local/sbin/weir-roce", str(script))
        (out / "weir-roce.service").write_text(unit)
        done = subprocess.run(["systemd-analyze", "verify", "--man=no",
                               str(out / "weir-roce.service")],
                              capture_output=True, text=True, check=False)
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "weir-roce" in line]
        self.assertEqual(ours, [])

    # rows: B4
    def test_a_unit_may_do_little_beside_its_work(self):
        """systemd calls up to 3.0 OK; this one keeps what it needs to write settings."""
        if not has_tool("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        machine = Machine(self.folder)
        out = self.folder / "units"
        machine.render("--to", "systemd", "--node", "gpu01", "--out", str(out))
        (out / "gpu01.roce.service").rename(out / "weir-roce.service")
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                               str(out / "weir-roce.service")],
                              capture_output=True, text=True, check=False)
        found = re.search(r"exposure level for weir-roce.service: ([0-9.]+)", done.stdout)
        self.assertIsNotNone(found, done.stdout + done.stderr)
        self.assertLessEqual(float(found.group(1)), 3.0, done.stdout)

    # rows: B6
    def test_a_marking_plan_is_one_page(self):
        machine = Machine(self.folder)
        text = machine.render("--to", "marking-plan")
        self.assertLess(len(text.splitlines()), 50)
        for words in ("NCCL_IB_TC=106", "26 (AF31)", "gpu[01-16]", "leaf[1-2]", "cnp_dscp"):
            self.assertIn(words, text)


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv.pop(1))
    unittest.main()
