#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The commands of docs/ci.md that need no guest, with its rules, on two recordings: each rule passes, and the XML is well formed.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $root = abs_path("$here/../..");
my $tmp = memory_folder();
my $page = slurp("$root/docs/ci.md");
my ($rules) = $page =~ /```rules\n(.*?)```/s;
my @commands = map { split(/\n/) } $page =~ /```sh\n(.*?)```/gs;

is(scalar(@commands), 3, 'the commands were found');
spew("$tmp/my.rules", $rules);
my $moved = '1000000000 1 9 sched:sched_migrate_task comm=kw/1 pid=9 prio=120 orig_cpu=0 dest_cpu=1';
for (1, 2) {
	system("$here/diff/recording", "$tmp/run$_.dat", 400 + $_, 50, $moved) == 0 or die 'no recording';
}
for my $command (@commands) {
	my $run = $command =~ s{^schedtap}{'$ENV{SCHEDTAP}'}r =~ s{check complete}{check '$root/rules/complete.rules'}r;
	my $said = `cd '$tmp' && $run 2>&1`;

	is($? >> 8, 0, $command) or diag($said);
}
my $xml = slurp("$tmp/check.xml");
is(() = $xml =~ /<testcase /g, 3, 'the XML has a case for each rule');
is(system("python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $tmp/check.xml"), 0, 'the XML is well formed');
done_testing();
