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
NOBODY='setpriv --reuid 65534 --clear-groups --bounding-set=-all'
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
check "an event that nobody has made" refused 1 "no event matches 'kprobes:foo'" $R -e kprobes:foo
check "an event without a system" refused 2 "':sched_switch'" $R -e :sched_switch
check "bad filter: the kernel's words, and its caret" refused 2 \
	"Field not found|prev_pidd == 1|^" $R -e sched_switch -f 'prev_pidd == 1'
check "filter on a bare tracepoint's event, of a field that it lacks" refused 2 \
	"bad filter for 'schedtap:sched_pelt_cfs': Field not found|cpuu == 1" $R -e sched_pelt_cfs -f 'cpuu == 1'
check "filter on a group of them, of a field that they lack" refused 2 "Field not found" $R -e pelt -f 'cpuu == 1'
check "filter of an event of tracefs alone, where only BPF may record" refused 2 "-b bpf" \
	$R -b bpf -e timer:timer_start -f 'flags == 1'
check "two filters of one event, from two -e" refused 2 "'sched:sched_switch' has two filters|next_pid == 1" \
	$R -e sched_switch -f 'prev_pid == 1' -e 'sched:sched_s*' -f 'next_pid == 1'
check "bare tracepoint where only tracefs may record" refused 2 \
	"'pelt' is no event of the kernel's own" $R -b tracefs -e pelt
check "no time to record" refused 2 "-d 0" $R -d 0
check "tracefs unmounted: whose the events are cannot be told" own_mounts refused 3 \
	"tracefs is not mounted: run 'mount|-b user" "${NO_TRACEFS[@]}" $R -e 'net:*'
check "no such process, over BPF" refused 1 "there is no process 4194304" $R -p 4194304
check "no such process, over tracefs" refused 1 "4194304" $R -b tracefs -p 4194304
check "no such CPU, over BPF" refused 2 "none of the given CPUs" $R -C 8000
check "no such CPU, over tracefs" refused 2 "none of the given CPUs" $R -b tracefs -C 8000
check "no such cgroup" refused 1 "'no/such'" $R -g no/such
check "nobody: the capability is named" refused 3 "CAP_BPF" $NOBODY $R
check "nobody, bare tracepoints: the same" refused 3 "CAP_BPF" $NOBODY $R -e pelt
check "only CAP_BPF: the other one is named" refused 3 "CAP_PERFMON" $NO_PERFMON $R -e pelt
check "nobody, over tracefs" refused 3 "run as root" $NOBODY $R -b tracefs
check "tracefs unmounted, but asked for: the command that mounts it" own_mounts refused 3 \
	"mount -t tracefs tracefs /sys/kernel/tracing" "${NO_TRACEFS[@]}" $R -b tracefs
check "no BTF, bare tracepoints" own_mounts refused 3 "no BTF" "${NO_BTF[@]}" $R -e pelt
check "no BTF and no tracefs: both reasons" own_mounts refused 3 "no BTF|mount -t tracefs" \
	"${NO_BTF[@]}" "${NO_TRACEFS[@]}" $R

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
	says "'a.dat.spool' is in the way"
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
	must grep -q "'a.dat' is in the way.*a.dat.spool" a.dat.err
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
	# a stretch of one backend's, then of the other's, and again: not one after the other
	must [ "$(events a.dat | grep -o ' \(timer\|sched\):' | uniq | wc -l)" -gt 4 ]
}
check "both backends: one order" in_time_order

# ---- how it ends -----------------------------------------------------------------------------
BOTH='-e sched -e pelt -e timer:*'

stopped_by()
{
	start a.dat $BOTH
	must instances $recorder
	ends 0 "$1"
	finished a.dat
	must grep -q "stopped by a signal" a.dat.err
	must_not instances $recorder
}
check "SIGINT" stopped_by INT
check "SIGTERM" stopped_by TERM
check "SIGHUP" stopped_by HUP

