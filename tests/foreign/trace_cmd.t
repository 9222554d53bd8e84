#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Options of trace-cmd's trace.dat that change what its events mean: times are those that `trace-cmd report` prints.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;
use TraceCmd qw(time_shift UNAME);

my $here = abs_path(dirname(__FILE__));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $mkdat = $ENV{MKDAT} // "$here/../../build/tests/mkdat";
my $dir = memory_folder();
chdir($dir) or die "$dir: $!\n";

my @times = (1_000_000_000, 1_000_001_000, 2_500_000_000);

spew('in.txt', join('', "uname @{[UNAME]}\ncpus 1\n", map { "$_ 0 1 sched:sched_waking comm=a pid=1 prio=120 target_cpu=0\n" } @times));
system($mkdat, 'in.txt', 'in.dat') == 0 or die "mkdat\n";
my $plain = slurp('in.dat');

sub with_option { return TraceCmd::with_option($plain, @_) }

sub times_of { return map { /\s(\d+)\.(\d{9}):/ ? 0 + "$1$2" : () } split(/\n/, $_[0]) }

for my $offset (0, 90_000, -90_000) {
	spew('x.dat', with_option(7, $offset));
	my @got = times_of(scalar(`$schedtap dump -i x.dat`));

	is("@got", join(' ', map { $_ + $offset } @times), "offset $offset");
	is("@got", join(' ', times_of(scalar(`trace-cmd report -t -i x.dat 2>/dev/null`))), "as trace-cmd prints it");
	my @window = times_of(scalar(`$schedtap dump -i x.dat --time @{[$times[1] + $offset]}ns,`));
	is("@window", "@got[1, 2]", 'a window begins where it is shown');
}
spew('x.dat', with_option(7, "junk\0"));
is(join(' ', times_of(scalar(`$schedtap dump -i x.dat`))), "@times", 'an offset that is no number');
spew('x.dat', with_option(12, ''));
like(scalar(`$schedtap summary -i x.dat 2>&1`), qr/of a guest, and its times are the guest's own/, 'a guest without comparisons: a note');

my @first = (900_000_000, 5_000_000, 1, 0);
my @second = (1_000_000_500, 5_000_400, 1, 0);
my @third = (2_600_000_000, 5_100_000, 1, 0);
my %guests = (
	'two samples' => [\@first, \@second],
	'three' => [\@first, \@second, \@third],
	'in no order, with one twice' => [\@third, \@first, \@second, \@first],
	'another frequency' => [[1, -7, 3 << 20, 21], [3_000_000_000, -7, 3 << 20, 21]],
	'one' => [\@second],
);

for my $interpolates (0, 1) {
	for my $name (sort keys(%guests)) {
		spew('x.dat', with_option(12, time_shift($interpolates, $guests{$name})));
		my @got = times_of(scalar(`$schedtap dump -i x.dat 2>/dev/null`));

		isnt("@got", "@times", "a guest: $name: converted");
		is("@got", join(' ', times_of(scalar(`trace-cmd report -t -i x.dat 2>/dev/null`))), 'as trace-cmd prints it');
		is(join(' ', times_of(scalar(`$schedtap dump -i x.dat --time $got[1]ns, 2>/dev/null`))), "@got[1, 2]", 'a window begins where it is shown');
	}
}
spew('x.dat', with_option(12, time_shift(0, [[$times[0], 2_000_000, 1, 0], [$times[1], 0, 1, 0], [$times[2], 0, 1, 0]])));
is(join(' ', times_of(scalar(`$schedtap dump -i x.dat 2>/dev/null`))), '1002000000 1002000999 2500000000', 'times do not go back');

# impossible FLAG, OPTION, NAME: the option is not applied, and a note says so.
sub impossible {
	my ($option, $name) = @_;

	spew('x.dat', with_option(12, $option));
	is(join(' ', times_of(scalar(`$schedtap dump -i x.dat 2>err`))), "@times", "$name: not applied");
	like(slurp('err'), qr/damaged or missing/, '... and a note says so');
}
impossible(time_shift(1, [[1, 0, 1, 0], [2, -9, 1, 0]]), 'interpolated times that go back');
impossible(time_shift(0, [[1, 0, 0, 0]]), 'a factor 0');
impossible(time_shift(0, [[1, 0, 1, 64]]), 'a fraction of 64 bits');
impossible(time_shift(0, [[1, 1 << 61, 1, 0]]), 'an offset of 73 years');
impossible(pack('Q<VVV', 4711, 0, 1, 1000) . 'z' x 300, 'samples beyond the end');
spew('x.dat', with_option(12, time_shift(0, [\@first], [[900_000_000, 5_000_123, 1, 0]])));
like(scalar(`$schedtap summary -i x.dat 2>&1`), qr/CPUs differ by up to 123/, 'CPUs that differ: a note');
chdir('/'); # to be removed, a folder must not be the current one
done_testing();
