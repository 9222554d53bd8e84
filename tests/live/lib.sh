# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For the live tests in bash: TAP, recorders in the background, and what must hold of a recording.
# SCHEDTAP names the program. Every case is a function that runs in a folder of its own with
# `set -e`; `must` and `must_not` say what failed, `skip` why a case cannot be run here.

T=/sys/kernel/tracing
lib_nr=0
lib_failed=0

fail()
{
	echo "$*" >&2
	exit 1
}

must()
{
	"$@" || fail "failed: $*"
}

must_not()
{
	if "$@"; then fail "should have failed: $*"; fi
}

skip()
{
	echo "$*" >"$scratch/skip"
	exit 0
}

# The whole test cannot be run here.
plan_skip()
{
	echo "1..0 # SKIP $*"
	exit 0
}

needs_root()
{
	[ "$(id -u)" = 0 ] || plan_skip "needs root"
}

needs_tracefs()
{
	[ -d $T/instances ] || plan_skip "tracefs is not mounted at $T"
}

# check NAME FUNCTION [ARG...]: one TAP line; what the case printed becomes a comment if it failed.
check()
{
	local name=$1 said rc

	shift
	lib_nr=$((lib_nr + 1))
	mkdir "$scratch/$lib_nr"
	rm -f "$scratch/skip"
	said=$scratch/$lib_nr.log
	( # not with || behind it, which would switch off set -e
		set -e -o pipefail
		cd "$scratch/$lib_nr"
		trap clean_up EXIT
		"$@"
	) >"$said" 2>&1 </dev/null
	rc=$?
	if [ $rc -ne 0 ]; then
		lib_failed=1
		echo "not ok $lib_nr - $name"
		sed 's/^/# /' "$said" | cat -v >&2
	elif [ -e "$scratch/skip" ]; then
		echo "ok $lib_nr - $name # SKIP $(cat "$scratch/skip")"
	else
		echo "ok $lib_nr - $name"
	fi
}

# What a case started and mounted goes, whatever the way it ended. Sees only its own children.
clean_up()
{
	local pid

	for pid in $(jobs -p); do
		kill -9 "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	grep -o " $PWD/[^ ]*" /proc/self/mounts | tac | xargs -r umount || :
}

# check_page FILE NR FUNCTION: each of the page's commands, at least NR, is a case: FUNCTION COMMAND.
check_page()
{
	local command nr=0

	while read -r command; do
		nr=$((nr + 1))
		check "$command" "$3" "$command"
	done < <(sed -n 's/^    \(schedtap .*\)/\1/p' "$1")
	check 'the page has its commands' test "$nr" -ge "$2"
}

done_testing()
{
	echo "1..$lib_nr"
	exit $lib_failed
}

# run RC COMMAND...: its output is in out, its messages in err.
run()
{
	local want=$1 rc=0

	shift
	timeout "${run_s:-20}" "$@" >out 2>err || rc=$?
	[ $rc -eq "$want" ] || fail "exit code $rc, not $want: ${*:0:300}: $(cat err)"
}

# says TEXT...: each is in the messages of the last run.
says()
{
	local text

	for text; do
		grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"
	done
}

# wait_for COMMAND...: until it succeeds, up to 20 s: a recorder syncs, and the disk may be busy.
wait_for()
{
	local i

	for ((i = 0; i < 1000; i++)); do
		if "$@"; then return; fi
		sleep 0.02
	done
	fail "waited in vain for: $*"
}

# Written when events flow. Their first pages may take until the end to be full.
has_started()
{
	[ -s "$1.spool/meta.json" ]
}

has_pages()
{
	compgen -G "$1.spool/*.cpu*" >/dev/null
}

# start FILE [OPTION...]: a recorder in the background, pid in $recorder, once events flow.
start()
{
	local file=$1

	shift
	"$SCHEDTAP" record -o "$file" "$@" 2>"$file.err" &
	recorder=$!
	wait_for has_started "$file"
}

# ends RC [SIGNAL]: the recorder ends with RC, after SIGNAL if given.
ends()
{
	local rc=0

	[ -z "$2" ] || kill -"$2" $recorder || : # it may have ended: its exit code tells
	wait $recorder || rc=$?
	[ $rc -eq "$1" ] || fail "exit code $rc, not $1: $(cat ./*.err)"
}

# Instances that the recorder $1 left.
instances()
{
	compgen -G "$T/instances/schedtap-$1-*" >/dev/null
}

# Ids of the BPF programs that process $1 holds.
programs()
{
	cat /proc/"$1"/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:\s*//p' | sort -u || :
}

# None of the programs with ids in file $1 is there; the kernel frees them a little later.
programs_gone()
{
	local id

	while read -r id; do
		if bpftool prog show id "$id" >/dev/null 2>&1; then return 1; fi
	done <"$1"
}

# A file or spool folder that every reader takes, with events in it.
valid()
{
	local name=$1 command

	for command in dump summary; do
		must "$SCHEDTAP" $command -i "$name" >"valid.$command"
	done
	must [ -s valid.dump ]
}

# A finished recording: valid, for nobody else's eyes, and no folder is left beside it.
finished()
{
	must [ -f "$1" ]
	must_not [ -e "$1.spool" ]
	must [ "$(stat -c %a "$1")" = 600 ]
	valid "$1"
}

# events FILE [OPTION...]: as text
events()
{
	local file=$1

	shift
	must "$SCHEDTAP" dump -i "$file" "$@"
}

# Scheduler events by the ten thousand per second, until it is killed.
load()
{
	exec perl -e 'select(undef, undef, undef, 0.00005) while 1'
}