is_packed()
{
	[ -e "$1" ] && [ ! -e "$1.spool" ]
}

second_interrupt()
{
	start a.dat $BOTH -- sh -c 'trap "" INT TERM; exec sleep 3'
	kill -INT $recorder
	wait_for is_packed a.dat # it waits for the command now
	sleep 0.4
	ends 130 INT
	finished a.dat
	must_not instances $recorder
}
check "second Ctrl-C: 130, and nothing is left behind" second_interrupt

# as timeout(1) sends it: to the process and to its group
interrupted_twice()
{
	start a.dat $BOTH
	kill -INT $recorder
	sleep 0.02
	ends 0 INT
	finished a.dat
}
check "SIGINT twice at once is one Ctrl-C" interrupted_twice

interrupted_after_the_end()
{
	start a.dat $BOTH -d 0.1 -- sh -c 'trap "" INT TERM; sleep 2'
	wait_for is_packed a.dat
	ends 0 INT
	finished a.dat
}
check "-d: the first Ctrl-C after it ends nothing at once" interrupted_after_the_end

process_ends()
{
	sleep 3 & # loading may take its time
	run 0 "$SCHEDTAP" record -o a.dat "$@" -p $!
	finished a.dat
	says "the process ended"
}
check "-p: ends with the process" process_ends

thread_ends()
{
	cat >old.c <<-'E2'
		#include <errno.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		/* before 6.9 */
		int pidfd_open(int pid, unsigned int flags)
		{
			errno = EINVAL;
			return flags ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
		}
	E2
	must ${CC:-cc} -shared -fPIC -o old.so old.c
	sleep 3 & # loading may take its time
	run 0 "$SCHEDTAP" record -o a.dat -t $!
	finished a.dat
	says "the thread ended"
	sleep 3 &
	# ASan wants to come first, which is of no matter here
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/old.so run 0 "$SCHEDTAP" record -o a.dat -t $!
	finished a.dat
	says "the thread ended"
}
check "-t: ends with the thread" thread_ends
check "-p: ends with the process, over tracefs" process_ends -b tracefs

max_size()
{
	load &
	start a.dat --max-size 200k "$@"
	ends 0
	finished a.dat
	must grep -q "reached --max-size" a.dat.err
	must [ "$(stat -c %s a.dat)" -gt 200000 ]
	must [ "$(stat -c %s a.dat)" -lt 2000000 ]
}
check "--max-size" max_size
# of these none prints a function's name, for which the file would have all symbols of the kernel
check "--max-size, over tracefs" max_size -b tracefs -e sched_switch -e 'signal:*'

command_status()
{
	local want=$1

	shift
	run "$want" "$SCHEDTAP" record -o a.dat -- "$@"
	finished a.dat
	must [ ! -s out ]
}
check "-- CMD: 0" command_status 0 true
check "-- CMD: 7" command_status 7 sh -c 'exit 7'
check "-- CMD: killed" command_status 137 sh -c 'kill -9 $$'

command_output()
{
	run 0 "$SCHEDTAP" record -o a.dat -- printf 'a\0b\033[31m'
	must cmp out <(printf 'a\0b\033[31m')
	run 3 $NOBODY "$SCHEDTAP" record -- touch ran
	run 1 "$SCHEDTAP" record -e sched_swich -- touch ran
	touch b.dat.spool
	run 1 "$SCHEDTAP" record -o b.dat -- touch ran
	must_not [ -e ran ]
}
check "-- CMD: its output is untouched; it does not run where recording fails" command_output

command_from_the_start()
{
	run 0 "$SCHEDTAP" record -o a.dat -e sched_process_exec -- /bin/true
	events a.dat | grep -q 'filename=/bin/true' || fail "its exec is not there: $(events a.dat)"
}
check "-- CMD: recorded from its exec on" command_from_the_start

