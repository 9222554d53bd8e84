# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compare what a report must say with what it says.
#
# What it must say is a value, a hash of the keys that are predicted, or a sub that gets the report's value and returns an empty text if this is
# right, else what it must be. A hash with the key '*' must have the predicted keys and no others.
package Compare;
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT = qw(differences by_key among between);

# Return ["KEY", "EXPECTED", "GOT"] of each difference.
sub differences {
	my ($want, $got, $key) = @_;

	if (ref($want) eq 'CODE') {
		my $wrong = $want->($got);
		return $wrong eq '' ? () : [$key, $wrong, shown($got)];
	}
	if (ref($want) ne 'HASH') {
		return same($want, $got) ? () : [$key, shown($want), shown($got)];
	}
	return [$key, 'an object', shown($got)] if ref($got) ne 'HASH';
	my @found = map { differences($want->{$_}, $got->{$_}, "$key.$_") } grep { $_ ne '*' } sort(keys(%$want));
	push(@found, map { ["$key.$_", 'absent', shown($got->{$_})] } grep { !exists $want->{$_} } sort(keys(%$got))) if $want->{'*'};
	return @found;
}

sub same {
	my ($want, $got) = @_;

	return !defined($want) && !defined($got) if !defined($want) || !defined($got);
	return $want eq $got || ($want =~ /^-?[\d.]+$/ && $got =~ /^-?[\d.e+-]+$/ && abs($want - $got) <= 1e-9 * abs($want));
}

sub shown {
	my ($v) = @_;

	return 'null' if !defined($v);
	return '{' . join(' ', map { "$_=" . shown($v->{$_}) } sort(keys(%$v))) . '}' if ref($v) eq 'HASH';
	return '[' . join(' ', map { shown($_) } @$v) . ']' if ref($v) eq 'ARRAY';
	return $v;
}

# Rows of a report as a hash, by the text that these keys of a row make. Rows with the same text are a fault that shows as a wrong key.
sub by_key {
	my ($rows, @keys) = @_;
	my %hash;

	for my $row (@$rows) {
		my $text = join(' ', map { $row->{$_} // '-' } @keys);
		$hash{exists $hash{$text} ? "$text again" : $text} = $row;
	}
	return \%hash;
}

# Checks of one value.
sub among {
	my (@values) = @_;

	return sub { my ($got) = @_; return (grep { same($_, $got) } @values) ? '' : 'one of ' . join(' ', @values) };
}

sub between {
	my ($low, $high) = @_;

	return sub { my ($got) = @_; return defined($got) && $low <= $got && $got <= $high ? '' : "$low to $high" };
}

1;
