#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The flight recorder: what a file holds, what is given back, full disks, kills, and what is refused.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-flight-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT

# Programs that come and go.
come_and_go()
{
	while :; do /bin/true; pause; done &
}

# mark TEXT: a recorder that is kept waiting takes it later than the program waits for the answer.
mark()
{
	"$SCHEDTAP" mark "$1" 2>mark.err || must grep -q 'none accepted the mark' mark.err
}

nr_files()
{
	files | wc -l
}

# window FILE: start and end, ns
window()
{
	"$SCHEDTAP" summary -i "$1" --json | head -c 1000 | grep -o '"\(start\|end\)_ns":[0-9]*' | cut -d: -f2 | paste -sd' '
}

# What a recorder holds is in its memory, with the rest of it.
held()
{
	echo $(($(anon_kb) * 1024))
}

# What it has without that, at most.
rest=$((20 << 20))

anon_kb()
{
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$recorder/status"
}

marked()
{
	"$SCHEDTAP" dump -i "$1" -e mark | grep -c "text=$2" || :
}

nothing_lost()
{
	must "$SCHEDTAP" summary --check -i "$1"
	must_if_quiet grep -q '^# .*, lost 0' <("$SCHEDTAP" summary -i "$1")
}

keeps_what_was_before()
{
	load &
	start f.dat -b "$1" --keep 1s --after 300ms
	sleep 1.2
	before=$(date +%Y%m%dT%H%M)
	mark here
	wait_for has_files 1
	must_not [ -e f.dat ]
	ends 0 INT
	must [ "$(nr_files)" = 1 ]
	file=$(files)
	must [ "$(stat -c %a "$file")" = 600 ]
	case $file in f-$before*|f-$(date +%Y%m%dT%H%M)*) ;; *) fail "it is called $file" ;; esac
	must_not [ -e f.dat.spool ]
	valid "$file"
	must [ "$(marked "$file" here)" = 1 ]
	read -r from to < <(window "$file")
	must [ $((to - from)) -ge 1300000000 ]
	must [ $((to - from)) -lt 1350000000 ]
	must grep -q "f-.*dat: .* 1.000 s before and 0.300 s after 'here'" f.dat.err
	must_if_quiet grep -q ' 1 file, 0 lost' f.dat.err
	nothing_lost "$file"
}

nothing_met()
{
	start f.dat --keep 1s
	sleep 0.2
	ends 0 INT
	must grep -q 'no file was written: only .schedtap mark. and conditions' f.dat.err
	must [ "$(nr_files)" = 0 ]
	must_not [ -e f.dat.spool ]
}

# A signal, at once before the end: what was met is in a file all the same.
ends_with_a_file()
{
	start f.dat --keep 1s --after 60s
	sleep 0.2
	kill -USR1 "$recorder"
	sleep 0.1
	ends 0 INT
	must [ "$(nr_files)" = 1 ]
	must [ "$(marked "$(files)" SIGUSR1)" = 1 ]
	valid "$(files)"
}

extended()
{
	start f.dat --keep 1s --after 2s # within which the next mark comes on any machine
	for i in 1 2 3; do
		mark "mark$i"
		sleep 0.2
	done
	wait_for has_files 1
	ends 0 INT
	must [ "$(nr_files)" = 1 ]
	for i in 1 2 3; do must [ "$(marked "$(files)" "mark$i")" = 1 ]; done
	must grep -q '(and 2 more)' f.dat.err
}

# The marks of all files, a line each.
marks_of_files()
{
	for file in $(files); do "$SCHEDTAP" dump -i "$file" -e mark || :; done
}

# With a mark every 20 ms, files end at least 300 ms (--keep) apart, and every mark is in one.
always_met()
{
	local begun=$(date +%s%N)

	start f.dat --keep 300ms --after 20ms
	for i in $(seq 60); do
		mark "mark=$i="
		sleep 0.02
	done
	ends 0 INT
	must [ "$(nr_files)" -ge 3 ]
	must [ "$(nr_files)" -le $((($(date +%s%N) - begun) / 300000000 + 2)) ]
	marks_of_files >marks
	for i in $(seq 60); do must grep -q "text=mark=$i=" marks; done
	last=0
	for file in $(files | head -n -1); do # the last one ended with the recording
		read -r from to < <(window "$file")
		must [ $((to - last)) -ge 300000000 ]
		last=$to
	done
}

