#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# record --on-disk: files follow each other without a gap, the limit, removal, full disks, kills, conditions, and what is refused.
#
# The load is a task whose number of events per second is known, and the recorder records this task alone: what else the machine does
# changes neither how much is recorded nor what is lost. SOAK=1: all events of tasks that wake each other at full speed, to a disk, and
# 500 MB for 20 minutes.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
folder=/dev/shm # others may sync the disk for long
[ -z "$SOAK" ] || folder=/tmp
scratch=$(mktemp -d $folder/schedtap-on-disk-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Two tasks that wake each other all the time. On one CPU: on two, an idle one would have to be woken each time, which takes a virtual
# machine ten times as long.
ping_pong()
{
	exec taskset -c 1 perl -e 'pipe A, B; pipe C, D; my $x;
		if (fork) { close A; close D; do { syswrite B, "x" } while sysread C, $x, 1 }
		else { close B; close C; syswrite D, "x" while sysread A, $x, 1 }'
}

# A task that sleeps 3000 times per second, at most, once there is a file "begin". With the file "enough" it stops, and "slept" has how
# often it did so with the name "paced". The first event after these is of a task named "over".
paced()
{
	exec perl -e '
		use strict;
		sub slept { open(my $f, "<", "/proc/self/status"); local $/; readline($f) =~ /^voluntary_ctxt_switches:\s*(\d+)/m; $1 }
		select(undef, undef, undef, 0.02) until -e "begin";
		my $before = slept();
		$0 = "paced";
		select(undef, undef, undef, 0.00025) until -e "enough";
		$0 = "over";
		my $slept = slept() - $before;
		open(my $f, ">", "slept.new");
		print $f "$slept\n";
		close($f);
		rename("slept.new", "slept");
		sleep'
}

# 0.5 MB/s at most: what a limit leaves free is enough for seconds, in which the threads that make and remove files get a CPU.
few=(-e sched_switch -e sched_waking)

has_started()
{
	compgen -G "${1%.dat}-*.dat.spool/meta.json" >/dev/null
}

# begin FILE [OPTION...]: a recorder of the load.
begin()
{
	if [ -n "$at_full_speed" ]; then
		ping_pong &
		start "$@"
		return
	fi
	paced &
	load=$!
	start "$@" -p $load
	touch begin
}

# All events of the load are recorded.
enough()
{
	[ -z "$at_full_speed" ] || return 0
	touch enough
	wait_for [ -s slept ]
}

# How many of the load's sleeps files have.
sleeps_in()
{
	local file

	for file; do
		"$SCHEDTAP" dump -i "$file" -e sched_switch 2>/dev/null | grep "prev_comm=paced prev_pid=$load .*prev_state=[SD]" || :
	done | wc -l
}

bytes_of()
{
	"$here/on_disk_bytes" "$@"
}

# Files follow each other. Nothing of the load is lost. Sets $nr_files.
good_neighbours()
{
	local nr lost

	read -r nr lost nr_files < <("$here/neighbours" ${load:+-p $load} "$SCHEDTAP" $(files))
	echo "$nr events, $lost lost, $nr_files files"
	must [ "$nr_files" = "$(files | wc -l)" ]
	if [ -n "$at_full_speed" ]; then must_if_quiet [ "$lost" = 0 ]; else must [ "$lost" = 0 ]; fi
}

# Files that follow each other have all that was recorded, each event once.
follows()
{
	begin f.dat "$@"
	wait_for has_files 2
	enough
	ends 0 INT
	must [ -z "$(folders)" ]
	must_not [ -e f.dat.spool ]
	must_not [ -e f.dat ]
	good_neighbours
	must [ "$nr_files" -ge 2 ]
	[ -n "$at_full_speed" ] || must [ "$(sleeps_in $(files))" = "$(cat slept)" ]
}

removed_two()
{
	[ "$(grep -c . removed)" -ge 2 ] && return
	[ ! -e "$oldest" ] && echo "$oldest" >>removed && oldest=$(files | head -1)
	return 1
}

largest_folder()
{
	du -s --block-size=1 $(folders) | sort -n | tail -1 | cut -f1
}

has_large_folder()
{
	[ "$(largest_folder)" -ge $((6 << 20)) ]
}

# The next folder comes so late that the file which takes its events could not be packed within the limit: its last events are left out.
late_folder()
{
	must gcc -shared -fPIC -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o slow_folders.so "$here/slow_folders.c"
	LD_PRELOAD=$PWD/slow_folders.so begin f.dat --on-disk 16M
	touch slow
	wait_for has_large_folder
	sleep 0.5 # of events that are left out
	must [ "$(largest_folder)" -lt $((7 << 20)) ]
	rm slow
	wait_for grep -q 'they came too fast for --on-disk of this size' f.dat.err
	wait_for has_complete_file
	ends 1 INT
	must [ -z "$(folders)" ]
}

has_complete_file()
{
	local file

	for file in $(files); do
		if ! grep -q '"complete":false' <("$SCHEDTAP" summary -i "$file" --json); then return; fi
	done
	return 1
}

# Something that counts and stays: a folder that is not a recording.
ballast()
{
	mkdir f-20200101T000000.000.dat.spool
	head -c "$1" /dev/zero >f-20200101T000000.000.dat.spool/ballast
}

# The limit holds while old files are removed, and what is left has no gap.
holds_the_limit()
{
	local limit=16 oldest max

	: >removed
	ballast 11M
	begin f.dat "${few[@]}" --on-disk "${limit}M"
	bytes_of f "$recorder" >max &
	max=$!
	wait_for has_files 1
	oldest=$(files | head -1)
	wait_for removed_two
	enough
	ends 0 INT
	wait $max
	max=$(cat max)
	echo "at most $max bytes"
	must [ "$max" -le $((limit << 20)) ]
	must [ "$(folders)" = f-20200101T000000.000.dat.spool ]
	good_neighbours
	must [ "$nr_files" -ge 2 ]
}

# The files never exceed --on-disk during 20 minutes of recording.
holds_the_limit_for_long()
{
	local limit=500 seconds=1200 max

	begin f.dat --on-disk "${limit}M" -d "$seconds"
	max=$(bytes_of f "$recorder")
	wait "$recorder" || must grep -q 'they came too fast for --on-disk of this size' f.dat.err
	echo "at most $max bytes"
	cat f.dat.err
	must [ "$max" -le $((limit << 20)) ]
	must [ -z "$(folders)" ]
	good_neighbours
	must_if_quiet [ "$max" -ge $((limit << 19)) ]
	must_if_quiet [ "$(sed -n 's/.* \([0-9]*\)\.[0-9] MB recorded.*/\1/p' f.dat.err)" -ge $((limit * 2)) ] # it was full several times
}

# Files and folders with events: a folder that is made for the next file is still empty.
with_events()
{
	local name

	for name in $(files; folders); do
		if [ -n "$("$SCHEDTAP" dump -i "$name" 2>/dev/null | head -1)" ]; then echo "$name"; fi
	done | sort
}

# The newest file need not have the load's last event: it may begin while the thread of another CPU still writes into the one before.
# For wait_for, last.err says what the newest ones have instead.
is_on_disk()
{
	local name

	with_events | tail -2 >newest
	while read -r name; do
		"$SCHEDTAP" dump -i "$name" -e sched_switch | tail -3
	done <newest >last.err 2>&1
	grep -q prev_comm=over last.err
}

# After the recorder was killed, repair turns the data on disk into files, and another recorder can start
# at once.
killed()
{
	local folder

	begin f.dat "$@" --on-disk 16M
	wait_for has_files 1
	enough
	wait_for is_on_disk
	kill -9 "$recorder"
	wait "$recorder" || :
	must [ -n "$(folders)" ]
	for folder in $(folders); do must "$SCHEDTAP" repair "$folder"; done
	must [ -z "$(folders)" ]
	for file in $(files); do valid "$file"; done
	must [ "$(sleeps_in $(files))" = "$(cat slept)" ]
	cp -r f.dat.spool lock
	must "$SCHEDTAP" record -o f.dat "$@" -e sched_process_exit --on-disk 16M -d 0.5
	must_not [ -e f.dat.spool ]
	mv lock f.dat.spool
	is_said_to_have_no_events
}

is_said_to_have_no_events()
{
	run 1 "$SCHEDTAP" summary -i f.dat.spool
	says "only locks the name of a ring on disk: its events are in the files 'f-*.dat'"
	run 1 "$SCHEDTAP" repair f.dat.spool
	says 'it only reserved the name of a ring on disk' 'To be repaired: none' \
		"Complete files of the ring: '$(files | head -1)' to '$(files | tail -1)', $(files | wc -l) files"
	must_not [ -e f.dat.spool ]
}

# A task whose events take more than a second to fill a sub-buffer.
quiet()
{
	exec perl -e '$0 = "quiet"; select undef, undef, undef, 0.1 while 1'
}

# Nearly all that was recorded is on disk when the recorder is killed.
killed_any_time()
{
	local at_ns end folder

	quiet &
	start f.dat "$@" -c quiet --on-disk 64M --keep 20s
	wait_for has_files 2
	sleep 0.6 # the next file has begun a while ago
	at_ns=$(perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d\n", 1e9 * clock_gettime(CLOCK_MONOTONIC)')
	kill -9 "$recorder"
	wait "$recorder" || :
	for folder in $(folders); do must "$SCHEDTAP" repair "$folder"; done
	end=$("$SCHEDTAP" dump -i "$(with_events | tail -1)" --json | grep -o '"ts_ns":[0-9]*' | tail -1 | cut -d: -f2)
	must_if_quiet [ "$end" -ge $((at_ns - 300000000)) ]
}

# Files of earlier recorders count, and go first; others stay.
removes_earlier_files()
{
	head -c 10M /dev/zero >f-20200101T000000.000.dat
	head -c 11M /dev/zero >f-20200101T000001.000.dat
	head -c 6M /dev/zero >f-20200101T000001.000.dat.old
	head -c 6M /dev/zero >g-20200101T000001.000.dat
	begin f.dat --on-disk 16M
	wait_for gone f-20200101T000001.000.dat
	must gone f-20200101T000000.000.dat
	ends 0 INT
	must [ -e f-20200101T000001.000.dat.old ]
	must [ -e g-20200101T000001.000.dat ]
}

gone()
{
	[ ! -e "$1" ]
}

# What ended before the time of --keep goes.
removes_old_files()
{
	local first

	begin f.dat --on-disk 1000M --keep 2s
	wait_for has_files 1
	first=$(files | head -1)
	wait_for gone "$first"
	ends 0 INT
	good_neighbours
}

is_followed()
{
	[[ "$(files | tail -1)" > "$1" ]]
}

# Other files fill the disk: old files make room. What could not be written is reported, and the recorder goes on.
disk_is_full()
{
	local file rc=0

	mkdir disk
	mount -t tmpfs -o size=$([ -z "$at_full_speed" ] && echo 20 || echo 40)M none "$PWD/disk"
	at=disk/
	begin disk/f.dat --on-disk 1000M
	wait_for has_files 2
	head -c 100M /dev/zero >disk/filler 2>/dev/null || :
	file=$(files | tail -1)
	wait_for gone "$file"
	rm disk/filler
	wait_for is_followed "$file"
	file=$(files | tail -1)
	wait_for is_followed "$file"
	kill -INT "$recorder"
	wait "$recorder" || rc=$?
	if grep -q 'No space left' disk/f.dat.err; then must [ $rc = 1 ]; else must [ $rc = 0 ]; fi
	must [ -z "$(folders)" ]
	for file in $(files); do must "$SCHEDTAP" summary --check -i "$file"; done
	must_not grep -q '"complete":false' <("$SCHEDTAP" summary -i "$(files | tail -1)" --json)
}

# The recorder may use a small disk up; only old files go.
small_disk()
{
	local first

	mkdir disk
	mount -t tmpfs -o size=$([ -z "$at_full_speed" ] && echo 4 || echo 48)M none "$PWD/disk"
	at=disk/
	begin disk/f.dat "${few[@]}" --on-disk 100M
	wait_for has_files 1
	first=$(files | head -1)
	wait_for gone "$first"
	ends 0 INT
	good_neighbours
}

# nr_marks TEXT: in all files and folders
nr_marks()
{
	local name

	for name in $(files) $(folders); do "$SCHEDTAP" dump -i "$name" -e mark 2>/dev/null || :; done | grep -c "$1" || :
}

has_mark()
{
	[ "$(nr_marks "$1")" -ge 1 ]
}

# Sets $ended.
exit_as_awaited()
{
	./od-true &
	ended="pid=$! comm=od-true text=sched_process_exit"
	wait $!
}

# It records nothing but what the condition needs: what else the machine does fills no file.
marks()
{
	local first

	cp /bin/true od-true
	start f.dat -b "$1" --on-disk 16M -e sched_process_exit --when 'sched_process_exit if comm == "od-true"'
	exit_as_awaited
	first=$ended
	wait_for has_mark "$first"
	"$SCHEDTAP" mark here 2>mark.err || must grep -q 'none accepted the mark' mark.err
	wait_for has_mark text=here
	exit_as_awaited
	ends 0 INT # a condition that has fired just now has its mark, too
	must [ "$(nr_marks "$first")" = 1 ]
	must [ "$(nr_marks "$ended")" = 1 ]
	must [ "$(nr_marks text=here)" = 1 ]
}

second_recorder()
{
	start f.dat -e sched_process_exit --on-disk 16M
	run 1 "$SCHEDTAP" record -o f.dat --on-disk 16M -d 1
	says 'is still recording'
	ends 0 INT
}

# Descriptions of an ordinary recording and of a flight recorder's files name their recorder too.
names_its_recorder()
{
	must "$SCHEDTAP" record -o f.dat -d 0.2
	must grep -qa '"recorder":{"id":"[0-9a-f]\{32\}","file":1,"continues":false}' f.dat
	start_flight
	kill -USR1 "$recorder"
	wait_for has_files 1
	kill -USR1 "$recorder"
	wait_for has_files 2
	ends 0 INT
	must grep -qa '"file":1,"continues":false' "$(files | head -1)"
	must grep -qa '"file":2,"continues":false' "$(files | tail -1)"
}

start_flight()
{
	"$SCHEDTAP" record -o f.dat --keep 1s --after 10ms 2>f.dat.err &
	recorder=$!
	wait_for [ -s f.dat.spool/meta.json ]
}

# The page's command, as it stands there, but not for ever.
page()
{
	mkdir bin
	ln -s "$SCHEDTAP" bin/schedtap
	PATH=$PWD/bin:$PATH bash -c "$(sed -n 's/^    \(schedtap .*--on-disk.*\)/\1/p' "$here/../../docs/flight-recorder.md") -d 0.3"
	must [ "$(compgen -G 'trace-*.dat' | wc -l)" = 1 ]
}

refused()
{
	local text=$1

	shift
	run 2 "$SCHEDTAP" record -o f.dat -d 1 "$@"
	says "$text"
	must_not [ -e f.dat.spool ]
}

together=6
check "the limit holds" on_its_own holds_the_limit
check "a small disk" on_its_own small_disk
check "compressed: files follow each other" on_its_own follows --compress zstd --on-disk 16M --keep 48s # a file takes 3 s
check "tracefs: files follow each other" on_its_own follows -b tracefs --on-disk 16M
check "bpf: files follow each other" on_its_own follows -b bpf --on-disk 16M
check "a folder that comes late" on_its_own late_folder
check "a full disk" on_its_own disk_is_full
check "older than --keep" on_its_own removes_old_files
check "tracefs: killed" on_its_own killed -b tracefs
check "bpf: killed" on_its_own killed -b bpf
check "descriptions name the recorder" on_its_own names_its_recorder
check "files of earlier recorders" on_its_own removes_earlier_files
check "a second recorder" on_its_own second_recorder
check "a small limit" on_its_own refused 'the size must be at least 16M' --on-disk 1M
check "--keep with a size" on_its_own refused 'expected a time, such as 24h' --on-disk 16M --keep 64M
check "--max-files" on_its_own refused '--max-files cannot be combined with --on-disk' --on-disk 16M --max-files 3
check "--after" on_its_own refused '--after cannot be combined with --on-disk' --on-disk 16M --after 2s
check "--max-size" on_its_own refused '--max-size cannot be combined with --on-disk' --on-disk 16M --max-size 1M
check "--trigger" on_its_own refused '--trigger cannot be combined with --on-disk' --on-disk 16M --trigger 'sched_switch: traceoff'

check "bpf: conditions and marks" on_its_own marks bpf
check "tracefs: conditions and marks" on_its_own marks tracefs
check "the page's command" on_its_own page

if [ -n "$SOAK" ]; then
	at_full_speed=1
	few=()
	check "full speed, bpf: files follow each other" on_its_own follows -b bpf --on-disk 160M
	check "full speed, tracefs: files follow each other" on_its_own follows -b tracefs --on-disk 160M
	check "full speed, compressed: files follow each other" on_its_own follows --compress zstd --on-disk 160M
	check "full speed: files of earlier recorders" on_its_own removes_earlier_files
	check "full speed: older than --keep" on_its_own removes_old_files
	check "full speed: a full disk" on_its_own disk_is_full
	check "full speed: a small disk" on_its_own small_disk
	check "bpf: killed at any time" on_its_own killed_any_time -b bpf
	check "tracefs: killed at any time" on_its_own killed_any_time -b tracefs
	while [ ${#lib_running[@]} -gt 0 ]; do report_oldest; done
	check "full speed: the limit holds" on_its_own holds_the_limit_for_long
fi
while [ ${#lib_running[@]} -gt 0 ]; do report_oldest; done
# The instances of recorders over tracefs that were killed go with the next one.
"$SCHEDTAP" record -b tracefs -e sched_switch -o "$scratch/sweep.dat" -- true 2>/dev/null
done_testing