nobody_reads()
{
	mkfifo pipe
	"$SCHEDTAP" record -d 0.1 $BOTH -o a.dat 2>pipe &
	recorder=$!
	: <pipe
	ends 0
	finished a.dat
	must_not instances $recorder
}
check "nobody reads its messages" nobody_reads

disk_full()
{
	mkdir small
	mount -t tmpfs -o size=600k none small
	load &
	"$SCHEDTAP" record -d 10 -o small/a.dat "$@" 2>a.dat.err &
	recorder=$!
	ends 1
	must grep -q "small/a.dat.*No space left on device" a.dat.err
	must_not instances $recorder
	must_not [ -e small/a.dat ]
	valid small/a.dat.spool
	mount -o remount,size=16m small
	must "$SCHEDTAP" repair small/a.dat
	finished small/a.dat
}

disk_full_repaired_elsewhere()
{
	mkdir small
	mount -t tmpfs -o size=600k none small
	load &
	"$SCHEDTAP" record -d 10 -o small/a.dat 2>a.dat.err &
	recorder=$!
	ends 1
	must grep -q "schedtap repair -o" a.dat.err
	must "$SCHEDTAP" repair -o b.dat small/a.dat
	finished b.dat
	must_not [ -e small/a.dat.spool ]
}
check "disk full" disk_full
check "disk full: repaired on another" disk_full_repaired_elsewhere
check "disk full, over tracefs" disk_full -b tracefs -e sched -e 'timer:*'
check "disk full, zstd" disk_full --compress zstd

# as the kernel does it where a module that had events is unloaded
ring_reset()
{
	load &
	start a.dat -b tracefs -e sched
	sleep 0.5
	for file in "$T"/instances/schedtap-$recorder-*/trace; do
		echo >"$file"
	done
	sleep 0.3
	ends 0 INT
	finished a.dat
	must grep -Eq '[0-9]+ lost and more: others reset' a.dat.err
	# what was read before, and after
	must [ "$(sed -n 's/.* s, \([0-9]*\) events.*/\1/p' a.dat.err)" = "$(grep -vc ' lost' valid.dump)" ]
	must "$SCHEDTAP" summary -i a.dat --json >sum.json
	must grep -q '"lost_is_lower_bound":true' sum.json
	must trace-cmd report -i a.dat >/dev/null
}
check "others reset the ring buffers" ring_reset

file_size_limit()
{
	load &
	( ulimit -f 200; exec "$SCHEDTAP" record -d 10 -o a.dat 2>a.dat.err ) &
	recorder=$!
	ends 1
	must grep -q "a.dat.*File too large" a.dat.err
	must_not instances $recorder
	must "$SCHEDTAP" repair a.dat
	finished a.dat
}
check "a limit on the size of files" file_size_limit

# the recorder has more descriptors for itself
limit_of_files()
{
	run 0 sh -c "ulimit -Sn 300; exec '$SCHEDTAP' record -o a.dat -e sched -e 'none:*' -- sh -c 'ulimit -Sn >files'"
	must [ "$(cat files)" = 300 ]
}
check "a command has the limit of open files that it would have" limit_of_files

folder_vanishes()
{
	start a.dat $BOTH
	wait_for rm -rf a.dat.spool # a file may be made meanwhile
	ends 1 INT
	must grep -q "a.dat" a.dat.err
	must_not instances $recorder
	rm a.dat.err
	must [ -z "$(ls)" ]
}
check "folder vanishes while recording" folder_vanishes

