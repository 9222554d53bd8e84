# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sched_pick against the members it is made of (picks.h), calculated here without a bound on numbers: on this machine, and in guests.
package Picks;
use strict;
use warnings;
use Exporter qw(import);
use Fcntl qw(LOCK_EX);
use Math::BigInt try => 'GMP';
use Test::More;
our @EXPORT = qw(pick_recording check_picks);

# A recording of pick_load with raw_pick beside the scheduler's events: made by the first of the files that share a run, for all of them.
# Return: its path.
sub pick_recording {
	my ($schedtap, $here, $dir) = @_;
	my $file = ($ENV{SHARED} // $dir) . '/pick_load.dat';

	open(my $lock, '>', "$file.lock") or die "$file.lock: $!\n";
	flock($lock, LOCK_EX) or die "$file.lock: $!\n";
	if (!-e $file) {
		my ($define) = grep { system("$schedtap list --define $here/$_ >/dev/null 2>&1") == 0 } qw(picks_flat.h picks.h);
		my $said = `$schedtap record -b bpf -o $file.new --define $here/$define -e raw_pick -e sched -e pick -- $here/pick_load 2 2>&1`;

		is($?, 0, 'recorded') or diag($said);
		chmod(0400, "$file.new");
		rename("$file.new", $file) or die "$file: $!\n";
	}
	return $file;
}

sub big { return Math::BigInt->new($_[0]) }

# Of two u64, as the kernel subtracts them: s64.
sub ahead {
	my ($a, $b) = @_;
	my $d = (big($a) - big($b)) % (big(1) << 64);

	return $d >= (big(1) << 63) ? $d - (big(1) << 64) : $d;
}

# What an entity weighs in its queue's sums.
sub scaled {
	my ($w, $shift) = @_;

	return big($w) if defined $shift && !$shift;
	my $scaled = big($w) >> ($shift // 10);
	return $scaled < 2 ? big(2) : $scaled;
}

# A queue's sum and weight, counted from its zero, with the entity that runs. @of: whose members: '' or prev_
sub sums {
	my ($raw, $of, $v, $w) = @_;
	my $zero = $raw->{"${of}zero"} // $raw->{"${of}zero_before"};
	my $sum = big($raw->{"${of}sum"} // $raw->{"${of}sum_before"});
	my $load = big($raw->{"${of}load"} // $raw->{"${of}load_before"});
	my $alone = $load == 0;

	if (defined $v) {
		my $weight = scaled($w, $raw->{"${of}shift"});

		$sum += ahead($v, $zero) * $weight;
		$load += $weight;
	}
	return ($zero, $sum, $load, $alone);
}

# V - v; division of Math::BigInt rounds down, as avg_vruntime() does.
sub lag {
	my ($zero, $sum, $load, $v) = @_;

	return ($load == 0 ? big(0) : $sum / $load) - ahead($v, $zero);
}

# What must stand in .levels, of as many as raw_pick has: three.
sub levels {
	my ($raw) = @_;
	my @words;

	for my $l (map { my $n = $_; +{map { $_ => $raw->{"level${n}_$_"} } qw(w group vtime v deadline vprot slice)} } 0 .. 2) {
		last if !$l->{w};
		push(@words, $l->{group}, $l->{w}, ahead($l->{vtime}, 0), ahead($l->{vtime}, $l->{v}), ahead($l->{deadline}, $l->{v}),
			defined $raw->{vprot} ? ahead($l->{vprot}, $l->{v}) : 0, $l->{slice});
	}
	return join(',', @words);
}

# What must stand in the event. Return: it, and of a pick among several whether it was eligible: else undef.
sub expect {
	my ($raw) = @_;
	my (%want, $eligible);

	$want{levels} = $raw->{is_curr} ? levels($raw) : '';
	$want{$_} = 0 for qw(vtime group next_lag next_deadline next_vprot next_slice next_weight prev_lag);
	if ($raw->{is_curr}) {
		my ($zero, $sum, $load, $alone) = sums($raw, '', $raw->{v}, $raw->{w});

		$want{group} = $raw->{css} || -($raw->{autogroup} // 0);
		$want{vtime} = ahead($raw->{v}, 0) + lag($zero, $sum, $load, $raw->{v});
		$want{next_lag} = lag($zero, $sum, $load, $raw->{v});
		$want{next_deadline} = ahead($raw->{deadline}, $raw->{v});
		$want{next_vprot} = ahead($raw->{vprot}, $raw->{v}) if defined $raw->{vprot};
		$want{next_slice} = $raw->{slice};
		$want{next_weight} = $raw->{w};
		$eligible = $sum >= ahead($raw->{v}, $zero) * $load if !$alone; # vruntime_eligible()
	}
	if ($raw->{prev_on_rq}) {
		my @curr = $raw->{prev_curr_on_rq} ? @$raw{qw(prev_curr_v prev_curr_w)} : ();

		$want{prev_lag} = lag((sums($raw, 'prev_', @curr))[0 .. 2], $raw->{prev_v});
	}
	@want{qw(h_nr_queued h_nr_runnable next_pid prev_queued prev_delayed prev_custom_slice)} =
		@$raw{qw(nr_queued nr_runnable pid prev_on_rq prev_delayed prev_custom)};
	delete($want{next_vprot}) if !defined $raw->{vprot};
	return (\%want, $eligible);
}

# What pick_load has is in them: nice values; where it has cgroups, their quota.
sub check_variety {
	my ($picks, $has_cgroups, $has_levels) = @_;
	my %weights = map { $_->{next_weight} => 1 } @$picks;

	cmp_ok(scalar(grep { $_ } keys %weights), '>=', 3, 'of tasks of several weights');
	cmp_ok(scalar(grep { $_->{prev_throttled} } @$picks), '>', 0, 'tasks that have used up their quota') if $has_cgroups;
	cmp_ok(scalar(grep { ($_->{levels} =~ tr/,//) > 2 * 7 } @$picks), '>', 0, 'tasks in three groups') if $has_cgroups && $has_levels;
	cmp_ok(scalar(grep { $_->{prev_delayed} } @$picks), '>', 0, 'tasks that are dequeued late');
}

# @text: what `dump --json` prints of raw_pick and sched_pick: a line for each, both for each switch.
sub check_picks {
	my ($text, $least, $has_cgroups) = @_;
	my (%before, %alone_since, @pairs, @differ, @not_eligible);
	my $alone = my $several = my $losses = 0;

	for my $line (split(/\n/, $text)) {
		$losses++ if $line =~ /^\{"lost":/; # the partner of an event next to a loss may be lost
		my ($cpu, $event, $fields) = $line =~ /"cpu":(\d+).*"event":"\w+:(\w+)","fields":\{(.*)\}/ or next;
		my $now = {$fields =~ /"(\w+)":(-?\d+)/g};
		$now->{levels} = $1 if $fields =~ /"levels":\[([-\d,]*)\]/;
		my $pid = $event eq 'raw_pick' ? $now->{pid} : $now->{next_pid};
		my $other = $before{$cpu};

		# the programs of a tracepoint run one after the other: what belongs together is neighbours; the first may be half
		if ($other && $other->{event} ne $event && $other->{pid} == $pid) {
			push(@pairs, $event eq 'raw_pick' ? [$now, $other->{fields}] : [$other->{fields}, $now]);
			delete($before{$cpu});
			$alone += $alone_since{$cpu} // 0;
			$alone_since{$cpu} = 0;
			next;
		}
		# one of the programs begins first, and one ends last
		$alone_since{$cpu}++ if $other && defined($alone_since{$cpu});
		$before{$cpu} = {event => $event, pid => $pid, fields => $now};
	}
	# Math::BigInt takes 2 ms for each: in a soak all are calculated
	for ($ENV{SOAK} || @pairs < 2000 ? @pairs : @pairs[0 .. 1999]) {
		my ($r, $p) = @$_;
		my ($want, $eligible) = expect($r);

		next if $p->{donor};
		push(@differ, map { "$_: $p->{$_}, not $want->{$_}" } grep { ($p->{$_} // 'none') ne "$want->{$_}" } sort keys %$want);
		next if !defined $eligible;
		$several++;
		push(@not_eligible, $p->{next_lag}) if !$eligible;
		push(@differ, "next_lag $p->{next_lag} of one that is " . ($eligible ? '' : 'not ') . 'eligible')
			if ($p->{next_lag} >= 0) != !!$eligible;
	}
	check_variety([map { $_->[1] } @pairs], $has_cgroups, scalar(grep { $_->[0]{level0_w} } @pairs));
	note(scalar(@pairs) . " switches, $several of them picks among several");
	cmp_ok($several, '>', $least, 'picks among several');
	cmp_ok($alone, '<=', 2 * $losses, 'of each switch both events');
	is(scalar(@differ), 0, 'sched_pick is what its members say') or diag(map { "$_\n" } splice(@differ, 0, 10));
	is(scalar(@not_eligible), 0, 'every pick was eligible') or diag("V - v: @not_eligible[0 .. ($#not_eligible < 9 ? $#not_eligible : 9)]");
}

1;
