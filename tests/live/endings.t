#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How a recording of schedtap record ends on this kernel: signals, limits, commands, full disks, kill -9.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
. "$here/lib.sh"

needs_root
[ -r /sys/kernel/btf/vmlinux ] || plan_skip "kernel has no BTF"
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-endings-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
UNPRIVILEGED='setpriv --reuid 65534 --clear-groups --bounding-set=-all'
R="$SCHEDTAP record -d 0.1"
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
	start a.dat $BOTH -- sh -c 'trap "" INT TERM; until [ -e may_end ]; do sleep 0.1; done'
	kill -INT $recorder
	wait_for is_packed a.dat # it waits for the command now
	sleep 5.2
	ends 130 INT
	touch may_end
	finished a.dat
	must_not instances $recorder
}
check "second Ctrl-C: 130, and no tracefs instance is left" second_interrupt

interrupted_after_the_end()
{
	start a.dat $BOTH -d 0.1 -- sh -c 'trap "" INT TERM; sleep 2'
	wait_for is_packed a.dat
	ends 0 INT
	finished a.dat
}
check "-d: the first Ctrl-C after it ends nothing at once" interrupted_after_the_end

# Makes slow.so, with which the recorder needs 2 s to give the recording its name, and makes the file `packing` before.
make_slow()
{
	cat >slow.c <<-'E2'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <time.h>
		#include <unistd.h>
		int renameat(int old_dir, const char *old, int new_dir, const char *new)
		{
			int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
			struct timespec left = { .tv_sec = 2 };

			if (new_dir != AT_FDCWD) /* within the spool */
				return real(old_dir, old, new_dir, new);
			close(creat("packing", 0600));
			while (nanosleep(&left, &left))
				;
			return real(old_dir, old, new_dir, new);
		}
	E2
	must ${CC:-cc} -shared -fPIC -o slow.so slow.c
	export ASAN_OPTIONS=verify_asan_link_order=0
}

# timeout(1) sends its signal to the recorder and then to its group
interrupted_twice_by_one()
{
	make_slow
	LD_PRELOAD=$PWD/slow.so start a.dat -d 0.1
	wait_for [ -e packing ]
	kill -INT $recorder
	sleep 0.5
	ends 0 INT
	finished a.dat
}
check "two signals of one process are one" interrupted_twice_by_one

# script(1) ends with the status of its command
interrupted_twice_by_hand()
{
	local rc=0

	make_slow
	mkfifo keys
	# a shell's background commands ignore SIGINT
	perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' env LD_PRELOAD=$PWD/slow.so script -qec "$R -o a.dat" /dev/null <keys >out 2>&1 &
	exec 3>keys
	wait_for [ -e packing ]
	printf '\003' >&3
	sleep 0.5
	printf '\003' >&3
	wait $! || rc=$?
	exec 3>&-
	must [ $rc = 130 ]
	must [ ! -e a.dat ]
	must "$SCHEDTAP" repair a.dat
	finished a.dat
}
check "a second Ctrl-C ends it at once" interrupted_twice_by_hand

# record_until_it_ends OPTION...: -p or -t, of a process that is killed once events flow
record_until_it_ends()
{
	local pid

	sleep 1000 &
	pid=$!
	start a.dat "$@" $pid
	kill $pid
	ends 0
	finished a.dat
}

process_ends()
{
	record_until_it_ends "$@" -p
	must grep -q "the process ended" a.dat.err
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
	record_until_it_ends -t
	must grep -q "the thread ended" a.dat.err
	# ASan wants to come first, which is of no matter here
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$PWD/old.so record_until_it_ends -t
	must grep -q "the thread ended" a.dat.err
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
	run 3 $UNPRIVILEGED "$SCHEDTAP" record -- touch ran
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

closed_pipe()
{
	mkfifo pipe
	"$SCHEDTAP" record -d 0.1 $BOTH -o a.dat 2>pipe &
	recorder=$!
	: <pipe
	ends 0
	finished a.dat
	must_not instances $recorder
}
check "its messages go to a closed pipe" closed_pipe

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

# The ring of a removed instance is gone, and with it the memory to which the kernel gives pages back that are still in a pipe.
removed_with_empty_pipes()
{
	cat >removes.c <<-'E2'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <string.h>
		#include <sys/ioctl.h>
		#include <sys/stat.h>
		#include <unistd.h>
		int rmdir(const char *path)
		{
			int (*real)(const char *) = dlsym(RTLD_NEXT, "rmdir");
			struct stat st;
			int bytes;

			for (int fd = 3; strstr(path, "/instances/schedtap-") && fd < 1024; fd++)
				if (!fstat(fd, &st) && S_ISFIFO(st.st_mode) && !ioctl(fd, FIONREAD, &bytes) && bytes)
					_exit(99);
			return real(path);
		}
	E2
	must ${CC:-cc} -shared -fPIC -o removes.so removes.c
	export ASAN_OPTIONS=verify_asan_link_order=0
	LD_PRELOAD=$PWD/removes.so disk_full -b tracefs -e sched -e 'timer:*'
}
check "disk full, over tracefs: removed with empty pipes" removed_with_empty_pipes

# The kernel resets ring buffers when a module with events is unloaded: the test does it by writing to trace.
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
	must grep -Eq '[0-9]+ lost and more: another process reset' a.dat.err
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
	sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
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

# The moments are as far apart as it takes a recorder to begin on this machine now.
killed_often()
{
	local i ms pid begin=${EPOCHREALTIME/./} begins_ms

	RANDOM=${SEED:-1}
	: >all.txt
	load &
	start begins.dat $BOTH
	begins_ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	ends 0 INT
	for ((i = 0; i < 40; i++)); do
		if [ $i -ge 10 ] && [ -s all.txt ]; then break; fi
		ms=$((RANDOM % (begins_ms + 700)))
		echo "killed after $ms ms"
		killed $i.dat $ms
	done
	for ms in 1 2 4 8 16; do
		killed int-$ms.dat $((begins_ms * 2 / 3 + ms)) INT
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
	events "$1" >seen
	grep -q "$2" seen
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
check "kill -9 at 15 moments: all is readable, nothing is left over" killed_often

cut_off()
{
	start a.dat
	sleep 0.1
	kill -9 $recorder
	wait $recorder || :
	run 1 $R -o a.dat
	says "interrupted recording" "schedtap repair"
	valid a.dat.spool
}
check "a cut-off recording is not overwritten" cut_off

# dump without names of tasks, which only head.dat has
without_comms()
{
	events "$1" | sed 's/^.* \[/[/'
}

both_heads_are_damaged()
{
	start a.dat -b bpf -e sched_switch -e sched_waking -e cpuhp_exit
	wait_for has_event a.dat.spool sched_waking
	kill -9 $recorder
	wait $recorder || :
	without_comms a.dat.spool >want
	for file in head.dat head.copy; do
		dd if=/dev/zero of=a.dat.spool/$file bs=4096 count=1 conv=notrunc 2>/dev/null
	done
	without_comms a.dat.spool >got
	must diff want got
	run 0 "$SCHEDTAP" repair a.dat
	says "built into schedtap"
	finished a.dat
	without_comms a.dat >got
	must diff want got
}
check "kill -9, and both heads are damaged: built-in formats" both_heads_are_damaged

done_testing
