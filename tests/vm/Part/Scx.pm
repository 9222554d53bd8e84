# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sched_ext, which this machine's kernel need not have: a BPF scheduler of ours (scx.bpf.c) notes what it does, comes and goes
# while schedtap records, and stalls. parts/scx is the guest's.
package Part::Scx;
use strict;
use warnings;
use JSON::PP;
use Scx;
use Test::More;
use VM;

my $stall_ms = 700;

# Stalls of a machine that has much else to do.
sub complains { return qr/\b(?:BUG(?!: soft lockup)|Oops|WARNING|Kernel panic)\b/ }
sub programs { return qw(clang) }

sub install {
	my ($root) = @_;

	system(qw(clang -g -O2 -target bpf -I/usr/include/x86_64-linux-gnu -c), "$VM::here/scx.bpf.c", '-o', "$root/scx.bpf.o") == 0 or die 'scx.bpf.c';
	compile('-std=gnu17', '-D_GNU_SOURCE', "$VM::here/scx.c", '-o', "$root/scx.built", '-lbpf');
	install_program($root, "$root/scx.built", 'scx');
	install_script($root, 'scx-load');
}

# Its text, of a step that must have worked.
sub text_of {
	my ($steps, $name) = @_;

	is($steps->{"scx_$name"}{rc} // 'none', 0, "$name: exit code") or diag(substr($steps->{"scx_$name"}{text} // 'the guest did not get there', 0, 800));
	return $steps->{"scx_$name"}{text} // '';
}

# Names of what was loaded, one after the other.
sub loaded {
	my ($summary) = @_;
	my @names = map { $_->{name} // 'none' } @{$summary->{schedulers} // []};

	return join(' ', map { $_ && $names[$_] eq $names[$_ - 1] ? () : $names[$_] } 0 .. $#names);
}

# It comes when recording goes on already, and goes before its end.
sub check_coming_and_going {
	my ($steps) = @_;
	my @events = scx_events(text_of($steps, 'dump'));
	my $summary = decode_json(text_of($steps, 'summary') || '{}');
	my %last = map { $_->{event} => $_->{ts_ns} } @events;

	check_scx(\@events, text_of($steps, 'notes'), map { $_ => 20 } 'woken, fifo', 'woken, sorted', 'woken, local', 'gave way, fifo',
		'gave way, sorted', 'runs, fifo', 'runs, sorted', 'runs, local', 'runs on', 'preempted', 'slept', 'weight');
	is(text_of($steps, 'ours'), text_of($steps, 'kernels'), "sched_ext's events: in the kernel's own words");
	like($steps->{scx_ours}{text}, qr/^sched_ext:sched_ext_event: name SCX_EV_\w+ delta \d+$/m, 'and there are some');
	is(text_of($steps, 'some'), text_of($steps, 'filtered'), 'filters let through what they name');
	is(scalar(grep { $steps->{scx_some}{text} =~ /^schedtap:sched_scx_$_: /m } qw(wakeup switch)), 2, 'and do let it through');
	is(loaded($summary), 'none noted none', 'what was loaded');
	my ($with) = grep { defined($_->{name}) } @{$summary->{schedulers} // []};
	cmp_ok(abs(($with->{from_ns} // 0) - first_of(\@events)), '<', 1e9, 'and when');
	cmp_ok($last{'sched:sched_switch'}, '>', ($with->{to_ns} // 9e18), 'recording goes on without it');
	my $later = grep { $_->{event} eq 'sched:sched_switch' && $_->{ts_ns} > $last{'schedtap:sched_scx_switch'} } @events;
	cmp_ok($later, '>=', 10, 'and no task belongs to sched_ext any more');
}

sub first_of {
	my ($events) = @_;
	my ($first) = grep { $_->{event} =~ /sched_scx_/ } @$events;

	return $first ? $first->{ts_ns} : 0;
}

# What led to the stall is in the flight recorder's file: the task was woken, the scheduler kept it, and it did not run.
sub check_stall {
	my ($steps, $has_exit) = @_;
	my @events = scx_events(text_of($steps, 'stalled'));
	my ($mark) = grep { $_->{event} eq 'schedtap:mark' && $_->{fields}{text} =~ /^waking > ${stall_ms}ms/ } @events;
	my $tid = $mark->{fields}{pid} // -1;
	my ($woken) = grep { $_->{event} eq 'schedtap:sched_scx_wakeup' && $_->{fields}{pid} == $tid } @events;
	my ($waking) = grep { $_->{event} eq 'sched:sched_waking' && $_->{fields}{pid} == $tid } @events;
	my ($exit) = grep { $_->{event} eq 'sched_ext:sched_ext_exit' } @events;
	my ($runs) = grep { $_->{event} eq 'sched:sched_switch' && $_->{fields}{next_pid} == $tid && $_->{ts_ns} > ($woken->{ts_ns} // 0) } @events;

	text_of($steps, 'stall');
	like(text_of($steps, 'files'), qr/\A\S+\.dat\n\z/, 'a stall: one file');
	is($steps->{scx_left}{text}, "ls: /tmp/*.spool: No such file or directory\n", 'and nothing else');
	is($mark->{fields}{comm}, 'held', 'of whom it is') or return;
	is_deeply([@{$woken->{fields}}{qw(held nr weight)}], [1, 0, 100], 'it was woken, and the scheduler kept it');
	cmp_ok($mark->{ts_ns} - $waking->{ts_ns}, '>=', $stall_ms * 1e6, 'the condition: so long ago');
	cmp_ok($mark->{ts_ns} - $waking->{ts_ns}, '<', $stall_ms * 1e6 + 500e6, 'and not much longer');
	cmp_ok($runs->{ts_ns} // 0, '>', $woken->{ts_ns} + 1500e6, 'it ran when the scheduler had been thrown out');
	like(text_of($steps, 'stalled_text'), qr/^impatient +\d/m, 'which scheduler it was');
	SKIP: {
		skip('this kernel has no sched_ext_exit', 2) if !$has_exit;
		is($exit->{fields}{kind}, 1026, 'thrown out for a stall'); # SCX_EXIT_ERROR_STALL
		cmp_ok($exit->{ts_ns}, '<', $runs->{ts_ns}, 'before it ran');
	}
}

sub check {
	my ($g) = @_;
	my $steps = $g->{steps};
	my $list = $steps->{scx_list}{text} // '';

	if ($list !~ /^bpf +schedtap:sched_scx_switch$/m) {
		my @absent = $list =~ /^- +schedtap:sched_scx_\w+: the kernel is built without task_struct.scx$/mg;

		is(scalar(@absent), 3, 'without sched_ext its events are absent, with a reason') or diag($list);
		return;
	}
	my $refused = $steps->{scx_try}{text} // '';
	SKIP: {
		# libbpf 1.1 compares functions with those of kernels whose BTF has one argument more
		skip("$1: $2", 1) if $refused =~ /'(\w+)': (func_proto \S+ incompatible)/;
		is($steps->{scx_try}{rc}, 0, 'the scheduler is loaded') or diag($refused) && return;
		check_coming_and_going($steps);
		check_stall($steps, $list =~ /^bpf +sched_ext:sched_ext_exit$/m);
	}
}

1;
