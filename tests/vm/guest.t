#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# When a guest is stopped: run_guest() of VM.pm, with programs in place of qemu.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $dir = tempdir(CLEANUP => 1);
my $quiet_s = 1;

my @cases = (
	{ name => 'ends', guest => 'echo word', why => qr/\A\z/, tries => 1 },
	{ name => 'fails', guest => 'exit 3', why => qr/\A'\w+' ended with status/, tries => 1 },
	{ name => 'is slow, and says so', guest => q(exec perl -e '$| = 1; for (1 .. 10) { print "word\n"; select(undef, undef, undef, 0.3) }'),
	  why => qr/\A\z/, tries => 1 },
	{ name => 'is stuck', guest => 'echo word; exec sleep 60', why => qr/\Astuck: not a word for /, tries => 1 },
	{ name => 'is starved', guest => 'while :; do :; done', hog => 1,
	  why => qr/\Astarved: of \d+ s it waited \d+ s/, tries => 2 },
);

# Return: its process.
sub start_hog {
	my $pid = fork() // die "fork: $!";

	exec(qw(taskset -c 0 sh -c), 'while :; do :; done') if !$pid;
	return $pid;
}

for my $case (@cases) {
	SKIP: {
		skip("$case->{name}: the kernel does not say how long a task waited", 1)
			if $case->{hog} && !-e '/proc/self/schedstat';
		skip("$case->{name}: no taskset", 1) if $case->{hog} && !which('taskset');
		my @least = $case->{hog} ? qw(taskset -c 0 nice -n 19) : ();
		my $hog = $case->{hog} ? start_hog() : 0;

		unlink("$dir/tries");
		my $why = run_guest($quiet_s, "$dir/said", @least, 'sh', '-c',
			"echo >>$dir/tries; exec >$dir/said; $case->{guest}");
		if ($hog) {
			kill('KILL', $hog);
			waitpid($hog, 0);
		}
		like($why, $case->{why}, $case->{name});
		is(-s "$dir/tries", $case->{tries}, "$case->{name}: how often it is run");
	}
}
done_testing();
