# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top on other kernels. parts/tally is the guest's.
package Part::Tally;
use strict;
use warnings;
use JSON::XS;
use List::Util qw(sum0);
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
		my @refreshes = map { decode_json($_) } $step->{text} =~ /^(\{"schema".*)/mg;

		is($step->{rc}, 0, 'exit code') or diag(substr($step->{text}, -600));
		is(scalar(@refreshes), 10, 'refreshes') or return diag(substr($step->{text}, -600));
		check_refreshes(@refreshes);
		$_ = decode_json($_) for values(%kernel);
		# an emulated CPU takes long from a wakeup to the switch
		my $clock_ns = 300e3 * sum0(map { $_->{waking} } values(%kernel));
		for my $name (qw(a b quota)) {
			my $is = check_load("/$name", $kernel{$name}, $clock_ns, @refreshes);

			next if $name ne 'quota';
			cmp_ok($is->{throttled}, '>=', 10, 'waits of a task that was throttled');
			# a task may go on to wait when its queue is no longer throttled, or be throttled only later
			cmp_ok(abs($is->{throttled_ns} / $throttled_ns - 1), '<', 0.3, "throttled for $is->{throttled_ns} ns, the kernel says $throttled_ns");
		}
	}
}

1;