# killed MS SIGNAL: at any moment, also while it packs
killed()
{
	local file=$1 ms=$2 signal=$3 pid compress=none

	! ((ms % 3)) || compress=zstd
	"$SCHEDTAP" record $BOTH --compress $compress -o "$file" 2>/dev/null &
	pid=$!
	echo $pid >>pids
	sleep "$(printf '0.%03d' "$ms")"
	programs $pid >>programs
	[ -z "$signal" ] || kill -"$signal" $pid || :
	kill -9 $pid || :
	wait $pid || :
	if [ -e "$file" ]; then
		valid "$file"
	elif has_pages "$file"; then
		must "$SCHEDTAP" dump -i "$file.spool" >spool.txt
		must "$SCHEDTAP" repair "$file" >/dev/null
		[ ! -s spool.txt ] || finished "$file" # else it was killed before the first event
		must cmp spool.txt <("$SCHEDTAP" dump -i "$file")
		head -n 1 spool.txt >>all.txt
	fi
}

killed_often()
{
	local i ms pid

	RANDOM=${SEED:-1}
	load &
	for ((i = 0; i < 10; i++)); do
		ms=$((RANDOM % 1000))
		echo "killed after $ms ms"
		killed $i.dat $ms
	done
	for ms in 1 2 4 8 16; do
		killed int-$ms.dat 2$((ms + 10)) INT
	done
	must [ -s programs ]
	wait_for programs_gone programs
	must [ -s all.txt ]
	run 0 $R -b tracefs -o next.dat
	while read -r pid; do
		must_not instances $pid
	done <pids
}
has_event()
{
	events "$1" | grep -q "$2"
}

# a sub-buffer that does not fill is in the file after a second
killed_after_a_rare_event()
{
	start a.dat -b tracefs -e sched:sched_process_exec
	must /bin/true
	wait_for has_event a.dat.spool filename=/bin/true
	kill -9 $recorder
	wait $recorder || :
	must "$SCHEDTAP" repair a.dat
	finished a.dat
	must grep -q "filename=/bin/true" valid.dump
}
check "kill -9: a rare event of tracefs is not lost" killed_after_a_rare_event
check "kill -9 at 15 moments: all is readable, nothing is left behind" killed_often

cut_off()
{
	start a.dat
	sleep 0.1
	kill -9 $recorder
	wait $recorder || :
	run 1 $R -o a.dat
	says "cut off" "schedtap repair"
	valid a.dat.spool
}
check "a cut-off recording is not overwritten" cut_off

# ---- beside others ---------------------------------------------------------------------------

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
check "nobody else's tracing state changes" others_untouched

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

# ---- scopes ----------------------------------------------------------------------------------

# A worker waits for a line in go, naps in $1 threads or children, and makes the file done. Its pid
# is in $worker, the threads or children are in the file tids.
worker()
{
	mkfifo go
	perl -Mthreads -e '
		my ($kind) = @ARGV;
		sub nap { select(undef, undef, undef, 0.002) for 1 .. 40 }
		sub start { open(my $f, "<", "go"); <$f> }
		sub tid { (readlink("/proc/thread-self") =~ /(\d+)$/)[0] }
		sub note { open(my $f, ">>", "tids"); syswrite($f, "$_[0]\n") }
		note($$);
		if ($kind eq "threads") {
			pipe(my $r, my $w);
			pipe(my $napped, my $say);
			# they stay: the end of one would end a recording of it
			my @t = map { threads->create(sub {
				note(tid());
				sysread($r, my $byte, 1);
				nap();
				syswrite($say, ".");
				sleep(100);
			}) } 1 .. 2;
			start();
			syswrite($w, "..");
			sysread($napped, my $byte, 1) for @t;
		} elsif ($kind eq "brief") {
			start();
			for (1 .. 30) {
				my @t = map { threads->create(sub {
					note(tid());
					select(undef, undef, undef, 0.002);
				}) } 1 .. 3;
				$_->join() for @t;
			}
		} elsif ($kind eq "children") {
			start();
			for (1 .. 2) {
				my $pid = fork() // die;
				if (!$pid) { note($$); nap(); exit(0) }
				waitpid($pid, 0);
			}
		} else {
			syswrite(do { open(my $f, ">", "/proc/self/comm"); $f }, "tapworker");
			start();
			nap();
		}
		open(my $f, ">", "done");
		sleep(100);' "$1" &
	worker=$!
	wait_for has_lines tids $([ "$1" = threads ] && echo 3 || echo 1)
}

