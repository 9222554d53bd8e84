#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/run.t [COUNT [FIRST]]: simulated schedules, and recordings of them, whole and damaged:
# the reports must be right, or say unknown. One line of TAP per seed, and one for what cannot
# always be told: where events are missing without a record (hidden, single), something may be wrong
# in a few of the recordings (docs/answers.md says why), but not in more than one of fifteen.
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $here = dirname(abs_path($0));
my $build = dirname(abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap"));
my $generate = "$build/tests/truth/generate";
$ENV{SCHEDTAP} = "$build/schedtap";
require "$here/check";

my $count = $ARGV[0] // $ENV{SEEDS} // 120;
my $first = $ARGV[1] // 1;
my ($failed, $unrecorded) = (0, 0);

unless (-x $ENV{SCHEDTAP} && -x $generate) {
	print "Bail out! $ENV{SCHEDTAP} or $generate is missing\n";
	exit 1;
}
print '1..' . ($count + 1) . "\n";
for my $n (1 .. $count) {
	my $seed = $first + $n - 1;
	my $events = 200 + $seed * 37 % 400;
	# in memory where there is such a place: every recording is synced
	my $folder = tempdir('schedtap-truth-XXXXXX', DIR => -w '/dev/shm' ? '/dev/shm' : '/tmp',
		CLEANUP => 1);
	my @wrong = system('timeout', 10, $generate, $seed, $events, $folder) ?
		('generate failed') : check_folder($folder);

	for my $damage (qw(hidden single)) {
		$unrecorded++ if grep { /^$damage:/ } @wrong;
	}
	@wrong = grep { !/^(hidden|single):/ } @wrong;
	$failed ||= @wrong;
	print @wrong ? 'not ' : '', "ok $n - seed $seed, $events events\n";
	next unless @wrong;
	print STDERR map { "# $_\n" } "$generate $seed $events DIR && $here/check DIR", @wrong;
}
my $many = $unrecorded > 3 + 2 * $count / 15;
printf("%sok %d - wrong in %d of %d recordings without a record of what is missing\n",
	$many ? 'not ' : '', $count + 1, $unrecorded, 2 * $count);
exit($failed || $many ? 1 : 0);
