#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/run.t [COUNT [FIRST]]: simulated schedules, and recordings of them, whole and damaged:
# the reports must be right, or say unknown. JOBS at a time [1]. One line of TAP per seed, and one for what reports
# cannot always detect: where events are missing without a record (hidden, single), something may be wrong
# in a few of the recordings (docs/answers.md says why), but not in more than one of fifteen. The last one fails if
# many seeds had not all kinds of waits.
#
# Without COUNT these are fixed seeds, the first SEEDS of them [all]; in a soak SEEDS [120] from SEED [1] on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use List::Util qw(min);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $here = dirname(abs_path($0));
my $generate = "$ENV{BUILD}/tests/truth/generate";
require "$here/check";

# 22 and 25 have all kinds of waits between them, and so have 7 and 36: no other two are as short. 13, 20, 28 and 41 have most of the rare ones
# again (stop, lazy, held), among other events. Each seed has every kind of damage. In 51 a wait is placed before the window, and in 79
# the sched_wakeup of a wait that is throttled is lost.
my @fixed = (22, 25, 7, 36, 13, 20, 28, 41, 51, 79);
my ($count, $first) = @ARGV ? ($ARGV[0], $ARGV[1] // 1) : $ENV{SOAK} ? ($ENV{SEEDS} // 120, $ENV{SEED} // 1) : ();
my @seeds = defined $count ? ($first .. $first + $count - 1) : @fixed[0 .. min($ENV{SEEDS} // scalar(@fixed), scalar(@fixed)) - 1];
my $jobs = $ENV{JOBS} // 1;
my ($failed, $unrecorded) = (0, 0);
my @kinds = qw(throttled placing held offline irq softirq idle_state idle_exit idle stop deadline realtime higher resched lazy dsq group
	ineligible protected earlier_deadline overrun queued lower affinity);

unless (-x $ENV{SCHEDTAP} && -x $generate) {
	print "Bail out! $ENV{SCHEDTAP} or $generate is missing\n";
	exit 1;
}
sub events_of {
	my ($seed) = @_;
	return 200 + $seed * 37 % 400;
}

# Of each seed whose turn it is: a line of JSON, with what is wrong.
sub check_seeds {
	my ($job) = @_;

	$| = 1;
	for (my $n = $job; $n < @seeds; $n += $jobs) {
		my $folder = memory_folder();
		my @wrong = system($generate, $seeds[$n], events_of($seeds[$n]), $folder) ? ('generate failed') : check_folder("$folder");

		print encode_json({ wrong => \@wrong, kinds => \our %kinds_seen }), "\n";
	}
}

my @jobs = map {
	my $pid = open(my $from, '-|') // die "fork: $!\n";

	if (!$pid) {
		check_seeds($_);
		exit 0;
	}
	$from;
} 0 .. $jobs - 1;
my %seen;
print '1..' . (@seeds + 2) . "\n";
for my $n (1 .. @seeds) {
	my $seed = $seeds[$n - 1];
	my $line = readline($jobs[($n - 1) % $jobs]);
	my $got = $line ? decode_json($line) : { wrong => ['check failed'] };
	my @wrong = @{$got->{wrong}};

	$seen{$_} = 1 for keys %{$got->{kinds}};
	for my $damage (qw(hidden single)) {
		$unrecorded++ if grep { /^$damage:/ } @wrong;
	}
	@wrong = grep { !/^(hidden|single):/ } @wrong;
	$failed ||= @wrong;
	print @wrong ? 'not ' : '', "ok $n - seed $seed, @{[events_of($seed)]} events\n";
	next unless @wrong;
	print STDERR map { "# $_\n" } "$generate $seed @{[events_of($seed)]} DIR && $here/check DIR", @wrong;
}
my $many = $unrecorded > 3 + 2 * @seeds / 15;
printf("%sok %d - wrong in %d of %d recordings without a record of what is missing\n",
	$many ? 'not ' : '', @seeds + 1, $unrecorded, 2 * @seeds);
my @unseen = grep { !$seen{$_} } @kinds;
my $lacks = @unseen && ($count // 60) >= 60;
printf("%sok %d - waits of %d of %d kinds%s\n", $lacks ? 'not ' : '', @seeds + 2, @kinds - @unseen, scalar @kinds,
	@unseen ? ", not of @unseen" : '');
exit($failed || $many || $lacks ? 1 : 0);
