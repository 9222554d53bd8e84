#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# record --stack: each kernel stack is the one that the kernel's own stacktrace trigger finds at the same switch, a program's is
# what its source says.
here=$(cd "$(dirname "$0")" && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$here/../../build/schedtap}")
. "$here/lib.sh"

needs_root
needs_tracefs
scratch=$(mktemp -d /tmp/schedtap-stacks-XXXXXX)
instance=$T/instances/schedtap-test-stacks-$$
trap 'cd /; rm -rf "$scratch"; [ ! -d "$instance" ] || rmdir "$instance"' EXIT
stacked=$scratch/stacked
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -pthread -o "$stacked" "$here/stacked.c" ||
	plan_skip "no compiler"

# Reads events as stacks_of prints them, calls $each->(event, its kernel stack or undef, its user stack or undef), both as array
# references of names from the innermost on, once the next event came.
READ='
	use strict;
	sub each_event {
		my ($each) = @_;
		my (%last, %stacks);
		my $flush = sub {
			my ($cpu) = @_;
			$each->($last{$cpu}, $stacks{$cpu}{kernel}, $stacks{$cpu}{user}) if $last{$cpu};
			delete $stacks{$cpu};
		};
		while (<STDIN>) {
			chomp;
			my $e = {};
			@$e{qw(comm tid cpu time event text)} = split(/\t/, $_, 6);
			if ($e->{event} =~ /^schedtap:(kernel|user)_stack$/) {
				die "a stack of nothing" unless $last{$e->{cpu}};
				die "another time" if $e->{time} ne $last{$e->{cpu}}{time};
				die "another task" if $e->{tid} != $last{$e->{cpu}}{tid};
				die "two of a kind" if $stacks{$e->{cpu}}{$1};
				die "the program first" if $1 eq "kernel" && $stacks{$e->{cpu}}{user};
				$stacks{$e->{cpu}}{$1} = [names($e)];
			} else {
				$flush->($e->{cpu});
				$last{$e->{cpu}} = $e;
			}
		}
		$flush->($_) for keys %last;
	}
	sub names {
		return "bare" if $_[0]{text} =~ /^0x/; # a number
		return grep { length } split /\\n => /, $_[0]{text};
	}
'

# stacks_of FILE [OPTION...]: a line for each event: name, number, CPU, time, event and text, with tabs between them. Of the plain dump, where
# stacks are text.
stacks_of()
{
	"$SCHEDTAP" dump -i "$@" |
		perl -ne 's/^\s*(.{1,16})-(\d+)\s+\[0*(\d+)\] (\d+\.\d{9}): ([a-z_]+:[a-z_]+): (.*)$/$1\t$2\t$3\t$4\t$5\t$6/ and print'
}

# The kernel's own over an instance of ours, of all switches away from the tasks of this test.
begin_referee()
{
	mkdir "$instance"
	echo mono >"$instance/trace_clock"
	echo 16384 >"$instance/buffer_size_kb"
	echo 'prev_comm ~ "stk_*"' >"$instance/events/sched/sched_switch/filter"
	echo 'stacktrace if prev_comm ~ "stk_*"' >"$instance/events/sched/sched_switch/trigger"
	echo 1 >"$instance/events/sched/sched_switch/enable"
}

end_referee()
{
	echo 0 >"$instance/tracing_on"
	cp "$instance/trace" referee
	echo '!stacktrace' >"$instance/events/sched/sched_switch/trigger"
	rmdir "$instance"
}

