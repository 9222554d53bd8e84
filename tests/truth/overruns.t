#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/overruns.t: `schedtap eevdf` of simulated schedules (overruns.c) that follow EEVDF, and of others that break one of its rules:
#
#  - of schedules that follow the rules, nothing is reported
#  - of what breaks a rule at least 95 % is found; long runs that are not found are undecided
#
# Of 12 seeds, in a soak of SEEDS [500] from SEED [1] on. It prints what was found.
use strict;
use warnings;
use JSON::XS;
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $dir = memory_folder();
my $first = $ENV{SOAK} ? $ENV{SEED} // 1 : 1;
my @seeds = $first .. $first + ($ENV{SOAK} ? $ENV{SEEDS} // 500 : 12) - 1;
my @rules = qw(not_eligible beyond_slice lag beyond_deadline);
my (%sums, %failed, %found, %true, @missed);

sub fail {
	my ($test, $text) = @_;
	print "# $text\n" if ++$failed{$test} <= 5;
	my ($seed, $fault) = $text =~ /^seed (\d+) (\w+)/;
	print "# $ENV{BUILD}/tests/truth/overruns $seed $fault\n" if $failed{$test} == 1;
}

# Of one schedule: what is true, and what the report says.
sub schedule {
	my ($seed, $fault) = @_;

	system("$ENV{BUILD}/tests/truth/overruns $seed $fault >$dir/in.txt && $ENV{MKDAT} $dir/in.txt $dir/in.dat") == 0
		or die "overruns $seed $fault failed\n";
	my %truth = map { /^# truth (.*)/ ? ($1 => 1) : () } split(/\n/, slurp_text("$dir/in.txt"));
	my $text = qx($ENV{SCHEDTAP} eevdf -i $dir/in.dat --json 2>&1);
	return (eval { decode_json($text) } // die("seed $seed: $text\n"), \%truth);
}

sub slurp_text {
	open(my $from, '<', $_[0]) or die "$_[0]: $!\n";
	local $/;
	return scalar(readline($from));
}

# A schedule that follows the rules.
sub check_clean {
	my ($seed) = @_;
	my ($got) = schedule($seed, 'none');

	$sums{$_} += $got->{all}{$_} for qw(picks runs preempted);
	for my $rule (@{$got->{rules}}) {
		$sums{undecided}{$rule->{rule}} += $rule->{undecided};
		fail('clean', "seed $seed none: $rule->{rule} $rule->{count} times") if $rule->{count};
	}
}

sub check_fault {
	my ($seed, $fault) = @_;
	my ($got, $truth) = schedule($seed, $fault);
	my %seen = map { ("$_->{rule} $_->{tid} $_->{at_ns}" => 1) } @{$got->{violations}};

	my @lost = grep { !$seen{$_} } keys %$truth;
	my ($rule) = grep { $_->{rule} eq $fault } @{$got->{rules}};

	$true{$fault} += keys %$truth;
	$found{$fault} += keys(%$truth) - @lost;
	push(@missed, map { "seed $seed $_" } @lost);
	fail($fault, "seed $seed $fault: " . @lost . " not found, but $rule->{undecided} undecided")
		if $fault eq 'beyond_slice' && @lost > $rule->{undecided};
}

for my $seed (@seeds) {
	check_clean($seed);
	check_fault($seed, $_) for $ENV{SOAK} ? $rules[$seed % @rules] : @rules;
}
print '1..', 1 + @rules, "\n";
printf("%sok 1 - %d schedules without a violation: %d picks, %d runs, %d of them preempted; undecided: %s\n", $failed{clean} ? 'not ' : '',
	scalar @seeds, @sums{qw(picks runs preempted)}, join(', ', map { "$_ $sums{undecided}{$_}" } @rules));
my $n = 1;
for my $rule (@rules) {
	my ($found, $true) = ($found{$rule} // 0, $true{$rule} // 0);
	my $ok = $true && $found >= 0.95 * $true && !$failed{$rule};

	$failed{$rule}++ unless $ok;
	printf("%sok %d - %s: %d of %d found\n", $ok ? '' : 'not ', ++$n, $rule, $found, $true);
}
print map { "# missed: $_\n" } splice(@missed, 0, 20) if %failed || $ENV{VERBOSE};
exit(%failed ? 1 : 0);