has_lines()
{
	[ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# In the hierarchy of the CPU controller, or in version 2. The path is in $cgroup.
make_cgroup()
{
	local mount

	mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { v1 = v1 ? v1 : $2 }
		$3 == "cgroup2" { v2 = v2 ? v2 : $2 }
		END { print v1 ? v1 : v2 }' /proc/self/mounts)
	[ "$mount" ] || skip "no cgroups are mounted"
	cgroup=$mount/schedtap-faults-$BASHPID
	mkdir "$cgroup" || skip "cannot make a cgroup below $mount"
	trap 'clean_up; rmdir "$cgroup"' EXIT
	echo $worker >"$cgroup/cgroup.procs"
}

# Records all of the machine into all.dat, and meanwhile with the OPTIONS into part.dat, while the
# worker works.
record_both()
{
	run 0 "$SCHEDTAP" record -b bpf -e sched_switch -o all.dat -- \
		"$SCHEDTAP" record "$@" -e sched_switch -o part.dat -- \
		sh -c 'echo >go; until [ -e done ]; do sleep 0.02; done; sleep 0.05'
	for file in all part; do
		events $file.dat >$file.txt
		must_not grep -q lost $file.txt
	done
}

# The switches from or to the tasks that the file tids names
switches_of_tids()
{
	# a task that is reaped on another CPU goes from Z to X between one recorder's look and the other's
	grep -E "(${side:-prev|next})_pid=($(paste -sd'|' tids)) " "$1" | grep -o 'prev_comm.*' | sed 's/prev_state=X/prev_state=Z/'
}

# scope WORKER OPTION...: PID in the options is the worker's, TID that of its first thread, CGROUP a
# new one with the worker in it, CGROUP_BELOW the same as reports print it
scope()
{
	local kind=$1 options=()

	shift
	worker "$kind"
	for option; do
		case $option in
		PID) option=$worker ;;
		TID)
			option=$(sed -n 2p tids)
			echo "$option" >tids
			;;
		CGROUP) make_cgroup; option=$cgroup ;;
		CGROUP_BELOW) make_cgroup; option=/${cgroup##*/} ;;
		esac
		options+=("$option")
	done
	record_both "${options[@]}"
	# sorted: what two CPUs did in the same microsecond may come either way round
	switches_of_tids all.txt | sort >want
	switches_of_tids part.txt | sort >got
	must [ "$(wc -l <want)" -ge 40 ]
	must diff want got
	must_not grep -vE "(prev|next)_pid=($(paste -sd'|' tids)) " part.txt
}

# The kernel's set_event_pid may leave out switches from idle to the task (seen on 6.18, per CPU).
scope_tracefs()
{
	local side=prev

	scope "$@" -b tracefs
}
check "-p: all of the process, and nothing else" scope one -p PID
check "-p: with its threads" scope threads -p PID
check "-p --follow: with its children" scope children -p PID --follow
check "-c: all of that name, and nothing else" scope one -c 'tapw*r'
check "-g: all of the cgroup, and nothing else" scope one -g CGROUP

# A hog that is the only one in a cgroup with a fifth of a CPU, from the recording's beginning to its end.
throttled()
{
	sleep 1000 &
	worker=$!
	make_cgroup
	if [ -e "$cgroup/cpu.cfs_quota_us" ]; then
		echo 20000 >"$cgroup/cpu.cfs_quota_us"
	else
		echo '20000 100000' >"$cgroup/cpu.max" || skip "the cgroup has no CPU controller"
	fi
	cat >hog <<-END
		echo \$\$ >$cgroup/cgroup.procs
		timeout 1 sh -c 'while :; do :; done'
		echo \$\$ >$cgroup/../cgroup.procs
	END
	must "$SCHEDTAP" record -o a.dat -e sched_switch -- sh hog
	said=$("$SCHEDTAP" summary -i a.dat --json | grep -o '"cgroup":"[^"]*'"${cgroup##*/}"'","throttled_ns":[0-9]*' | grep -o '[0-9]*$')
	kernel=$(sed -n 's/^throttled_time //p; s/^throttled_usec \(.*\)/\1000/p' "$cgroup/cpu.stat")
	must [ "$kernel" -gt 100000000 ]
	must [ "$said" = "$kernel" ]
}
check "a cgroup with a quota: how long it was throttled" throttled
check "-g: its path as reports print it" scope one -g CGROUP_BELOW

