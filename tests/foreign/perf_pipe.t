#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# perf.data in pipe mode has the same reports as the file that perf writes without a pipe: of recordings that perf2pipe converts, and of
# what perf itself writes to a pipe where it can record.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dat2perf = "$ENV{BUILD}/tests/fuzz/dat2perf";
my $dir = tempdir(CLEANUP => 1);
chdir($dir) or die;
mkdir($_) or die for qw(file pipe);

my @reports = ('summary', 'timehist', 'latency', 'explain', 'wakers', 'map', 'pelt', 'states', 'migrations', 'balance', 'placement',
	'resched', 'eevdf', 'dump', 'monitor -m wwnr', 'critical -t 1');
my @recordings = qw(explain/lost dump/wall timehist/hostile-events pelt/signals summary/off_within);

sub system_ok {
	system(@_) == 0 or die "@_ failed\n";
}

# A report on this file in both modes, as [output, exit status, errors].
sub both {
	my ($name, @which) = @_;
	my @got = commands(map { my $report = $_; map { "sh -c 'cd $_ && exec \"\$SCHEDTAP\" $report --json -i $name'" } qw(file pipe) } @which);

	return map { [@got[2 * $_, 2 * $_ + 1]] } 0 .. $#which;
}

sub convert {
	my ($name) = @_;

	system_ok("$here/perf2pipe", "file/$name", "pipe/$name");
}

my $compared = 0;
for my $case (@recordings) {
	my $dat = golden_recording($case);

	for my $form ('', '--big-endian', '--switches', '--chains') {
		my $name = ($case =~ tr{/}{-}r) . "$form.data";

		system_ok($dat2perf, $dat, "file/$name", $form || ());
		convert($name);
		# all reports of one recording, some of the others
		my @which = !$form && $case eq 'explain/lost' ? @reports : @reports[map { ($compared + 5 * $_) % @reports } 0 .. 2];
		my @pairs = both($name, @which);
		my @differ = grep { $pairs[$_][0][0] ne $pairs[$_][1][0] || $pairs[$_][0][1] != $pairs[$_][1][1] } 0 .. $#which;

		is(join(', ', map { "$which[$_]: $pairs[$_][1][2]" } @differ), '', "$case $form: the same reports");
		$compared += grep { length($_->[0][0]) } @pairs;
	}
}
cmp_ok($compared, '>', 30, "$compared reports were compared");

# ---- what perf writes ----

# The number of events of each kind, as perf script and schedtap count them.
sub perf_counts {
	my ($file) = @_;
	my %count;

	$count{$_}++ for qx(perf script -i - -F event <$file 2>/dev/null) =~ /^\s*(\S+):/mg;
	return \%count;
}

sub our_counts {
	my ($file) = @_;
	my ($got) = runs("dump --json -i $file");
	my %count;

	$count{$_->{event}}++ for grep { $_->{event} } map { JSON::XS::decode_json($_) } split(/\n/, $got->[0]);
	return \%count;
}

SKIP: {
	my $events = '-e sched:sched_switch -e sched:sched_waking';

	skip('perf cannot record here', 4) if system("perf record $events -a -o - -- true >probe 2>/dev/null") != 0 || !-s 'probe';
	for my $options ('', '-z', '-g', '--switch-events') {
		system_ok("perf record $options $events -a -o - -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done' >recorded 2>/dev/null");
		my $counts = our_counts('recorded');

		delete @$counts{grep { /_stack$/ } keys(%$counts)};
		is_deeply($counts, perf_counts('recorded'), "perf record $options -o -: as many events as perf script has");
	}
}

# ---- damage ----

my $whole = slurp('pipe/explain-lost.data');

# Open a file of these bytes. Return: what schedtap says, and its exit status.
sub try_bytes {
	my (@files) = @_;
	my $nr = 0;

	spew('tried.' . $nr++, $_) for @files;
	return map { [$_->[2], $_->[1]] } runs(map { "dump -i tried.$_" } 0 .. $nr - 1);
}

my $attr_bytes = unpack('v', substr($whole, 16 + 6, 2));
my @cases = (
	['a header alone', substr($whole, 0, 16), qr/'tried\.\d' is damaged: its attrs are missing/, 1],
	['a cut header', substr($whole, 0, 12), qr/'tried\.\d' is damaged: its header is cut/, 1],
	['a cut attr', substr($whole, 0, 100), qr/is damaged: its attrs are missing/, 1],
	['attrs alone', substr($whole, 0, 16 + $attr_bytes), qr/has no event formats/, 0],
	['an attr of 4 GB', substr($whole, 0, 28) . "\xff\xff\xff\xff" . substr($whole, 32), qr/is damaged: its attrs/, 1],
	['an attr of no bytes', substr($whole, 0, 28) . "\0\0\0\0" . substr($whole, 32), qr/is damaged: its attrs/, 1],
	['tracing data of 4 GB', substr($whole, 0, 16 + $attr_bytes + 8) . "\xff\xff\xff\xff" . substr($whole, 16 + $attr_bytes + 12),
		qr/has no event formats/, 0],
);
my @got = try_bytes(map { $_->[1] } @cases);
for my $i (0 .. $#cases) {
	like($got[$i][0], $cases[$i][2], "$cases[$i][0]: says so");
	is($got[$i][1], $cases[$i][3], "$cases[$i][0]: exit code");
}

# a file that ends within its last record: the loss is reported
my ($cut) = runs('dump --json -i cut') if spew('cut', substr($whole, 0, -5));
like($cut->[0], qr/lost/, 'a cut file ends in a loss');
my @lengths = map { int($_ * length($whole) / 30) } 1 .. 29;
my @ends = try_bytes(map { substr($whole, 0, $_) } @lengths);
is(join(' ', grep { $ends[$_][1] > 1 } 0 .. $#ends), '', 'a file cut anywhere is read or refused');
done_testing();