# By bytes that last for less than --after: each file ends early, with the mark that it is about and what was before.
bytes_last_shorter()
{
	load &
	load &
	start f.dat --keep 1M --after 20s
	sleep 1
	for ((nr = 0; nr < 300; nr++)); do
		mark "mark=$nr="
		sleep 0.1
		if ((nr >= 10)) && has_files 2; then break; fi
	done
	ends 0 INT
	must [ "$(nr_files)" -ge 2 ]
	marks_of_files >marks
	for i in $(seq 0 $nr); do must grep -q "text=mark=$i=" marks; done
	must [ "$(sed -n "s/.* MB, \([0-9]*\)\.[0-9]* s before and 1\?[0-9]\.[0-9]* s after 'mark=.*/\1/p" f.dat.err | wc -l)" = "$(nr_files)" ]
}

newest_files()
{
	start f.dat --keep 100ms --after 10ms --max-files 2
	for i in 1 2 3 4; do
		mark "mark$i"
		sleep 0.4
	done
	touch f-20200101T000000.000.dat.txt f-hello.dat
	ends 0 INT
	must [ "$(nr_files)" = 2 ]
	must [ -e f-20200101T000000.000.dat.txt ]
	must [ -e f-hello.dat ]
}

# By bytes, and by time: held, and so much of it that nothing is missing.
gives_back()
{
	load &
	load &
	start f.dat -b "$1" --keep "$2"
	for _ in 1 2 3 4 5 6; do
		sleep 0.3
		bytes=$(held)
		must [ "$bytes" -le "$3" ]
	done
	must_not compgen -G 'f.dat.spool/*.cpu*'
	mark here
	wait_for has_files 1
	ends 0 INT
	nothing_lost "$(files)"
}

# Each CPU's switches are a part of what another recording saw of them, with nothing missing within.
agrees_with_another()
{
	load &
	"$SCHEDTAP" record -o all.dat -b "$1" -e sched_switch 2>all.err &
	other=$!
	wait_for has_started all.dat
	start f.dat -b "$1" -e sched_switch --keep 1s --after 200ms
	sleep 1.1
	mark here
	wait_for has_files 1
	ends 0 INT
	kill -INT $other
	wait $other
	read -r from to < <(window "$(files)")
	for cpu in 0 1; do
		for file in all.dat "$(files)"; do
			"$SCHEDTAP" dump -i "$file" -C $cpu -e sched_switch --json |
				perl -ne 'my ($t) = /"ts_ns":(\d+)/; print "$1>$2 " if $t && $t >= '"$from"' - ($ARGV[0] // 0) &&
					$t <= '"$to"' && /"prev_pid":(\d+).*"next_pid":(\d+)/' >"$cpu.$( [ "$file" = all.dat ] && echo all || echo part)"
		done
		must [ "$(wc -w <$cpu.part)" -gt 50 ]
		# stamps differ between the two by less than it takes to switch: at the borders one may be out
		perl -e '
			local $/; my @l = map { open my $f, "<", $_ or die; <$f> } @ARGV;
			my @part = split " ", $l[1];
			exit !(index(" $l[0]", " ".join(" ", @part[2 .. $#part - 2])." ") >= 0);
		' $cpu.all $cpu.part || fail "CPU $cpu has gaps"
	done
}

# What was held is gone; the next recorder takes its place, and does not need it taken away.
killed()
{
	load &
	start f.dat -b "$1" --keep 500ms
	run 1 "$SCHEDTAP" summary -i f.dat.spool
	says 'which keeps its events in memory'
	run 1 "$SCHEDTAP" repair f.dat.spool
	says 'still recording'
	kill -9 "$recorder"
	wait "$recorder" || :
	must [ -e f.dat.spool/head.dat ]
	must "$SCHEDTAP" record -o f.dat -b "$1" --keep 500ms -d 0.3
	must_not [ -e f.dat.spool ]
	start f.dat -b "$1" --keep 500ms
	kill -9 "$recorder"
	wait "$recorder" || :
	run 1 "$SCHEDTAP" repair f.dat.spool
	says 'the events were only in memory'
	must_not [ -e f.dat.spool ]
	must_not [ -e f.dat ]
}

# A program that another one keeps from its CPU: noticed before that is over.
while_it_waits()
{
	realtime_or_skip
	watch_load
	start f.dat -b "$1" --keep 2s --after 50ms --when 'preempted > 30ms if comm ~ "fl-wait*"'
	cp "$(command -v perl)" fl-waits
	taskset -c 1 ./fl-waits -e '1 while times < 10' &
	sleep 0.3
	# repeat it if a task that is hidden from tracing ran meanwhile: then the condition is undecided
	for _ in 1 2 3; do
		chrt -f 20 taskset -c 1 perl -e 'use Time::HiRes "time"; my $e = time + 0.6; 1 while time < $e'
		sleep 0.3
		if has_files 1; then break; fi
	done
	wait_for has_files 1
	ends 0 INT
	must grep -qE "before and [0-9.]+ s after 'preempted > 30ms" f.dat.err
	must_if_quiet grep -q "before and 0.050 s after 'preempted > 30ms" f.dat.err # met again makes it longer
	"$SCHEDTAP" dump -i "$(files | head -1)" -e mark --json >marks
	must grep -q '"comm":"fl-waits"' marks
	valid "$(files | head -1)"
}

ends_in_its_moment()
{
	cp /bin/true fl-true
	start f.dat -b "$1" --keep 1s --after 100ms --when 'sched_process_exit if comm == "fl-true"' \
		--when 'sched_process_exit if comm == "fl-never"'
	sleep 0.3
	./fl-true
	/bin/true
	wait_for has_files 1
	ends 0 INT
	must [ "$(nr_files)" = 1 ]
	must [ "$("$SCHEDTAP" dump -i "$(files)" -e mark | grep -c 'comm=fl-true text=sched_process_exit if comm ==')" = 1 ]
	must grep -q prev_comm=fl-true <("$SCHEDTAP" dump -i "$(files)" -e sched_switch)
}

hundred_conditions()
{
	for i in $(seq 99); do args+=(--when "waking > ${i}s"); done
	start f.dat --keep 1s "${args[@]}" --when 'rate(sched_switch) > 10/s'
	load &
	sleep 1
	ends 0 INT
	must [ "$(nr_files)" -ge 1 ]
	must grep -q "after 'rate(sched_switch) > 10/s'" f.dat.err
	must grep -q "conditions that never fired: 'waking > 1s', 'waking > 2s', 'waking > 3s' and 96 more" f.dat.err
}

# Of several looks the least: what is open while a file is made is not what stays open.
nr_fds()
{
	for look in $(seq 20); do
		ls "/proc/$recorder/fd" | wc -l
		sleep 0.02
	done | sort -n | head -1
}

# Programs that come and go, and conditions that are met again and again: a moment of what may be a month.
left_on()
{
	local rounds=8 kb fds

	[ -z "$SOAK" ] || rounds=400
	cp /bin/true fl-left
	come_and_go
	start f.dat -b "$1" --keep 2M --after 50ms --max-files 3 --when 'preempted > 5ms' \
		--when 'sched_process_exit if comm == "fl-left"'
	sleep 1
	fds=$(nr_fds)
	for ((i = 0; i < rounds; i++)); do
		[ $i != $((rounds / 2)) ] || kb=$(anon_kb)
		./fl-left
		sleep 0.5
		must [ "$(nr_files)" -le 4 ] # one is made while the oldest is still there
	done
	must [ $(($(anon_kb) - kb)) -le 4096 ]
	must [ "$(held)" -le $((rest + (8 << 20))) ] # of a quarter of an hour as of seconds
	must [ "$(nr_fds)" -le $((fds + 3)) ] # files follow each other closely; dozens were made
	ends 0 INT
	must [ "$(nr_files)" = 3 ]
	must_not [ -e f.dat.spool ]
	for file in $(files); do must "$SCHEDTAP" summary --check -i "$file"; done
}

# At any time, also while files are written: those that have a name are whole, and nothing stays.
killed_at_any_time()
{
	come_and_go
	for i in 1 2 3 4 ${SOAK:+5 6 7 8}; do
		start f.dat --keep 200ms --after 10ms --when 'rate(sched_switch) > 50/s' --when 'sched_process_exit'
		sleep "0.$((i * 7 % 10 + 1))"
		kill -9 "$recorder"
		wait "$recorder" || :
		for file in $(files); do valid "$file"; done
		run 1 "$SCHEDTAP" repair f.dat.spool
		must_not [ -e f.dat.spool ]
		rm -f f-*.dat
	done
	must_not compgen -G '*packed*'
}

small_disk()
{
	mkdir disk
	mount -t tmpfs -o size="$1" none "$PWD/disk"
	at=disk/
}

# The wall clock is set back and forward: a file goes by the clock of its moment, and the newest ones stay.
clock_steps()
{
	must gcc -shared -fPIC -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o wall_step.so "$here/wall_step.c"
	echo 0 >step
	for hour in 19990101T00 20990101T00; do : >"f-${hour}0000.000.dat"; done
	WALL_STEP=$PWD/step LD_PRELOAD=$PWD/wall_step.so start f.dat --keep 1s --after 50ms --max-files 2
	for hours in 0 -7 -3; do
		echo $((hours * 3600)) >step.new
		mv step.new step
		sleep 0.3
		mark "hours$hours"
		wait_for grep -q "^schedtap: f-$(date -d "$hours hours" +%Y%m%dT%H).*'hours$hours'" f.dat.err
		grep -o 'f-.*\.dat: ' f.dat.err | tr -d ': ' >names
	done
	ends 0 INT
	must [ "$(files)" = "$(tail -2 names | sort)" ]
	for file in $(files); do
		valid "$file"
		nothing_lost "$file"
	done
}

# No room for a file: the next one is written.
full_when_written()
{
	small_disk 60M
	load &
	start disk/f.dat --keep 1s --after 50ms
	sleep 0.5
	# but for what it says
	head -c $(($(df --output=avail -B1 disk | tail -1) - (64 << 10))) /dev/zero >disk/filler
	mark one
	wait_for grep -q 'not written: .*No space left' disk/f.dat.err
	rm disk/filler
	sleep 1
	mark two
	wait_for has_files 1
	ends 1 INT
	must [ "$(nr_files)" = 1 ]
	must [ "$(marked "$(files)" two)" = 1 ]
	valid "$(files)"
}

# The page's first two commands, as they stand there; what it waits for is a mark.
page()
{
	mkdir bin
	ln -s "$SCHEDTAP" bin/schedtap
	PATH=$PWD/bin:$PATH
	sed -n '/^## /q; s/^    \(schedtap .*\)/\1/p' "$here/../../docs/flight-recorder.md" >commands
	must [ "$(wc -l <commands)" = 2 ]
	(until "$SCHEDTAP" mark here 2>/dev/null; do pause; done) &
	must bash -c "$(sed -n 1p commands)"
	must bash -c "$(sed -n 2p commands)" >marks
	must grep -q text=here marks
}

refused()
{
	local text=$1

	shift
	run 2 "$SCHEDTAP" record -o f.dat -d 1 "$@"
	says "$text"
	must_not [ -e f.dat.spool ]
}

more_than_memory()
{
	run 1 "$SCHEDTAP" record -o f.dat -d 1 --keep 100000G
	says 'and at most half of it may be used'
	must_not [ -e f.dat.spool ]
}

together=3

for b in bpf tracefs; do
	check "$b: what was before a mark is in a file" on_its_own keeps_what_was_before $b
	check "$b: it agrees with another recording" on_its_own agrees_with_another $b
	check "$b: 1 MB is held" on_its_own gives_back $b 1M $((rest + (2 << 20)))
	check "$b: half a second is held" on_its_own gives_back $b 500ms $((rest + (12 << 20)))
	check "$b: killed, and started again" on_its_own killed $b
	check "$b: a wait that goes on" on_its_own while_it_waits $b
	check "$b: a task that exits" on_its_own ends_in_its_moment $b
done
check "killed at any time" on_its_own killed_at_any_time
check "bpf: left on" on_its_own left_on bpf
check "tracefs: left on" on_its_own left_on tracefs
check "nothing was met" on_its_own nothing_met
check "Ctrl-C before the file is whole" on_its_own ends_with_a_file
check "met again makes it longer" on_its_own extended
check "always met" on_its_own always_met
check "bytes that last shorter than --after" on_its_own bytes_last_shorter
check "the newest files are kept" on_its_own newest_files
check "a hundred conditions" on_its_own hundred_conditions
check "the wall clock is set" on_its_own clock_steps
check "no room for a file" on_its_own full_when_written
check "--after alone" on_its_own refused '--after needs --keep' --after 2s
check "--max-files alone" on_its_own refused '--max-files needs --keep' --max-files 2
check "--when alone" on_its_own refused '--when needs --keep' --when 'waking > 1s'
check "no such condition" on_its_own refused "only these can be compared with a time: waking, preempted" --keep 1s --when 'foo > 3'
check "a condition on what is not recorded" on_its_own refused "needs the event 'sched_switch', which is not recorded" --keep 1s \
	--when 'waking > 1s' -e sched_process_exit
check "a condition on an event that is not recorded" on_its_own refused "condition 'sched_switch' needs the event 'sched_switch', which is not recorded" --keep 1s \
	--when 'sched_switch' -e sched_process_exit
check "more than there is memory" on_its_own more_than_memory
check "nothing to hold" on_its_own refused 'the time or size must be greater than 0' --keep 0
check "neither time nor size" on_its_own refused 'expected a time, such as 10s, or a size' --keep 10x
check "--trigger" on_its_own refused '--trigger cannot be combined with --keep' --keep 1s --trigger 'sched_switch: traceoff'
check "--max-size" on_its_own refused '--max-size cannot be combined with --keep' --keep 1s --max-size 1M
check "the page's commands" on_its_own page
done_testing
