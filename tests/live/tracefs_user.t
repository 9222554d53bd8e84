#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap list, tracefs and timehist on the events of running programs.
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
LIBRARY=${TRACEPOINT_LIB:-$top/build/libschedtap-tracepoint.a}
. "$here/lib.sh"

needs_root
apart
scratch=$(mktemp -d /tmp/schedtap-user-XXXXXX)
chmod 755 "$scratch" # an ordinary user comes by as well
instance=$T/instances/schedtap-test-$$
leave()
{
	cd / || :
	rm -rf "$scratch"
	[ ! -d "$instance" ] || rmdir "$instance"
	"$SCHEDTAP" list >/dev/null 2>&1 # removes what the programs left that were killed
}
trap leave EXIT

# header FILE SYSTEM EVENT...: an event header; its events have one field each
header()
{
	local file=$1 system=$2 name

	shift 2
	cat <<-END
		#undef TRACE_SYSTEM
		#define TRACE_SYSTEM $system
		#if !defined(HEADER_$file) || defined(TRACE_HEADER_MULTI_READ)
		#define HEADER_$file
		#include <schedtap/tracepoint.h>
	END
	for name; do
		cat <<-END
			TRACE_EVENT($name, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)),
				TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
		END
	done
	cat <<-END
		#endif
		#undef TRACE_INCLUDE_PATH
		#define TRACE_INCLUDE_PATH .
		#undef TRACE_INCLUDE_FILE
		#define TRACE_INCLUDE_FILE $file
		#include <schedtap/define_trace.h>
	END
}

# A program that passes its three events every 2 ms, and says which are on when that changes.
build()
{
	header app app request reply >"$scratch/app.h"
	header net net send >"$scratch/net.h"
	cat >"$scratch/webd.c" <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		#define CREATE_TRACE_POINTS
		#include "app.h"
		#define CREATE_TRACE_POINTS
		#include "net.h"

		int main(void)
		{
			int last = -1;

			for (int id = 0;; id++) {
				int on;

				trace_request(id);
				trace_reply(id);
				trace_send(id);
				on = trace_request_enabled() << 2 | trace_reply_enabled() << 1 |
				     trace_send_enabled();
				if (on != last)
					printf("on %d%d%d\n", on >> 2, on >> 1 & 1, on & 1);
				fflush(stdout);
				last = on;
				usleep(2000);
			}
		}
	END
	${CC:-cc} -std=gnu17 -O2 -I"$top/include" -I"$scratch" "$scratch/webd.c" "$LIBRARY" -lpthread \
		-o "$scratch/webd"
	# Says whether an event is on, each time it is asked.
	cat >"$scratch/asked.c" <<-'END'
		#include <stdio.h>
		#define CREATE_TRACE_POINTS
		#include "app.h"

		int main(void)
		{
			while (getchar() != EOF) {
				printf("%d\n", trace_request_enabled());
				fflush(stdout);
			}
		}
	END
	${CC:-cc} -std=gnu17 -O2 -DTAP_STATIC_KEYS=patch -I"$top/include" -I"$scratch" "$scratch/asked.c" "$LIBRARY" \
		-lpthread -o "$scratch/asked"
	${CC:-cc} -std=gnu17 -I"$top/src" -x c -o "$scratch/reason_at" - <<-'END'
		#include <stddef.h>
		#include <stdio.h>
		#include "tracepoint/shared.h"

		int main(void)
		{
			printf("%zu", offsetof(struct tap_control, reason));
		}
	END
}

on_is()
{
	[ "$(tail -n 1 "$1.log")" = "on $2" ]
}

# program NAME [COMMAND...]: starts one; its pid is in $pid, what it says in NAME.log, and $tracefs
# begins a command about it
program()
{
	local name=$1

	shift
	"${@:-$scratch/webd}" >"$name.log" &
	pid=$!
	tracefs=("$SCHEDTAP" tracefs --pid "$pid")
	wait_for test -s "$name.log"
}

# reads WANT FILE [WHERE]
reads()
{
	local want=$1

	shift
	run 0 "${tracefs[@]}" "$@"
	[ "$(cat out)" = "$want" ] || fail "$*: $(cat out), not $want"
}

# ---- list ------------------------------------------------------------------------------------

