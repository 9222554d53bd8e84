#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that are made at run time, of random definitions and filters: this kernel takes them, and what they compute is
# what a compiler of C has. tests/vm/guests.t asks other kernels.
#
# PROGRAMS: how many [400; with SOAK=1 4000]. VALUES: how many times 60 events [3; 20]. SEED: of all that is random [1]
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use Values;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $fuzz = dirname($schedtap) . '/tests/live/program_fuzz';
my $nr = $ENV{PROGRAMS} // ($ENV{SOAK} ? 4000 : 400);
my $seed = $ENV{SEED} // 1;

plan skip_all => 'needs root' if $> != 0;
plan skip_all => 'no BTF' unless -e '/sys/kernel/btf/vmlinux';
plan skip_all => "no '$fuzz'" unless -x $fuzz;
note("seed $seed");

check_load(scalar(`$fuzz load $nr $seed 2>&1`), $nr);

SKIP: {
	skip('the registers are those of x86-64', 1) if `uname -m` ne "x86_64\n";
	for my $i (1 .. $ENV{VALUES} // ($ENV{SOAK} ? 20 : 3)) {
		my $dir = tempdir(CLEANUP => 1);

		is(write_values($fuzz, $dir, $seed + $i), '', "what a compiler has, seed @{[$seed + $i]}") or next;
		my $record = `$schedtap record -b bpf -o $dir/values.dat --define $dir/values.h -e values -- $dir/values call 2>&1`;
		my $got = join("\n", `$schedtap dump -i $dir/values.dat` =~ /\bvalues:(v\d+: .*)$/mg);

		check_values($record, scalar(`$dir/values`), $got);
	}
}
done_testing();
