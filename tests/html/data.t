#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a page draws (docs/html.md), against our own reports: with the recordings of the golden tests and simulated ones (tests/truth), whole
# and damaged, of two seeds; in a soak of SEEDS [24] from SEED on.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/..';
use Recordings;

my $here = dirname(abs_path($0));
my $tmp = memory_folder();
my @files = distinct(golden_recordings());
my ($first, $count) = $ENV{SOAK} ? ($ENV{SEED} // 1, $ENV{SEEDS} // 24) : (1, 2);

if (system('command -v node >/dev/null') != 0) {
	print "1..0 # SKIP no node on this machine\n";
	exit 0;
}
for my $seed ($first .. $first + $count - 1) {
	mkdir "$tmp/$seed" or die;
	system("$ENV{BUILD}/tests/truth/generate", $seed, 3000, "$tmp/$seed") == 0 or die "seed $seed\n";
	for my $dat (sort glob("$tmp/$seed/*.dat")) {
		my $named = $dat =~ s{/([^/]*)$}{/$seed.$1}r;

		rename($dat, $named) or die;
		push @files, $named;
	}
}
system('node', "$here/data.mjs", $ENV{SCHEDTAP}, "$tmp", @files);
exit($? ? 1 : 0);
