# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module where a kernel does not load it, as with Secure Boot. parts/lockdown is the guest's.
package Part::Lockdown;
use strict;
use warnings;
use Test::More;
use VM;

my %says = (signed => qr/only signed modules/, locked => qr/a kernel that is not locked down/);

sub lacks { return $_[0]{headers} eq '-' ? 'Debian has no headers of it any more' : '' }

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};

	for my $lock (sort keys %says) {
		is($steps->{$lock}{rc} // 'none', 0, "$lock: the kernel is") or diag($steps->{$lock}{text} // '');
		isnt($steps->{"${lock}_load"}{rc} // 0, 0, "$lock: not loaded");
		like($steps->{"${lock}_load"}{text} // '', qr/\Aschedtap: [^\n]*(?:$says{$lock})[^\n]*\n\z/, "$lock: and why");
		is($steps->{"${lock}_gone"}{text} // '', "schedtap: the schedtap module is not loaded\n", "$lock: nothing is left");
	}
}

1;