# Every switch that both saw: of one task, on one CPU, to one other, at about the same time.
compare()
{
	perl -e "$READ"'
		my ($file, $least) = @ARGV;
		my (%want, %have, $tid, %kinds);
		open(my $in, "<", $file) or die;
		while (<$in>) {
			if (/ \[(\d+)\] .*: sched_switch: .*prev_pid=(\d+) /) {
				$tid = "$2 on CPU " . ($1 + 0);
				my ($us) = /(\d+\.\d+): sched_switch/;
				my ($next) = /next_pid=(\d+)/;
				push @{$want{$tid}}, { time => $us, next => $next, frames => [] };
			} elsif (/^ *\S.*-(\d+) +\[(\d+)\].*: <stack trace>/) {
				$tid = "$1 on CPU " . ($2 + 0);
			} elsif (/^ => (\S+)/ && defined $tid) {
				push @{$want{$tid}[-1]{frames}}, $1;
			}
		}
		each_event(sub {
			my ($e, $kernel) = @_;
			push @{$have{"$e->{tid} on CPU $e->{cpu}"}}, { time => $e->{time}, next => ($e->{text} =~ /next_pid=(\d+)/)[0], frames => $kernel } if $e->{event} eq "sched:sched_switch";
		});
		my ($same, $differ, $alone) = (0, 0, 0);
		for my $tid (keys %want) {
			my @have = @{$have{$tid} // []};
			my @want = @{$want{$tid}};
			while (@want && @have) {
				my ($w, $h) = ($want[0], $have[0]);
				if ($w->{next} != $h->{next} || abs($h->{time} - $w->{time}) > 0.0002) {
					my $is_first = $w->{time} < $h->{time}; # that only one of the two has; the referee came later
					shift @{$is_first ? \@want : \@have};
					$alone += $is_first;
					next;
				}
				shift @want;
				shift @have;
				my @frames = @{$w->{frames}};
				shift @frames while @frames && $frames[0] =~ /^(trace_event_raw_event_|__traceiter_|__bpf_trace_)/;
				if ("@frames" eq "@{$h->{frames}}") {
					$same++;
					$kinds{"@frames"}++;
				} else {
					$differ++;
					print STDERR "want @frames\nhave @{$h->{frames}}\n" if $differ < 4;
				}
			}
		}
		print STDERR "# $same the same, ", scalar(keys %kinds), " different ones; $differ differ, $alone in one alone\n";
		exit($differ || $same < $least || $alone > $same / 100 || keys %kinds < 5);
	' "$@"
}

# @1: least number of stacks; the rest: of record
as_the_kernels()
{
	local least=$1

	shift
	start a.dat -e sched_switch "$@"
	begin_referee
	must "$stacked" mixed 400
	end_referee
	ends 0 INT
	stacks_of a.dat -c 'stk_*' >have
	must compare referee "$least" <have
	must grep -q 'stacks, .* different ones' a.dat.err
}
check "kernel stacks are the kernel's own" as_the_kernels 1000 --stack sched_switch
check "with programs' stacks after them" as_the_kernels 1000 --stack sched_switch:both

# What the source says, from the function that slept on. What the C library was in has no frame pointer: its caller may be left out.
of_the_program()
{
	watch_load # on a busy machine the program may be gone before the recorder reads its symbols
	run 0 "$SCHEDTAP" record -e sched_switch --stack sched_switch:user -o a.dat -- "$stacked" deep 5
	stacks_of a.dat -c stacked >have
	must_if_quiet perl -e "$READ"'
		my $good = 0;
		each_event(sub {
			my ($e, $kernel, $user) = @_;
			die "a kernel stack" if $kernel;
			my @own = grep { /^(deep|main)$/ } @{$user // []};
			$good++ if "@own" =~ /^deep deep deep deep (deep )?main$/;
		});
		exit($good < 5);' <have
}
check "stacks of a program" of_the_program

frames_of()
{
	perl -e "$READ"'
		my ($kind, %nr) = @ARGV;
		each_event(sub {
			my ($e, $kernel, $user) = @_;
			my $stack = $kind eq "user" ? $user : $kernel;
			$nr{scalar(@$stack)}++ if $stack;
		});
		print "$_\n" for sort { $b <=> $a } keys %nr;' "$1"
}

deepest()
{
	run 0 "$SCHEDTAP" record -e sched_switch --stack sched_switch:user -o a.dat -- "$stacked" deep 500
	stacks_of a.dat -c stacked >have
	must [ "$(frames_of user <have | head -n 1)" = 127 ]
}
check "127 frames of 500" deepest

cut_at_a_depth()
{
	run 0 "$SCHEDTAP" record -e sched_switch --stack sched_switch:both,depth=3 -o a.dat -- "$stacked" deep 20
	stacks_of a.dat -c stacked >have
	must [ "$(frames_of user <have | head -n 1)" = 3 ]
	must [ "$(frames_of kernel <have | head -n 1)" = 3 ]
	must grep -qF 'kernel_stack	\n => __schedule\n => schedule\n => do_nanosleep' have
}
check "a depth" cut_at_a_depth

# nr FILE EVENT
nr()
{
	"$SCHEDTAP" dump -i "$1" -e "$2" | wc -l
}

where_the_filter_passes()
{
	run 0 "$SCHEDTAP" record "$@" -e sched_switch -f 'prev_comm ~ "stk_*"' -e sched_waking -o a.dat --stack sched_switch \
		-- "$stacked" mixed 100
	must [ "$(nr a.dat sched_switch)" -gt 100 ]
	must [ "$(nr a.dat sched_waking)" -gt 100 ]
	must [ "$(nr a.dat kernel_stack)" = "$(nr a.dat sched_switch)" ]
}
check "only where the filter passes" where_the_filter_passes -b bpf
check "only where the filter passes, over tracefs" where_the_filter_passes -b tracefs

# A stack follows its own event, even if another event shares the tracepoint.
between_events()
{
	run 0 "$SCHEDTAP" record -e sched_switch -e sched_pick -e sched_waking --stack sched_switch --stack sched_waking -o a.dat \
		-- "$stacked" mixed 100
	stacks_of a.dat >have
	must perl -e "$READ"'
		my %nr;
		each_event(sub {
			my ($e, $kernel) = @_;
			$nr{$e->{event}}{$kernel ? "with" : "without"}++;
			die "not of a switch: @$kernel" if $kernel && $e->{event} eq "sched:sched_switch" && $kernel->[0] ne "__schedule";
		});
		die unless $nr{"sched:sched_switch"}{with} > 100 && $nr{"sched:sched_waking"}{with} > 100;
		die if grep { $nr{$_}{without} } "sched:sched_switch", "sched:sched_waking";
		die if $nr{"schedtap:sched_pick"}{with};' <have
}
check "between other events" between_events

printed_by_others()
{
	command -v trace-cmd >/dev/null || skip "no trace-cmd"
	run 0 "$SCHEDTAP" record -e sched_switch --stack sched_switch:both -o a.dat -- "$stacked" deep 5
	trace-cmd report -i a.dat >report 2>/dev/null
	must perl -0777 -ne 'exit !/kernel_stack:\s*\n => __schedule\n => schedule\n => do_nanosleep\n/' report
	perl -0777 -ne 'exit !/user_stack:\s*\n => \S+\n(?: => \S+\n)* => deep\n => deep\n/' report ||
		fail "$(cat err; grep -c user_stack report; grep -m1 -A9 user_stack: report)"
}
check "trace-cmd prints them" printed_by_others

# 2^17 of them, one switch each: as many as there is room for are kept, and the others are counted.
too_many()
{
	local run_s=60 unread # a quarter of a million stacks, and what packs them

	run 0 "$SCHEDTAP" record -e sched_switch --stack sched_switch:user -o a.dat -- "$stacked" many 17
	unread=$(sed -n 's/^schedtap: \([0-9]*\) stacks could not be read$/\1/p' err)
	# the kernel reads no stack whose page it would have to fetch: then there may be too few different ones
	[ "${unread:-0}" -lt 20000 ] || skip "$unread stacks could not be read"
	grep -Eq '^schedtap: [0-9]+ stacks were not kept: there were too many different stacks' err || fail "$(cat err)"
	must grep -q ', 0 lost' err
	must perl -ne '$nr = $1 if /(\d+) stacks were not kept/; $of = $1 if /, (\d+) different ones/; END { exit !($nr > 50000 && $of > 60000) }' err
}
check "more than are kept" too_many

# After kill -9, stacks older than a second have their names.
killed()
{
	local killed_s

	watch_load
	start a.dat -e sched_switch --stack sched_switch:both
	must "$stacked" mixed 400
	sleep 1.3 # until they are older than what may have no text yet
	must "$stacked" mixed 10
	killed_s=$(perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'print clock_gettime(CLOCK_MONOTONIC)')
	kill -9 $recorder
	wait $recorder || :
	run 0 "$SCHEDTAP" repair a.dat
	stacks_of a.dat -c 'stk_*' >have
	must_if_quiet perl -e "$READ"'
		my ($named, $bare) = (0, 0);
		my @all;
		each_event(sub { push @all, [@_] });
		for (@all) {
			my ($e, @stacks) = @$_;
			next if $e->{time} > '"$killed_s"' - 1.2 || $e->{comm} !~ /^stk_/; # others may be large programs
			for (grep { defined } @stacks) {
				"@$_" eq "bare" ? $bare++ : $named++;
			}
		}
		print STDERR "# $named, $bare without a text\n";
		exit($bare || $named < 500);' <have
}
check "kill -9" killed

# Of a definition of one's own, and of a program's probe.
own()
{
	local nr=${SOAK:+300000}
	: "${nr:=30000}"
	local define='sched_switch{prev=prev->pid, text=prev->comm, weight=prev->se.load.weight * 1024 / (prev->se.load.weight + 1)}'

	run 0 "$SCHEDTAP" record -b bpf -o own.dat -e "$define" --stack 'own:*' -d 0.5
	stacks_of own.dat >have || return
	must perl -e "$READ"'
		my ($nr, $walked) = (0, 0);
		each_event(sub {
			my ($e, $kernel) = @_;
			$nr += $e->{event} eq "own:sched_switch" && !!$kernel;
			$walked += $kernel && ($kernel->[0] // "") eq "__schedule";
		});
		print STDERR "# $nr stacks, $walked from __schedule\n";
		exit($nr < 20 || $walked < $nr - 2);' <have
	${CC:-cc} -O0 -fno-omit-frame-pointer -o probed "$here/probed.c" || return
	run 0 "$SCHEDTAP" record -o probe.dat -e "uprobe:$PWD/probed:twice" --stack 'uprobe:*:user' -- ./probed $nr
	"$SCHEDTAP" dump -i probe.dat -e user_stack >out
	must [ "$(grep -c 'user_stack: \\n => twice\\n => main\\n' out)" -gt $((nr * 2 / 3)) ]
}
check "events of one's own" own

refused()
{
	run 2 "$SCHEDTAP" record -e sched_switch --stack nosuch -d 1 -o a.dat
	must grep -q "^schedtap: --stack 'nosuch' matches no recorded event" err
	run 2 "$SCHEDTAP" record -e sched_switch --stack sched_switch,depth=200 -d 1 -o a.dat
	must grep -q "the depth must be 1 to 127 frames" err
	run 2 "$SCHEDTAP" record -b tracefs -e sched_switch --stack sched_switch:user -d 1 -o a.dat
	must grep -q "which has no user stacks" err
	must [ ! -e a.dat ]
}
check "what cannot be had" refused

done_testing
