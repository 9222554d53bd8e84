#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# README.md and `schedtap help` are short. No line of the documents is longer than 100 columns. Words that were translated literally
# stay out of them.
use strict;
use warnings;
use Cwd qw(abs_path);
use Encode qw(decode);
use File::Basename qw(dirname);
use File::Spec::Functions qw(abs2rel);
use File::Temp qw(tempdir);
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

my ($before) = slurp("$top/README.md") =~ /\A(.*?)^    \S+ \[\d+\] waited/ms;
ok(defined($before), 'README.md has an answer');
cmp_ok(scalar(() = ($before // '') =~ /\S+/g), '<=', 80, 'and at most 80 words before it');

my @documents = ("$top/README.md", "$top/CONTRIBUTING.md", glob("$top/docs/*.md $top/docs/internals/*.md $top/docs/man/*.md"));

# Return: FILE:LINE of each line of more than 100 columns, in characters. A URL or a link definition cannot be wrapped.
sub long_lines {
	my ($file) = @_;
	my $nr = 0;

	return map { $nr++; length > 100 && !/^(?:\[[^\]]+\]: *)?\S+:\/\/\S+$/ ? abs2rel($file, $top) . ":$nr" : () }
		split(/\n/, decode('UTF-8', slurp($file)));
}

my $long = tempdir(CLEANUP => 1) . '/long.md';
my $words = 'word ' x 20;
spew($long, join("\n", $words, "${words}x", 'ä' x 100, '[x]: https://a/' . 'b' x 100, 'https://a/' . 'b' x 100,
	"$words https://a/") . "\n");
is(join(' ', map { s/.*://r } long_lines($long)), '2 6', 'long lines are found');
cmp_ok(scalar(@documents), '>', 60, 'the documents were found');
is_deeply([map { long_lines($_) } @documents], [], 'no line of the documents has more than 100 columns');

my $all = join('', map { slurp($_) } @documents);
cmp_ok(scalar(() = $all =~ /\b(?:$_)\b/gi), '<=', 3, "docs say '$_' at most three times") for 'behind', 'nobody', 'told|tells';

my %of_developers = map { ("$top/docs/$_.md" => 1) } qw(design answers performance userspace module expressions recording-format);
my @guides = grep { !$of_developers{$_} } glob("$top/docs/*.md");
cmp_ok(scalar(@guides), '>=', 16, 'there are user guides');
is_deeply([grep { slurp($_) =~ m{\bsrc/} } @guides], [], 'and none names a source file');
done_testing();
