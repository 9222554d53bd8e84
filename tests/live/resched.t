#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each switch stands between sched_entry and sched_exit, which says whether there was one. What `resched` says of the
# stages is what the events add up to.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use Resched;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
my $there = `$schedtap list sched_entry sched_exit`;
plan(skip_all => "not both are there: $there") if () = $there =~ /^-/mg or $there !~ /^bpf/;

my $said = `$schedtap record -b bpf -e sched_entry -e sched_exit -e sched:sched_switch -e cpu_idle -e irq -o $dir/r.dat -- $here/pick_load 1 2>&1`;

is($?, 0, 'recorded') or diag($said);
my $dump = `$schedtap dump --json -i $dir/r.dat`;

check_resched(join("", grep { /:sched_/ } split(/^/, $dump)), 500);
check_stages($dump, scalar(`$schedtap resched --csv -i $dir/r.dat`),
	     [`$schedtap summary --json -i $dir/r.dat` =~ /"(?:start|end)_ns":(\d+)/g]);
my ($irqs, $sum) = (0, 0);
for (`$schedtap resched --csv -i $dir/r.dat`) {
	my @cells = split(/,/) or next;
	next if $cells[0] eq 'stage';
	$irqs += $cells[10];
	$sum += $cells[9];
}
cmp_ok($irqs, '<=', $sum, 'interrupts take no more than all of a stage');
done_testing();
