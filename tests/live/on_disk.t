#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# record --on-disk: files follow each other without a gap, kills, what is refused; with SOAK=1 the limit, removal, and full disks.
# SOAK=1: the limit is 500 MB, for 20 minutes.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-on-disk-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Two tasks that wake each other all the time. On one CPU: on two, an idle one would have to be woken each time, which takes a virtual
# machine ten times as long.
ping_pong()
{
	exec taskset -c 1 perl -e 'pipe A, B; pipe C, D; my $x;
		if (fork) { close A; close D; do { syswrite B, "x" } while sysread C, $x, 1 }
		else { close B; close C; syswrite D, "x" while sysread A, $x, 1 }'
}

# $at: the folder of the files, with a slash.
at=
files()
{
	{ compgen -G "${at}f-????????T??????.???.dat" || :; } | sort
}

folders()
{
	{ compgen -G "${at}f-????????T??????.???.dat.spool" || :; } | sort
}

has_files()
{
	[ "$(files | wc -l)" -ge "$1" ]
}

has_started()
{
	compgen -G "${1%.dat}-*.dat.spool/meta.json" >/dev/null
}

bytes_of()
{
	"$here/on_disk_bytes" "$@"
}

# Files that follow each other have all that was recorded, each event once.
follows()
{
	local nr lost nr_files

	ping_pong &
	start f.dat "$@" --on-disk 400M --keep 20s
	wait_for has_files 3
	ends 0 INT
	must [ -z "$(folders)" ]
	must_not [ -e f.dat.spool ]
	must_not [ -e f.dat ]
	read -r nr lost nr_files < <("$here/neighbours" "$SCHEDTAP" $(files))
	must [ "$nr_files" = "$(files | wc -l)" ]
	must [ "$nr_files" -ge 4 ]
	must_if_quiet grep -q " $nr events, .* recorded, $nr_files files, $lost lost" f.dat.err
	must_if_quiet [ "$lost" = 0 ]
}

# The limit holds while old files are removed, and what is left has no gap.
holds_the_limit()
{
	local limit=500 seconds=1200 max nr lost nr_files

	ping_pong &
	start f.dat --on-disk "${limit}M" -d "$seconds"
	max=$(bytes_of f "$recorder")
	wait "$recorder" || must grep -q 'they came too fast for --on-disk of this size' f.dat.err
	echo "at most $max bytes"
	must [ "$max" -le $((limit << 20)) ]
	must [ -z "$(folders)" ]
	read -r nr lost nr_files < <("$here/neighbours" "$SCHEDTAP" $(files))
	echo "$nr events, $lost lost, $nr_files files"
	must [ "$nr_files" -ge 2 ]
	must_if_quiet [ "$max" -ge $((limit << 19)) ]
	must_if_quiet [ "$(sed -n 's/.* \([0-9]*\)\.[0-9] MB recorded.*/\1/p' f.dat.err)" -ge $((limit * 2)) ] # it was full several times
	must_if_quiet [ "$lost" = 0 ]
}

# A task whose events take more than a second to fill a sub-buffer.
quiet()
{
	exec perl -e '$0 = "quiet"; select undef, undef, undef, 0.1 while 1'
}

