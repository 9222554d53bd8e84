#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a newcomer reads first is short, and fits a terminal: README.md and `schedtap help`. Words that were translated literally stay out
# of all that users read.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = $ENV{SCHEDTAP} // "$top/build/schedtap";

my @help = split(/\n/, qx($schedtap help));
my @commands = grep { /^  \S/ } @help;
cmp_ok(scalar(@commands), '>', 20, 'help lists the commands');
is_deeply([grep { /^  \S+ +(.*)/ && length($1) > 60 } @commands], [], 'help describes each in at most 60 characters');

my @lines = split(/\n/, slurp("$top/README.md"));
cmp_ok(scalar(@lines), '<=', 150, 'README.md has at most 150 lines');
is_deeply([grep { length > 100 } @lines], [], 'README.md has no line of more than 100 columns');

my ($before) = slurp("$top/README.md") =~ /\A(.*?)^    \S+ \[\d+\] waited/ms;
ok(defined($before), 'README.md has an answer');
cmp_ok(scalar(() = ($before // '') =~ /\S+/g), '<=', 80, 'and at most 80 words before it');

my $all = join('', map { slurp($_) } "$top/README.md", "$top/CONTRIBUTING.md", glob("$top/docs/*.md $top/docs/internals/*.md $top/docs/man/*.md"));
cmp_ok(scalar(() = $all =~ /\b(?:$_)\b/gi), '<=', 3, "docs say '$_' at most three times") for 'behind', 'nobody', 'told|tells';

my %of_developers = map { ("$top/docs/$_.md" => 1) } qw(design answers performance userspace module expressions recording-format);
my @guides = grep { !$of_developers{$_} } glob("$top/docs/*.md");
cmp_ok(scalar(@guides), '>=', 16, 'there are user guides');
is_deeply([grep { slurp($_) =~ m{\bsrc/} } @guides], [], 'and none names a source file');
done_testing();
