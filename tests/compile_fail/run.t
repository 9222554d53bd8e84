#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Code that must not compile (cases/*.h with -DWRONG), and what the compiler must say of it first: at least
# the event's name; and in how many errors at most, one where the case does not say. The same case without WRONG is the
# nearest that is right, and must compile without a word: so a case fails for what it says, and for nothing else.
# Each language by one compiler; SOAK=1: by both.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use Test::More;

my $here = dirname(abs_path($0));
my @flags = ("-I$here/../../include", qw(-I. -O2 -Wall -Wextra -Werror -fdiagnostics-color=never -c -o /dev/null));
my @compilers = ([qw(gcc c -std=gnu17)], [qw(clang c++ -std=gnu++17)]);
push(@compilers, [qw(gcc c++ -std=gnu++17)], [qw(clang c -std=gnu17)]) if $ENV{SOAK};

sub compile {
	my ($cc, $language, $standard, $case, @more) = @_;
	my $command = join(' ', $cc, $standard, @flags, "-DCASE='\"cases/$case.h\"'", @more, '-x', $language, 'main.c');

	return scalar(`cd $here && LC_ALL=C $command 2>&1`);
}

sub check {
	my ($case, $want, $errors, @compiler) = @_;
	my $what = "$case: $compiler[0], $compiler[1]";

	is(compile(@compiler, $case), '', "$what: the right form compiles");
	my $said = compile(@compiler, $case, '-DWRONG');
	my ($error) = $said =~ /(^.*?\berror: .*)/ms;

	like($error // '', qr/$want/, "$what: the wrong one does not, and why")
		or diag($said eq '' ? 'it compiles' : substr($said, 0, 600));
	cmp_ok(scalar(() = $said =~ /\berror: /g), '<=', $errors, "$what: in so many errors") or diag($said =~ /^(.*\berror: .*\n)/mg);
}

my @cases = map { basename($_, '.h') } sort(glob("$here/cases/*.h"));
for my $case (@cases) {
	open(my $f, '<', "$here/cases/$case.h") or die "$case: $!";
	my $text = join('', <$f>);
	my ($want) = $text =~ m{^// want: (.+)$}m or die "$case: no 'want'";
	my ($errors) = $text =~ m{^// errors: (\d+)$}m;

	for my $compiler (@compilers) {
		SKIP: {
			skip("no $compiler->[0] on this machine", 3) if system("command -v $compiler->[0] >/dev/null");
			check($case, $want, $errors // 1, @$compiler);
		}
	}
}
done_testing();
