#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A recorder that the machine leaves no time: busy CPUs, others' real-time priorities, a slow disk. It loses nothing.
# alone: tasks of a real-time priority leave other tests no CPU
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=${SCHEDTAP:-$here/../../build/schedtap}
EMIT=$(realpath "${PROGRAMS:-$(dirname "$SCHEDTAP")/tests/tracepoint}")/emit
. "$here/lib.sh"

needs_root
apart
scratch=$(mktemp -d /tmp/schedtap-starved-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Pairs of processes that wake each other, $1 of them, for $2 seconds or until the first process is killed, with $3 ms of rest after
# each 20 times.
cat >"$scratch/pairs" <<'E2'
my ($pairs, $seconds, $rest, $nr) = @ARGV;
my $parent = $$;
for (1 .. $pairs) {
	next if fork;
	pipe(my $a, my $b); pipe(my $c, my $d);
	my $x;
	if (!fork) { close($b); while (sysread($a, $x, 1)) { syswrite($d, 'x') } exit }
	alarm($seconds);
	while (1) {
		syswrite($b, 'x');
		sysread($c, $x, 1);
		next if ++$nr % 20;
		exit if getppid != $parent;
		select(undef, undef, undef, $rest / 1000) if $rest;
	}
}
while (wait > 0) { }
E2

# Processes that only run, $1 of them, for $2 seconds.
cat >"$scratch/hogs" <<'E2'
my ($hogs, $seconds) = @ARGV;
for (1 .. $hogs) { next if fork; alarm($seconds); while (1) { } }
while (wait > 0) { }
E2

# lost_in FILE LEAST: of at least so many events none is lost
keeps_all()
{
	"$SCHEDTAP" summary -i "$1" --json >sum.json
	must perl -MJSON::PP -0777 -ne '
		my $s = decode_json($_);
		my ($events, $lost) = ($s->{events} // 0, 0);
		$lost += $_->{lost} for @{$s->{cpus}};
		print STDERR "$events events, $lost lost\n";
		exit(!($events >= '"$2"' && !$lost))' sum.json
}

# busy HOGS SECONDS [COMMAND]: which sets their priority
busy()
{
	run 0 "$SCHEDTAP" record -o a.dat -e sched -- sh -c "
		$3 perl '$scratch/hogs' $1 $2 & $3 perl '$scratch/pairs' 20 $2; wait"
	keeps_all a.dat 20000
}
check "CPUs that others keep busy" busy 40 1
busy_realtime()
{
	realtime_or_skip
	busy "$@"
}

check "others of a real-time priority keep them busy" busy_realtime 2 2 "chrt -f 10"

slow_fsync()
{
	cat >slow.c <<-'E2'
		#include <unistd.h>
		int fsync(int fd) { (void)fd; usleep(1000000); return 0; }
	E2
	must ${CC:-cc} -shared -fPIC -o slow.so slow.c
}

# What goes to a file waits for a second, for a second it does not, and so on.
slow_write()
{
	cat >slow.c <<-'E2'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		static void wait_for_file(int fd)
		{
			static time_t begin;
			struct timespec now;
			struct stat st;
			if (fstat(fd, &st) || !S_ISREG(st.st_mode))
				return;
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (!begin)
				begin = now.tv_sec;
			if ((now.tv_sec - begin) % 2)
				usleep(1000000 - now.tv_nsec / 1000);
		}
		ssize_t write(int fd, const void *p, size_t n) { wait_for_file(fd); return syscall(SYS_write, fd, p, n); }
		ssize_t splice(int in, off64_t *a, int out, off64_t *b, size_t n, unsigned int flags)
		{
			wait_for_file(out);
			return syscall(SYS_splice, in, a, out, b, n, flags);
		}
	E2
	must ${CC:-cc} -shared -fPIC -o slow.so slow.c
}

slow_files()
{
	slow_write
	perl "$scratch/pairs" 4 60 10 & # what comes in a second, 1.5 MB, has room also if all of it is one CPU's
	LD_PRELOAD=$PWD/slow.so run 0 "$SCHEDTAP" record -o a.dat --buffer 2M -b "$1" -e sched -d 4
	kill -9 $!
	keeps_all a.dat 80000
}

slow_disk()
{
	slow_fsync
	perl "$scratch/pairs" 4 60 &
	LD_PRELOAD=$PWD/slow.so run 0 "$SCHEDTAP" record -o a.dat --buffer 1M -e sched -d 1
	kill -9 $!
	keeps_all a.dat 20000
}

# its kinds of events go to the front of the spool
slow_disk_and_program()
{
	slow_fsync
	perl "$scratch/pairs" 4 60 &
	pairs=$!
	LD_PRELOAD=$PWD/slow.so "$SCHEDTAP" record -o a.dat --buffer 1M -e sched -e 'rules:*' 2>err &
	recorder=$!
	wait_for has_started a.dat
	sleep 0.3
	must "$EMIT" 500 0 >/dev/null
	sleep 0.7
	kill -9 $pairs
	ends 0 INT
	keeps_all a.dat 20000
	events a.dat -e rules:plain >plain
	nr=$(wc -l <plain)
	[ "$nr" = 500 ] || fail "$nr of 500 events: $(grep -v rules:plain plain)"
}

inherited()
{
	realtime_or_skip
	run 0 "$SCHEDTAP" record -o a.dat -e sched -- sh -c 'chrt -p $$ >policy; chrt -p $PPID >>policy'
	must [ "$(sed -n 's/.*policy: //p' policy | tr '\n' ' ')" = 'SCHED_OTHER SCHED_FIFO|SCHED_RESET_ON_FORK ' ]
	run 0 "$SCHEDTAP" record -r 0 -o a.dat -e sched -- sh -c 'chrt -p $PPID >policy'
	must grep -q SCHED_OTHER policy
	run 0 chrt -r 7 "$SCHEDTAP" record -o a.dat -e sched -- sh -c 'chrt -p $PPID >policy'
	must grep -q 'priority: 7' policy
	run 0 "$SCHEDTAP" record -r 3 -o a.dat -e sched -- sh -c 'chrt -p $PPID >policy'
	must grep -q 'priority: 3' policy
}
check "a command does not inherit the priority; -r says which" inherited

refused()
{
	chmod 777 .
	# all capabilities that recording needs, but not CAP_SYS_NICE
	run 3 sh -c 'ulimit -r 0; exec setpriv --bounding-set -sys_nice --inh-caps -sys_nice "$@"' sh \
		"$SCHEDTAP" record -r 40 -d 0.1 -o a.dat
	says "real-time priority 40"
	must_not [ -e a.dat ]
	must_not [ -e a.dat.spool ]
	run 0 sh -c 'ulimit -r 0; exec setpriv --bounding-set -sys_nice --inh-caps -sys_nice "$@"' sh \
		"$SCHEDTAP" record -d 0.1 -o a.dat
}
check "-r that is refused; without it that is no matter" refused

check "a program that starts meanwhile" slow_disk_and_program
# These mostly wait.
together=2
check "a disk on which each other second is blocked" slow_files bpf
check "a disk on which each other second is blocked, over tracefs" slow_files tracefs
check "a disk that takes a second for each fsync" slow_disk
done_testing
