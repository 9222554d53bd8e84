#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Marks: `schedtap mark` and SIGUSR1 write them into recordings of every backend; requests of other users are refused.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
apart
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-marks-XXXXXX)
trap 'cd /; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
UNPRIVILEGED='setpriv --reuid 65534 --clear-groups --bounding-set=-all'

now_ns()
{
	perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf("%.0f\n", clock_gettime(CLOCK_MONOTONIC) * 1e9)'
}

# marks FILE: each as JSON
marks()
{
	"$SCHEDTAP" dump -i "$1" -e schedtap:mark --json
}

# Each has its time, its process and its text.
marked()
{
	local before after comm

	watch_load
	start a.dat "$@"
	sleep 0.05
	read -r comm </proc/$BASHPID/comm
	before=$(now_ns)
	must "$SCHEDTAP" mark $'one \e[31m"two"'
	after=$(now_ns)
	kill -USR1 $recorder
	sleep 0.05
	ends 0 INT
	must_if_quiet grep -q ', 0 lost' a.dat.err
	marks a.dat >json
	must perl -MJSON::PP -e '
		my ($before, $after, $pid, $comm, @marks) = (@ARGV, map { decode_json($_) } <STDIN>);
		my ($one, $two) = @marks;
		die "marks: " . @marks unless @marks == 2;
		die "text" unless $one->{fields}{text} eq qq(one \e[31m"two") && $two->{fields}{text} eq "SIGUSR1";
		die "pid" if grep { $_->{fields}{pid} != $pid || $_->{tid} != $pid || $_->{fields}{comm} ne $comm } @marks;
		die "time" unless $before < $one->{ts_ns} && $one->{ts_ns} < $after && $after < $two->{ts_ns};
	' "$before" "$after" $BASHPID "$comm" <json
	"$SCHEDTAP" dump -i a.dat -e mark >text
	must_not grep -q $'\e' text
}
check "over BPF" marked -b bpf -e sched_switch
check "over tracefs" marked -b tracefs -e sched_switch
check "of programs' events alone" marked -b user -e 'absent:*'
check "compressed" marked --compress zstd

# In a recording that was cut off they are there, too.
killed_after_a_mark()
{
	start a.dat -e sched_switch
	run 0 "$SCHEDTAP" mark last
	sleep 0.05
	kill -9 $recorder
	wait $recorder || :
	must "$SCHEDTAP" repair a.dat
	marks a.dat >json
	must grep -q '"text":"last"' json
}
check "kill -9 after a mark" killed_after_a_mark

two_recorders()
{
	local first

	start a.dat -e sched_switch
	first=$recorder
	start b.dat -e sched_switch
	run 0 "$SCHEDTAP" mark both
	ends 0 INT
	recorder=$first
	ends 0 INT
	for file in a.dat b.dat; do
		marks $file >json
		must [ "$(grep -c '"text":"both"' json)" = 1 ]
	done
}
check "two recorders" two_recorders

no_recording()
{
	run 1 "$SCHEDTAP" mark x
	says "no recording is running"
	run 2 "$SCHEDTAP" mark a b
	run 2 "$SCHEDTAP" mark "$(printf '%1001d' 1)"
	says "at most 1000 bytes"
}
check "nothing to mark" no_recording

# Others' requests, and bytes that are none, change nothing.
strangers()
{
	local before

	before=$(now_ns)
	start a.dat -e sched_switch
	run 1 $UNPRIVILEGED "$SCHEDTAP" mark mine
	says "only root and the user who started a recording"
	must perl -MSocket -e '
		socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
		my ($name) = grep { s/.*\@(schedtap-record-)/$1/ } map { chomp; $_ } do { open(my $f, "<", "/proc/net/unix"); <$f> };
		my $to = pack_sockaddr_un("\0$name");
		for my $bytes ("", "x", "x" x 7, "\xff" x 8, "\0" x 1008, "y" x 5000) { send($s, $bytes, 0, $to) // die "$!" }'
	run 0 "$SCHEDTAP" mark ours
	ends 0 INT
	marks a.dat >json
	must [ "$(wc -l <json)" = 4 ] # two without a text, one of 1000 zeros or as much of y as fits
	must_not grep -q mine json
	must grep -q ours json
	# whatever time they say: none is before the recording, and they are in order
	must perl -MJSON::PP -e '
		my ($last) = @ARGV;
		for (map { decode_json($_)->{ts_ns} } <STDIN>) { die "$_ after $last" if $_ < $last; $last = $_ }' "$before" <json
	must "$SCHEDTAP" dump -i a.dat -e mark >text
}
check "strangers, and what is no request" strangers

# A client of a stopped recorder does not wait for long, and the recorder takes its request once it is
# continued.
stopped()
{
	local begin=$SECONDS

	watch_load
	start a.dat -e sched_switch
	stop $recorder
	run 1 "$SCHEDTAP" mark later
	must_if_quiet [ $((SECONDS - begin)) -lt 6 ]
	kill -CONT $recorder
	run 0 "$SCHEDTAP" mark now
	ends 0 INT
	marks a.dat >json
	must [ "$(grep -c '"text":"later"\|"text":"now"' json)" = 2 ]
}
check "a recorder that is stopped" stopped
done_testing
