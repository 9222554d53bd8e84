#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Critical paths, against those of Perfetto's standard library on an export of the same recording: each ns that both give to a
# task they give to the same one. With simulated schedules (tests/truth), in a soak SEEDS [24] of them from SEED on, and as root with
# recordings of this machine.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(max min sum0);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Perfetto;
use Recordings;

my $tasks_each = 8; # those that ran most often
my $same = 0; # ns that both give to the same task
my $tmp = memory_folder();

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

# What Perfetto has otherwise than the recording. Return: of each new task when it was made and when it could run first, [task_newtask,
# sched_wakeup_new], by its thread; and moments at which a task is woken 1 ns after it went to sleep.
sub exceptions {
	my ($file) = @_;
	my ($dump) = runs("dump --json -i '$file'");
	my (%births, @short, %made, %left);

	for (map { decode_json($_) } grep { /:(task_newtask|sched_wakeup_new|sched_switch|sched_waking)"/ } split(/\n/, $dump->[0])) {
		my ($what, $ns, $tid) = ($_->{event} =~ s/.*://r, $_->{ts_ns}, $_->{fields}{pid});

		$left{$_->{fields}{prev_pid}} = $ns if $what eq 'sched_switch';
		push(@short, $ns) if $what eq 'sched_waking' && ($left{$tid} // 0) == $ns - 1;
		$made{$tid} = $ns if $what eq 'task_newtask';
		push(@{$births{$tid}}, [delete($made{$tid}), $ns]) if $what eq 'sched_wakeup_new' && $made{$tid};
	}
	return (\%births, @short);
}

# In Perfetto's graph a node is a thread from its wakeup to its next sleep, and an edge leads to the waker's node. Return: the
# query for the intervals of thread $tid's path: each has its thread, and since when that thread was awake. Time before the
# first node has no waker: Perfetto has no node for a thread that was never woken. A task that is woken before it has gone to
# sleep has slept for 1 ns in an export; here it has not slept, and its node follows its own previous one. @short: the
# wakeup times of tasks that really slept for 1 ns.
sub query {
	my ($tid, @short) = @_;
	my $from = "coalesce(iif(idle_dur = 0 or idle_dur = 1 and ts not in (@{[join(', ', @short)]}), prev_id, waker_id), id)";
	my $graph = "select id as source_node_id, $from as dest_node_id, id - $from as edge_weight from _wakeup_graph";
	my $roots = 'select id as root_node_id, id - coalesce(prev_id, id) as capacity from _wakeup_graph ' .
		"where utid = (select utid from thread where tid = $tid) and prev_id is not null";

	return 'select i.ts, i.dur, tid, g.ts as awake from _critical_path_intervals!((' . $graph . "), ($roots), (select id, ts, dur, idle_dur from _wakeup_graph)) i " .
		'join _wakeup_graph g on i.id = g.id join thread using (utid) where i.dur > 0 order by i.ts, i.dur';
}

# overlap FROM, TO, [FROM, TO]...: ns that the first span shares with others, which do not overlap.
sub overlap {
	my ($from, $to, @others) = @_;

	return sum0(map { max(0, min($to, $_->[1]) - max($from, $_->[0])) } @others);
}

# What two rows of {ts, dur, tid}, each without overlaps and sorted, have in common, by whether it is of one task.
sub agreement {
	my ($theirs, $ours, $root, $births, $nr) = @_;
	my %ns = (same => 0, left => 0, other => 0);
	my $j = 0;

	for my $a (@$theirs) {
		$j++ while $j < @$ours && $ours->[$j]{to_ns} <= $a->{ts};
		for (my $k = $j; $k < @$ours && $ours->[$k]{from_ns} < $a->{ts} + $a->{dur}; $k++) {
			my $b = $ours->[$k];
			my ($from, $to) = (max($a->{ts}, $b->{from_ns}), min($a->{ts} + $a->{dur}, $b->{to_ns}));

			next if $to <= $from || $b->{state} eq 'unknown';
			if ($a->{tid} == $b->{tid}) {
				$ns{same} += $to - $from;
				next;
			}
			# nor is being stopped a sleep there, nor is who has a number again another thread
			my $left = $a->{tid} == $root || ($nr->{$a->{tid}} // 0) > 1 || $to <= $a->{awake} ? $to - $from : max(0, $a->{awake} - $from);
			# a new task waits from its task_newtask on there, and here from its sched_wakeup_new on
			my $new = $left ? 0 : overlap($from, $to, @{$births->{$a->{tid}} // []});

			$ns{left} += $left + $new;
			$ns{other} += $to - $from - $left - $new;
		}
	}
	return \%ns;
}

sub compare {
	my ($file, $name) = @_;
	my ($summary) = reports($file, 'summary') or return;
	my %nr;

	$nr{$_->{tid}}++ for @{$summary->{tasks}};
	my @tasks = grep { $nr{$_->{tid}} == 1 } sort { $b->{slices} <=> $a->{slices} || $a->{tid} <=> $b->{tid} } @{$summary->{tasks}};
	splice(@tasks, $tasks_each) if @tasks > $tasks_each;
	my ($births, @short) = exceptions($file);
	my $theirs = ask(export_of($file), include => 'include perfetto module sched.thread_executing_span',
		map { ("task$_->{tid}" => query($_->{tid}, @short)) } @tasks);
	my @ours = reports($file, map { "critical --path -t $_->{tid}" } @tasks);
	my %all = (same => 0, left => 0, other => 0);
	for my $i (grep { $ours[$_] } 0 .. $#tasks) {
		my $tid = $tasks[$i]{tid};
		my $ns = agreement($theirs->{"task$tid"}, $ours[$i]{path}, $tid, $births, \%nr);

		$all{$_} += $ns->{$_} for keys %all;
	}
	$same += $all{same};
	# the remaining differences come from tasks that were stopped on the path
	check("$name: of one task $all{same} ns, of others $all{other}; of none here or there $all{left}", $all{other} <= 5e-3 * $all{same} ? () : 'so much of others');
}

for my $seed (seeds(2, 24)) {
	my ($whole) = grep { /whole/ } map { $_->[0] } simulated($seed);

	compare($whole, "seed $seed");
}
my @loads = ('make' => 'cd ' . abs_path(dirname(__FILE__) . "/../..") . ' && make -n -j2 all', 'pipeline' => 'seq 20000 | sort | uniq | wc -l',
	'xargs' => 'seq 60 | xargs -P 4 -n 1 true', 'forks' => 'for i in 1 2 3 4 5; do (sleep 0.01 & wait); done');
while ($> == 0 && -r '/sys/kernel/btf/vmlinux' && (my ($name, $load) = splice(@loads, 0, 2))) {
	my ($ran) = runs("record -o $tmp/$name.dat -- sh -c '$load >/dev/null'");

	$ran->[1] == 0 or die "record of $name: $ran->[2]";
	compare("$tmp/$name.dat", $name);
}
check('paths were compared', $same ? () : 'none');
exit(finish());
