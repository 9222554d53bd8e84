#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What doctor and list say to those who may not do everything. SCHEDTAP names the program.
. "$(dirname "$0")/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
SCHEDTAP=${SCHEDTAP:-$(cd "$(dirname "$0")/../.." && pwd)/build/schedtap}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unprivileged=(setpriv --reuid 65534 --clear-groups --bounding-set=-all env -u XDG_RUNTIME_DIR)

as_unprivileged()
{
	"${unprivileged[@]}" "$SCHEDTAP" --version >/dev/null 2>&1 || skip "user 65534 cannot run $SCHEDTAP"
	"${unprivileged[@]}" "$SCHEDTAP" "$@" >out 2>err
}

tracefs_is_mounted()
{
	mountpoint -q "$T" || skip "tracefs is not mounted at $T"
	as_unprivileged doctor || true
	must grep -A 1 '^no   tracefs  ' out
	must_not grep 'mount -t tracefs' out
	must grep 'cannot read tracefs at .*: run as root' out
}

types_alone_are_said()
{
	as_unprivileged doctor || true
	must grep 'built-in events can be recorded over BPF here, judging by the kernel.s types only$' out
	as_unprivileged list sched_waking
	must grep "^schedtap: 'bpf' is judged only by the kernel's types: " err
}

nothing_is_said_to_root()
{
	"$SCHEDTAP" list sched_waking >out 2>err
	must grep '^bpf  *sched:sched_waking$' out
	must_not grep 'types alone' err
}

# Root of a user namespace has the capabilities, and the kernel refuses its programs all the same.
refused_programs_are_not_listed()
{
	unshare -Ur true 2>/dev/null || skip "no user namespace can be made here"
	unshare -Ur "$SCHEDTAP" list 'schedtap:*' sched_waking >out 2>err
	must_not grep '^bpf ' out
	must grep '^-  *schedtap:sched_entry: cannot load the BPF programs' out
}

check "doctor: tracefs is mounted, and another user's" tracefs_is_mounted
check "doctor, list: what they go by without privileges" types_alone_are_said
check "list: as root" nothing_is_said_to_root
check "list: the kernel refuses BPF programs" refused_programs_are_not_listed
done_testing
