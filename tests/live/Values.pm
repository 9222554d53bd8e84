# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What tests/live/program_fuzz writes and prints, looked at: on this machine, and in guests.
package Values;
use strict;
use warnings;
use Exporter qw(import);
use Test::More;
our @EXPORT = qw(write_values check_values check_load);

# values.h, and the program "values" that makes the calls, and knows what must be recorded. Return: what went wrong, or ''.
sub write_values {
	my ($fuzz, $dir, $seed) = @_;
	my $said = `$fuzz write $dir $seed 2>&1 && gcc -O1 -w -static -fwrapv -fno-strict-aliasing $dir/values.c -o $dir/values 2>&1`;

	return $? ? $said || "status $?" : '';
}

# @record: what record said; @want, @got: lines "v3: k=2 values of the fields". An event may be too much for a program: that is
# said, and happens rarely.
sub check_values {
	my ($record, $want, $got) = @_;
	my %without = map { $_ => 1 } $record =~ /without values:(v\d+): the event's assignments are too long for a BPF program/g;
	my @want = sort grep { /^(v\d+):/ && !$without{$1} } split(/\n/, $want);
	my %got = map { $_ => 1 } split(/\n/, $got);
	my @differ = grep { !$got{$_} } @want;

	cmp_ok(scalar(keys %without), '<=', 3, 'nearly all are programs');
	cmp_ok(scalar @want, '>', 1000, 'values are compared');
	is(scalar(keys %got), scalar(@want), 'as many records') or diag($record);
	is(scalar(@differ), 0, 'each is what a compiler has') or diag("a compiler has\n", map { "$_\n" } splice(@differ, 0, 5));
}

# At most one in 20 is refused with a sentence, for what is documented; all others the kernel takes.
sub check_load {
	my ($said, $nr) = @_;
	my ($defs, $filters, @refused) = $said =~ /^(\d+) definitions, (\d+) filters; too large: (\d+), cannot be had: (\d+)$/m;

	ok(defined $defs && $said !~ /failed with seed/, 'the kernel takes all programs') or diag($said);
	return unless defined $defs;
	cmp_ok($refused[0] + $refused[1], '<=', $nr / 20, 'of which few are refused by ourselves');
	cmp_ok($defs, '>', $nr / 2, 'definitions');
	cmp_ok($filters, '>', $nr / 8, 'filters');
	cmp_ok($defs + $filters + $refused[0] + $refused[1], '>=', $nr, 'and that is all of them');
	note($said);
}

1;
