#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Numbers against those of others who should know: user space that measures its own wakeups, the
# kernel's own accounts, perf sched timehist on the same file. The tables that are printed as
# comments are those of docs/answers.md: perl tests/live/answers.t. SCHEDTAP names the program.
# alone: it compares run times, in which others' interrupts count
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use List::Util qw(max sum0);
use POSIX qw(ceil);
use lib dirname(__FILE__) . '/..';
use Busy;

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
if ($> != 0) {
	print "1..0 # SKIP not root\n";
	exit 0;
}
my $tmp = tempdir(CLEANUP => 1);
chdir($tmp) or die;
my ($n, $failed) = (0, 0);

# check NAME, PROBLEM...: one TAP line.
sub check {
	my ($name, @problems) = @_;

	$n++;
	$failed++ if @problems;
	print @problems ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@problems, 10) if @problems > 10;
	print STDERR map { "#   $_\n" } @problems;
}

sub skip {
	my ($name, $why) = @_;

	$n++;
	print "ok $n - $name # SKIP $why\n";
}

sub say_row { print '# ', sprintf(shift, @_), "\n" }

# What a command printed.
sub lines {
	my @cmd = @_;

	open(my $out, '-|', 'timeout', 60, @cmd) or die "$cmd[0]: $!\n";
	my @lines = <$out>;
	close($out) or die "@cmd: status $?\n";
	chomp(@lines);
	return @lines;
}

# A report in CSV: one hash a row.
sub rows {
	my ($header, @lines) = lines($schedtap, @_, '--csv');
	my @keys = split(/,/, $header);

	return map {
		my %row;
		@row{@keys} = map { s/^"(.*)"$/$1/r } /("(?:[^"]|"")*"|[^,]*)(?:,|$)/g;
		\%row;
	} @lines;
}

