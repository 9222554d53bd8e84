#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap record on this kernel when things go wrong, and what must hold however it ends.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
. "$here/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-faults-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
chmod 755 "$scratch" # an ordinary user comes by as well

# The program with fewer rights, or a world with less in it: words before the command line.
BPF_ONLY='setpriv --reuid 65534 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon'
NO_PERFMON='setpriv --reuid 65534 --clear-groups --inh-caps +bpf --ambient-caps +bpf'
UNPRIVILEGED='setpriv --reuid 65534 --clear-groups --bounding-set=-all'
# A chroot that is no mount point has no mount namespaces.
own_mounts()
{
	unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
	"$@"
}
NO_TRACEFS=(unshare -m sh -ec 'umount -a -t tracefs; exec "$@"' sh)
NO_BTF=(unshare -m sh -ec 'mount -t tmpfs none /sys/kernel/btf; exec "$@"' sh)

# ---- what is refused -------------------------------------------------------------------------

# refused RC SENTENCES -- [WORDS BEFORE THE PROGRAM] record...: and no file is made.
# SENTENCES: parted by '|'
refused()
{
	local rc=$1 texts

	IFS='|' read -ra texts <<<"$2"
	shift 2
	chmod 777 .
	run "$rc" "$@" -o refused.dat
	says "${texts[@]}"
	must_not [ -e refused.dat ]
	must_not [ -e refused.dat.spool ]
	must_not [ -s out ]
}
R="$SCHEDTAP record -d 0.1"
check "unknown event: nearest name" refused 1 "'sched_swich'|'sched_switch'" $R -e sched_swich
check "unknown event of tracefs: nearest name" refused 1 "'timer:hrtimer_strat'|'hrtimer_start'" \
	$R -e timer:hrtimer_strat
check "two events in one -e" refused 1 "give each event its own -e" $R -e sched_switch,sched_waking
check "a kprobe that does not exist" refused 1 "no event matches 'kprobes:foo'" $R -e kprobes:foo
check "an event without a system" refused 2 "':sched_switch'" $R -e :sched_switch
check "bad filter: the kernel's words, and its caret" refused 2 \
	"Field not found|prev_pidd == 1|^" $R -e sched_switch -f 'prev_pidd == 1'
check "filter on a bare tracepoint's event, of a field that it lacks" refused 2 \
	"bad filter for 'schedtap:sched_pelt_cfs': Field not found|cpuu == 1" $R -e sched_pelt_cfs -f 'cpuu == 1'
check "filter on a group of them, of a field that they lack" refused 2 "Field not found" $R -e pelt -f 'cpuu == 1'
check "filter of an event of tracefs alone, where only BPF may record" refused 2 "-b bpf" \
	$R -b bpf -e timer:timer_start -f 'flags == 1'
check "two filters of one event, from two -e" refused 2 "'sched:sched_switch' matches two -e options with different filters|next_pid == 1" \
	$R -e sched_switch -f 'prev_pid == 1' -e 'sched:sched_s*' -f 'next_pid == 1'
check "bare tracepoint where only tracefs may record" refused 2 \
	"'pelt' is not one of the kernel's own events" $R -b tracefs -e pelt
check "no time to record" refused 2 "-d 0" $R -d 0
check "tracefs unmounted: the events may be the kernel's or a program's" own_mounts refused 3 \
	"tracefs is not mounted: run 'mount|-b user" "${NO_TRACEFS[@]}" $R -e 'net:*'
