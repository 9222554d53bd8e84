#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kernel's own events that schedtap records over BPF carry the text that this kernel prints.
# Older kernels lay some of them out otherwise: then the field names must still be the same. The two fields that schedtap adds at the end
# of sched_switch are left out.
schedtap=${SCHEDTAP:-build/schedtap}
events=/sys/kernel/tracing/events
if ! [ -r $events/sched/sched_switch/format ]; then
	echo "1..0 # SKIP tracefs cannot be read"
	exit 0
fi
names=(sched/sched_{switch,waking,wakeup_new,migrate_task} sched/sched_process_{fork,exec,exit}
	task/task_newtask cpuhp/cpuhp_exit power/cpu_{idle,frequency} irq/irq_handler_{entry,exit} irq/softirq_{entry,exit})
echo "1..${#names[@]}"
added='next_(queued|delay)_ns'
n=0
for name in "${names[@]}"; do
	n=$((n + 1))
	ours=$("$schedtap" list -v "${name/\//:}" | sed -n 's/^    //p' | grep -v '^ID:' |
		sed -E "/field:u32 $added;/d; s/ $added=%u//g; s/, REC->$added//g")
	theirs=$(grep -v '^ID:' "$events/$name/format")
	if [ "$ours" = "$theirs" ]; then
		echo "ok $n - $name: the same text"
	elif [ "$(sed -n 's/.* \([a-z_]*\)[];0-9[]*\toffset.*/\1/p' <<<"$ours")" = \
		"$(sed -n 's/.* \([a-z_]*\)[];0-9[]*\toffset.*/\1/p' <<<"$theirs")" ]; then
		echo "ok $n - $name: another layout, the same fields"
	else
		echo "not ok $n - $name"
		diff <(echo "$ours") <(echo "$theirs") | sed 's/^/# /' >&2
	fi
done
