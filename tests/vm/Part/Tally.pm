# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top on other kernels, and the tally's waits one by one. parts/tally is the guest's.
package Part::Tally;
use strict;
use warnings;
use JSON::XS;
use List::Util qw(sum0);
use Tally;
use Test::More;
use VM;

my $seconds = $ENV{SOAK} ? 20 : 3;
my @nr_cpus = $ENV{SOAK} ? (4, 2) : (4);

sub words { return "waits_s=$seconds waits_cpus=" . join(',', @nr_cpus) }

sub install {
	my ($root, $g) = @_;

	install_program($root, "$g->{build}/tests/live/$_", $_) for qw(idle_load tally_load test_live_tally test_live_waits);
	install_text($root, 'bin/waits.bpf.o', slurp("$g->{build}/tests/live/waits.bpf.o"));
}

sub check_top {
	my ($step) = @_;
	my %kernel = $step->{text} =~ /^(\w+) (\{"entered_ns".*\})$/mg;
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

# tests/live/idle_load.c makes a task wait for 5 ms in each of 20 rounds, beside a CPU with nothing to do.
sub check_idle {
	my ($step) = @_;
	my @refreshes = map { decode_json($_) } $step->{text} =~ /^(\{"schema".*\})$/mg;
	my $ms = sum0(map { $_->{idle_while_waiting_ns} } map { @{ $_->{llcs} } } @refreshes) / 1e6;

	is($step->{rc}, 0, 'idle while waiting: exit code') or diag(substr($step->{text}, -600));
	check_refreshes(250e6, @refreshes);
	cmp_ok($ms, '>=', 20, 'idle while waiting, in ms') if @refreshes && @{ $refreshes[-1]{llcs} } == 1;
}

# The exact checks of tests/live/test_live_waits.c, with waits of each kind.
sub check_waits {
	my ($nr, $step) = @_;
	my $text = $step->{text} // 'the guest did not get there';
	my ($throttled) = $text =~ /^# compared: .* (\d+) throttled/m;
	my ($moved) = $text =~ /^# explained: .* (\d+) moved/m;

	is($step->{rc} // 'none', 0, "waits with $nr CPUs: exit code");
	is_deeply([$text =~ /^ok \d - (\w+)/mg], [qw(each_switch_is_in_both kinds_are_equal censored_waits_have_causes differences_are_explained)],
		"waits with $nr CPUs: each check passed") or return diag($text);
	cmp_ok($throttled // 0, '>=', 3, "waits with $nr CPUs: some throttled");
	# on a busy machine the guest may balance its load once or never in 3 s
	cmp_ok($moved // 0, '>=', 3, "waits with $nr CPUs: some moved to another CPU") if $ENV{SOAK};
	note("$nr CPUs\n", $text =~ /^(# .*\n)/mg);
}

sub check_clock {
	my ($step) = @_;

	is($step->{rc}, 0, 'another clock: exit code');
	like($step->{text}, qr/"waits_begin":"waking"/, 'waits begin at the waking then') or diag($step->{text});
}

# The identities of tests/live/test_live_tally.c.
sub check_sums {
	my ($step) = @_;
	my $text = $step->{text} // 'the guest did not get there';

	is($step->{rc} // 'none', 0, 'sums: exit code');
	my %passed = map { $_ => 1 } $text =~ /^ok \d - (\w+)$/mg;

	is_deeply([grep { !$passed{$_} } qw(sums_hold_in_a_storm ancestors_count_for_cgroups_without_place migrations_are_counted)],
		[], 'sums: these checks passed') or diag($text);
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};

	SKIP: {
		skip('no BPF programs', 1) if !$steps->{tally};
		check_top($steps->{tally});
		check_idle($steps->{idle});
		check_clock($steps->{clock});
		check_sums($steps->{sums}) if $ENV{SOAK};
		check_waits($_, $steps->{"waits_$_"}) for @nr_cpus;
	}
}

1;