check "no such process, over BPF" refused 1 "there is no process 4194304" $R -p 4194304
check "no such process, over tracefs" refused 1 "4194304" $R -b tracefs -p 4194304
check "no such CPU, over BPF" refused 2 "none of the given CPUs" $R -C 8000
check "no such CPU, over tracefs" refused 2 "none of the given CPUs" $R -b tracefs -C 8000
check "no such cgroup" refused 1 "'no/such'" $R -g no/such
check "unprivileged: the capability is named" refused 3 "CAP_BPF" $UNPRIVILEGED $R
check "unprivileged, bare tracepoints: the capability is named" refused 3 "CAP_BPF" $UNPRIVILEGED $R -e pelt
check "only CAP_BPF: the other one is named" refused 3 "CAP_PERFMON" $NO_PERFMON $R -e pelt
check "unprivileged, over tracefs" refused 3 "run as root" $UNPRIVILEGED $R -b tracefs
check "tracefs unmounted, but asked for: the command that mounts it" own_mounts refused 3 \
	"mount -t tracefs tracefs /sys/kernel/tracing" "${NO_TRACEFS[@]}" $R -b tracefs
check "no BTF, bare tracepoints" own_mounts refused 3 "no BTF" "${NO_BTF[@]}" $R -e pelt
check "no BTF and no tracefs: both reasons" own_mounts refused 3 "no BTF|mount -t tracefs" \
	"${NO_BTF[@]}" "${NO_TRACEFS[@]}" $R

