#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs with tracepoints of their own and their recorders, and what happens to one when the other is
# killed, comes late, has no room or lies. EMIT is tests/tracepoint/emit.c: rules:plain, v = 0, 1, ...
# PROGRAMS is where such programs are, if not beside SCHEDTAP.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
build=$(dirname "$SCHEDTAP")
PROGRAMS=${PROGRAMS:-$build/tests/tracepoint}
EMIT=$PROGRAMS/emit
STATIC=$PROGRAMS/emit_static
PATCHED=$PROGRAMS/emit_patched
CONFINED=$PROGRAMS/confined
. "$top/tests/live/lib.sh"
needs_root
apart
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# no program of anybody else's is in this folder
own_folder()
{
	mkdir -m 700 run
	export XDG_RUNTIME_DIR=$PWD/run PATH=$build:$PATH
	dir=$PWD/run/schedtap
}

# recorder ARG...: in the background, events on; in $!
recorder()
{
	"$SCHEDTAP" record -o r.dat -b user -e 'rules:*' "$@" 2>rec.err &
	wait_for has_started r.dat
}

finish()
{
	kill -INT "$1"
	wait "$1" || fail "the recorder failed: $(cat rec.err)"
}

# values FILE: the v of each event, in order
values()
{
	"$SCHEDTAP" dump -i "$1" -e 'rules:plain' | sed -n 's/.* v=\([0-9]*\) text=fifteen_chars__$/\1/p'
}

has_values() # FILE FROM TO
{
	values "$1" >got
	seq "$2" "$3" | cmp -s - got || fail "want $2..$3, got: $(wc -l <got): $(head -n 3 got; tail -n 2 got)"
}

nothing_left()
{
	[ -z "$(ls -A "$dir" 2>/dev/null)" ] || fail "left over: $(ls -lR "$dir")"
}

idle_program()
{
	"$EMIT" 1 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	[ "$(ls "/proc/$pid/task" | wc -l)" = 1 ] || fail "threads: $(ls "/proc/$pid/task")"
	[ "$(ls -l "/proc/$pid/fd" | grep -o '[0-9]* -> /memfd:schedtap' | xargs)" = '200 -> /memfd:schedtap' ] ||
		fail "descriptors: $(ls -l "/proc/$pid/fd")"
	must_not grep -q socket <(ls -l "/proc/$pid/fd")
	[ "$(stat -c %a "$dir")" = 700 ] || fail "$(ls -la "$dir")"
	[ "$(readlink "$dir/$pid-0")" = "/proc/$pid/fd/200" ] || fail "$(ls -la "$dir")"
	kill "$pid"
	wait "$pid" 2>/dev/null || :
	run 0 "$SCHEDTAP" list
	nothing_left
}

running_program()
{
	"$EMIT" 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	recorder
	rec=$!
	sleep 0.3
	finish $rec
	kill $pid
	values r.dat >got
	[ "$(wc -l <got)" -gt 100 ] || fail "only $(wc -l <got) events"
	seq "$(head -n 1 got)" "$(tail -n 1 got)" | cmp - got
}

late_program()
{
	recorder
	rec=$!
	"$1" 1000 0 >/dev/null # gone before the recorder looks again
	finish $rec
	has_values r.dat 0 999
	# it is gone, and no event of the kernel's has named it
	"$SCHEDTAP" dump -i r.dat >dumped
	grep -q "^ *${1##*/}-" dumped || fail "$(head -n 2 dumped)"
	nothing_left
}

# A ring's memory is freed once no recorder records the program any more, and the program can be recorded
# again.
ring_given_back()
{
	"$EMIT" 15000 0 again >emit.out &
	pid=$!
	for turn in 1 2; do
		wait_for grep -q "ready $turn" emit.out
		recorder
		kill -USR1 $pid
		wait_for grep -q "fired $turn" emit.out
		finish $!
		[ "$(values r.dat | tail -n 1)" = 14999 ] || fail "turn $turn: $(values r.dat | tail -n 1)"
		kb=$(($(stat -L -c %b "/proc/$pid/fd/200") / 2))
		[ $kb -lt 400 ] || fail "$kb kB are left"
	done
	kill $pid
}

killed_program()
{
	recorder
	rec=$!
	"$EMIT" 500 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	kill -9 $pid
	wait $pid 2>/dev/null || :
	finish $rec
	has_values r.dat 0 499
	nothing_left
}

# The second recorder cannot have the program, whose file the first one removes when it has ended.
one_that_ends_and_two_recorders()
{
	local rec second

	"$EMIT" 1 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	recorder
	rec=$!
	MALLOC_PERTURB_=165 "$SCHEDTAP" record -o s.dat -b user -e 'rules:*' 2>second.err &
	second=$!
	wait_for has_started s.dat
	kill -9 $pid
	wait $pid 2>/dev/null || :
	wait_for test ! -e "$dir/$pid-0"
	sleep 1.5 # it tries again after a second
	finish $second
	finish $rec
	nothing_left
}

is_locked() { ! flock -n "$1" true; }

