#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# All C files are laid out as .clang-format says: `make format` does it.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

chdir(dirname(abs_path($0)) . '/../..') or die;
plan(skip_all => 'no clang-format on this machine') if !grep { -x "$_/clang-format" } split(/:/, $ENV{PATH});
my @files = map { /^100.*\t(.*)/ ? $1 : () } split(/\n/, `git ls-files -s '*.[ch]'`); # clang-format makes a file of a link
plan(skip_all => 'not a git tree') if !@files;

my %differs;
for (split(/\n/, `clang-format --dry-run @files 2>&1`)) {
	$differs{$1} //= $_ if /^(\S+?):\d+:\d+: warning: code should be clang-formatted/;
}
my @first = grep { defined } (sort(values(%differs)))[0 .. 9];
ok(!%differs, 'make format changes no file of ' . @files) or diag(join("\n", scalar(keys(%differs)) . ' files, such as', @first));
done_testing();