# Sorted numbers: that at this rank.
sub at_rank {
	my ($rank, @sorted) = @_;

	return $sorted[max(0, $rank < @sorted ? $rank : $#sorted)];
}

sub record {
	my ($file, @args) = @_;

	return lines('sh', '-c', 'exec "$@" 2>record.err', 'sh', $schedtap, 'record', '-o', $file, @args);
}

# ---- wakeup latency, against user space ----

# Each wait that user space measured begins before its waking event and ends after its switch-in.
sub match_waits {
	my ($waits, $slices) = @_;
	my (%of, %m);

	push(@{$of{$_->{tid}}}, $_) for @$slices;
	for (@$waits) {
		my ($tid, $from, $to) = split;
		my $list = $of{$tid} // [];

		shift(@$list) while @$list && $list->[0]{time_ns} < $from;
		my $s = $list->[0];
		push(@{$m{theirs}}, $to - $from);
		if (!$s || $s->{time_ns} > $to) {
			$m{unseen}++;
		} elsif (!$s->{waking_ns} || $s->{unknown_ns}) {
			$m{unknown}++;
		} elsif ($s->{time_ns} - $s->{waking_ns} < $from) {
			push(@{$m{wrong}}, "$tid: waits since " . ($s->{time_ns} - $s->{waking_ns}) .
				", user space since $from");
		} else {
			push(@{$m{rest}}, $to - $from - $s->{waking_ns});
		}
	}
	return \%m;
}

sub check_latency {
	my $name = 'wakeup latency: every wait lies within what user space measured';

	if (system(split(' ', $ENV{CC} // 'cc'), qw(-std=gnu17 -D_GNU_SOURCE -O2 -pthread -o messages),
		   "$here/messages.c")) {
		check($name, 'messages.c does not compile');
		return;
	}
	my @waits = record('m.dat', qw(-e sched_switch -e sched_waking -- ./messages 4 2000));
	# messages.c does not measure the waits that follow, in which workers wait for the message that ends them
	my $until = sprintf('%.9f', max(0, map { (split)[2] } @waits) / 1e9);
	my @args = (qw(-i m.dat -c message-worker --time), ",$until");
	my @slices = grep { $_->{what} eq 'slice' } rows('timehist', @args);
	my $m = match_waits(\@waits, \@slices);
	my $latency = decode_json(join('', lines($schedtap, 'latency', @args, '--json')));
	my $all = $latency->{all};
	my @theirs = sort { $a <=> $b } @{$m->{theirs} // []};
	my @rest = sort { $a <=> $b } @{$m->{rest} // []};
	my ($nr, $nr_ours, $wrong) = (scalar(@waits), scalar(@rest), $m->{wrong} // []);

	say_row('%d waits in user space; %d measured here, %d of unknown length, %d not seen asleep',
		$nr, $nr_ours, $m->{unknown} // 0, $m->{unseen} // 0);
	check($name, @$wrong > $nr / 1000 ? @$wrong : (),
	      $nr_ours < 0.95 * $nr ? "too few: $nr_ours of $nr" : ());
	# a few sleeps have no message: at the start, and for locks
	check('wakeup latency: it counts those waits, and no others',
	      abs($all->{count} - $nr_ours) > 0.01 * $nr ? "it counts $all->{count}" : ());

	my @problems;
	say_row('wait, us      %10s %10s %10s', 'here', 'user space', 'difference');
	for my $q ([p50_ns => 0.5], [p90_ns => 0.9], [p99_ns => 0.99], [max_ns => 1]) {
		my $here = $all->{$q->[0]};
		# those that are measured in user space alone may be the shortest, and those that
		# are measured here alone the longest
		my $bound = at_rank(ceil($q->[1] * $all->{count}) - 1 + $nr - $nr_ours, @theirs);

		push(@problems, "$q->[0]: $here is more than $bound") if $here > 1.008 * $bound;
		say_row('%-13s %10.3f %10.3f %10.3f', $q->[0] =~ s/_ns//r, $here / 1e3,
			map { at_rank($q->[1] * @$_ - 1, @$_) / 1e3 } \@theirs, \@rest);
	}
	check('wakeup latency: no percentile is above user space\'s', @problems);
	check_percentiles(\@slices, $latency->{tasks});
}

# The percentiles of `latency` are those of the waits one by one.
sub check_percentiles {
	my ($slices, $tasks) = @_;
	my (@problems, %of);

	push(@{$of{$_->{tid}}}, $_) for grep { $_->{waking_ns} } @$slices;
	for my $task (@$tasks) {
		my @slices = @{$of{$task->{tid}} // []};
		my @all = sort { $a <=> $b } map { $_->{waking_ns} } @slices;
		# beside unknown time a wait may be known from its wakeup on, or not
		my @waits = sort { $a <=> $b } map { $_->{waking_ns} } grep { !$_->{unknown_ns} } @slices;

		for my $q ([p50_ns => 0.5], [p90_ns => 0.9], [p99_ns => 0.99], [max_ns => 1]) {
			my ($got, $rank) = ($task->{$q->[0]}, $q->[1] * @waits - 1);
			# a wait more or less, and 0.8 %
			my ($low, $high) = (at_rank($rank - 1, @waits), at_rank($rank + 2 + @all - @waits, @all));

			push(@problems, "$task->{tid} $q->[0]: $got is not within $low .. $high")
				if $got < $low * 0.992 || $got > $high * 1.008;
		}
	}
	check('wakeup latency: percentiles are those of the waits one by one, within 0.8 %', @problems);
}

# ---- run time and switches, against the kernel's accounts ----

# Children that burn CPU and sleep. Just before it ends, each child prints how often the kernel switched
# it out, and a time stamp taken between two equal readings of that number.
my $children = <<'PERL';
	use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
	sub switches {
		open(my $f, '<', '/proc/self/status') or die;
		my $n = 0;
		/_ctxt_switches:\s+(\d+)/ and $n += $1 while <$f>;
		return $n;
	}
	$| = 1;
	for my $i (1 .. 8) {
		next if fork;
		for (1 .. 20) {
			my $x = 0;
			$x += $_ for 1 .. 30000 * $i;
			select(undef, undef, undef, 0.0005 * ($i % 4));
		}
		my ($before, $t, $after) = (0, 0, -1);
		($before, $t, $after) = (switches(), clock_gettime(CLOCK_MONOTONIC), switches())
			while $before != $after;
		syswrite(STDOUT, sprintf("%d %d %.7f\n", $$, $before, $t));
		exit;
	}
	1 while wait > 0;
PERL

# tid => ns, by sched_stat_runtime; and tid => ["cpu ns", ...], its switches out
sub accounts {
	my ($file) = @_;
	my (%runtime, %out);

	for (lines($schedtap, 'dump', '-i', $file)) {
		if (/:sched_stat_runtime: .* pid=(\d+) runtime=(\d+)/) {
			$runtime{$1} += $2;
		} elsif (/\[0*(\d+)\] (\d+)\.(\d+): sched:sched_switch: .*? prev_pid=(\d+) /) {
			push(@{$out{$4}}, ["$1 " . ($2 * 1000000000 + $3), $2 + "0.$3"]);
		}
	}
	return (\%runtime, \%out);
}

# CPU time that the hypervisor took from this machine, ms: sched_stat_runtime leaves it out.
sub stolen {
	open(my $f, '<', '/proc/stat') or die;
	return (split(' ', <$f>))[8] * 10;
}

# Whether run times differ by more than so many per cent: ours has what was stolen, the kernel's has not. And the kernel's ends with the
# run queue's clock, which it does not update if a wakeup has just asked for the switch: by up to 20 us for each slice on slow machines.
sub is_off {
	my ($ours, $kernel, $percent, $slices, $stolen_ns) = @_;
	my $off = $ours - $kernel;

	return $off < -$percent / 100 * $kernel || $off > $percent / 100 * $kernel + $stolen_ns + 20e3 * $slices;
}

# Returns whether there was something to compare, and what is wrong with run times, and switches.
sub compare_accounts {
	my $stolen = stolen();
	my @accounts = record('r.dat', map({ ('-e', $_) } qw(sched_switch sched_waking sched_stat_runtime)),
			  '--', 'perl', '-e', $children);
	my $stolen_ns = (stolen() - $stolen) * 1e6;
	my ($runtime, $out) = accounts('r.dat');
	# "cpu ns" of switches that took out who was not seen to be switched in
	my %broken = map { ("$_->{cpu} " . ($_->{time_ns} + $_->{unknown_ns}) => 1) }
		grep { $_->{what} eq 'unknown' } rows(qw(timehist -i r.dat));
	my %tasks = map { ($_->{tid} => $_) } rows(qw(summary -i r.dat));
	my ($worst, $compared, $ours, $kernels, $slices, @run, @switches) = (0, 0, 0, 0, 0);

	for (@accounts) {
		my ($tid, $switches, $until) = split;
		my ($upto) = grep { $_->{tid} == $tid } rows(qw(summary -i r.dat --time), ",$until");
		my @seen = grep { $_->[1] <= $until } @{$out->{$tid}};
		my $lost = grep { $broken{$_->[0]} } @seen;

		push(@switches, "$tid: " . @seen . " switches recorded, kernel $switches")
			if @seen != $switches;
		push(@switches, "$tid: $upto->{slices} slices, $lost after breaks, kernel $switches")
			if $upto->{slices} + $lost != $switches;
		next if !$runtime->{$tid} || grep { $broken{$_->[0]} } @{$out->{$tid}};

		my $off = 100 * ($tasks{$tid}{run_ns} / $runtime->{$tid} - 1);
		$compared++;
		$ours += $tasks{$tid}{run_ns};
		$kernels += $runtime->{$tid};
		$slices += $upto->{slices};
		$worst = $off if abs($off) > abs($worst);
		push(@run, "$tid: $tasks{$tid}{run_ns} ns, kernel $runtime->{$tid}, stolen $stolen_ns")
			if is_off($tasks{$tid}{run_ns}, $runtime->{$tid}, 2, $upto->{slices}, $stolen_ns) || $runtime->{$tid} < 1000000;
		say_row('run time %10.3f ms, kernel %10.3f, %+.3f %%; %4d slices, kernel %4d',
			$tasks{$tid}{run_ns} / 1e6, $runtime->{$tid} / 1e6, $off, $upto->{slices}, $switches);
	}
	my $off = $kernels ? 100 * ($ours / $kernels - 1) : 0;
	push(@run, "all: $ours ns, kernel $kernels, stolen $stolen_ns") if is_off($ours, $kernels, 1, $slices, $stolen_ns);
	push(@run, 'no task to compare') if !$compared;
	push(@switches, 'not all children reported') if @accounts != 8;
	say_row('%d tasks, %d without a break; run time %+.3f %% off, at most %+.3f %%; %d ms stolen',
		scalar(@accounts), $compared, $off, $worst, $stolen_ns / 1e6);
	return (scalar(%$runtime), \@run, \@switches);
}

sub check_accounts {
	my $name = 'run time is sched_stat_runtime\'s: each within 2 %, all together within 1 %';
	my ($has_runtime, $run, $switches);
	my $since = busy_since();

	for (1 .. 3) { # time that is stolen is in ours alone, and comes and goes
		($has_runtime, $run, $switches) = compare_accounts();
		last if !@$run;
	}
	my $why = @$run ? why_busy($since) : '';
	if ($has_runtime && $why) {
		skip($name, "machine was busy: $why"); # others' interrupts, and what the hypervisor took, count here alone
	} elsif ($has_runtime) {
		check($name, @$run);
	} else {
		skip($name, 'no sched_stat_runtime');
	}
	check('a task\'s slices are the kernel\'s context switches', @$switches);
}

# ---- slices, against perf ----

# perf's rows but those of idle CPUs: "cpu us" of the end => [[tid, sch delay, run time], ...], us
sub perf_rows {
	my ($file) = @_;
	my %rows;

	for (lines('sh', '-c', "perf sched timehist -i $file 2>/dev/null")) {
		my ($s, $us, $cpu, $who, @ms) =
			/^\s*(\d+)\.(\d+) \[(\d+)\]\s+(.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$/ or next;
		my ($tid) = $who =~ m{\[(-?\d+)(?:/\d+)?\]$} or next;

		push(@{$rows{$cpu + 0 . ' ' . ($s * 1000000 + $us)}},
		     [$tid, map { int($_ * 1000 + 0.5) } @ms[1, 2]]);
	}
	return \%rows;
}

# Takes from $rows the one with this end and this task; perf cuts times off at the microsecond. A
# task that exits has no tid any more when it is switched out for good: perf says -1.
sub take_row {
	my ($rows, $cpu, $end_ns, $tid) = @_;
	my $list = $rows->{$cpu . ' ' . int($end_ns / 1000)} // [];

	for my $i (0 .. $#$list) {
		return splice(@$list, $i, 1) if !defined($tid) || $list->[$i][0] == $tid || $list->[$i][0] == -1;
	}
	return undef;
}

sub perf_record {
	my ($file, @args) = @_;

	return !system('sh', '-c', 'exec "$@" >perf.out 2>&1', 'sh', 'timeout', 60, 'perf', @args);
}

sub check_perf {
	my $name = 'perf sched timehist: at least 99 % of slices agree';
	# No CPU is idle meanwhile: perf may not see an idle task leave, and then nothing is certain.
	my $load = 'for cpu in $(seq $(nproc)); do
			nice perl -e \'$p = getppid; 1 while getppid == $p\' &
		done
		exec ./messages 4 1000';
	my (%count, @differ);

	if (!perf_record('p.data', qw(sched record -o p.data -- sh -c), $load)) {
		skip($name, 'perf does not record');
		return;
	}
	my $perf = perf_rows('p.data');
	for my $r (rows(qw(timehist -i p.data))) {
		my $is_slice = $r->{what} eq 'slice';
		my $ns = $is_slice ? $r->{run_ns} : $r->{unknown_ns};
		my $row = take_row($perf, $r->{cpu}, $r->{time_ns} + ($ns || 0), $is_slice ? $r->{tid} : undef);

		if (!$is_slice) {
			$count{$row->[2] ? 'broken' : 'first'}++ if $row;
		} elsif (!$row) {
			$count{$r->{censored} ? 'censored' : 'missing'}++;
			push(@differ, "only here $r->{tid}: $r->{time_ns} $r->{run_ns}") if !$r->{censored};
		} elsif ($row->[2] != int($r->{run_ns} / 1000)) {
			$count{run}++;
			push(@differ, "run @$row: $r->{time_ns} $r->{run_ns}");
		} elsif ($row->[0] == -1) {
			$count{dead}++;
		} elsif ($r->{waking_ns} eq '' || $r->{unknown_ns}) {
			$count{unknown}++;
		} else {
			my $us = int($r->{waking_ns} / 1000);
			# newer ones have preempted waits among sch delay: one or the other, for all
			my $newer = int(($r->{waking_ns} || $r->{preempted_ns}) / 1000);

			$count{agree}++ if $row->[1] == $us;
			$count{newer}++ if $row->[1] == $newer;
			push(@differ, "delay @$row: $r->{time_ns} $r->{waking_ns}")
				if $row->[1] != $us && $row->[1] != $newer;
			$count{delay}++;
		}
	}
	my $agree = max($count{agree} // 0, $count{newer} // 0);
	my $comparable = sum0(map { $_ // 0 } @count{qw(delay run missing)});
	my @rest = map { @$_ } values(%$perf);

	say_row('%7d  %s', $agree, 'slices agree in CPU, task, end, run time and sch delay');
	say_row('%7d  %s', $comparable - $agree, 'differ');
	say_row('%9s%s', '', $_) for @differ[0 .. ($#differ < 4 ? $#differ : 4)];
	say_row('%7d  %s', $count{unknown} // 0, 'agree in run time; the wait before is not known here');
	say_row('%7d  %s', $count{dead} // 0, 'agree in run time; of a task that exits perf has no delay');
	say_row('%7d  %s', $count{broken} // 0, 'perf has a run time, here it is unknown: broken chain');
	say_row('%7d  %s', $count{first} // 0, 'a CPU\'s first switch: 0.000 in perf, unknown here');
	say_row('%7d  %s', $count{censored} // 0, 'still running at the end: no row in perf');
	check($name, $agree < 100 ? "only $agree agree" : (),
	      $agree < 0.99 * $comparable ? 'too many differ' : (),
	      map { "only perf has @$_" } @rest > $comparable / 100 ? @rest : ());
}

# Two tasks share a CPU, and of one of them it is not recorded when it leaves: perf charges who is
# seen next with its time as well.
sub check_fault {
	my $name = 'perf sched timehist charges who is seen next with what ran unseen; here it is unknown';
	my ($cpu) = join('', lines('taskset', '-cp', $$)) =~ /: (\d+)/;
	my $pair = '$0 = "unseen" if !fork; my $t = time + 0.5; 1 while time < $t';
	my %kernel = (seen => 0, unseen => 0);

	if (!perf_record('f.data', qw(record -o f.data -a -R -c 1 -e sched:sched_stat_runtime -e
			 sched:sched_waking -e sched:sched_switch --filter), 'prev_comm != "unseen"',
			 qw(-- taskset -c), $cpu, qw(perl -MTime::HiRes=time -e), $pair)) {
		skip($name, 'perf does not record with a filter');
		return;
	}
	for (lines($schedtap, qw(dump -i f.data -e sched_stat_runtime -C), $cpu)) {
		$kernel{$1 eq 'unseen' ? 'unseen' : 'seen'} += $2 if / comm=(.*) pid=\d+ runtime=(\d+)/;
	}
	my $rows = perf_rows('f.data');
	my $perf = 1000 * sum0(map { $_->[2] } map { @{$rows->{$_}} } grep { /^$cpu / } keys(%$rows));
	my $here = sum0(map { $_->{run_ns} || 0 } rows(qw(timehist -i f.data -C), $cpu));

	say_row('run time of those seen on CPU %d, ms: kernel %.3f, perf %.3f, here %.3f; unseen: %.3f',
		$cpu, map { $_ / 1e6 } $kernel{seen}, $perf, $here, $kernel{unseen});
	check($name, $kernel{unseen} > 2e7 ? () : 'sched_stat_runtime has no such time',
	      $perf < $kernel{seen} + 0.5 * $kernel{unseen} ? 'perf does not' : (),
	      $here > 1.05 * $kernel{seen} ? 'it is charged here as well' : ());
}

# ---- sums ----

sub check_sums {
	my ($file) = @_;
	my @said = `$schedtap summary -i $file --check 2>&1`;

	check("summary --check: $file adds up", $? ? @said : ());
}

check_latency();
check_accounts();
if (system('command -v perf >/dev/null')) {
	skip('perf sched timehist', 'no perf');
} else {
	check_perf();
	check_fault();
}
check_sums($_) for glob('*.dat *.data');
print "1..$n\n";
exit($failed ? 1 : 0);
