# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap records of a load: each event that the kernel has. parts/record is the guest's.
package Part::Record;
use strict;
use warnings;
use Test::More;
use VM;

# Why an event that a kernel has does not happen in the guest. All others must be recorded.
our %silent = (
	'schedtap:sched_compute_energy' => 'no energy model',
	'schedtap:sched_overutilized' => 'no energy model',
	'power:cpu_frequency' => 'no frequency scaling',
);

sub install {
	my ($root) = @_;

	install_program($root, which('chrt'), 'chrt');
	compile('-static', '-pthread', '-o', "$root/bin/boost", "$VM::here/boost.c");
	install_script($root, 'load');
}

sub check_stacks {
	my ($steps) = @_;
	my $text = $steps->{stacks}{text} // '';
	my ($kernel, $user) = $text =~ /^(\d+)$/mg;

	is($steps->{stacks}{rc} // 'none', 0, 'stacks: exit code') or return diag($text);
	cmp_ok($kernel // 0, '>', 20, 'stacks of the kernel') or diag($text);
	cmp_ok($user // 0, '>', 20, 'stacks of programs') or diag($text);
}

# Nothing is hidden here, so nothing of the process is unknown.
sub check_alone {
	my ($steps) = @_;
	my $text = $steps->{alone}{text} // '';
	my ($unknown_ns) = $text =~ /"unknown_ns":(\d+)/;
	my ($run_ns) = $text =~ /"run_ns":(\d+)/;

	is($steps->{alone}{rc} // 'none', 0, 'a process alone: exit code') or return diag($text);
	cmp_ok($run_ns // 0, '>', 1e6, 'a process alone: it ran');
	is($unknown_ns // 'none', 0, 'a process alone: from its first switch to its last nothing is unknown') or diag($text);
}

sub check_lean {
	my ($steps) = @_;
	my $text = $steps->{lean}{text} // '';
	my ($waits, $censored) = $text =~ /"all":\{.*?"count":(\d+).*?"censored":(\d+)/;

	is($steps->{lean}{rc} // 'none', 0, 'a lean recording: exit code') or return diag($text);
	like($text, qr/"waits_from_queue":true/, 'a lean recording: where waits begin');
	cmp_ok($waits // 0, '>', 100, 'a lean recording: waits') or diag(substr($text, 0, 2000));
	cmp_ok($censored // 'none', '<', $waits / 2, 'a lean recording: most waits are known');
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};

	for my $step (qw(doctor list record record_more summary count)) {
		is($steps->{$step}{rc} // 'none', 0, "$step: exit code")
			or diag($steps->{$step}{text} // 'the guest did not get there');
	}
	is($steps->{leftovers}{text} // '', '', 'no tracefs instance is left');

	my %count = reverse(($steps->{count}{text} // '') =~ /^\s*(\d+) (\S+)$/mg);
	for my $event (($steps->{list}{text} // '') =~ /^bpf\s+(\S+)$/mg) {
		# some are recorded by name alone; without a BPF scheduler sched_ext is silent (Scx.pm has one)
		next if $silent{$event} || $event =~ /^(?:schedtap:sched_(?:dl_)?pick$|schedtap:sched_(?:un)?throttle|schedtap:sched_scx_|sched_ext:)/;
		cmp_ok($count{$event} // 0, '>', 0, "$event is recorded");
	}
	SKIP: {
		skip('BPF, and stacks: this kernel has no BPF for us', 1) if $g->{name} =~ /^5\./;
		like($steps->{doctor}{text} // '', qr/yes, over BPF/, 'the kernel takes our BPF programs');
		check_stacks($steps);
		check_alone($steps);
		check_lean($steps);
	}
}

1;
