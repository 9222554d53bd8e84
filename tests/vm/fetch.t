#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Several copies of fetch run at once, in one clone and with one cache: each prints its own kernel, and
# kernels.lock stays as it is.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $here = dirname(__FILE__);
my $dir = tempdir(CLEANUP => 1);
my @kernels = qw(6.1 6.12);
my $rounds = 20;

my @there = `$here/fetch @kernels 2>$dir/err`;
plan(skip_all => 'no kernels: ' . slurp("$dir/err")) if @there != @kernels;
copy("$here/$_", $dir) && chmod(0755, "$dir/$_") or die "$_: $!" for qw(fetch kernels.lock);

my %said = map { $_ => '' } @kernels;
for (1 .. $rounds) {
	system(join(' ', map { "$dir/fetch $_ >>$dir/$_.out 2>>$dir/$_.err &" } @kernels) . ' wait') == 0 or die 'sh';
}
for my $i (0 .. $#kernels) {
	my $name = $kernels[$i];

	is(slurp("$dir/$name.out"), $there[$i] x $rounds, "$name: its own line, each time");
	is(slurp("$dir/$name.err"), '', "$name: without a complaint");
}
is(slurp("$dir/kernels.lock"), slurp("$here/kernels.lock"), 'kernels.lock is as it was');
is_deeply([map { s{.*/}{}r } glob("$dir/kernels.lock*")], ['kernels.lock'], 'and nothing is left beside it');
done_testing();
