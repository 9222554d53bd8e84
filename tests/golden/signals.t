#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Signals of CPUs in recordings made at random, with losses: what pelt says must be what was put in.
#
#  - known and unknown time of each signal add up to the window, and figures are those of the points
#  - no value is known within a loss, and after one not before the next update
#  - a window's values are the whole's, from the first update in it on
#
# Of 40 recordings, in a soak of SEEDS [500] from SEED [1] on.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(max min);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $dir = memory_folder();
my ($start, $end, $cpus) = (1_000_000_000, 1_000_001_000, 3);
my ($failed, $checked) = (0, 0);

sub fail {
	my ($seed, $text) = @_;
	print "# SOAK=1 SEEDS=1 SEED=$seed tests/golden/signals.t\n" unless $failed++;
	print "# seed $seed: $text\n";
}

# Returns the updates, { "SIGNAL CPU" => [[ns, value], ...] }, and the losses, [[from, to], ...].
sub make {
	my ($seed) = @_;
	my (%updates, @losses, @now, %used);

	srand($seed);
	open(my $out, '>', "$dir/in.txt") or die;
	print $out "meta {\"window\":{\"start_ns\":$start,\"end_ns\":$end}}\ncpus $cpus\n";
	@now = ($start) x $cpus; # each CPU's events are in order
	for (1 .. 40) {
		my $cpu = int(rand($cpus));
		my $ns = $now[$cpu] += 1 + int(rand(60));
		$ns = ++$now[$cpu] while $used{$ns}++; # the order of two events with one time stamp is unknown
		last if $ns >= $end;
		if (rand() < 0.15 && $ns > $start + 1) {
			my $to = min($ns + 1 + int(rand(80)), $end - 1);
			last if $to <= $ns;
			print $out "lost $cpu $ns $to 3\n";
			push @losses, [$ns, $to];
			$now[$cpu] = $to;
			next;
		}
		my ($of, $value) = (int(rand($cpus)), int(rand(1024))); # another CPU may record the event
		if (rand() < 0.5) {
			print $out "$ns $cpu 0 schedtap:sched_pelt_cfs cpu=$of cgroup=1 util=$value\n";
			push @{$updates{"util $of"}}, [$ns, $value];
		} else {
			$value %= 6;
			print $out "$ns $cpu 0 schedtap:sched_update_nr_running cpu=$of nr_running=$value\n";
			push @{$updates{"nr_running $of"}}, [$ns, $value];
		}
	}
	close($out);
	system($ENV{MKDAT}, "$dir/in.txt", "$dir/in.dat") == 0 or die "mkdat failed\n";
	@$_ = sort { $a->[0] <=> $b->[0] } @$_ for values %updates;
	return (\%updates, \@losses);
}

# Return: the intervals [since, until, value] of [$from, $to] in which the value is known: from an
# update to the next one or to a loss.
sub truth {
	my ($updates, $losses, $from, $to) = @_;
	my @known;
	my @in = grep { $_->[0] >= $from && $_->[0] <= $to } @$updates;

	for my $i (0 .. $#in) {
		my ($since, $value) = @{$in[$i]};
		my $until = $i < $#in ? $in[$i + 1][0] : $to;
		for (@$losses) { # those that are not over when the value comes
			$until = min($until, max($_->[0], $since)) if $_->[1] > $since;
		}
		push @known, [$since, $until, $value] if $until > $since;
	}
	return @known;
}

sub known_ns { my $ns = 0; $ns += $_->[1] - $_->[0] for @_; return $ns }

# Return: the intervals [since, until, value] that the points printed by pelt stand for.
sub intervals {
	my ($points, $to) = @_;
	my @known;

	for my $i (0 .. $#$points) {
		my ($since, $value) = @{$points->[$i]};
		my $until = $i < $#$points ? $points->[$i + 1][0] : $to;
		push @known, [$since, $until, $value] if defined $value && $until > $since;
	}
	return @known;
}

sub text_of {
	return join(', ', map { "$_->[2] from $_->[0] to $_->[1]" } @_);
}

sub time_of {
	return sprintf('%.9f,%.9f', map { $_ / 1e9 } @_);
}

# @$ran: what pelt gave, of this window.
sub check {
	my ($seed, $updates, $losses, $ran, $from, $to) = @_;
	my $time = time_of($from, $to);

	return if $ran->[2] =~ /has no|has none/; # in that window
	my $json = eval { decode_json($ran->[0]) } or return fail($seed, "$time: @$ran");
	for my $s (@{$json->{series}}) {
		my $name = "$s->{signal} $s->{cpu}";
		my @want = truth($updates->{$name}, $losses, $from, $to);
		my @got = intervals($s->{points}, $to);
		my ($sum, $gaps, $last) = (0, 0, $from);

		$checked++;
		for (@got) {
			$sum += ($_->[1] - $_->[0]) * $_->[2];
			$gaps += $_->[0] - $last;
			$last = $_->[1];
		}
		$gaps += $to - $last;
		fail($seed, "$time $name: " . text_of(@got) . ', is ' . text_of(@want)) if text_of(@got) ne text_of(@want);
		fail($seed, "$time $name: known $s->{known_ns} and unknown $gaps")
			if $s->{known_ns} + $gaps != $to - $from;
		fail($seed, "$time $name: avg $s->{avg} of $sum")
			if $s->{known_ns} && abs($s->{avg} * $s->{known_ns} - $sum) > 1e-3 * $sum + 1e-6;
		fail($seed, "$time $name: more is known than in the whole")
			if $s->{known_ns} > known_ns(truth($updates->{$name}, $losses, $start, $end));
	}
}

my $seeds = $ENV{SOAK} ? $ENV{SEEDS} // 500 : 40;
my $first = $ENV{SOAK} ? $ENV{SEED} // 1 : 1;
for my $seed ($first .. $first + $seeds - 1) {
	my ($updates, $losses) = make($seed);
	my $middle = $start + 1 + int(rand($end - $start - 2));
	my @windows = ([$start, $end], [$start, $middle], [$middle, $end]);
	my @ran = runs(map { "pelt -i $dir/in.dat -s util -s nr_running --json --points --time " . time_of(@$_) } @windows);

	check($seed, $updates, $losses, shift(@ran), @$_) for @windows;
}
print "1..2\n", $failed ? 'not ok' : 'ok', " 1 - $seeds recordings: each signal is as it was put in\n";
print $checked ? 'ok' : 'not ok', " 2 - $checked signals were looked at\n";
exit($failed || !$checked);
