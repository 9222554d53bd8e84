#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/truth/windows.t [COUNT [FIRST]]: of simulated recordings, whole and damaged, and of real ones,
# what the reports say of windows agrees with what they say of the whole. The last line of TAP fails if
# of some report nothing was compared. COUNT is 2, in a soak SEEDS [40] from SEED [1] on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $here = dirname(abs_path($0));
my $generate = "$ENV{BUILD}/tests/truth/generate";
require "$here/check";
require "$here/windows";

my $count = $ARGV[0] // ($ENV{SOAK} ? $ENV{SEEDS} // 40 : 2);
my $first = $ARGV[1] // ($ENV{SOAK} ? $ENV{SEED} // 1 : 1);
my @real = glob("$here/../recordings/*.dat $here/../recordings/*.data");
my $failed = 0;

unless (-x $ENV{SCHEDTAP} && -x $generate && -x $ENV{MKDAT}) {
	print "Bail out! $ENV{SCHEDTAP}, $generate or $ENV{MKDAT} is missing\n";
	exit 1;
}

# The simulation has no load tracking. Returns a recording that has.
sub make_signals {
	my ($folder, $seed) = @_;
	my @now = (1_000_000) x 2;

	srand($seed);
	open(my $out, '>', "$folder/in.txt") or die;
	for my $cpu (map { int(rand(@now)) } 1 .. 200) {
		my $from = $now[$cpu] += 1 + int(rand(1000));
		my $value = int(rand(1024));

		print $out "$from $cpu 0 schedtap:sched_pelt_cfs cpu=$cpu cgroup=1 util=$value\n";
		next if rand() < 0.9;
		$now[$cpu] += 1 + int(rand(1000));
		print $out 'lost ', join(' ', $cpu, $from + 1, ++$now[$cpu], 3), "\n";
	}
	close($out);
	system($ENV{MKDAT}, "$folder/in.txt", "$folder/signals.dat") and die;
	return "$folder/signals.dat";
}

sub result {
	my ($n, $name, @wrong) = @_;

	print @wrong ? 'not ' : '', "ok $n - $name\n";
	print STDERR map { "# $_\n" } @wrong > 20 ? (@wrong[0 .. 19], '...') : @wrong;
	$failed ||= @wrong;
}

print '1..', $count + @real + 2, "\n";
for my $n (1 .. $count) {
	my $seed = $first + $n - 1;
	my $folder = memory_folder();
	my @wrong = system($generate, $seed, 400, $folder) ? ('generate failed') : ();

	for my $dat (sort glob("$folder/*.dat")) {
		push(@wrong, map { basename($dat) . " $_" } Windows::check_windows($dat, $seed, 1));
	}
	result($n, "seed $seed", @wrong ? ("$generate $seed 400 DIR && " .
		"$here/windows DIR/NAME.dat $seed 1", @wrong) : ());
}
for my $n (1 .. @real) {
	my @wrong = Windows::check_windows($real[$n - 1], 1, 2);
	result($count + $n, basename($real[$n - 1]), @wrong);
}
my $folder = memory_folder();
result($count + @real + 1, 'signals', Windows::check_windows(make_signals($folder, $first), 1, $ENV{SOAK} ? 20 : 6));
my @none = Windows::not_compared();
result($count + @real + 2, 'every report was compared', map { "$_: nothing was compared" } @none);
exit($failed ? 1 : 0);