lists_events_once_with_programs()
{
	local a b c

	program a; a=$pid
	program b; b=$pid
	run 0 "$SCHEDTAP" list 'app:*' net:send
	must grep -qx "user      app:reply: webd \[$a\], webd \[$b\]" out
	must grep -qx "user      net:send: webd \[$a\], webd \[$b\]" out
	must [ "$(grep -c . out)" = 3 ]
	program c; c=$pid
	program d
	run 0 "$SCHEDTAP" list request
	must grep -qx "user      app:request: webd \[$a\], webd \[$b\], webd \[$c\] and 1 more" out
	run 0 "$SCHEDTAP" list -v request
	must grep -q "webd \[$c\], webd \[$pid\]$" out
	must grep -qx '    print fmt: "id=%d", REC->id' out
}

lists_no_hostile_bytes()
{
	ln "$scratch/webd" $'w\e[2J'
	program a $'./w\e[2J'
	run 0 "$SCHEDTAP" list app:request
	must grep -qF 'w\x1B[2J ['"$pid]" out
	must_not grep -q $'\e' out
}

# The link to the control file of $pid.
control_link()
{
	find /dev/shm/schedtap-0 ${XDG_RUNTIME_DIR:+"$XDG_RUNTIME_DIR"} -name "$pid-0"
}

# list gives the reason why an event is off, and the reason that a program stored when it failed.
lists_what_is_off_with_the_reason()
{
	local file at

	program a
	file=$(control_link)
	at=$(head -c 1M "$file" | grep -abo 'name: reply' | head -n 1 | cut -d : -f 1)
	printf 'name: other' | dd of="$file" bs=1 seek="$at" conv=notrunc 2>/dev/null
	printf 'no space\e[2J' | dd of="$file" bs=1 seek="$("$scratch/reason_at")" conv=notrunc 2>/dev/null
	run 0 "$SCHEDTAP" list
	must grep -qx -- "-         app:reply: the event's format text has another name than the event: webd \[$pid\]" out
	must grep -qxF -- "-         webd [$pid]: no space\x1B[2J" out
	run 0 "$SCHEDTAP" list 'app:*'
	must_not grep -q 'no space' out
	run 1 "${tracefs[@]}" format app:reply
	says "the event's format text has another name than the event"
}

a_program_that_has_gone_leaves_nothing()
{
	local name

	program a
	name=$(control_link)
	must [ -L "$name" ]
	kill -9 $pid
	wait $pid || :
	run 1 "$SCHEDTAP" tracefs --pid $pid available_events
	says "no program with PID $pid has schedtap tracepoints"
	"$SCHEDTAP" list app:request >out 2>err || :
	must_not grep -qF "[$pid]" out
	must_not [ -L "$name" ]
}

# ---- tracefs -----------------------------------------------------------------------------------

switches_as_in_tracefs()
{
	program a
	run 0 "${tracefs[@]}" available_events
	must [ "$(sort out)" = "$(printf 'app:reply\napp:request\nnet:send')" ]
	reads 0 enable
	run 0 "${tracefs[@]}" enable app:reply 1
	wait_for on_is a 010
	reads X enable
	reads X enable app
	reads 0 enable net
	reads 1 enable app:reply
	run 0 "${tracefs[@]}" enable app 1
	wait_for on_is a 110
	reads 1 enable app
	run 0 "${tracefs[@]}" enable 1
	wait_for on_is a 111
	reads 1 enable
	run 0 "${tracefs[@]}" enable app:request 0
	wait_for on_is a 011
	run 0 "${tracefs[@]}" enable 0
	wait_for on_is a 000
	reads 0 enable
}

# What the kernel says to the same bytes, and what is then read.
numbers_are_read_as_the_kernel_does()
{
	local value file=$instance/events/sched/sched_switch/enable kernels ours

	mkdir "$instance" 2>/dev/null || skip "no instance can be made in $T"
	program a
	for value in 1 0 01 00 +1 +0 + ++1 ' 1' '1 ' $'0\n' $'1\n' $'0\n\n' 2 18446744073709551615 \
		18446744073709551616 99999999999999999999 0x1 1x Y on; do
		kernels=$(printf %s "$value" 2>&1 >"$file" | sed 's/.*: //') || :
		ours=$("${tracefs[@]}" enable app:request "$value" 2>&1 | sed 's/.*: //') || :
		[ "$ours" = "$kernels" ] || fail "'$value': '$ours', the kernel: '$kernels'"
		reads "$(cat "$file")" enable app:request
	done
}

