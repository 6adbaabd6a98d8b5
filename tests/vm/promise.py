"""What weir promises of a change when things break: signals, the clock, a full disk, others."""
import re

from change import ONE_RAIL, same, state, without_soft_roce
from look import DESIGN
from steps import contains, equal

UNDER_FAILURE = (f"verify {DESIGN} --state /tmp/failing --under-failure 'touch /tmp/cut; true ssh' "
                 "--restore 'rm -f /tmp/cut'")


def wait_until_back(vm, before, seconds=40):
    vm.machine.put("wanted", before)
    vm.sh(f"for i in $(seq {seconds}); do bash /guest/state.sh >/tmp/now; "
          "cmp -s /tmp/now /mnt/wanted && exit 0; sleep 0.5; done; exit 1", seconds=600)
    same(state(vm), before, "after the time was over")


def unconfirmed_and_disturbed(vm):
    """--confirm-within with a relative --state, the clock set back an hour, SIGTERM, SIGHUP, SIGINT
    and SIGQUIT to every weir, SIGKILL to each of the two that wait, one by one: undone."""
    without_soft_roce(vm)
    before = state(vm)
    done = vm.weir(f"apply {ONE_RAIL} --yes --confirm-within 12s --state confirm",
                   prefix="cd /tmp; ")
    equal(done["guard"]["by"], "process", "without systemd")
    vm.sh("date -s @$(($(date +%s) - 3600)); "
          "for signal in TERM HUP INT QUIT; do killall -$signal weir; done; "
          "for victim in 1 2; do set -- $(pidof weir); [ $# = 2 ] || exit 1; "
          "[ $victim = 1 ] || shift; kill -9 $1; sleep 1.5; done; "
          "set -- $(pidof weir); [ $# = 2 ]")
    assert state(vm) != before, "nothing changed"
    wait_until_back(vm, before)
    vm.sh("date -s @$(($(date +%s) + 3600)); cd /tmp; weir confirm --state confirm", status=6)


def killed_apply(vm):
    """SIGKILL of the apply itself: whoever waits undoes what it had done."""
    before = state(vm)
    vm.sh("strace -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:signal=SIGKILL:when=9 "
          f"weir apply {ONE_RAIL} --yes --quiet --confirm-within 8s --state /tmp/confirm",
          status=137)
    wait_until_back(vm, before)


def confirmed(vm):
    """weir confirm waits for the lock, and what is confirmed stays."""
    before = state(vm)
    vm.sh(f"weir apply {ONE_RAIL} --yes --quiet --confirm-within 60s --state /tmp/confirm")
    # Another one that holds the lock for ten seconds, and then finds that it may not go on.
    said = vm.sh("strace -qq -o /dev/null -e trace=flock -e inject=flock:delay_exit=10000000 "
                 f"weir apply {ONE_RAIL} --yes --state /tmp/confirm >/dev/null 2>&1 & sleep 4; "
                 "weir confirm --state /tmp/confirm; status=$?; wait; exit $status")
    contains(said.err, "waiting for another weir")
    contains(said.out, "Confirmed")
    assert state(vm) != before, "it was undone"
    vm.sh("for i in $(seq 40); do pidof weir >/dev/null || exit 0; sleep 0.5; done; exit 1")
    vm.sh("weir rollback --yes --quiet --state /tmp/confirm")
    same(state(vm), before, "after the rollback")


def full_disk(vm):
    """A full disk: nothing is changed; one that fills up on the way: all is put back, and rollback
    finds the journal whole."""
    before = state(vm)
    vm.sh("mkdir -p /tmp/small && mount -t tmpfs -o size=64k,mode=700 tmpfs /tmp/small && "
          "dd if=/dev/zero of=/tmp/small/full bs=4k count=14 2>/dev/null")
    refused = vm.sh(f"weir apply {ONE_RAIL} --yes --quiet --state /tmp/small", status=4)
    contains(refused.err + refused.out, "No space left on device")
    same(state(vm), before, "nothing is changed")
    contains(vm.sh("weir rollback --state /tmp/small").out, "Nothing to roll back")
    # A file system that reserves nothing: found out when it is full, at one of the steps.
    vm.sh("rm -f /tmp/small/journal* /tmp/small/full; "
          "dd if=/dev/zero of=/tmp/small/full bs=4k count=14 2>/dev/null")
    vm.sh("strace -f -qq -o /dev/null -e trace=fallocate -e inject=fallocate:error=EOPNOTSUPP "
          f"weir apply {ONE_RAIL} --yes --quiet --state /tmp/small", status=6)
    same(state(vm), before, "after the disk was full")
    vm.sh("rm -f /tmp/small/full; weir rollback --yes --quiet --state /tmp/small; "
          "umount /tmp/small")
    same(state(vm), before, "after the rollback")


