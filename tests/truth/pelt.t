#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/pelt.t: load tracking by its definition, in floating point, of schedules whose every instant is known.
#
#  - pelt --what-if, of whole and of damaged recordings: each point is the true one, or is not reported
#  - pelt --verify, of recordings whose load-tracking events are the true ones: nothing parts; and what was made wrong is found
#  - --what-if with 32 ms is what was recorded
#  - both of a CPU and of nested cgroups on it: sums of what their tasks have
#
# Of 4 seeds, in a soak of SEEDS [12] from SEED [1] on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(max min);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $dir = memory_folder();
my $first = $ENV{SOAK} ? $ENV{SEED} // 1 : 1;
my @seeds = $first .. $first + ($ENV{SOAK} ? $ENV{SEEDS} // 12 : 4) - 1;
my $y = 0.5 ** (1 / 32);
my %failed;

sub fail {
	my ($test, $text) = @_;
	print "# $text\n" if ++$failed{$test} <= 5;
	my ($seed) = $text =~ /^seed (\d+)/;
	print "# SOAK=1 SEEDS=1 SEED=$seed tests/truth/pelt.t\n" if $failed{$test} == 1;
}

sub report {
	my $text = qx($ENV{SCHEDTAP} pelt @_ --json 2>&1);
	return eval { decode_json($text) } // die "pelt @_: $text\n";
}

# Of the mass that all time up to a period has, what time up to $x has: each whole period has y times the mass of the next one.
sub mass {
	my ($x, $period) = @_;

	return $y ** ($period - int($x)) * ($y / (1 - $y) + $x - int($x));
}

# What spans 0 to $nr have, in the period in which the last of them ends. It is kept in each span.
sub sum_of_spans {
	my ($spans, $nr) = @_;
	my $next = $nr;

	$next-- while $next >= 0 && !defined $spans->[$next][2];
	while (++$next <= $nr) {
		my ($from, $to) = @{$spans->[$next]};
		my $before = $next ? $spans->[$next - 1] : [0, 0, 0];

		$spans->[$next][2] = $before->[2] * $y ** (int($to) - int($before->[1])) + mass($to, int($to)) - mass($from, int($to));
	}
	return $nr >= 0 ? $spans->[$nr][2] : 0;
}

# The average at $now of the spans [from, to] in which 1024 are added, and of one more from $open_from on, if it is defined. Times in periods
# of the definition; spans are in their order.
sub defined_average {
	my ($spans, $now, $open_from) = @_;
	my ($ended, $high) = (0, scalar @$spans);

	while ($ended < $high) {
		my $middle = int(($ended + $high) / 2);

		if ($spans->[$middle][1] <= $now) {
			$ended = $middle + 1;
		} else {
			$high = $middle;
		}
	}
	my $sum = $ended ? sum_of_spans($spans, $ended - 1) * $y ** (int($now) - int($spans->[$ended - 1][1])) : 0;
	for my $from (grep { defined && $_ < $now } $ended < @$spans ? $spans->[$ended][0] : undef, $open_from) {
		$sum += mass($now, int($now)) - mass($from, int($now));
	}
	return 1024 * $sum / mass($now, int($now));
}

# ---- other half-lives ------------------------------------------------------------------------
my @damages = qw(whole waking loss losses overwritten switch_losses);
my $points = 0;

# Of each tid that one task had: the times in which its util, and its runnable, grow.
sub growth {
	my ($folder) = @_;
	my (%tid, %spans);

	open(my $in, '<', "$folder/truth.jsonl") or die;
	while (<$in>) {
		my $o = decode_json($_);
		push @{$tid{$o->{tid}}}, $o->{task} if $o->{what} eq 'task';
		push @{$spans{$o->{task}}{util}}, [$o->{from_ns}, $o->{to_ns} // 9e18] if $o->{what} eq 'run';
		push @{$spans{$o->{task}}{runnable}}, [$o->{from_ns}, $o->{to_ns} // 9e18]
			if $o->{what} =~ /^(run|waking|preempted)$/;
	}
	return map { $_ => $spans{$tid{$_}[0]} // {} } grep { @{$tid{$_}} == 1 } keys %tid;
}

sub check_what_if {
	my ($seed) = @_;
	my $folder = "$dir/$seed";

	mkdir($folder);
	system("$ENV{BUILD}/tests/truth/generate", $seed, 600, $folder) == 0 or die 'generate failed';
	my %growth = growth($folder);
	for my $damage (@damages) {
		my @runnable = $damage =~ /switch/ ? () : '-s runnable'; # it has no wakeups
		my $json = report("-i $folder/$damage.dat -c '*' -s util @runnable --points --what-if halflife=100us,250us");
		for my $s (@{$json->{series}}) {
			my ($name, $halflife) = $s->{signal} =~ /^(\w+)@([\d.]+)ms$/ or die $s->{signal};
			my $spans = $growth{$s->{tid}} or next;
			my ($period, $start) = ($halflife / 32 * 1024 * 1024, $json->{recording}{start_ns});
			# what was before the window is as if it had run into it
			my @spans = map { [max(($_->[0] - $start) / $period, 0), ($_->[1] - $start) / $period] } grep { $_->[1] > $start } @{$spans->{$name}};
			for (grep { defined $_->[1] } @{$s->{points}}) {
				my $true = defined_average(\@spans, ($_->[0] - $start) / $period);
				$points++;
				# half of what may be open, the fraction that is cut off, and the sum's own
				fail('what-if', "seed $seed $damage: $s->{signal} of $s->{tid} at $_->[0] is $_->[1], not $true")
					if abs($_->[1] + 0.5 - $true) > 5.5;
			}
		}
	}
}

# ---- what was recorded -----------------------------------------------------------------------
my ($compared, %compared) = (0);

# Periods of the window begin with those of the PELT clock, which is the recording's.
sub start_of { return 1024 * 1024 * (5000 + $_[0]) }

# One CPU and some tasks, which run in turn and sleep; updates come at each switch and each 4 ms, and have the true values. Of $wrong the
# util is $by greater from 400 ms on. Some are in a cgroup, one in one below that: what a queue has is the sum of what its tasks have, and so
# has the entity of a cgroup. All weigh 1024; no event reports an entity's weight.
my %paths = (1 => '/', 20 => '/g', 21 => '/g/h');
my %cgroups = (101 => 20, 102 => 20, 103 => 21, 104 => 1);

sub make {
	my ($seed, $wrong, $by) = @_;
	my $units = sub { int($_[0] / 1024) };
	my ($now, @tasks) = (start_of($seed) + 1);
	my $end = $now + 1_000_000_000;
	my ($runs, $text) = (0, '');
	my %updated;
	my $place = sub { return $units->($_[0]) / 1024 };
	my $sum_of = sub {
		my ($path, $what, $ns) = @_;
		my $sum = 0;
		for (grep { index("$paths{$cgroups{$_->{tid}}}/", $path eq '/' ? '/' : "$path/") == 0 } @tasks) {
			my $from = $what eq 'queued' ? $_->{queued_from} : $_->{tid} == $runs ? $_->{run_from} : undef;
			$sum += defined_average($_->{$what}, $place->($ns), defined $from ? $place->($from) : undef);
		}
		return $sum;
	};
	my $update_queues = sub {
		my ($t, $ns) = @_;
		my $path = $paths{$cgroups{$t->{tid}}};
		for my $cgroup (sort { $b <=> $a } grep { index("$path/", $paths{$_} eq '/' ? '/' : "$paths{$_}/") == 0 } keys %paths) {
			next if $place->($ns) - ($updated{$cgroup} // 0) < 1;
			$updated{$cgroup} = $place->($ns);
			my ($util, $runnable) = map { $sum_of->($paths{$cgroup}, $_, $ns) } 'run', 'queued';
			$util += $by if $cgroup == $wrong && $ns > $end - 600_000_000;
			my $values = sprintf('load=%d runnable=%d util=%d update_time=%d', $runnable, $runnable, $util, $units->($ns) * 1024);
			$text .= "$ns 0 $runs schedtap:sched_pelt_cfs cpu=0 cgroup=$cgroup $values\n";
			$text .= "$ns 0 $runs schedtap:sched_pelt_se cpu=0 pid=-1 cgroup=$cgroup $values\n" if $cgroup != 1;
		}
	};
	my $count = sub {
		my ($ns, $change) = @_;
		my $nr = grep { defined $_->{queued_from} } @tasks;
		$text .= "$ns 0 $runs schedtap:sched_update_nr_running cpu=0 change=$change nr_running=$nr h_nr_queued=$nr h_nr_runnable=$nr\n";
	};
	my $update = sub {
		my ($t, $ns) = @_;
		$update_queues->($t, $ns);
		my $util = defined_average($t->{run}, $place->($ns)) + ($t->{tid} == $wrong && $ns > $end - 600_000_000 ? $by : 0);
		my $runnable = defined_average($t->{queued}, $place->($ns));
		return if $place->($ns) - ($t->{updated} // 0) < 1; # like the kernel, at most once a period
		$t->{updated} = $place->($ns);
		$text .= sprintf("%d 0 %d schedtap:sched_pelt_se cpu=0 pid=%d comm=t%d cgroup=%d load=%d runnable=%d util=%d update_time=%d\n",
			$ns, $runs, $t->{tid}, $t->{tid}, $cgroups{$t->{tid}}, $runnable, $runnable, $util, $units->($ns) * 1024);
	};
	my $sleep = sub { my ($t, $ns) = @_; $t->{wakes} = $ns + 1e4 + int(rand(rand() < 0.5 ? 2e6 : 6e7)); $t->{queued_from} = undef };
	my $switch = sub {
		my ($to, $state) = @_;
		my ($from) = grep { $_->{tid} == $runs } @tasks;
		for ($from // ()) { # end the intervals now, so that the update has the values of this moment
			push @{$_->{run}}, [$place->($_->{run_from}), $place->($now)] and $_->{run_from} = $now;
			push @{$_->{queued}}, [$place->($_->{queued_from}), $place->($now)] and $_->{queued_from} = $now;
			$update->($_, $now);
			$sleep->($_, $now), $count->($now, -1) if $state;
		}
		if ($to) {
			push @{$to->{queued}}, [$place->($to->{queued_from}), $place->($now)];
			$to->{queued_from} = $to->{run_from} = $now;
			$update->($to, $now);
		}
		$text .= sprintf("%d 0 %d sched:sched_switch prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%d next_comm=%s next_pid=%d next_prio=120\n",
			$now, $runs, $runs ? "t$runs" : 'swapper/0', $runs, $runs ? $state : 0, $to ? "t$to->{tid}" : 'swapper/0', $to ? $to->{tid} : 0);
		$runs = $to ? $to->{tid} : 0;
	};

	srand($seed);
	push @tasks, { tid => 100 + $_, run => [], queued => [], wakes => $now + 1e5 * $_ } for 1 .. 4;
	$text .= sprintf("meta {\"window\":{\"start_ns\":%d,\"end_ns\":%d},\"cgroups\":%s}\ncpus 1\n", $now - 1, $end,
		encode_json([map { [$_ + 0, $paths{$_}] } sort { $a <=> $b } keys %paths]));
	$now += 1000;
	$switch->(undef, 0);
	my ($slice_end, $tick) = ($end, $now);
	while ($now < $end) {
		my @queued = grep { defined $_->{queued_from} && $_->{tid} != $runs } @tasks;
		my ($t) = sort { $a->{wakes} <=> $b->{wakes} } grep { !defined $_->{queued_from} } @tasks;
		$tick += 4e6 while $tick <= $now;
		$now = max($now + 1, min($slice_end, $tick, $t ? $t->{wakes} : 9e18));
		if ($t && $now >= $t->{wakes}) {
			$update->($t, $now);
			$t->{queued_from} = $now;
			$count->($now, 1);
			$text .= "$now 0 $runs sched:sched_waking comm=t$t->{tid} pid=$t->{tid} prio=120 target_cpu=0\n";
			push @queued, $t;
			next if $runs;
		} elsif ($now < $slice_end) {
			for (grep { $_->{tid} == $runs } @tasks) {
				push @{$_->{run}}, [$place->($_->{run_from}), $place->($now)];
				push @{$_->{queued}}, [$place->($_->{queued_from}), $place->($now)];
				$_->{run_from} = $_->{queued_from} = $now;
				$update->($_, $now);
			}
			next;
		}
		next unless $now >= $slice_end || !$runs;
		$switch->($queued[int(rand(@queued))], $runs && rand() < 0.5 ? 1 : 0) if @queued;
		$switch->(undef, 1) if !@queued;
		$slice_end = $runs ? $now + 2e4 + int(rand(1e7)) : $end;
	} continue {
		if (!$runs && (my ($next) = grep { defined $_->{queued_from} } @tasks)) {
			$now++;
			$switch->($next, 0);
			$slice_end = $now + 2e4 + int(rand(1e7));
		}
	}
	open(my $out, '>', "$dir/in.txt") or die;
	print $out $text;
	close($out);
	system($ENV{MKDAT}, "$dir/in.txt", "$dir/in.dat") == 0 or die "mkdat failed\n";
	push @{$_->{queued}}, [$place->($_->{queued_from}), $place->($end)] for grep { defined $_->{queued_from} } @tasks;
	push @{$_->{run}}, [$place->($_->{run_from}), $place->($end)] for grep { $_->{tid} == $runs } @tasks;
	return @tasks;
}

# Of CPUs and cgroups. The fraction that is cut off is that of the sum, whose own error is that of all its tasks.
sub check_queues {
	my ($seed) = @_;

	for (map { @{report("-i $dir/in.dat $_ --verify")->{verified}} } '', "-g '*'") {
		$compared{$_->{signal} . ($_->{cgroup} // '')} += $_->{compared};
		fail('queues', "seed $seed: $_->{signal} of CPU 0 " . ($_->{cgroup} // '') . ": error $_->{error_max} at $_->{max_at_ns}")
			if defined $_->{error_max} && $_->{error_max} > 2;
	}
}

# Other half-lives of cgroups: the sums of what their tasks would have.
my $group_points = 0;

sub check_groups {
	my ($seed, @tasks) = @_;
	my ($period, $json) = (2 / 32 * 1024 * 1024, report("-i $dir/in.dat -g /g -s util -s runnable --points --what-if halflife=2ms"));
	my $start = $json->{recording}{start_ns};

	for my $s (@{$json->{series}}) {
		my ($what) = $s->{signal} =~ /^(\w+)@/;
		my @spans = map { [map { [map { ($_ * 1024 * 1024 - $start) / $period } @$_[0, 1]] } @{$_->{$what eq 'util' ? 'run' : 'queued'}}] }
			grep { index("$paths{$cgroups{$_->{tid}}}/", "$s->{path}/") == 0 } @tasks;
		my @points = grep { defined $_->[1] } @{$s->{points}};
		for (@points[grep { !($_ % 50) } 0 .. $#points]) {
			my $true = 0;
			my $now = ($_->[0] - $start) / $period;
			$true += defined_average($_, $now) for @spans;
			$group_points++;
			# half of what may be open, the fraction, and what the kernel's unit of 1024 ns leaves of a period
			fail('groups', "seed $seed: $s->{signal} of $s->{path} at $_->[0] is $_->[1], not $true") if abs($_->[1] + 0.5 - $true) > 7;
		}
	}
}

sub check_verify {
	my ($seed) = @_;

	check_groups($seed, make($seed, 0, 0));
	my $json = report("-i $dir/in.dat -c '*' --verify");
	for (@{$json->{verified}}) {
		$compared += $_->{compared};
		# 1: the sum's own, where the fraction is at its edge
		fail('verify', "seed $seed: $_->{signal} of $_->{tid}: error $_->{error_max} at $_->{max_at_ns}")
			if defined $_->{error_max} && $_->{error_max} > 1;
		my $sum = 0;
		$sum += $_ for @{$_}{qw(steady migration clock first repeated attached delayed throttled lost unknown)};
		fail('sums', "seed $seed: $sum of $_->{updates} updates of $_->{tid}") if $sum != $_->{updates};
	}
	check_queues($seed);
	# what holds in the whole holds in a part of it
	my $time = sprintf('%.3f,%.3f', start_of($seed) / 1e9 + 0.4, start_of($seed) / 1e9 + 0.8);
	for (@{report("-i $dir/in.dat -c '*' --verify --time $time")->{verified}}) {
		fail('window', "seed $seed $time: $_->{signal} of $_->{tid}: error $_->{error_max}")
			if defined $_->{error_max} && $_->{error_max} > 1;
	}
	my $recorded = report("-i $dir/in.dat -c '*' --points");
	my $defined = report("-i $dir/in.dat -c '*' --points --what-if halflife=32ms");
	for my $s (@{$recorded->{series}}) {
		my ($d) = grep { $_->{tid} == $s->{tid} } @{$defined->{series}};
		my %at = map { $_->[0] => $_->[1] } @{$d->{points}};
		for (grep { defined $at{$_->[0]} } @{$s->{points}}) {
			$failed{agree} //= 0;
			# half of what may be open, and the sum's own
			fail('agree', "seed $seed: util of $s->{tid} at $_->[0] was recorded as $_->[1], and is $at{$_->[0]}")
				if abs($_->[1] - $at{$_->[0]}) > 5;
		}
	}
	make($seed, 102, 9);
	my ($worst) = sort { $b->{error_max} <=> $a->{error_max} }
		grep { defined $_->{error_max} } @{report("-i $dir/in.dat -c '*' --verify -s util")->{verified}};
	fail('wrong', "seed $seed: 9 added to the util of 102 are not found: $worst->{error_max} of $worst->{tid}")
		if $worst->{tid} != 102 || abs($worst->{error_max} - 8) > 2;
	make($seed, 21, 9);
	($worst) = grep { $_->{signal} eq 'util' && $_->{cgroup} eq '/g/h' } @{report("-i $dir/in.dat -g '/g*' --verify")->{verified}};
	fail('wrong', "seed $seed: 9 added to the util of /g/h are not found: $worst->{error_max}") if abs($worst->{error_max} - 8) > 2;
}

for my $seed (@seeds) {
	check_what_if($seed);
	check_verify($seed);
}

my @tests = (
	['what-if', "other half-lives: $points points of whole and damaged recordings are the true ones", $points > 1000],
	['verify', "$compared updates by the definition: none is off by more than 1", $compared > 1000],
	['queues', 'and of CPUs and cgroups, by more than 2', !grep { ($compared{$_} // 0) < 100 } qw(util util/g util/g/h runnable
		runnable/g runnable/g/h runnable_entity/g runnable_entity/g/h load/g/h)],
	['groups', "other half-lives of cgroups: $group_points points", $group_points > 100],
	['sums', 'each update is counted once', 1],
	['window', 'a window agrees', 1],
	['agree', '--what-if with the half-life of the kernel is what was recorded', exists $failed{agree}],
	['wrong', 'a value that is wrong is found', 1],
);
my $n = 0;
print '1..' . @tests . "\n";
print $failed{$_->[0]} || !$_->[2] ? 'not ok ' : 'ok ', ++$n, " - $_->[1]\n" for @tests;
exit(grep { $failed{$_->[0]} || !$_->[2] } @tests);
