#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A flight recorder that is killed after a condition has fired: schedtap repair makes the file, with all but the last 100 ms. SOAK=1: 20
# kills at times from 0 to --after, instead of 4. TABLE=FILE: what was recovered, a line for each kill.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
apart # marks go to all recorders of a network namespace
scratch=$(mktemp -d /dev/shm/schedtap-flight-killed-XXXXXX) # others may sync the disk for long
trap 'cd /; rm -rf "$scratch"' EXIT
after_ms=500 # --after of most recorders here

load_each_cpu()
{
	local cpu

	cp "$(command -v perl)" fl-load
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" ./fl-load -e 'select(undef, undef, undef, 0.0005) while 1' &
	done
}

# kill_after MS: $killed is when, in ns of the events' clock
kill_after()
{
	killed=$(perl -MTime::HiRes=usleep,clock_gettime,CLOCK_MONOTONIC -e '
		usleep($ARGV[1] * 1000) if $ARGV[1];
		printf("%d\n", clock_gettime(CLOCK_MONOTONIC) * 1e9);
		kill("KILL", $ARGV[0]);
	' "$recorder" "$1")
	wait "$recorder" 2>/dev/null || :
	rm -r ${at}f.dat.spool # or start takes it for the next recorder's
}

# recovered FILE KILLED_NS: how many ms before the mark all is known of every CPU, and how many ms before the kill, or the end of
# --after, no more is.
recovered()
{
	"$SCHEDTAP" dump -i "$1" 2>dump.err | perl -ne '
		BEGIN { ($killed, $after) = splice(@ARGV, 0, 2) }
		sub ns { $_[0] * 1000000000 + $_[1] }
		if (/^\*\*\* \[(\d+)\] .* between (\d+)\.(\d+) and (\d+)\.(\d+)/) {
			push(@lost, [int($1), ns($2, $3), ns($4, $5)]);
		} elsif (/\[(\d+)\] +(\d+)\.(\d{9}): ([\w:]+): /) {
			my ($cpu, $at) = (int($1), ns($2, $3));
			if ($4 eq "schedtap:mark") { $mark //= $at; next }
			$first[$cpu] //= $at;
			$last[$cpu] = $at;
		}
		END {
			defined($mark) or die "there is no mark\n";
			for (@lost) {
				my ($cpu, $from, $to) = @$_;
				defined($last[$cpu]) or die "nothing is known of CPU $cpu\n";
				next if $from >= $last[$cpu];
				$first[$cpu] = $to if $to > $first[$cpu];
			}
			my ($from) = sort { $b <=> $a } @first;
			my ($to) = sort { $a <=> $b } @last;
			my $end = $mark + $after * 1e6;
			printf("%d %d\n", ($mark - $from) / 1e6, (($killed < $end ? $killed : $end) - $to) / 1e6);
		}' "$2" $after_ms
}

# mark TEXT: until a recorder has taken it, which a busy machine may keep from that.
mark()
{
	wait_for "$SCHEDTAP" mark "$1"
}

# One that has recorded as long as it keeps, with a mark. Nothing is on the disk before.
marked_recorder()
{
	start ${at}f.dat --keep "$@"
	sleep "${1%s}"
	must [ -z "$(folders)" ]
	mark here
}

# repaired FOLDER: its file, in $file
repaired()
{
	must [ -n "$1" ]
	file=${1%.spool}
	run 0 "$SCHEDTAP" repair "$1"
	grep -q 'the recorder was killed' out || fail "$(cat out)"
	must_not [ -e "$1" ]
	valid "$file"
}

# has_mark FILE TEXT
has_mark()
{
	grep -q "text=$2\$" < <("$SCHEDTAP" dump -i "$1" -e mark 2>/dev/null)
}

all_lines()
{
	! grep -qv "$1" table
}

# kills NR: at times that a fixed seed gives, from 0 to --after. In turn over BPF and tracefs.
kills()
{
	local i ms kept missing backend file

	watch_load
	load_each_cpu
	RANDOM=20
	for ((i = 0; i < $1; i++)); do
		ms=$((RANDOM * after_ms / 32767))
		[ $i != 0 ] || ms=0
		[ $i != 1 ] || ms=$after_ms
		backend=$([ $((i % 2)) = 0 ] && echo bpf || echo tracefs)
		marked_recorder 0.5s --after ${after_ms}ms -b $backend
		kill_after $ms
		if [ -z "$(folders)" ]; then # it was saved before: a busy machine kills late
			file=$(compgen -G 'f-*.dat')
		else
			must [ "$(folders | wc -l)" = 1 ]
			repaired "$(folders)"
		fi
		must has_mark "$file" here
		read -r kept missing < <(recovered "$file" "$killed") || fail "$(cat dump.err)"
		printf '%7s %5d ms after the mark: %5d ms before it, %4d ms missing before the kill\n' $backend $ms "$kept" "$missing" |
			tee -a ${TABLE:+"$TABLE"} >>table
		rm "$file"
	done
	cat table
	# killed within 50 ms, a recorder had no time to write it all
	must_if_quiet all_lines ' \([1-4]\|\)[0-9] ms after\| \(49\|5[0-9]\)[0-9] ms before it'
	must_if_quiet all_lines ' \(-[0-9]*\|[0-9][0-9]\?\) ms missing'
}

# Each condition has a file of its own, and the older one is being saved when the recorder is killed.
two_conditions()
{
	load_each_cpu
	make_slow
	LD_PRELOAD=$PWD/slow_disk.so marked_recorder 0.5s --after 50ms
	wait_for [ -e f.dat.spool/packed ]
	mark there
	sleep 0.3
	must [ -e f.dat.spool/packed ]
	kill_after 0
	must [ "$(folders | wc -l)" = 2 ]
	repaired "$(folders | head -1)"
	must has_mark "$file" here
	repaired "$(folders)"
	must has_mark "$file" there
}

make_slow()
{
	must gcc -shared -fPIC -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o slow_disk.so "$here/slow_disk.c"
}

# The disk does not take all before the kill: what is there is the time around the mark, and the rest is known to be missing.
slow_disk()
{
	local kept missing

	watch_load
	load_each_cpu
	make_slow
	LD_PRELOAD=$PWD/slow_disk.so marked_recorder 1.5s --after 20s -c fl-load
	kill_after 400
	repaired "$(folders)"
	must has_mark "$file" here
	read -r kept missing < <(recovered "$file" "$killed") || fail "$(cat dump.err)"
	echo "$kept ms before the mark, $missing ms missing before the kill"
	must_if_quiet [ "$kept" -gt 0 ]
	must [ "$kept" -lt 1400 ]
	must grep -q '^lost on CPU' <("$SCHEDTAP" summary -i "$file")
}

small_disk()
{
	mkdir disk
	mount -t tmpfs -o size=400M none "$PWD/disk"
	at=disk/
}

# fill BYTES: all of the disk but so much
fill()
{
	fallocate -l $(($(df --output=avail -B1 disk | tail -1) - $1)) disk/filler
}

# No space for a spool folder: the recorder goes on, and says so. The next condition has one.
full_when_spooling()
{
	small_disk
	load_each_cpu
	start disk/f.dat --keep 1s --after 50ms -c fl-load
	sleep 0.2
	fill $((64 << 10)) # for what the recorder says
	mark one
	wait_for grep -q '\.dat: its events are lost if the recorder is killed before the file is saved: .*No space left' disk/f.dat.err
	wait_for grep -q 'not written: .*No space left' disk/f.dat.err
	must [ -z "$(folders)" ]
	rm disk/filler
	mark two
	kill_after 200
	file=$(compgen -G 'disk/f-*.dat') || repaired "$(folders)" # on a busy machine it may have been saved
	must has_mark "$file" two
}

# Space for a file, but not for a spool folder and a file: there is the file.
space_for_one()
{
	small_disk
	watch_load
	load_each_cpu
	marked_recorder 0.5s --after 2s -c fl-load # its events are as many as the time is long, whatever else runs
	sleep 0.5
	must_if_quiet [ -n "$(folders)" ]
	fill $(($(du -B1 -s "$(folders)" | cut -f1) * 2)) # 1 s of 2.5 s is in there
	wait_for grep -q 'schedtap: disk/f-.*\.dat: .* before and\|not written' disk/f.dat.err
	must_if_quiet compgen -G 'disk/f-*.dat'
	must has_mark disk/f-*.dat here
	ends 0 INT
	must [ -z "$(folders)" ]
}

# The next recorder of that name makes the file.
started_again()
{
	local folder

	load_each_cpu
	marked_recorder 0.5s --after 10s
	kill_after 200
	folder=$(folders)
	mkdir f-20200101T000000.000.dat.spool # of a recorder that was killed before it had written the head
	start f.dat --keep 1s --max-files 1
	wait_for [ -s "${folder%.spool}" ]
	wait_for grep -q 'repaired: its recorder was killed' f.dat.err
	ends 0 INT
	must has_mark "${folder%.spool}" here
	must [ -z "$(folders)" ]
	must_not [ -e f.dat.spool ]
}

check "killed at any time after a mark" kills $([ -z "$SOAK" ] && echo 4 || echo 20)
check "killed while an older file is saved" two_conditions
check "killed while a slow disk takes the history" slow_disk
check "no space for a spool folder" full_when_spooling
check "space for the file alone" space_for_one
check "started again" started_again
# The instances of recorders over tracefs that were killed go with the next one.
"$SCHEDTAP" record -b tracefs -e sched_switch -o "$scratch/sweep.dat" -- true 2>/dev/null
done_testing
