#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A page of which the end comes late, or never, in a real browser: slow.mjs looks. SCHEDTAP and MKDAT name the programs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/..';
use Files;

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $mkdat = abs_path($ENV{MKDAT} // dirname($schedtap) . '/tests/mkdat');
my $dir = tempdir(CLEANUP => 1);

sub skip {
	print "1..0 # SKIP $_[0]\n";
	exit 0;
}

my ($chromium) = map { chomp; $_ } `command -v chromium 2>/dev/null`;
skip('no chromium on this machine') if !$chromium;
skip('no node on this machine') if system('command -v node >/dev/null') != 0;
chomp(my $tools = `$here/fetch`);
skip('nothing to drive a browser with') if $? || $tools eq '';

# So many slices that they are in several pieces, at random, with a wait before each.
my @lines = ('cpus 2');
my $random = 7; # the same each time
for my $cpu (0, 1) {
	my $at = 1_000_000_000;

	for my $i (1 .. 70_000) {
		my ($prev, $next) = map { 10 * (1 + $cpu) + ($i + $_) % 3 } 0, 1;

		$random = ($random * 1103515245 + 12345) % 2**31;
		$at += 4000 + $random % 16_000;
		push(@lines, "@{[$at - 1000 - $random % 3000]} $cpu $prev sched:sched_waking comm=t pid=$next target_cpu=$cpu",
			"$at $cpu $prev sched:sched_switch prev_comm=t prev_pid=$prev prev_state=1 next_comm=t next_pid=$next");
	}
}
spew("$dir/in.txt", join("\n", @lines) . "\n");
system($mkdat, "$dir/in.txt", "$dir/in.dat") == 0 or die "mkdat failed\n";
system($schedtap, qw(export --to html -i), "$dir/in.dat", '-o', "$dir/page.html") == 0 or die "export failed\n";
exit(system('node', "$here/slow.mjs", $tools, $chromium, "$dir/page.html") >> 8 || 0);
