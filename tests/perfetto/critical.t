#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Critical paths, against those of Perfetto's standard library on an export of the same recording: each ns that both give to a
# task they give to the same one. With simulated schedules (tests/truth), and as root with recordings of this machine.
# SCHEDTAP names the program.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use lib dirname(__FILE__);
use Perfetto;

my $here = dirname(abs_path($0));
my $schedtap = $ENV{SCHEDTAP} = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $generate = dirname($schedtap) . '/tests/truth/generate';
my $tasks_each = 8; # those that ran most often
my $tmp = tempdir(CLEANUP => 1);
my ($n, $failed) = (0, 0);

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

sub report {
	my ($file, $args) = @_;
	my $text = qx($schedtap $args -i '$file' --json 2>/dev/null);

	return $text =~ /\S/ ? decode_json($text) : undef;
}

# A node of the graph is a thread from when it was woken to when it sleeps next; what woke it is an edge. Of each interval of a thread's path:
# whose it is, and since when that one was awake. What is before that had no waker: Perfetto has no node of who was never seen being woken.
sub query {
	my ($tid) = @_;
	my $from = 'coalesce(waker_id, id)';
	my $graph = "select id as source_node_id, $from as dest_node_id, id - $from as edge_weight from _wakeup_graph";
	my $roots = 'select id as root_node_id, id - coalesce(prev_id, id) as capacity from _wakeup_graph ' .
		"where utid = (select utid from thread where tid = $tid) and prev_id is not null";

	return 'select i.ts, i.dur, tid, g.ts as awake from _critical_path_intervals!((' . $graph . "), ($roots), (select id, ts, dur, idle_dur from _wakeup_graph)) i " .
		'join _wakeup_graph g on i.id = g.id join thread using (utid) where i.dur > 0 order by i.ts, i.dur';
}

# What two rows of {ts, dur, tid}, each without overlaps and sorted, have in common, by whether it is of one task.
sub agreement {
	my ($theirs, $ours, $root) = @_;
	my %ns = (same => 0, left => 0, other => 0);
	my $j = 0;

	for my $a (@$theirs) {
		$j++ while $j < @$ours && $ours->[$j]{to_ns} <= $a->{ts};
		for (my $k = $j; $k < @$ours && $ours->[$k]{from_ns} < $a->{ts} + $a->{dur}; $k++) {
			my $b = $ours->[$k];
			my $from = $a->{ts} > $b->{from_ns} ? $a->{ts} : $b->{from_ns};
			my $to = $a->{ts} + $a->{dur} < $b->{to_ns} ? $a->{ts} + $a->{dur} : $b->{to_ns};

			next if $to <= $from || $b->{state} eq 'unknown';
			# nor is being stopped a sleep there
			my $left = $a->{tid} == $root || $to <= $a->{awake} ? $to - $from : $a->{awake} > $from ? $a->{awake} - $from : 0;

			$left = 0 if $a->{tid} == $b->{tid};
			$ns{left} += $left;
			$ns{$a->{tid} == $b->{tid} ? 'same' : 'other'} += $to - $from - $left;
		}
	}
	return \%ns;
}

sub compare {
	my ($file, $name) = @_;
	my $summary = report($file, 'summary') or return;
	my %nr;

	$nr{$_->{tid}}++ for @{$summary->{tasks}};
	my @tasks = grep { $nr{$_->{tid}} == 1 } sort { $b->{slices} <=> $a->{slices} || $a->{tid} <=> $b->{tid} } @{$summary->{tasks}};
	splice(@tasks, $tasks_each) if @tasks > $tasks_each;
	my $theirs = ask(export_of($file), include => 'include perfetto module sched.thread_executing_span',
		map { ("task$_->{tid}" => query($_->{tid})) } @tasks);
	my %all = (same => 0, left => 0, other => 0);
	for my $task (@tasks) {
		my $ours = report($file, "critical --path -t $task->{tid}") or next;
		my $ns = agreement($theirs->{"task$task->{tid}"}, $ours->{path}, $task->{tid});

		$all{$_} += $ns->{$_} for keys %all;
	}
	$n++;
	# a new task waits from its task_newtask on there, and here from its sched_wakeup_new on
	my $ok = $all{same} && $all{other} <= 5e-3 * $all{same};
	$failed ||= !$ok;
	print $ok ? '' : 'not ', "ok $n - $name: of one task $all{same} ns, of another $all{other}; without a waker there $all{left}\n";
}

for my $seed (1 .. 5) {
	mkdir("$tmp/$seed");
	system($generate, $seed, 600, "$tmp/$seed") == 0 or die "$generate\n";
	compare("$tmp/$seed/whole.dat", "seed $seed");
}
my @loads = ('make' => 'cd ' . abs_path("$here/../..") . ' && make -n -j2 all >/dev/null', 'pipeline' => 'seq 20000 | sort | uniq | wc -l',
	'xargs' => 'seq 60 | xargs -P 4 -n 1 true', 'forks' => 'for i in 1 2 3 4 5; do (sleep 0.01 & wait); done');
while ($> == 0 && -r '/sys/kernel/btf/vmlinux' && (my ($name, $load) = splice(@loads, 0, 2))) {
	system($schedtap, 'record', '-o', "$tmp/$name.dat", '--', 'sh', '-c', "$load >/dev/null") == 0 or die "record\n" for 1;
	compare("$tmp/$name.dat", $name);
}
print "1..$n\n";
exit($failed ? 1 : 0);
