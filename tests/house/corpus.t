#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/fuzz/corpus/README.md has each file of the corpus, and no other.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use Test::More;
use lib dirname(abs_path($0)) . '/..';
use Files;

my $corpus = dirname(abs_path($0)) . '/../fuzz/corpus';
my %said; # by target

for my $section (split(/^## /m, slurp("$corpus/README.md"))) {
	my ($target) = $section =~ /^(\w+):/ or next;

	$said{$target} = [sort(map { split(/, /) } $section =~ /^\| (?!file )([^|]+?) \|/mg)];
}
my @targets = map { basename($_) } glob("$corpus/*/");

is_deeply([sort(keys(%said))], \@targets, 'each target');
is_deeply($said{$_}, [map { basename($_) } glob("$corpus/$_/*")], "$_: each file") for @targets;
done_testing();