other_controller()
{
	local mount

	mount=$(awk '$3 == "cgroup" && $4 !~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/self/mounts)
	[ "$mount" ] || skip "no other controller is mounted"
	refused 1 "there is no cgroup '$mount'|where the scheduler's cgroup hierarchy is mounted" $R -g "$mount"
}
check "-g: a cgroup of another controller" other_controller
check "-g: a folder that is no cgroup" refused 1 "there is no cgroup '/proc'" $R -g /proc

# ---- where the recording cannot go -----------------------------------------------------------

read_only_folder()
{
	mkdir ro
	mount -t tmpfs -o ro none ro
	run 1 $R -o ro/a.dat
	says "ro/a.dat.spool" "Read-only file system"
}
check "read-only folder" read_only_folder

forbidden_folder()
{
	run 1 $BPF_ONLY $R -o a.dat
	says "a.dat.spool" "Permission denied"
}
check "folder that the user may not write: failed, not a missing privilege" forbidden_folder

in_the_way()
{
	"$1" a.dat.spool
	run 1 $R -o a.dat
	says "'a.dat.spool' already exists and is not a readable recording"
	must [ -e a.dat.spool ]
	must_not [ -e a.dat ]
}
check "file where the spool folder would be" in_the_way touch
check "folder where the spool folder would be" in_the_way mkdir

folder_for_file()
{
	start a.dat
	mkdir a.dat
	ends 1 INT
	must grep -q "cannot replace 'a.dat'.*a.dat.spool" a.dat.err
	valid a.dat.spool
}
check "folder where the file would be: the spool keeps what was recorded" folder_for_file

long_path()
{
	local deep

	deep=$(printf '%0200d/' $(seq 19))
	run 1 $R -o "$(printf '%04096d' 0)"
	says "File name too long"
	mkdir -p "$deep"
	run 0 $R -o "${deep}a.dat"
	finished "${deep}a.dat"
}
check "4096-byte path is refused, one of 3800 is not" long_path

# ---- less than everything is enough ----------------------------------------------------------

# records HAS HAS_NOT [WORDS BEFORE THE PROGRAM] record...: events of HAS, none of HAS_NOT ("-": any)
records()
{
	local has=$1 has_not=$2

	shift 2
	chmod 777 .
	run 0 "$@" -o a.dat
	finished a.dat
	must grep -q " $has" valid.dump
	[ "$has_not" = - ] || must_not grep -q " $has_not" valid.dump
}
check "ordinary user with CAP_BPF and CAP_PERFMON" records schedtap: - $BPF_ONLY $R
check "without tracefs" own_mounts records schedtap: - "${NO_TRACEFS[@]}" $R
check "without BTF: the kernel's own events, from tracefs" own_mounts records sched:sched_switch schedtap: \
	"${NO_BTF[@]}" $R
check "RLIMIT_MEMLOCK is 0" records schedtap: - sh -c 'ulimit -l 0; exec "$@"' sh $R
check "umask 0" records schedtap: - sh -c 'umask 0; exec "$@"' sh $R
check "from tracefs" records sched:sched_switch schedtap: $R -b tracefs
check "over BPF" records sched:sched_switch timer: $R -b bpf
check "both backends: BPF's events" records sched:sched_switch - $R -e sched_switch -e 'timer:*'
check "both backends: tracefs' events" records timer: - $R -e sched_switch -e 'timer:*'
check "a filter over BPF" records schedtap:sched_pelt_se pid=-1 $R -b bpf -e pelt -f 'pid > 0'
check "a filter" records sched:sched_switch prev_pid=0 \
	$R -e sched_switch -f 'prev_pid != 0'
check "a filter stays where a later -e has the event too" records sched:sched_switch prev_pid=0 \
	$R -e sched_switch -f 'prev_pid != 0' -e sched
check "a filter holds where an earlier -e has the event too" records sched:sched_switch prev_pid=0 \
	$R -e sched -e sched_switch -f 'prev_pid != 0'
# odd ones, or idle
check "-f twice: both hold" records sched:sched_switch '.*prev_pid=\(0\|[0-9]*[13579]\) ' \
	$R -e sched_switch -f 'prev_pid != 0' -f '!(prev_pid & 1)'
check "zstd" records schedtap: - $R --compress zstd
check "zstd, both backends" records timer: - $R --compress zstd -e sched -e 'timer:*'

in_time_order()
{
	run 0 $R -o a.dat -e sched -e 'timer:*'
	events a.dat | grep -o '\[[0-9]*\] [0-9.]*' | cut -d' ' -f2 >times
	must [ "$(wc -l <times)" -gt 10 ]
	must sort -C -n times
	# an interval of one backend's, then of the other's, and again: not one after the other
	must [ "$(events a.dat | grep -o ' \(timer\|sched\):' | uniq | wc -l)" -gt 4 ]
}
check "both backends: one order" in_time_order

# ---- beside others ---------------------------------------------------------------------------

BOTH='-e sched -e pelt -e timer:*'

two_at_once()
{
	local first

	start a.dat $BOTH
	first=$recorder
	run 1 $R -o a.dat
	says "process $first is still recording"
	start b.dat $BOTH
	sleep 0.1
	ends 0 INT
	recorder=$first
	ends 0 INT
	finished a.dat
	finished b.dat
}
check "two recorders: each its file, and the same file only once" two_at_once

top_level()
{
	(cd $T && head -n 50 tracing_on current_tracer set_event trace_clock tracing_cpumask \
		set_event_pid set_ftrace_filter buffer_size_kb events/sched/enable events/enable \
		events/sched/sched_switch/filter options/overwrite 2>/dev/null || :)
}

others_untouched()
{
	top_level >before
	start a.dat -e sched -e 'timer:*' -e sched_switch -f 'prev_pid != 0'
	top_level >while
	ends 0 INT
	top_level >after
	must diff before while
	must diff before after
	must [ -s before ]
}
check "the tracing state of others does not change" others_untouched

hostile_comm()
{
	perl -e 'open(my $f, ">", "/proc/self/comm"); syswrite($f, "\e[31mred\nx");
		 select(undef, undef, undef, 0.005) while 1' &
	start a.dat "$@"
	sleep 0.1
	ends 0 INT
	valid a.dat
	must grep -qF 'red' valid.dump
	must_not grep -q $'\e' valid.dump valid.summary
	must_not grep -q '^x' valid.dump
	must "$SCHEDTAP" dump -i a.dat --json >json
	must perl -MJSON::PP -ne '
		$found |= decode_json($_)->{comm} eq "\e[31mred\nx";
		END { exit($? || !$found) }' json
	must "$SCHEDTAP" summary -i a.dat --json >json
	must perl -MJSON::PP -0777 -ne 'decode_json($_)' json
}
check "comm with escape sequences and a newline" hostile_comm -e sched
check "comm with escape sequences and a newline, over tracefs" hostile_comm -b tracefs -e sched

done_testing
