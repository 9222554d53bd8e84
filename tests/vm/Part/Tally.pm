# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top on other kernels. parts/tally is the guest's.
package Part::Tally;
use strict;
use warnings;
use JSON::XS;
use Tally;
use Test::More;
use VM;

sub install {
	my ($root, $g) = @_;

	install_program($root, "$g->{build}/tests/live/tally_load", 'tally_load');
}

sub check {
	my ($g) = @_;
	my $step = $g->{steps}{tally};

	SKIP: {
		skip('no BPF programs', 1) if !$step;
		my %kernel = $step->{text} =~ /^(\w+) (\{"run_ns".*\})$/mg;
		my ($throttled_ns) = map { $_ * 1000 } $step->{text} =~ /^throttled_usec (\d+)/m;
		my @refreshes = map { decode_json($_) } $step->{text} =~ /^(\{"schema".*\})$/mg;

		is($step->{rc}, 0, 'exit code') or diag(substr($step->{text}, -600));
		cmp_ok(scalar(@refreshes), '>=', 3, 'refreshes') or return diag(substr($step->{text}, -600));
		check_refreshes(250e6, @refreshes);
		for my $name (qw(a b quota)) {
			# an emulated CPU on a busy machine may take long from a wakeup to the switch
			my $is = check_load("/$name", decode_json($kernel{$name}), { part => 0.5, switches => 0.1, clock_ns => 100e6 }, @refreshes);

			next if $name ne 'quota';
			cmp_ok($is->{throttled}, '>=', 3, 'waits of a task that was throttled');
			# a wait goes on when the queue is no longer throttled, and the kernel also counts time in which it has no tasks
			cmp_ok($is->{throttled_ns}, '<=', 2 * $throttled_ns, "throttled for $is->{throttled_ns} ns, the kernel says $throttled_ns");
		}
	}
}

1;
