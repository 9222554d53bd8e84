#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap record limits events to tasks, cgroups and CPUs on this kernel: -p, -t, -c, -g, -C. A second recorder of the
# whole machine is the reference.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
. "$here/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-scopes-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

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
	cgroup=$mount/schedtap-scopes-$BASHPID
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
		sh -c 'echo >go; until [ -e done ]; do sleep 0.05; done; sleep 0.05'
	for file in all part; do
		events $file.dat >$file.txt
		must_not grep -q lost $file.txt
	done
}

# The switches from or to the tasks that the file tids names
switches_of_tids()
{
	local added=

	# over tracefs a switch has no time in the queue
	[ ! -e part.txt ] || grep -q next_queued_ns part.txt || added='s/ next_queued_ns=.*//'
	# a task that is reaped on another CPU goes from Z to X between one recorder's look and the other's
	grep -E "(${side:-prev|next})_pid=($(paste -sd'|' tids)) " "$1" | grep -o 'prev_comm.*' | sed "s/prev_state=X/prev_state=Z/; $added" |
		grep -v "${left_out:-nothing is}"
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
	# A task that is reaped before it leaves its CPU for good may be off the kernel's list by then (trace_filter_add_remove_task()).
	local side=prev left_out=prev_state=Z

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
	# until it was throttled for more than 0.1 s, however little of a CPU it gets
	cat >hog <<-END
		echo \$\$ >$cgroup/cgroup.procs
		until sed -n 's/^throttled_time //p; s/^throttled_usec \(.*\)/\1000/p' $cgroup/cpu.stat | grep -q '[1-9][0-9]\{8\}'; do :; done
		echo \$\$ >$cgroup/../cgroup.procs
	END
	run 0 "$SCHEDTAP" record -o a.dat -e sched_switch -- sh hog
	said=$("$SCHEDTAP" summary -i a.dat --json | grep -o '"cgroup":"[^"]*'"${cgroup##*/}"'","throttled_ns":[0-9]*' | grep -o '[0-9]*$')
	kernel=$(sed -n 's/^throttled_time //p; s/^throttled_usec \(.*\)/\1000/p' "$cgroup/cpu.stat")
	must [ "$kernel" -gt 100000000 ]
	must [ "$said" = "$kernel" ]
}
check "a cgroup with a quota: how long it was throttled" throttled
check "-g: its path as reports print it" scope one -g CGROUP_BELOW

# Cgroups come and go, and later ones get their addresses: below the selected cgroup and beside it in turns.
brief_cgroups()
{
	sleep 1000 &
	worker=$!
	make_cgroup
	cat >brief <<-'END'
		use strict;
		my ($in, $mount) = @ARGV;
		my @nr = (0, 0);
		sub put { open(my $f, ">", $_[0]) or die "$_[0]: $!"; syswrite($f, $_[1]) or die $! }
		sub line { open(my $f, "<", $_[0]) or die "$_[0]: $!"; return <$f> // "" }
		for my $i (1 .. 300) {
			my $is_in = $i % 2;
			my $dir = $is_in ? "$in/brief" : "$mount/brief-$$";
			mkdir($dir) or die "$dir: $!";
			pipe(my $r, my $w);
			my $pid = fork() // die;
			if (!$pid) {
				put("/proc/self/comm", $is_in ? "brief-in" : "brief-out");
				put("$dir/cgroup.procs", $$);
				close($w);
				sysread($r, my $byte, 1);
				exec("true");
			}
			# it is there, and sleeps
			select(undef, undef, undef, 0.002) until line("$dir/cgroup.procs") && line("/proc/$pid/stat") =~ /\) S /;
			close($w);
			waitpid($pid, 0);
			rmdir($dir) or die "$dir: $!";
		}
	END
	run 0 "$SCHEDTAP" record -g "$cgroup" -e sched_switch -o part.dat -- perl brief "$cgroup" "${cgroup%/*}"
	events part.dat >part.txt
	must [ "$(grep -c 'prev_comm=brief-in prev_.*prev_state=S' part.txt)" -ge 140 ]
	must_not grep 'prev_comm=brief-out prev_.*prev_state=S' part.txt
}
check "-g: cgroups that are made and removed" brief_cgroups

# Switches do not name cgroups: the recording's table of tasks does.
found_by_cgroup()
{
	local name

	worker one
	make_cgroup
	name=/${cgroup##*/}
	run 0 "$SCHEDTAP" record -e sched_switch -o all.dat -- \
		sh -c 'echo >go; until [ -e done ]; do sleep 0.05; done; sleep 0.05'
	events all.dat >all.txt
	switches_of_tids all.txt >want
	must [ "$(wc -l <want)" -ge 40 ]
	events all.dat -g "$name" >named.txt
	switches_of_tids named.txt >got
	must diff want got
	must_not grep -vE "(prev|next)_pid=($(paste -sd'|' tids)) " named.txt
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