format_and_id_agree()
{
	program a
	reads "name: reply
ID: $("${tracefs[@]}" id app:reply)
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int id;	offset:8;	size:4;	signed:1;

print fmt: \"id=%d\", REC->id" format app:reply
	must [ "$("${tracefs[@]}" id app:reply)" != "$("${tracefs[@]}" id app:request)" ]
}

unknown_names_are_refused()
{
	local words

	program a
	for words in 'enable nosuch' 'enable nosuch 1' 'enable app:nosuch 0' 'enable app:' \
		'enable :reply' 'enable ap' 'format app' 'format app:send' 'id net:reply'; do
		run 1 "${tracefs[@]}" $words
		says 'No such file or directory'
	done
}

a_stopped_program_is_switched()
{
	program a
	stop $pid
	run 0 "${tracefs[@]}" enable app:request 1
	reads 1 enable app:request
	must on_is a 000
	kill -CONT $pid
	wait_for on_is a 100
}

is_enabled() { [ "$("${tracefs[@]}" enable app:request 2>/dev/null)" = 1 ]; }
is_answered()
{
	echo -n x >&"${asked[1]}"
	read -r -u "${asked[0]}"
	must [ "$REPLY" = "$1" ]
}

# When the write returns the sites are on, or off; of a program that is stopped it says that they are not.
patched_sites_are_switched()
{
	local on tracefs

	coproc asked { exec "$scratch/asked"; }
	tracefs=("$SCHEDTAP" tracefs --pid $asked_PID)
	is_answered 0 # its constructors are done: before, who writes does not know yet that the program patches its sites
	for on in 1 0 1 0 1 0; do
		run 0 "${tracefs[@]}" enable app:request $on
		is_answered $on
	done
	stop $asked_PID
	run 1 "${tracefs[@]}" enable app:request 1
	says 'has not switched its tracepoints'
	reads 0 enable app:request
	kill -CONT $asked_PID
	wait_for is_enabled
	kill $asked_PID
}

# The file's memory in 512 bytes: it grows when a ring is made, and when what is recorded gets to new pages of it.
memory()
{
	stat -L -c %b "/proc/$pid/fd/200"
}

has_grown() { [ "$(memory)" -gt "$1" ]; }

filters_as_in_tracefs()
{
	local before

	program a
	reads none filter app:request
	run 0 "${tracefs[@]}" filter app:request 'id < 0'
	reads 'id < 0' filter app:request
	reads none filter app:reply
	run 0 "${tracefs[@]}" enable app:request 1
	wait_for on_is a 100
	before=$(memory)
	sleep 0.2
	must [ "$(memory)" = "$before" ] # nothing was recorded
	run 0 "${tracefs[@]}" filter app:request 'id >= 0 && !(common_pid == 1)'
	reads 'id >= 0 && !(common_pid == 1)' filter app:request
	wait_for has_grown "$before"
	run 0 "${tracefs[@]}" filter app:request 0
	reads none filter app:request
}

# An expression that makes no sense changes nothing.
filters_are_refused()
{
	local words

	program a
	run 0 "${tracefs[@]}" filter app:request 'id == 5'
	run 1 "${tracefs[@]}" filter app:request 'idd == 5'
	says "bad filter for 'app:request': Field not found: did you mean 'id'?" ' idd == 5' '    ^'
	run 1 "${tracefs[@]}" filter app:request 'id == '
	says 'Invalid value (did you forget quotes)?'
	run 1 "${tracefs[@]}" filter app:request 'COMM == "x"'
	says "COMM is not known when a program's event is recorded"
	run 1 "${tracefs[@]}" filter app:request 'common_type == 5'
	says "process $pid cannot evaluate this filter: the filter reads common_type"
	run 1 "${tracefs[@]}" filter app:request "$(seq -f 'id == %.0f' -s ' || ' 1 1000)"
	says "process $pid cannot evaluate this filter: the filter is too long"
	run 1 "${tracefs[@]}" filter app:request "$(printf '(%.0s' {1..1100})"
	says "Too many '('"
	reads 'id == 5' filter app:request
	for words in 'app' 'app:' 'app:send' 'nosuch:request' '0'; do
		run 1 "${tracefs[@]}" filter $words
		says 'No such file or directory'
	done
	run 2 "${tracefs[@]}" filter
}

