#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `schedtap list --enabled`: what is on in tracefs and by BPF, whoever switched it on.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-enabled-XXXXXX)
chmod 755 "$scratch"
instance=schedtap-enabled-$$
trap 'cd /; rm -rf "$scratch"; [ ! -d $T/instances/$instance ] || rmdir $T/instances/$instance' EXIT

# ours: what it lists of the test's instance
ours()
{
	run 0 "$SCHEDTAP" list --enabled "$@"
	grep -F "$instance" out || :
}

in_tracefs()
{
	local events=$T/instances/$instance/events/sched want

	mkdir $T/instances/$instance
	echo 'prev_pid == 4242 && prev_comm ~ "a*"' >$events/sched_switch/filter
	echo 1 >$events/sched_switch/enable
	echo 1 >$events/sched_waking/enable
	want="tracefs   sched:sched_switch, instance $instance, filter prev_pid == 4242 && prev_comm ~ \"a*\"
tracefs   sched:sched_waking, instance $instance"
	must [ "$(ours)" = "$want" ]
	must [ "$(ours 'sched_w*')" = "$(tail -n 1 <<<"$want")" ]
	must [ "$(ours sched:sched_switch irq)" = "$(head -n 1 <<<"$want")" ]
	echo 'traceoff:3 if pid == 4242' >$events/sched_waking/trigger
	echo 'enable_event:irq:irq_handler_entry if pid == 4242' >>$events/sched_waking/trigger
	must [ "$(ours sched_waking)" = "tracefs   sched:sched_waking, instance $instance, trigger enable_event:irq:irq_handler_entry:unlimited if pid == 4242, trigger traceoff:count=3 if pid == 4242" ]
	echo 0 >$events/enable
	must [ "$(ours sched_waking irq | cut -c -90)" = "tracefs   irq:irq_handler_entry, instance $instance, off until a trigger
$(printf %.90s "tracefs   sched:sched_waking, instance $instance, off until a trigger, trigger enable_event:irq:")" ]
	echo '!enable_event:irq:irq_handler_entry if pid == 4242' >>$events/sched_waking/trigger
	echo '!traceoff:3 if pid == 4242' >>$events/sched_waking/trigger
	must_not grep -qF $instance <("$SCHEDTAP" list --enabled)
	rmdir $T/instances/$instance
}
check "events, filters and triggers of an instance" in_tracefs

# What it lists of the programs with the ids in file ids.
listed_programs()
{
	"$SCHEDTAP" list --enabled 2>/dev/null | grep -E "^bpf .* \[($(paste -sd'|' ids))\]$" || :
}

# A typed program, a raw one, and one of a tracepoint without an event.
by_bpf()
{
	start a.dat -b bpf -e sched_switch -e 'sched_waking{p->pid}' -e sched_pelt_cfs
	programs $recorder >ids
	must [ "$(listed_programs | grep -vc cgroup_)" = 3 ]
	run 0 "$SCHEDTAP" list --enabled sched_switch sched_waking 'bare:pelt_cfs_tp'
	must grep -q '^bpf       sched:sched_switch, program sched_switch__s \[[0-9]*\]$' out
	must grep -q '^bpf       sched:sched_waking, program tap_own \[[0-9]*\]$' out
	must grep -q '^bpf       bare:pelt_cfs_tp, program sched_pelt_cfs_ \[[0-9]*\]$' out
	ends 0 INT
	wait_for programs_gone ids
	must [ -z "$(listed_programs)" ]
}
check "BPF programs on tracepoints" by_bpf

over_tracefs()
{
	start a.dat -b tracefs -e sched_switch
	run 0 "$SCHEDTAP" list --enabled sched_switch
	must grep -q "^tracefs   sched:sched_switch, instance schedtap-$recorder" out
	ends 0 INT
}
check "a recorder's own instance" over_tracefs

none()
{
	run 1 "$SCHEDTAP" list --enabled 'nosuch*'
	says "no enabled event matches the given names"
	must [ ! -s out ]
}
check "none" none

# What cannot be read may be on.
unprivileged()
{
	run 3 setpriv --reuid 65534 --clear-groups --bounding-set=-all "$SCHEDTAP" list --enabled
	must_not grep -q 'no event' err
}
check "without the privilege" unprivileged
done_testing
