"""Changing a host: plan, apply, validate, verify, rollback; a failure or a kill leaves nothing."""
import re

from look import DESIGN, LOAD, ids
from steps import contains, equal

ONE_RAIL = "/guest/design_one_rail.yaml"


def state(vm):
    return vm.sh("bash /guest/state.sh").out


def same(found, wanted, what):
    if found == wanted:
        return
    lines = [f"- {line}" for line in wanted.splitlines() if line not in found.splitlines()]
    lines += [f"+ {line}" for line in found.splitlines() if line not in wanted.splitlines()]
    raise AssertionError(f"{what}:\n" + "\n".join(lines[:40]))


def fresh(vm):
    """The NICs come up anew, the vendor's driver."""
    vm.sh("bash /guest/topology.sh ofed=1")


def plan_and_apply(vm):
    """plan lists, apply makes every change and reads it back; a second apply changes nothing."""
    vm.before = state(vm)
    steps = vm.weir(f"plan {DESIGN}", status=None)["hosts"][0]["steps"]
    same(state(vm), vm.before, "plan changes nothing")
    applied = vm.weir(f"apply {DESIGN} --yes", seconds=300)
    equal(applied["changed"], len(steps), "changes")
    vm.applied = state(vm)
    assert vm.applied != vm.before, "nothing changed"
    equal(vm.weir(f"apply {DESIGN} --yes")["changed"], 0, "changes of the second apply")
    judgement = vm.weir(f"validate {DESIGN}")
    equal(ids(judgement), set(), "validate")
    return f"{len(steps)} changes"


def verify_load(vm):
    """verify: a load in the design's priority passes; unmarked, or on another device, is found."""
    other = vm.weir(f"verify {DESIGN} -- {LOAD} --tclass=106", status=1)
    equal(ids(other), {"load.wrong_device"}, "on Soft-RoCE, where the design has mlx5_0")
    vm.sh(f"sed 's/rails: 2/&\\n    device: rxe{{rail}}/' {DESIGN} >rxe.yaml")
    good = vm.weir(f"verify rxe.yaml -- {LOAD} --tclass=106", status=None)
    equal(ids(good), set(), "marked")
    bad = vm.weir(f"verify rxe.yaml -- {LOAD}", status=1)
    equal(ids(bad), {"dscp.unmarked"}, "unmarked")


def roll_back(vm):
    """rollback: every value that can be read is what it was, the DSCP map as a set."""
    done = vm.weir("rollback --yes")
    assert done["whole"], done["verdict"]
    same(state(vm), vm.before, "after the rollback")
    return f"{len(vm.before.splitlines())} lines of state"


def scripts(vm):
    """The rendered host script reaches the same state as apply, and changes nothing run again."""
    vm.sh(f"weir render {DESIGN} --to host-script --node testhost --using dcb >script.sh")
    vm.sh("bash script.sh || [ $? = 5 ]")  # 5: some could not be read here
    same(state(vm), vm.applied, "after the script")
    vm.sh("bash script.sh || [ $? = 5 ]")  # 5: some could not be read here
    same(state(vm), vm.applied, "after the script again")
    fresh(vm)


def without_soft_roce(vm):
    """Where no load is run: without Soft-RoCE's thousand GIDs a look is five times quicker."""
    vm.sh("for one in rxe0 rxe1; do [ ! -e /sys/class/infiniband/$one ] || rdma link delete $one; "
          "done")


def failing_step(vm):
    """A step that the driver refuses: exit 6, and everything before it is put back."""
    without_soft_roce(vm)
    before = state(vm)
    vm.sh("echo 'ring 5' >/sys/kernel/debug/fakenic/fnic2/fail")
    failed = vm.weir(f"apply {DESIGN} --yes", status=6)
    vm.sh("echo 'ring 0' >/sys/kernel/debug/fakenic/fnic2/fail")
    same(state(vm), before, "after the failure")
    host = failed["hosts"][0]
    assert host["restored"], host["failure"]
    return host["failure"]


def killed(vm):
    """SIGKILL at each record of the journal: rollback puts everything back each time."""
    without_soft_roce(vm)
    done = vm.sh(f"bash /guest/kills.sh {ONE_RAIL}", seconds=600)
    count, recovered = map(int, re.search(r"^killed (\d+) recovered (\d+)$", done.out,
                                          re.MULTILINE).groups())
    contains(done.out, "the last apply: exit 0")
    assert count > 10, f"killed {count} times only"
    equal(recovered, count, "recovered")
    vm.sh("weir rollback --yes")
    return f"killed at 1..{count}, recovered {recovered}/{count}"


def unconfirmed(vm):
    """apply --confirm-within: without weir confirm it undoes itself."""
    before = state(vm)
    vm.sh(f"weir apply {ONE_RAIL} --yes --confirm-within 5s")
    assert state(vm) != before, "nothing changed"
    vm.machine.put("wanted", before)
    vm.sh("for i in $(seq 40); do sleep 0.5; bash /guest/state.sh >/tmp/now; "
          "cmp -s /tmp/now /mnt/wanted && exit 0; done; exit 1", seconds=300)
    same(state(vm), before, "after the time was over")


CHANGE_STEPS = [fresh, plan_and_apply, verify_load, roll_back, scripts, failing_step, unconfirmed]
KILL_STEPS = [fresh, killed]