other_controller()
{
	local mount

	mount=$(awk '$3 == "cgroup" && $4 !~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/self/mounts)
	[ "$mount" ] || skip "no other controller is mounted"
	refused 1 "there is no cgroup '$mount'|where those are that tasks are scheduled by" $R -g "$mount"
}
check "-g: a cgroup of another controller" other_controller
check "-g: a folder that is no cgroup" refused 1 "there is no cgroup '/proc'" $R -g /proc

# Switches do not name cgroups: the recording's table of tasks does.
found_by_cgroup()
{
	local name

	worker one
	make_cgroup
	name=/${cgroup##*/}
	run 0 "$SCHEDTAP" record -e sched_switch -o all.dat -- \
		sh -c 'echo >go; until [ -e done ]; do sleep 0.02; done; sleep 0.05'
	events all.dat >all.txt
	switches_of_tids all.txt >want
	must [ "$(wc -l <want)" -ge 40 ]
	events all.dat -g "$name" | grep -o 'prev_comm.*' >got
	must diff want got
	must "$SCHEDTAP" summary -i all.dat -g '*' --csv >tasks.csv
	must [ "$(grep -F ",$name," tasks.csv | cut -d, -f 1)" = "$(cat tids)" ]
	must [ "$(wc -l <tasks.csv)" -gt 2 ]
}
check "-g of a report: by the table of tasks" found_by_cgroup

# One that is gone before the recording ends, and one below it.
cgroup_comes_and_goes()
{
	local name

	worker one
	make_cgroup # whether that works
	trap clean_up EXIT
	kill -9 "$worker"
	wait "$worker" || :
	rmdir "$cgroup"
	name=${cgroup##*/}
	run 0 "$SCHEDTAP" record -e pelt -o a.dat -- sh -c '
		mkdir "$1"; sleep 0.1; mkdir "$1/below"
		sh -c "echo \$\$ >\"\$1/below/cgroup.procs\"; sleep 0.05; sleep 0.05" sh "$1"
		rmdir "$1/below" "$1"; sleep 0.05' sh "$cgroup"
	events a.dat -e sched_pelt_cfs >dumped
	must grep -q "path=/$name " dumped
	must grep -q "path=/$name/below " dumped
}
check "a cgroup that comes and goes has a name" cgroup_comes_and_goes
check "-p over tracefs" scope_tracefs one -p PID
check "-p over tracefs: threads that live for milliseconds" scope_tracefs brief -p PID
check "-p: threads that live for milliseconds" scope brief -p PID
check "-p --follow over tracefs" scope_tracefs children -p PID --follow

check "-t: one thread of several" scope threads -t TID

one_cpu()
{
	worker one
	taskset -cp 0 $worker >/dev/null
	record_both -C 0 "$@"
	switches_of_tids all.txt >want
	switches_of_tids part.txt >got
	must [ "$(wc -l <want)" -ge 40 ]
	must diff want got
	must_not grep -v ' \[000\] ' part.txt
	must grep -q ' \[001\] ' all.txt
}
if [ "$(nproc)" -gt 1 ]; then
	check "-C: all of the CPU, and nothing else" one_cpu
	check "-C: all of the CPU, and nothing else, over tracefs" one_cpu -b tracefs
fi
done_testing
