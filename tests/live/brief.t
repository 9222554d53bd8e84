#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that end at once, on a busy machine, and many at the same time: each of their events is recorded once, or the recorder says that
# it is lost. SOAK=1: 1000 programs one after the other, and 50 runs of each size.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
FIRE=$(dirname "$SCHEDTAP")/tests/tracepoint/test_decoded
EMIT=$(dirname "$SCHEDTAP")/tests/tracepoint/emit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$here/lib.sh"

[ -x "$FIRE" ] || plan_skip "$FIRE is not built"
mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run

# Without load, the recorder is always faster than the program.
all_are_recorded()
{
	local nr=12 all i

	[ -z "$SOAK" ] || nr=1000
	for i in 1 2 3 4; do perl -e '1 while 1' & done
	for ((i = 0; i < nr; i++)); do
		run 0 "$SCHEDTAP" record -o r.dat -b user -e 'decoded:*' -- "$FIRE" fire
		cp err record.err
		run 0 "$SCHEDTAP" dump -i r.dat
		[ "$(wc -l <out)" = "${all:=$(wc -l <out)}" ] && [ "$all" -ge 8 ] || fail "recording $i: $(cat out record.err)"
	done
}

# A program that starts NR others at the same time: each waits for the end of a pipe before it becomes COMMAND.
at_once='
	my ($nr, @command) = @ARGV;
	pipe(my $in, my $out) or die;
	for (1 .. $nr) {
		next if fork() // die "fork: $!";
		close($out);
		readline($in);
		open(STDOUT, ">", "/dev/null");
		exec(@command);
	}
	close($out);
	1 while wait() > 0;'

# Reads a dump, prints the numbers of events and of lost events, and dies if an event occurs twice. Equal time stamps
# do not make two events one: on an out-of-order CPU two events of a thread may fall into the same ns.
count_once='
	my ($nr, $lost, $more, %seen) = (0, 0, "");
	while (<STDIN>) {
		if (/^\*\*\* .* (?:(\d+)|some) events? lost/) {
			$lost += $1 // 0;
			$more = "+" if !defined($1);
			next;
		}
		my ($tid, $v) = /-(\d+)\s+\[\d+\].*\bv=(\d+)/ or die "cannot read: $_";
		vec($seen{$tid} //= "", $v, 1) and die "twice: $_";
		vec($seen{$tid}, $v, 1) = 1;
		$nr++;
	}
	print "$nr $lost$more";'

# lost_events: of the last recording: a number, with "+" where there may be more
lost_events()
{
	sed -n 's/.* in r\.dat, \(at least \)\?\(an unknown number\|[0-9]*\) lost.*/\1\2/p' record.err |
		sed 's/an unknown number/0+/; s/at least \(.*\)/\1+/'
}

# many_at_once RUNS PROGRAMS EVENTS PRIORITY: what is missing without a reported loss is wrong, and so is what is there twice
many_at_once()
{
	local runs=$1 all=$(($2 * $3)) i found lost nr with_loss=0 as=()

	[ -z "$SOAK" ] || runs=50
	[ "$4" = ordinary ] || as=(chrt -f 1)
	[ "$4" = ordinary ] || chrt -f 1 true || skip 'no real-time priority'
	for ((i = 0; i < runs; i++)); do
		run 0 "$SCHEDTAP" record -o r.dat -b user -e rules:plain -- "${as[@]}" perl -e "$at_once" "$2" "$EMIT" "$3" 0
		cp err record.err
		lost=$(lost_events)
		found=$("$SCHEDTAP" dump -i r.dat | perl -e "$count_once") || fail "recording $i: $(cat record.err)"
		nr=${found% *}
		must [ "${found#* }" = "$lost" ]
		case $lost in
		0) must [ "$nr" = $all ] ;;
		*+) must [ $((nr + ${lost%+})) -le $all ] ;;
		*) must [ $((nr + lost)) = $all ] ;;
		esac
		[ "$lost" = 0 ] || must grep -q 'lost events of programs: emit' record.err
		[ "$lost" = 0 ] || with_loss=$((with_loss + 1))
	done
	echo "# $2 programs, $3 events each, $4: $runs runs, $with_loss with a reported loss" >>"$scratch/table"
}

# The porter cannot hand on what programs send: those that the recorder does not find while they live are missing, and are named.
are_missing()
{
	local i nr

	start r.dat -b user -e rules:plain
	kill -9 "$(pgrep -P $recorder -x schedtap-porter)"
	for ((i = 0; i < 20; i++)); do "$EMIT" 1000 0 >/dev/null; done
	ends 0 INT
	nr=$(events r.dat | grep -c ' v=') || :
	[ "$nr" != 20000 ] || skip 'the recorder was faster than 20 programs'
	must [ $((nr % 1000)) = 0 ]
	must grep -q 'lost events of programs: emit (pid [0-9]*): an unknown number' r.dat.err
	must grep -q ', an unknown number lost' r.dat.err
	run 0 "$SCHEDTAP" summary -i r.dat
	must grep -q '^# lost events of programs: emit (pid [0-9]*): an unknown number' out
	run 0 "$SCHEDTAP" summary -i r.dat --json
	must [ "$(perl -MJSON::PP -0e 'print scalar @{decode_json(<>)->{recording}{programs_with_losses}}' out)" = $((20 - nr / 1000)) ]
	must_not compgen -G "$XDG_RUNTIME_DIR/schedtap/book-*"
}

check 'each event of 200 programs at once' many_at_once 2 200 1000 ordinary
check 'of 1000 programs, an event' many_at_once 1 1000 1 ordinary
check 'of a program, 100,000 events' many_at_once 1 1 100000 ordinary
check 'of 200 programs with a real-time priority' many_at_once 1 200 1000 real-time
check 'of 10 programs with a real-time priority, 20,000 events' many_at_once 1 10 20000 real-time
if [ "$SOAK" ]; then
	for priority in ordinary real-time; do
		for size in '1 1' '1 1000' '10 10' '1000 1000'; do
			check "$size, $priority" many_at_once 50 $size $priority
		done
	done
	check 'of a program with a real-time priority, 100,000 events' many_at_once 50 1 100000 real-time
	check 'of 10 programs, 100,000 events' many_at_once 50 10 100000 ordinary
	check 'of 10 programs with a real-time priority, 100,000 events' many_at_once 50 10 100000 real-time
	check 'of 1000 programs with a real-time priority, an event' many_at_once 50 1000 1 real-time
fi
check 'programs whose control files do not arrive are named' are_missing
check 'all events of a program that ends at once' all_are_recorded
[ ! -e "$scratch/table" ] || cat "$scratch/table"
done_testing
