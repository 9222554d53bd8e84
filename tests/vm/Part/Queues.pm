# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap records of queues: picks, throttling, and calls of __schedule(). parts/queues is the guest's.
package Part::Queues;
use strict;
use warnings;
use Picks;
use Resched;
use Test::More;
use VM;

sub install {
	my ($root) = @_;

	install_program($root, which('chrt'), 'chrt');
	compile('-static', '-o', "$root/bin/yield", "$VM::here/yield.c");
	install_script($root, 'load', '../live/pick_load');
	install_file($root, "../live/$_") for qw(picks.h picks_flat.h);
}

# A step that prints events as JSON. Return: them.
sub events_of {
	my ($steps, $name) = @_;
	my $step = $steps->{$name};

	is($step->{rc}, 0, "$name: exit code") or diag(substr($step->{text}, 0, 800));
	return $step->{text};
}

# Seconds in which at least one of the tasks was throttled. With one CPU they are all of one queue.
sub throttled_s {
	my ($text) = @_;
	my ($sum, $from, %off) = (0);

	while ($text =~ /([\d.]+): schedtap:sched_(un)?throttle(?:_wakeup)?: comm=.*? pid=(\d+)/g) {
		my ($s, $ends, $pid) = ($1, $2, $3);

		$from = $s if !$ends && !%off;
		$sum += $s - $from if $ends && %off && !grep { $_ ne $pid } keys %off;
		$ends ? delete $off{$pid} : ($off{$pid} = 1);
	}
	return $sum;
}

sub check_quota {
	my ($name, $steps) = @_;
	my $said = $steps->{quota}{text} // return;
	my ($kernel_s) = map { $_ / 1e6 } $said =~ /^throttled_usec (\d+)/m;
	my $here_s = throttled_s($said);

	is($steps->{quota}{rc}, 0, 'quota: exit code') or diag(substr($said, -600));
	cmp_ok($kernel_s, '>', 2, 'quota: the kernel throttles');
	# a guest on a busy machine may stand still for some ms at the end of each of the ten periods, between the event and the account
	cmp_ok(abs($here_s - $kernel_s), '<', 0.01 * $kernel_s + 10 * 0.01, "quota: throttled for $here_s s, as the kernel says: $kernel_s s");
	like($said, qr/^ *\d+ by deadline$/m, 'quota: a deadline task is throttled');
	like($said, qr/sched_throttle: .* by=quota$/m, 'quota: a task of a cgroup is throttled');
	like($said, qr/sched_throttle_wakeup:/, 'quota: a task that is woken is throttled') if $name =~ /^6\.(?:1|12)$/;
}

# Why the kernel lacks an event, as list says.
sub absence {
	my ($g, $event) = @_;

	return (($g->{steps}{list}{text} // '') =~ /(schedtap:$event:? .*)/)[0] // "no $event";
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};

	is($steps->{leftovers_queues}{text} // 'none', '', 'no tracefs instance is left');
	SKIP: {
		skip('picks: ' . absence($g, 'sched_pick'), 1) if !$steps->{picks};
		check_picks(events_of($steps, 'picks'), 300, 1);
	}
	SKIP: {
		skip('quota: ' . absence($g, 'sched_throttle'), 1) if !$steps->{quota};
		check_quota($g->{name}, $steps);
	}
	SKIP: {
		skip('resched: ' . absence($g, 'sched_exit'), 1) if !$steps->{resched};
		check_resched(events_of($steps, 'resched'), 100);
	}
}

1;
