#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a page draws (docs/html.md), against our own reports: with the recordings of the golden tests and simulated ones (tests/truth), whole
# and damaged. SCHEDTAP and MKDAT name the programs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $mkdat = abs_path($ENV{MKDAT} // dirname($schedtap) . '/tests/mkdat');
my $generate = dirname($schedtap) . '/tests/truth/generate';
my $tmp = tempdir(CLEANUP => 1);
my @files;

if (system('command -v node >/dev/null') != 0) {
	print "1..0 # SKIP no node on this machine\n";
	exit 0;
}
for my $in (sort glob("$here/../golden/*/*/in.txt")) {
	my ($name) = $in =~ m{golden/(.*)/in\.txt$};
	my $file = "$tmp/" . ($name =~ s{/}{.}r) . '.dat';

	system($mkdat, $in, $file) == 0 or die "$in\n";
	push @files, $file;
}
for my $seed (1 .. $ENV{SEEDS} // 8) {
	mkdir "$tmp/$seed" or die;
	system($generate, $seed, 3000, "$tmp/$seed") == 0 or die "seed $seed\n";
	for my $dat (sort glob("$tmp/$seed/*.dat")) {
		rename $dat, $dat =~ s{/([^/]*)$}{/$seed.$1}r or die;
	}
	push @files, sort glob("$tmp/$seed/*.dat");
}
system('node', "$here/data.mjs", $schedtap, @files);
exit($? ? 1 : 0);
