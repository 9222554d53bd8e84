#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Words and beginnings of comments that were translated literally stay out of the code. The documents: prose.t.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

chdir(dirname(abs_path($0)) . '/../..') or die;

# Some files in tests/ need these words: `nobody` is a user, and some strings are compared with a compiler's or the
# program's own output.
my %bounds = (
	'src bpf include events kmod' => { behind => 15, nobody => 8, 'told|tells' => 20 },
	'tests bench' => { behind => 40, nobody => 85, 'told|tells' => 25 },
);
my $headless = qr{(?:/\*+|//)\s*(?:Who|Whose|Of which|What is|The same|Likewise|As)\b};

sub files_in {
	my ($folders) = @_;
	my @files = grep { !m{^tests/(?:recordings|fuzz/corpus)/} && -T $_ } split(/\n/, `git ls-files $folders`);

	return @files;
}

for my $folders (sort(keys(%bounds))) {
	my @files = files_in($folders);

	plan(skip_all => 'not a git tree') if !@files;
	cmp_ok(scalar(@files), '>', 100, "$folders: files were found");
	for my $words (sort(keys(%{$bounds{$folders}}))) {
		my $most = $bounds{$folders}{$words};
		my @lines = map { my $file = $_; map { "$file: $_" } grep { /\b(?:$words)\b/i } split(/\n/, slurp($file)) } @files;

		cmp_ok(scalar(@lines), '<=', $most, "$folders: '$words' in at most $most lines") or diag(join("\n", grep { defined } @lines[-5 .. -1]));
	}
}
my @headless = map { my $file = $_; map { "$file: $_" } grep { $_ =~ $headless } split(/\n/, slurp($file)) } files_in('src bpf include events kmod');
cmp_ok(scalar(@headless), '<=', 20, 'at most 20 comments begin without a subject') or diag(join("\n", @headless));
done_testing();