def failure_ended(vm):
    """verify --under-failure, interrupted: the failure is ended and the load stopped."""
    for name, status in (("INT", 130), ("TERM", 130), ("HUP", 130)):
        vm.sh(f"weir {UNDER_FAILURE} -- sh -c 'test -e /tmp/cut || exit 0; sleep 600 & wait' & "
              "child=$!; until [ -e /tmp/cut ] && pidof sleep >/dev/null; do sleep 0.2; done; "
              f"kill -{name} $child; wait $child", status=status)
        vm.sh("[ ! -e /tmp/cut ] && ! pidof sleep")
    vm.sh(f"weir {UNDER_FAILURE} -- sh -c 'test -e /tmp/cut || exit 0; sleep 600 & wait' & "
          "child=$!; until [ -e /tmp/cut ] && pidof sleep >/dev/null; do sleep 0.2; done; "
          "kill -KILL $child; wait $child", status=137)
    vm.sh("[ -e /tmp/cut ] && pidof sleep")
    healed = vm.weir("rollback --state /tmp/failing")
    assert healed["whole"] and healed["stopped_load"], healed
    vm.sh("[ ! -e /tmp/cut ] && ! pidof sleep")


def three_at_once(vm):
    """Three applies at the same time: one makes the changes, the others find none to make."""
    before = state(vm)
    done = vm.sh(f"for i in 1 2 3; do weir apply {ONE_RAIL} --yes --state /tmp/three "
                 ">/tmp/three.$i 2>&1 & done; wait; head -1 -q /tmp/three.*", seconds=600)
    equal(len(re.findall(r"^Applied \d+ changes", done.out, re.MULTILINE)), 1, done.out)
    vm.sh("weir rollback --yes --quiet --state /tmp/three")
    same(state(vm), before, "after the rollback")


def changed_since(vm):
    """rollback shows what another program changed since, and asks."""
    before = state(vm)
    vm.sh(f"weir apply {ONE_RAIL} --yes --quiet --state /tmp/since && ethtool -G rail0 rx 2048")
    asked = vm.sh("weir rollback --state /tmp/since", status=2)
    contains(asked.err, "1 setting changed since by others")
    contains(asked.err, "rx 2048")
    vm.sh("weir rollback --yes --quiet --state /tmp/since")
    same(state(vm), before, "after the rollback")


def foreign_state(vm):
    """A state directory that others can write to, or a lock that is a link, is refused."""
    vm.sh("mkdir -p /tmp/open && chmod 777 /tmp/open")
    contains(vm.sh(f"weir apply {ONE_RAIL} --yes --state /tmp/open", status=4).err, "not trusted")
    contains(vm.sh("weir rollback --yes --state /tmp/open", status=4).err, "not trusted")
    vm.sh("mkdir -p -m 700 /tmp/linked && echo kept >/tmp/victim && "
          "ln -sf /tmp/victim /tmp/linked/lock")
    contains(vm.sh("weir confirm --state /tmp/linked", status=4).err, "symbolic link")
    equal(vm.sh("cat /tmp/victim").out, "kept\n")


PROMISE_STEPS = [unconfirmed_and_disturbed, killed_apply, confirmed, full_disk,
                 failure_ended, three_at_once, changed_since, foreign_state]


# ---- with systemd, and a disk that outlives a restart ----

def timer(vm):
    """With systemd a timer waits: a clock set back and SIGKILL of weir do not stop it."""
    before = vm.before = state(vm)
    done = vm.weir(f"apply {ONE_RAIL} --yes --confirm-within 12s")
    equal(done["guard"]["by"], "systemd")
    unit = done["guard"]["unit"]
    contains(vm.sh(f"systemctl is-active {unit}.timer").out, "active")
    vm.sh("date -s @$(($(date +%s) - 3600)); killall -KILL weir; true")
    wait_until_back(vm, before)
    vm.sh("date -s @$(($(date +%s) + 3600)); weir confirm", status=6)


def timer_of_killed_apply(vm):
    """SIGKILL in the middle of the apply, and of the process that rolls back: undone."""
    vm.sh("strace -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:signal=SIGKILL:when=9 "
          f"weir apply {ONE_RAIL} --yes --quiet --confirm-within 8s", status=137)
    vm.sh("for i in $(seq 100); do killall -KILL weir 2>/dev/null && exit 0; sleep 0.2; done; "
          "exit 1")
    wait_until_back(vm, vm.before)


def timer_confirmed(vm):
    """weir confirm stops the timer."""
    unit = vm.weir(f"apply {ONE_RAIL} --yes --confirm-within 60s")["guard"]["unit"]
    vm.sh("weir confirm --quiet")
    vm.sh(f"systemctl is-active {unit}.timer", status=3)
    vm.sh("weir rollback --yes --quiet")
    same(state(vm), vm.before, "after the rollback")


def restarted(vm):
    """A restart before the confirmation: the change is rolled back at boot."""
    vm.sh(f"weir apply {ONE_RAIL} --yes --quiet --confirm-within 3600s")
    assert state(vm) != vm.before, "nothing changed"
    vm.machine.restart("systemctl reboot")
    same(state(vm), vm.before, "after the restart")
    contains(vm.sh("systemctl show -p Result -p ExecMainStatus weir-settle").out, "Result=success")
    contains(vm.sh("weir confirm", status=6).out, "the machine was restarted")


def power_cut(vm):
    """The power goes in the middle of an apply: settled at boot, and the next apply goes on."""
    vm.sh("strace -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:signal=SIGKILL:when=7 "
          f"weir apply {ONE_RAIL} --yes --quiet", status=137)
    vm.machine.restart()
    contains(vm.sh("weir rollback").out, "Nothing to roll back")
    vm.sh(f"weir apply {ONE_RAIL} --yes --quiet")


BOOT_STEPS = [timer, timer_of_killed_apply, timer_confirmed, restarted, power_cut]
