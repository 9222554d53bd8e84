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

my $here = abs_path(dirname(__FILE__));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $mkdat = $ENV{MKDAT} // "$here/../../build/tests/mkdat";
my $dir = memory_folder();
chdir($dir) or die "$dir: $!\n";

my @times = (1_000_000_000, 1_000_001_000, 2_500_000_000);

spew('in.txt', join('', "cpus 1\n", map { "$_ 0 1 sched:sched_waking comm=a pid=1 prio=120 target_cpu=0\n" } @times));
system($mkdat, 'in.txt', 'in.dat') == 0 or die "mkdat\n";
my $plain = slurp('in.dat');

# without checksums: one section gets an id that means nothing, the other is no longer at the end
$plain =~ s/\x75\x73\x00\x00/\x79\x73\x00\x00/ or die "no checksums\n";
$plain .= "\0";

# The file with another option in the place of VERSION, which says "mkdat".
sub with_option {
	my ($id, $data) = @_;
	my $dat = $plain;

	$dat =~ s/\x09\x00\x06\x00\x00\x00mkdat\x00/pack('vVa6', $id, 6, $data)/e or die "no option VERSION\n";
	return $dat;
}

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
like(scalar(`$schedtap summary -i x.dat 2>&1`), qr/of a guest/, 'a guest: a note');
chdir('/'); # to be removed, a folder must not be the current one
done_testing();
