#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sched_pick is what the kernel's members say, and what was picked was eligible.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use Picks;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
my $there = `$schedtap list sched_pick`;
plan(skip_all => "no sched_pick: $there") if $there !~ /^bpf/;

my $file = pick_recording($schedtap, $here, $dir);
check_picks(scalar(`$schedtap dump --json -i $file -e raw_pick -e sched_pick`), 500);
done_testing();