# Nearly all that was recorded is on disk when the recorder is killed, and another one can start at once.
killed()
{
	local at_ns end folder

	quiet &
	start f.dat "$@" -c quiet --on-disk 64M --keep 20s
	wait_for has_files 2
	sleep 0.6 # the next file has begun a while ago
	at_ns=$(perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d\n", 1e9 * clock_gettime(CLOCK_MONOTONIC)')
	kill -9 "$recorder"
	wait "$recorder" || :
	must [ -n "$(folders)" ]
	for folder in $(folders); do must "$SCHEDTAP" repair "$folder"; done
	must [ -z "$(folders)" ]
	for file in $(files); do valid "$file"; done
	end=$("$SCHEDTAP" dump -i "$(with_events | tail -1)" --json | grep -o '"ts_ns":[0-9]*' | tail -1 | cut -d: -f2)
	must_if_quiet [ "$end" -ge $((at_ns - 300000000)) ]
	must "$SCHEDTAP" record -o f.dat "$@" --on-disk 64M -d 0.5
	must_not [ -e f.dat.spool ]
}

# A folder that was made for the next file is empty where the recorder was killed before it used it.
with_events()
{
	local file

	for file in $(files); do
		if [ -n "$("$SCHEDTAP" dump -i "$file" 2>/dev/null | head -1)" ]; then echo "$file"; fi
	done
}

# Files of earlier recorders count, and go first; others stay.
removes_earlier_files()
{
	head -c 6M /dev/zero >f-20200101T000000.000.dat
	head -c 6M /dev/zero >f-20200101T000001.000.dat
	head -c 6M /dev/zero >f-20200101T000001.000.dat.old
	head -c 6M /dev/zero >g-20200101T000001.000.dat
	ping_pong &
	start f.dat --on-disk 16M
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

	ping_pong &
	start f.dat --on-disk 1000M --keep 2s
	wait_for has_files 1
	first=$(files | head -1)
	wait_for gone "$first"
	ends 0 INT
	must "$here/neighbours" "$SCHEDTAP" $(files)
}

# Other files fill the disk: old files make room. What could not be written is reported, and the recorder goes on.
disk_is_full()
{
	local file rc=0

	mkdir disk
	mount -t tmpfs -o size=40M none "$PWD/disk"
	at=disk/
	ping_pong &
	start disk/f.dat --on-disk 1000M
	wait_for has_files 4
	head -c 100M /dev/zero >disk/filler 2>/dev/null || :
	file=$(files | tail -1)
	wait_for gone "$file"
	rm disk/filler
	file=$(files | tail -1)
	wait_for gone "$file"
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
	mkdir disk
	mount -t tmpfs -o size=48M none "$PWD/disk"
	at=disk/
	ping_pong &
	start disk/f.dat --on-disk 100M -d 3
	ends 0
	must "$here/neighbours" "$SCHEDTAP" $(files)
}

marks()
{
	start f.dat -b "$1" --on-disk 32M --when 'sched_process_exit if comm == "true"'
	sleep 0.2
	/bin/true
	"$SCHEDTAP" mark here 2>mark.err || must grep -q 'none accepted the mark' mark.err
	sleep 0.5
	ends 0 INT
	for file in $(files); do "$SCHEDTAP" dump -i "$file" -e mark 2>/dev/null || :; done >marks
	must grep -q 'comm=true text=sched_process_exit' marks
	must [ "$(grep -c 'text=here' marks)" = 1 ]
}

second_recorder()
{
	start f.dat --on-disk 16M
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

# Marks go to all recorders of a network namespace, and cases run at the same time.
apart()
{
	local holder

	watch_load
	if unshare -n true 2>/dev/null; then
		unshare -n sleep 1000 &
		holder=$!
		wait_for grep -qx sleep /proc/$holder/comm
		printf '#!/bin/sh\nexec nsenter -t %s -n %s "$@"\n' $holder "$SCHEDTAP" >schedtap
		chmod +x schedtap
		SCHEDTAP=$PWD/schedtap
	fi
	"$@"
}

together=4
check "a second recorder" apart second_recorder
check "descriptions name the recorder" apart names_its_recorder
check "a small limit" apart refused 'the size must be at least 16M' --on-disk 1M
check "--keep with a size" apart refused 'expected a time, such as 24h' --on-disk 16M --keep 64M
check "--max-files" apart refused '--max-files cannot be combined with --on-disk' --on-disk 16M --max-files 3
check "--after" apart refused '--after cannot be combined with --on-disk' --on-disk 16M --after 2s
check "--max-size" apart refused '--max-size cannot be combined with --on-disk' --on-disk 16M --max-size 1M
check "--trigger" apart refused '--trigger cannot be combined with --on-disk' --on-disk 16M --trigger 'sched_switch: traceoff'

# How these end depends on how fast the machine is, and their load is more than flight.t, beside them, allows for.
if [ -n "$SOAK" ]; then
	check "bpf: files follow each other" apart follows -b bpf
	check "tracefs: files follow each other" apart follows -b tracefs
	check "compressed: files follow each other" apart follows --compress zstd
	check "bpf: killed" apart killed -b bpf
	check "tracefs: killed" apart killed -b tracefs
	check "the limit holds" apart holds_the_limit
	check "files of earlier recorders" apart removes_earlier_files
	check "older than --keep" apart removes_old_files
	check "a full disk" apart disk_is_full
	check "a small disk" apart small_disk
	check "bpf: conditions and marks" apart marks bpf
	check "tracefs: conditions and marks" apart marks tracefs
	check "the page's command" apart page
fi
while [ ${#lib_running[@]} -gt 0 ]; do report_oldest; done
# The instances of recorders over tracefs that were killed go with the next one.
"$SCHEDTAP" record -b tracefs -e sched_switch -o "$scratch/sweep.dat" -- true 2>/dev/null
done_testing