# A user's programs that somebody else has, and whose files go.
files_removed()
{
	local i pids= locks=

	for ((i = 0; i < 8; i++)); do
		"$EMIT" 1 0 pause >emit$i.out &
		pids="$pids $!"
		wait_for test -s emit$i.out
	done
	for pid in $pids; do
		( flock 9 && exec sleep 30 ) 9<"$dir/$pid-0" &
		locks="$locks $!"
		wait_for is_locked "$dir/$pid-0"
	done
	MALLOC_PERTURB_=165 "$SCHEDTAP" record -o r.dat -b user -e 'rules:*' 2>rec.err &
	rec=$!
	wait_for has_started r.dat
	rm -f "$dir"/*-0
	for ((i = 0; i < 8; i++)); do "$EMIT" 1 0 >/dev/null; done
	sleep 1.5
	finish $rec
	kill $pids $locks
}

killed_recorder()
{
	recorder
	rec=$!
	"$EMIT" 2000 1000 pause >emit.out &
	pid=$!
	wait_for has_pages r.dat
	kill -9 $rec
	wait $rec 2>/dev/null || :
	run 0 "$SCHEDTAP" repair r.dat
	# what stood in pages that were not yet full is gone, the rest is in order
	values r.dat >got
	[ -s got ] || fail 'nothing is in the repaired file'
	sort -nuc got
	# the program goes on, and the next recorder takes it over
	wait_for test -s emit.out
	mv r.dat first.dat
	recorder
	rec=$!
	kill -9 $pid
	wait $pid 2>/dev/null || : # a program that still runs when the recorder ends keeps its file
	finish $rec
	nothing_left
}

killed_both()
{
	recorder
	rec=$!
	stop $rec
	"$EMIT" 500 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	kill -9 $pid $rec
	wait 2>/dev/null || :
	run 0 "$SCHEDTAP" repair r.dat
	mv r.dat first.dat
	recorder
	finish $!
	nothing_left # its memory went with it
}

two_recorders()
{
	"$EMIT" 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	recorder
	rec=$!
	timeout -s INT 1 "$SCHEDTAP" record -o s.dat -b user -e 'rules:*' 2>err || :
	grep -q "is already recording program $pid" err || fail "the second says: $(cat err)"
	finish $rec
	kill $pid
	[ "$(values r.dat | wc -l)" -gt 100 ] || fail 'the first was disturbed'
}

# Every event is in the recording, or counted as lost within an interval.
losses()
{
	recorder --buffer 64K
	rec=$!
	stop $rec
	"$1" 30000 0 >/dev/null
	kill -CONT $rec
	finish $rec
	"$SCHEDTAP" dump -i r.dat --json >all.json
	perl -ne '$got++ if /"rules:plain"/;
		if (/^\{"lost":.*"count":(\d+)/) { $lost += $1; $n++ }
		END { print "$got recorded, $lost lost in $n intervals\n"; exit !($got > 500 && $lost > 0 && $got + $lost == 30000) }' all.json ||
		fail "$(head -c 600 all.json)"
}

losses_without_rseq()
{
	export GLIBC_TUNABLES=glibc.pthread.rseq=0
	losses "$EMIT"
}

own_recorder() # PROGRAM END
{
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat "$1" 300 0 "$2" >out
	wait_for test -e own.dat
	has_values own.dat 0 299
	wait_for no_program_is_there
}

# The values of all processes, from 0 on.
has_all_values() # FILE COUNT
{
	values "$1" | sort -n >got
	seq 0 $(($2 - 1)) | cmp -s - got || fail "want $2, got: $(wc -l <got): $(head -n 3 got; tail -n 2 got)"
}

own_recorder_children() # PROGRAM END COUNT
{
	local start=$EPOCHREALTIME

	watch_load
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat "$1" 100 0 "$2" >out || :
	[ "$2" != fork ] || test -e own.dat || fail 'it did not wait for the end of its recorder'
	[ "$2" = fork ] || must_if_quiet test ! -e own.dat
	must_if_quiet test $((${EPOCHREALTIME/./} - ${start/./})) -lt 5000000 # microseconds
	wait_for test -e own.dat
	has_all_values own.dat "$3"
	wait_for no_program_is_there
}

# Its parent was killed, and it has a control file long before that has events.
own_recorder_slow_child()
{
	must gcc -shared -fPIC -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o slow_mremap.so "$top/tests/live/slow_mremap.c"
	LD_PRELOAD=$PWD/slow_mremap.so TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat "$EMIT" 100 0 orphan >out || :
	wait_for test -e own.dat
	has_all_values own.dat 200
	wait_for no_program_is_there
}

# Children that can have no file of their own record into their parent's.
own_recorder_confined() # STEP...
{
	mkdir -m 755 empty
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat "$CONFINED" "$@" >out
	wait_for test -e own.dat
	has_values own.dat 0 99
	wait_for no_program_is_there
}

# -p takes what the process forks, and not what its parent does. @whose: the parent, or its child
recorded_process_forks() # WHOSE FROM TO
{
	local whose

	"$EMIT" 300 8000 fork >emit.out &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	[ "$1" = parent ] || wait_for child_of "$pid"
	whose=$([ "$1" = parent ] && echo "$pid" || child_of "$pid")
	stop "$whose" # however long the recorder takes to start
	recorder -p "$whose"
	rec=$!
	kill -CONT "$whose"
	wait "$pid" "$rec"
	values r.dat | sort -n | awk -v from="$2" -v to="$3" '
		$1 >= from && $1 <= to { nr++; next }
		$1 >= 300 { print "not expected:", $1; bad = 1 }
		END { if (!nr) { print "none of", from, "to", to; bad = 1 } exit bad }' >why ||
		fail "$(head -n 3 why)"
	nothing_left
}

# -t ends with its thread, though the process lives.
recorded_thread_ends()
{
	cat >thread.c <<-'E2'
		#define CREATE_TRACE_POINTS
		#include "tracepoint/rules.h"
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		int rules_reg(void) { return 0; }
		void rules_unreg(void) { }
		static void *run(void *unused)
		{
			printf("%d\n", (int)gettid());
			fflush(stdout);
			for (int v = 0; v < 1000; v++, usleep(1000))
				trace_plain(v, "fifteen_chars__");
			return unused;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, run, NULL);
			pause();
		}
	E2
	must ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I"$top/include" -I"$top/tests" -I"$top/tests/tracepoint" thread.c \
		-o thread "$PROGRAMS/../../libschedtap-tracepoint.a" -lpthread
	./thread >tid &
	pid=$!
	wait_for test -s tid
	run 0 timeout -s KILL 20 "$SCHEDTAP" record -o r.dat -b user -e 'rules:*' -t "$(cat tid)"
	kill $pid
	[ "$(values r.dat | wc -l)" -gt 100 ] || fail "$(values r.dat | wc -l) events"
}

child_of() { ps -o pid= --ppid "$1" | grep -o '[0-9]*'; }

no_program_is_there()
{
	[ -z "$(ls -A "$dir")" ]
}

# The recorder does not load the library, or it would have a recorder, and that one too.
own_recorder_preloaded()
{
	cat >lib.c <<-'E2'
		#define CREATE_TRACE_POINTS
		#include "tracepoint/rules.h"
		int rules_reg(void) { return 0; }
		void rules_unreg(void) { }
	E2
	must ${CC:-cc} -std=gnu11 -shared -fPIC -I"$top/include" -I"$top/tests" -I"$top/tests/tracepoint" \
		-o lib.so lib.c "$PROGRAMS/../../libschedtap-tracepoint.a" -ldl -lpthread
	# a recorder of the recorder would be there before the recording begins; other processes of the recorder end by themselves
	unshare --pid --mount-proc --fork --kill-child sh -c '
		LD_PRELOAD=$PWD/lib.so TAP_TRACE="rules:*" TAP_TRACE_FILE=own.dat sleep 60 &
		until [ -e own.dat.spool ]; do sleep 0.1; done
		for try in $(seq 100); do
			ps -eo comm= >running
			[ "$(grep -cx schedtap running)" != 1 ] || break
			sleep 0.1
		done' 2>/dev/null
	[ "$(grep -cx schedtap running)" = 1 ] || fail "running: $(xargs <running)"
}

# Root's recorder of all programs does not look into this folder: the file is not left for it.
own_recorder_beside_another()
{
	mkdir -m 700 other
	XDG_RUNTIME_DIR=$PWD/other "$SCHEDTAP" record -o r.dat -b user -e 'rules:*' 2>rec.err &
	rec=$!
	wait_for has_started r.dat
	own_recorder "$EMIT" exit
	finish $rec
}

own_recorder_killed()
{
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat "$EMIT" 300 0 pause >out &
	pid=$!
	wait_for test -s out
	kill -9 $pid
	wait_for test -e own.dat
	has_values own.dat 0 299
	wait_for no_program_is_there
}

# What TAP_TRACE asks for and cannot have is a line on stderr.
no_recorder()
{
	mkdir none
	PATH=$PWD/none TAP_TRACE='rules:plain' "$EMIT" 10 0 >out 2>err
	grep -q "cannot run 'schedtap'" out || fail "the program says: $(cat out)"
	grep -q "^emit: schedtap: TAP_TRACE: .*cannot run 'schedtap'" err || fail "on stderr: $(cat err)"
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=/no/such/folder/x.dat "$EMIT" 10 0 >out 2>err
	grep -q "/no/such/folder" out || fail "the program says: $(cat out)"
	[ "$(grep -c '/no/such/folder' err)" = "$(wc -l <err)" ] || fail "on stderr: $(cat err)"
	TAP_TRACE_QUIET=1 TAP_TRACE='rules:plain' TAP_TRACE_FILE=/no/such/folder/x.dat "$EMIT" 10 0 >out 2>err
	[ ! -s err ] || fail "on stderr: $(cat err)"
}

# Nothing waits for a recorder that has nothing to record.
own_recorder_slip()
{
	local start=$SECONDS

	TAP_TRACE='reqest:*' TAP_TRACE_FILE=own.dat "$EMIT" 10 0 >out 2>err
	[ $((SECONDS - start)) -lt 5 ] || fail "the program took $((SECONDS - start)) s"
	[ "$(cat err)" = "emit: schedtap: TAP_TRACE: the program has no event 'reqest:*' so far" ] || fail "on stderr: $(cat err)"
	[ ! -e own.dat ] || fail 'there is a recording'
	TAP_TRACE='reqest:*,rules' TAP_TRACE_FILE=own.dat "$EMIT" 10 0 >out 2>err
	wait_for test -e own.dat
	has_values own.dat 0 9
	TAP_TRACE="$(printf 'none%d,' {1..200})rules:plain" TAP_TRACE_QUIET=1 TAP_TRACE_FILE=200.dat "$EMIT" 10 0 >out
	wait_for test -e 200.dat
	has_values 200.dat 0 9
}

# A library that is loaded later has the events: its constructor waits for the recorder.
own_recorder_of_plugin()
{
	cat >lib.c <<-'E2'
		#define CREATE_TRACE_POINTS
		#include "tracepoint/rules.h"
		int rules_reg(void) { return 0; }
		void rules_unreg(void) { }
		void fire(void) { trace_plain(7, "fifteen_chars__"); }
	E2
	cat >main.c <<-'E2'
		#include <dlfcn.h>
		#define CREATE_TRACE_POINTS
		#include "tracepoint/ring_events.h"
		int main(void)
		{
			void *lib = dlopen("./lib.so", RTLD_NOW);
			void (*fire)(void) = lib ? (void (*)(void))dlsym(lib, "fire") : 0;

			trace_step(0, 0, "text");
			return fire ? fire(), 0 : 1;
		}
	E2
	local flags=(-std=gnu11 -I"$top/include" -I"$top/tests" -I"$top/tests/tracepoint"
		-L"$PROGRAMS/../.." -Wl,-rpath,"$PWD")
	ln -s "$PROGRAMS/../../libschedtap-tracepoint.so" libschedtap-tracepoint.so.0
	must ${CC:-cc} -shared -fPIC -o lib.so lib.c "${flags[@]}" -lschedtap-tracepoint
	must ${CC:-cc} -o main main.c "${flags[@]}" -lschedtap-tracepoint -ldl
	TAP_TRACE='rules:plain' TAP_TRACE_FILE=own.dat ./main 2>err || fail "$(cat err)"
	grep -q "main: schedtap: TAP_TRACE: the program has no event 'rules:plain' so far" err || fail "on stderr: $(cat err)"
	wait_for test -e own.dat
	[ "$(values own.dat)" = 7 ] || fail "$("$SCHEDTAP" dump -i own.dat)"
}

# A program and its plugin with a copy of the library each: one recorder has the events of both, from the first on.
own_recorder_of_two_copies()
{
	cat >lib.c <<-'E2'
		#define CREATE_TRACE_POINTS
		#include "tracepoint/ring_events.h"
		__attribute__((visibility("default"))) void fire(void) { trace_array(0, 0); }
	E2
	cat >main.c <<-'E2'
		#include <dlfcn.h>
		#define CREATE_TRACE_POINTS
		#include "tracepoint/rules.h"
		int rules_reg(void) { return 0; }
		void rules_unreg(void) { }
		int main(void)
		{
			void *lib;

			trace_plain(1, "fifteen_chars__");
			lib = dlopen("./lib.so", RTLD_NOW);
			((void (*)(void))dlsym(lib, "fire"))();
			trace_plain(2, "fifteen_chars__");
			return 0;
		}
	E2
	local flags=(-std=gnu11 -I"$top/include" -I"$top/tests" -I"$top/tests/tracepoint" -fvisibility=hidden)
	must ${CC:-cc} -shared -fPIC -o lib.so lib.c "${flags[@]}" "$PROGRAMS/../../libschedtap-tracepoint.a"
	must ${CC:-cc} -o main main.c "${flags[@]}" "$PROGRAMS/../../libschedtap-tracepoint.a" -ldl
	TAP_TRACE='rules:plain,array' TAP_TRACE_FILE=own.dat ./main 2>err || fail "$(cat err)"
	[ "$(cat err)" = "main: schedtap: TAP_TRACE: the program has no event 'array' so far" ] || fail "on stderr: $(cat err)"
	wait_for test -e own.dat
	[ "$("$SCHEDTAP" dump -i own.dat | grep -oE '(plain|array):' | xargs)" = 'plain: array: plain:' ] ||
		fail "$("$SCHEDTAP" dump -i own.dat)"
	wait_for no_program_is_there
}

# Without PATH, and with a file for each process.
own_recorder_by_path()
{
	mkdir none
	PATH=$PWD/none TAP_TRACE_RECORDER=$SCHEDTAP TAP_TRACE='rules:plain' TAP_TRACE_FILE=%c.%p.100%%.dat "$EMIT" 10 0 >out &
	pid=$!
	wait $pid
	wait_for test -e "emit.$pid.100%.dat"
	has_values "emit.$pid.100%.dat" 0 9
}

# What no program had is said at the end.
slip_in_record()
{
	"$SCHEDTAP" record -o r.dat -b user -e 'reqest:*' -e 'rules:*' -- "$EMIT" 10 0 >out 2>err
	grep -q "no program had the event 'reqest:\*'; seen: rules" err || fail "$(cat err)"
	must_not grep -q "no program had the event 'rules" err
	"$SCHEDTAP" record -o r.dat -e 'rulez:*' -- "$EMIT" 10 0 >out 2>err
	grep -q "no program had the event 'rulez:\*'" err || fail "$(cat err)" # it may have ended before it was seen
}

children()
{
	recorder
	rec=$!
	"$EMIT" 200 0 fork >/dev/null
	"$EMIT" 50 0 exec >/dev/null
	finish $rec
	values r.dat | sort -n >got
	{ seq 0 599; seq 0 49; seq 0 49; } | sort -n | cmp - got
	# the child's events carry the child's id
	[ "$("$SCHEDTAP" dump -i r.dat --json | grep -o '"common_pid":[0-9]*\|"tid":[0-9]*' | sort -u | wc -l)" -ge 3 ]
	nothing_left
}

# exec keeps the process, and is no event here: each program's events have its name.
names_of_programs()
{
	recorder
	rec=$!
	"$EMIT" 50 0 exec >/dev/null
	finish $rec
	"$SCHEDTAP" dump -i r.dat >dump
	[ "$(grep -c '^ *emit-' dump)" = 50 ] && [ "$(grep -c '^ *exe-' dump)" = 50 ] || fail "$(cut -c1-60 dump | sed -n '49,52p')"
}

as_other_user()
{
	chmod 711 .
	chown 65534:65534 run
	install -m 755 "$SCHEDTAP" "$EMIT" .
	mkdir mine
	chown 65534:65534 mine
	chmod o+x "$scratch" "$PWD/.."
	run 0 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		./schedtap record -o mine/r.dat -e 'rules:*' -- ./emit 100 0
	has_values mine/r.dat 0 99
	# root sees the programs of others, they do not see root's
	"$EMIT" 1 0 pause >/dev/null &
	setpriv --reuid 65534 --regid 65534 --clear-groups ./emit 1 0 pause >emit.out &
	wait_for test -s emit.out
	setpriv --reuid 65534 --regid 65534 --clear-groups ./schedtap list 'rules:plain' >list 2>/dev/null
	[ "$(grep -o 'emit \[' list | wc -l)" = 1 ] || fail "$(cat list)"
}

# Somebody else has made the user's folder in /dev/shm: he can neither look into another one, nor foresee its name.
taken_folder()
{
	local user=(setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps=-all env -u XDG_RUNTIME_DIR)

	chmod 711 .
	install -m 755 "$SCHEDTAP" "$EMIT" .
	mkdir mine
	chown 65533:65533 mine
	chmod o+x "$scratch" "$PWD/.."
	mkdir -m 777 /dev/shm/schedtap-65533 /dev/shm/schedtap-65533.bad
	chown 65534 /dev/shm/schedtap-65533*
	for round in 1 2; do # the second finds the folder of the first
		run 0 "${user[@]}" ./schedtap record -o mine/$round.dat -e 'rules:*' -- ./emit 100 0
		has_values mine/$round.dat 0 99
	done
	"${user[@]}" ./emit 1 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	run 0 "${user[@]}" ./schedtap list rules:plain
	must grep -q "emit \[$pid\]" out
	run 0 "$SCHEDTAP" list rules:plain
	must grep -q "emit \[$pid\]" out
	kill $pid
	wait $pid || :
	run 1 "$SCHEDTAP" list rules:plain
	[ -z "$(find /dev/shm/schedtap-65533{,.bad} -mindepth 1)" ] || fail 'somebody else has the links'
	[ "$(find /dev/shm -maxdepth 1 -name 'schedtap-65533.*' -uid 65533 | wc -l)" = 1 ] || fail "$(ls -l /dev/shm)"
	rmdir /dev/shm/schedtap-65533 /dev/shm/schedtap-65533.*
}

full_folder()
{
	mount -t tmpfs -o size=64k,nr_inodes=8,mode=700 tmpfs run || skip 'no tmpfs'
	recorder
	rec=$!
	dd if=/dev/zero of=run/fill bs=4k 2>/dev/null || :
	"$EMIT" 1000 0 >out
	finish $rec
	has_values r.dat 0 999 # nothing of them is in the folder
	mkdir -p -m 700 run/schedtap
	for i in 1 2 3 4 5 6 7 8; do : >run/file$i; done 2>/dev/null || :
	"$EMIT" 10 0 >out
	grep -q 'cannot make a control file: No space left' out || fail "the program says: $(cat out)"
}

bad_folders()
{
	mkdir -m 755 open
	ln -s "$PWD/run" link
	XDG_RUNTIME_DIR=$PWD/link "$EMIT" 1 0 >out && must grep -q 'nothing failed' out
	mkdir -m 777 open/schedtap
	XDG_RUNTIME_DIR=$PWD/open "$EMIT" 1 0 pause >out & # another folder is used
	wait_for test -s out
	[ -z "$(ls -A open/schedtap)" ] || fail 'a folder that all may write was used'
	mkdir run/schedtap 2>/dev/null || :
	chown 65534 run/schedtap
	"$EMIT" 1 0 >out2
	[ -z "$(ls -A run/schedtap)" ] || fail "a folder of somebody else's was used"
}

garbage()
{
	"$EMIT" 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	head -c 100000 /dev/urandom >"$dir/1-0"
	: >"$dir/2-0"
	ln -s /etc/passwd "$dir/3-0"
	mkfifo "$dir/4-0"
	echo x >"$dir/not a name"
	ln -s "$(readlink "$dir/$pid-0")" "$dir/5-0"
	ln -s /proc/1/root/etc/passwd "$dir/6-0"
	recorder
	rec=$!
	sleep 0.2
	must_not truncate -s 4096 "$dir/$pid-0" 2>/dev/null # it would end the program with SIGBUS
	kill -0 $pid || fail 'the program has ended'
	finish $rec
	[ "$(values r.dat | wc -l)" -gt 100 ] || fail 'the recording has nothing'
	run 0 "$SCHEDTAP" list 'rules:plain'
	[ "$(grep -o 'emit \[' out | wc -l)" = 1 ] || fail "$(cat out)"
}

other_namespace()
{
	unshare --fork --kill-child --pid --mount-proc "$EMIT" 100000 100 >/dev/null &
	pid=$!
	wait_for compgen -G "$dir/1-0?*" >/dev/null
	pid=$(pgrep -P $pid)
	recorder
	rec=$!
	sleep 0.2
	unshare --fork --pid --mount-proc "$EMIT" 50 0 >/dev/null # it is over before anybody looks
	finish $rec
	[ "$(values r.dat | wc -l)" -gt 100 ] || fail 'it was not recorded'
	[ "$(values r.dat | grep -cx 49)" = 1 ] || fail 'one that was over at once was not'
	grep -q "^ *emit-$pid " <("$SCHEDTAP" dump -i r.dat) || fail "not of $pid: $("$SCHEDTAP" dump -i r.dat | head -n 3)"
	must_not grep -q '^ *[a-z<>.]*-1 ' <("$SCHEDTAP" dump -i r.dat)
	run 0 "$SCHEDTAP" list 'rules:plain'
	compgen -G "$dir/1-0?*" >/dev/null || fail 'its link was removed'
}

many_programs()
{
	"$EMIT" 1 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	perl -e 'symlink("/proc/$_/fd/200", "$ARGV[0]/$_-0") or die for 4200000..4209999' "$dir"
	run 0 "$SCHEDTAP" list 'rules:plain'
	grep -q "emit \[$pid\]" out
	# their programs are not there
	[ "$(ls "$dir" | wc -l)" -lt 10 ] || fail "$(ls "$dir" | wc -l) files are left"
}

# ---- filters ----

# follow FILE STEP: the values go on by so much from one to the next
follow()
{
	values "$1" >got
	awk -v step="$2" 'NR > 1 && $1 != last + step { print "after", last, "comes", $1; bad = 1 } { last = $1 }
		END { if (NR < 30) { print "only", NR; bad = 1 } exit bad }' got || fail "$(head -n 3 got)"
}

filtered_program() # PROGRAM
{
	"$1" 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	recorder -f 'v % 7 == 3 && text ~ "*teen*"'
	rec=$!
	run 0 "$SCHEDTAP" tracefs --pid $pid filter rules:plain
	[ "$(cat out)" = 'v % 7 == 3 && text ~ "*teen*"' ] || fail "its filter: $(cat out)"
	sleep 0.5
	finish $rec
	follow r.dat 7
	[ $(($(head -n 1 got) % 7)) = 3 ] || fail "begins with $(head -n 1 got)"
	run 0 "$SCHEDTAP" tracefs --pid $pid filter rules:plain
	[ "$(cat out)" = none ] || fail "it is left with $(cat out)"
	recorder # and all are there again
	sleep 0.2
	finish $!
	follow r.dat 1
	kill $pid
}

filtered_late_program() # PROGRAM
{
	recorder -f 'v & 1 && v >= 500'
	rec=$!
	"$1" 1000 0 >/dev/null
	finish $rec
	values r.dat >got
	seq 501 2 999 | cmp - got || fail "got: $(head -n 3 got)"
	grep -q 'does not apply to rules:summed, all of which are recorded' rec.err || fail "it says: $(cat rec.err)"
}

is_on() # PID
{
	[ "$("$SCHEDTAP" tracefs --pid "$1" enable rules:plain)" = 1 ]
}

# Rejected records take no room in the ring, which holds about a thousand of the 30,000 records.
rejected_in_the_program() # PROGRAM FILTER
{
	"$1" 30000 0 again >emit.out &
	pid=$!
	wait_for grep -q 'ready 1' emit.out
	recorder --buffer 64K -f "$2"
	rec=$!
	wait_for is_on $pid # sites that are patched are so a little later
	stop $rec
	kill -USR1 $pid
	wait_for grep -q 'fired 1' emit.out
	kill -CONT $rec
	finish $rec
	grep -q ' 0 lost' rec.err || fail "$(cat rec.err)"
	has_values r.dat 29990 29999
	kill $pid
}

rejected_without_rseq()
{
	export GLIBC_TUNABLES=glibc.pthread.rseq=0
	rejected_in_the_program "$EMIT" 'v >= 29990'
}

# Each program has the filter of the recorder that has it; who comes second has none of both.
# The first programs of a user make the folder, and all but one of them find that another has just done so.
programs_start_at_once()
{
	local round i pids rounds=10

	[ -z "$SOAK" ] || rounds=30
	for ((round = 0; round < rounds; round++)); do
		rm -rf "$dir"
		pids=()
		for ((i = 0; i < 8; i++)); do
			"$EMIT" 100000 1000 >/dev/null &
			pids+=($!)
		done
		for i in "${pids[@]}"; do
			wait_for test -e "$dir/$i-0"
		done
		kill "${pids[@]}"
		wait "${pids[@]}" || :
	done
}

two_recorders_and_filters()
{
	local a b first second

	"$EMIT" 100000 100 >/dev/null & a=$!
	"$EMIT" 100000 100 >/dev/null & b=$!
	wait_for test -e "$dir/$a-0"
	wait_for test -e "$dir/$b-0"
	"$SCHEDTAP" record -o a.dat -b user -p $a -e rules:plain -f 'v % 3 == 1' 2>a.err & first=$!
	"$SCHEDTAP" record -o b.dat -b user -p $b -e rules:plain -f 'v % 5 == 2' 2>b.err & second=$!
	wait_for has_started a.dat
	wait_for has_started b.dat
	timeout -s INT 0.5 "$SCHEDTAP" record -o c.dat -b user -p $a -e rules:plain -f 'v < 0' 2>err || :
	says "is already recording program $a"
	run 1 "$SCHEDTAP" tracefs --pid $a filter rules:plain 'v < 0'
	says "process $first is already recording program $a"
	run 0 "$SCHEDTAP" tracefs --pid $a filter rules:plain
	must grep -qx 'v % 3 == 1' out
	kill -INT $first $second
	wait $first $second
	follow a.dat 3
	follow b.dat 5
	kill $a $b
}

filtered_children()
{
	recorder -f 'v % 2 == 0'
	rec=$!
	"$EMIT" 300 100 fork >/dev/null
	finish $rec
	values r.dat | sort -n >got
	seq 0 2 898 | cmp - got || fail "got $(wc -l <got): $(head -n 3 got)"
}

# Processes that share a file have one word: it is the recorder that filters.
filtered_shared_file()
{
	recorder -f 'v >= 60'
	rec=$!
	"$CONFINED" fork seccomp site >confined.out
	finish $rec
	has_values r.dat 60 99
}

# The recorder filters what a program of a release without filters records; and one that is stopped.
filtered_old_program()
{
	cp -r "$top/include" include
	sed -i 's/^#define TAP_ABI 2$/#define TAP_ABI 1/' include/schedtap/trace_events.h
	${CC:-cc} -std=gnu17 -O2 -Iinclude -I"$top/tests" "$top/tests/tracepoint/emit.c" "$PROGRAMS/../../libschedtap-tracepoint.a" \
		-lpthread -o old
	./old 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	run 3 "$SCHEDTAP" tracefs --pid $pid filter rules:plain 'v > 5'
	says 'does not support filters: its libschedtap-tracepoint is too old'
	recorder -f 'v % 7 == 3'
	rec=$!
	sleep 0.3
	finish $rec
	follow r.dat 7
	(ulimit -f 100000; exec "$EMIT" 100000 100 >/dev/null) &
	wait_for has_event $!
	run 3 "$SCHEDTAP" tracefs --pid $! filter rules:plain 'v > 5'
	says 'ulimit -f'
}

has_event() { "$SCHEDTAP" tracefs --pid "$1" id rules:plain >/dev/null 2>&1; }

filter_of_stopped_program()
{
	"$EMIT" 30000 0 again >emit.out &
	pid=$!
	wait_for grep -q 'ready 1' emit.out
	stop $pid
	recorder -f 'v < 10 || v > 29990'
	rec=$!
	kill -CONT $pid
	kill -USR1 $pid
	wait_for grep -q 'fired 1' emit.out
	finish $rec
	values r.dat | tr '\n' ' ' >got
	must grep -qx '0 1 2 3 4 5 6 7 8 9 29991 29992 29993 29994 29995 29996 29997 29998 29999 ' got
	kill $pid
}

# A killed recorder leaves its filter in the program; the next recorder removes it.
filter_of_killed_recorder()
{
	"$EMIT" 100000 100 >/dev/null &
	pid=$!
	wait_for test -e "$dir/$pid-0"
	recorder -f 'v < 0'
	kill -9 $!
	wait $! 2>/dev/null || :
	rm -rf r.dat.spool
	recorder
	sleep 0.3
	finish $!
	follow r.dat 1
	kill $pid
}

# A filter that no program could have, and one that makes no sense when its program comes.
filters_that_make_no_sense()
{
	"$EMIT" 1 0 pause >emit.out &
	pid=$!
	wait_for test -s emit.out
	run 2 "$SCHEDTAP" record -o no.dat -b user -e rules:plain -f 'nosuch == 1' -- true
	says "bad filter for 'rules:plain': Field not found"
	run 2 "$SCHEDTAP" record -o no.dat -e rules:plain -f 'text ~ 5' -- true
	says 'Expecting string field'
	run 2 "$SCHEDTAP" record -o no.dat -e rules:plain -f 'COMM == "emit"' -- true
	says "COMM is not known when a program's event is recorded"
	run 2 "$SCHEDTAP" record -o no.dat -b user -e rules:plain -f 'v == 1' -e 'rules:p*' -f 'v == 2' -- true
	says 'matches two -e options with different filters'
	must_not test -e no.dat
	run 0 "$SCHEDTAP" record -o r.dat -e 'rules:*' -f 'text == "x"' -- true
	says 'does not apply to rules:summed, all of which are recorded'
	kill $pid
	wait $pid || :
	run 0 "$SCHEDTAP" record -o r.dat -b user -e rules:plain -f 'nosuch == 1' -- "$EMIT" 10 0
	says "-f 'nosuch == 1' does not apply to rules:plain, all of which are recorded"
	has_values r.dat 0 9
	run 0 "$SCHEDTAP" record -o r.dat -b user -e rules:plain -f 'v == 1' -e 'rules:p*' -f 'v == 2' -- "$EMIT" 10 0
	says 'without rules:plain: ' 'matches two -e options with different filters'
}

# What no list of steps holds, the recorder asks alone.
filters_that_are_too_long()
{
	local long

	long=$(seq -f 'v == %.0f' -s ' || ' 0 3 6000) # of 25 kB
	recorder -f "$long"
	rec=$!
	"$EMIT" 6000 0 >/dev/null
	finish $rec
	values r.dat >got
	seq 0 3 6000 | head -n 2000 | cmp - got || fail "got $(wc -l <got)"
}

# A process that may open nothing any more is switched on and recorded like any other.
confined() # STEP...
{
	mkdir empty
	chmod 711 "$scratch" "$PWD/.." "$PWD"
	"$CONFINED" "$@" >confined.out 2>confined.err &
	pid=$!
	wait_for grep -qs ready confined.out
	recorder
	rec=$!
	wait $pid || fail "it ended with $?: $(cat confined.err)"
	finish $rec
	has_values r.dat 0 99
	must_not grep -q '^ *[a-z<>.]*--1 ' <("$SCHEDTAP" dump -i r.dat)
	run 0 "$SCHEDTAP" list
	nothing_left
	[ ! -d /dev/shm/schedtap-65534 ] || rmdir /dev/shm/schedtap-65534
}

here() { own_folder; "$@"; }
check 'a program that is not recorded has a link, a descriptor, and no thread more' here idle_program
check 'a program that runs already is found' here running_program
check 'one that starts later joins in, from its first event to its last' here late_program "$EMIT"
check 'so does a static one' here late_program "$STATIC"
check 'and one with patched sites' here late_program "$PATCHED"
check 'the memory of rings is given back' here ring_given_back
check 'a program that is killed loses nothing' here killed_program
check 'two recorders, and one program that ends' here one_that_ends_and_two_recorders
check 'programs that others have, and whose files are removed' here files_removed
check 'a recorder that is killed leaves a spool that can be repaired' here killed_recorder
check 'a program and its recorder that are killed leave no files' here killed_both
check 'programs that start at once' here programs_start_at_once
check 'one recorder at a time' here two_recorders
check 'what does not fit is counted to the last event' here losses "$EMIT"
check 'without rseq as well' here losses_without_rseq
check 'a recorder of its own, complete when the program ends' here own_recorder "$EMIT" exit
check 'also with _exit()' here own_recorder "$EMIT" _exit
check 'also with patched sites' here own_recorder "$PATCHED" exit
check 'also while root records all programs' here own_recorder_beside_another
check 'also when it is killed' here own_recorder_killed
check 'also of a library that is preloaded' here own_recorder_preloaded
check 'where there is no recorder the program goes on and says so' here no_recorder
check 'a slip in TAP_TRACE is said, and nothing waits' here own_recorder_slip
check 'TAP_TRACE: and its children' here own_recorder_children "$EMIT" fork 300
check 'TAP_TRACE: and its children, with patched sites' here own_recorder_children "$PATCHED" fork 300
check 'TAP_TRACE: a daemon' here own_recorder_children "$EMIT" daemon 200
check 'TAP_TRACE: a child whose parent was killed' here own_recorder_children "$EMIT" orphan 200
check 'TAP_TRACE: the same child, which is slow' here own_recorder_slow_child
check 'TAP_TRACE: a child that is killed if it opens anything' here own_recorder_confined fork seccomp site
check 'TAP_TRACE: a child that has lost everything' here own_recorder_confined fork ./empty setuid close seccomp
check 'a process that forks while it is recorded' here recorded_process_forks parent 300 899
check 'a child is recorded, and its parent is not' here recorded_process_forks child 300 599
check 'a thread is recorded to its end' here recorded_thread_ends
check 'TAP_TRACE: events of a library that is loaded later' here own_recorder_of_plugin
check 'TAP_TRACE: two copies of the library in one program' here own_recorder_of_two_copies
check 'TAP_TRACE: a recorder that is not in PATH, and a file for each process' here own_recorder_by_path
check 'a slip in -e is said when the recording ends' here slip_in_record
check 'a filter, of a program that runs' here filtered_program "$EMIT"
check 'a filter, with patched sites' here filtered_program "$PATCHED"
check 'a filter, of one that starts later' here filtered_late_program "$EMIT"
check 'a filter, of a static one' here filtered_late_program "$STATIC"
check 'what a number rejects takes no room' here rejected_in_the_program "$EMIT" 'v >= 29990'
check 'what a text and a sum reject takes no room' here rejected_in_the_program "$EMIT" 'text ~ "f*s__" && v - 29990 >= 0'
check 'with patched sites' here rejected_in_the_program "$PATCHED" 'v >= 29990'
check 'without rseq' here rejected_without_rseq
check 'two recorders, and a filter of each' here two_recorders_and_filters
check 'a filter, and children' here filtered_children
check 'a filter, and a child that shares a file' here filtered_shared_file
check 'a filter, of a program without filters' here filtered_old_program
check 'a filter, of a program that is stopped' here filter_of_stopped_program
check 'a filter that a killed recorder left' here filter_of_killed_recorder
check 'filters that make no sense' here filters_that_make_no_sense
check 'filters that are too long for a program' here filters_that_are_too_long
check 'children, forked and after exec' here children
check 'names before and after exec, of a recording without the kernel' here names_of_programs
check 'any user records his own programs' here as_other_user
check 'a folder in /dev/shm that somebody else has taken' here taken_folder
check 'a full disk' here full_folder
check 'folders that others could write are not used' here bad_folders
check 'files that are no control files, or no longer' here garbage
check 'a program of another pid namespace' here other_namespace
check '10,000 links of programs that are gone' here many_programs
check 'a process that is killed if it opens anything' here confined seccomp
check 'a process that has become another user' here confined setuid
check 'a process that has closed all descriptors' here confined close
check 'one that has lost all of that, and its root folder' here confined ./empty setuid close seccomp
check 'a child that has become another user' here confined fork setuid site
check 'a child that is killed if it opens anything' here confined fork seccomp site
check 'a child that has lost everything' here confined fork ./empty setuid close seccomp site
check 'a child that has set itself up before it lost everything' here confined fork site ./empty setuid close seccomp
done_testing