# put AT: what comes in, into the control file
put()
{
	dd of="$file" bs=1 seek="$1" conv=notrunc 2>/dev/null
}

byte_is() # WANT AT
{
	[ "$(od -An -tu1 -j "$2" -N 1 "$file" | tr -d ' ')" = "$1" ]
}

# Whoever writes to the file himself can write anything: the program goes on.
filters_that_lie()
{
	local slot file i word=$((4096 + 2048 * 64 + 3))

	program a
	run 0 "${tracefs[@]}" enable app:request 1
	wait_for on_is a 100
	file=$(control_link)
	slot=$(((1 << 36) + $("${tracefs[@]}" id app:request) * 65536))
	for ((i = 0; i < 40; i++)); do
		run 0 "${tracefs[@]}" filter app:request "id > $i && id % 7 != 1"
		head -c 64 /dev/urandom | put $((slot + 4096 + i * 4))
		printf '\1' | put $word # new filters, says the last byte of the event's word
		wait_for byte_is 0 $word
	done
	must kill -0 $pid
	printf '\1\1\1\1' | put "$slot"
	printf 'id\e[2J\xff' | put $((slot + 16))
	run 0 "${tracefs[@]}" filter app:request
	must grep -qF 'id\x1B[2J\xFF' out
	head -c 4096 /dev/urandom | put "$slot"
	run 0 "${tracefs[@]}" filter app:request
	run 0 "${tracefs[@]}" filter app:request 0
	reads none filter app:request
	must kill -0 $pid
}

a_stopped_program_is_filtered()
{
	local before

	program a
	run 0 "${tracefs[@]}" enable app:request 1
	wait_for on_is a 100
	stop $pid
	before=$(memory)
	run 0 "${tracefs[@]}" filter app:request 'id < 0'
	reads 'id < 0' filter app:request
	kill -CONT $pid
	sleep 0.2
	must [ $(($(memory) - before)) -le 16 ] # two pages of the filter's
}

only_the_owner_and_root_may()
{
	local unprivileged=(setpriv --reuid 65534 --clear-groups --bounding-set=-all env -u XDG_RUNTIME_DIR)

	"${unprivileged[@]}" "$SCHEDTAP" --version >/dev/null 2>&1 || skip "user 65534 cannot run $SCHEDTAP"
	program a
	run 3 "${unprivileged[@]}" "$SCHEDTAP" tracefs --pid $pid enable 1
	says 'Permission denied'
	reads 0 enable
	program b "${unprivileged[@]}" "$scratch/webd"
	run 0 "${unprivileged[@]}" "$SCHEDTAP" tracefs --pid $pid enable app 1
	wait_for on_is b 110
	reads 1 enable app
	run 0 "${tracefs[@]}" enable app 0
	wait_for on_is b 000
}

[ -f "$LIBRARY" ] || plan_skip "no $LIBRARY"
build 2>"$scratch/build.log" || {
	sed 's/^/# /' "$scratch/build.log" >&2
	echo "Bail out! cannot build a program"
	exit 1
}

check "list: one line per event, with its programs" lists_events_once_with_programs
check "list: a name with control characters is escaped" lists_no_hostile_bytes
check "list: what is off, with the reason" lists_what_is_off_with_the_reason
check "list: what a killed program left is removed" a_program_that_has_gone_leaves_nothing
check "tracefs: enable switches an event, a system, all, and reads 0, 1 or X" switches_as_in_tracefs
check "tracefs: values are taken and refused as the kernel does" numbers_are_read_as_the_kernel_does
check "tracefs: format and id" format_and_id_agree
check "tracefs: unknown systems and events" unknown_names_are_refused
check "tracefs: a program that is stopped" a_stopped_program_is_switched
check "tracefs: a program with patched sites" patched_sites_are_switched
check "tracefs: filter, none and 0" filters_as_in_tracefs
check "tracefs: filters that make no sense" filters_are_refused
check "tracefs: filters that somebody else has written" filters_that_lie
check "tracefs: a filter of a program that is stopped" a_stopped_program_is_filtered
check "tracefs: another user's program" only_the_owner_and_root_may
done_testing
