#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sched_ext, which this machine's kernel need not have: in guests a BPF scheduler of ours (scx.bpf.c) notes what it does, comes and
# goes while schedtap records, and stalls.
#
# KERNELS: names for fetch
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;
use lib dirname(__FILE__);
use Scx;
use VM;

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
# 6.1 has no sched_ext; all others: make soak
my @kernels = grep { !/^arm64-/ } split(' ', $ENV{KERNELS} // '6.1 7.3');
my $quiet_s = 120;
my $at_once = 2;
my $stall_ms = 700;

sub missing {
	return "no '$schedtap'" if !-x $schedtap;
	return lacks_for_x86_guests(qw(clang gcc));
}

sub run { system(@_) == 0 or die "@_" }

sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";

	make_path(map { "$root/$_" } qw(bin proc sys dev tmp));
	run(qw(clang -g -O2 -target bpf -I/usr/include/x86_64-linux-gnu -c), "$here/scx.bpf.c", '-o', "$root/scx.bpf.o");
	run(qw(gcc -std=gnu17 -D_GNU_SOURCE -O2), "$here/scx.c", '-o', "$dir/scx", '-lbpf');
	install_program($root, which('busybox'), 'busybox');
	install_program($root, $schedtap, 'schedtap');
	install_program($root, "$dir/scx", 'scx');
	copy("$here/scx-init", "$root/init") or die "init: $!";
	copy("$here/scx-load", "$root/bin/load") or die "load: $!";
	chmod(0755, "$root/init", "$root/bin/load");
	pack_initramfs($root, "$dir/initrd");
}

sub boot {
	my ($dir, $vmlinuz, $name) = @_;
	my $why = run_guest($quiet_s, "$dir/$name.out", 'qemu-system-x86_64', '-accel', 'tcg', '-cpu', 'max', '-m', 1024,
		'-nodefaults', '-display', 'none', '-no-reboot', '-serial', "file:$dir/$name.log", '-serial', "file:$dir/$name.out",
		'-kernel', $vmlinuz, '-initrd', "$dir/initrd", '-append', 'console=ttyS0 panic=-1 oops=panic');

	open(my $f, '>', "$dir/$name.why") or die "$dir: $!";
	print $f $why;
	close($f);
}

# Its text, of a step that must have worked.
sub text_of {
	my ($steps, $name) = @_;

	is($steps->{$name}{rc} // 'none', 0, "$name: exit code") or diag(substr($steps->{$name}{text} // 'the guest did not get there', 0, 800));
	return $steps->{$name}{text} // '';
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
	like($steps->{ours}{text}, qr/^sched_ext:sched_ext_event: name SCX_EV_\w+ delta \d+$/m, 'and there are some');
	is(text_of($steps, 'some'), text_of($steps, 'filtered'), 'filters let through what they name');
	is(scalar(grep { $steps->{some}{text} =~ /^schedtap:sched_scx_$_: /m } qw(wakeup switch)), 2, 'and do let it through');
	is(loaded($summary), 'none noted none', 'what was loaded');
	my ($with) = grep { defined($_->{name}) } @{$summary->{schedulers} // []};
	cmp_ok(abs(($with->{from_ns} // 0) - first_of(\@events)), '<', 1e9, 'and when');
	cmp_ok($last{'sched:sched_switch'}, '>', ($with->{to_ns} // 9e18), 'recording goes on without it');
	my $behind = grep { $_->{event} eq 'sched:sched_switch' && $_->{ts_ns} > $last{'schedtap:sched_scx_switch'} } @events;
	cmp_ok($behind, '>=', 10, 'and its tasks are no more of sched_ext');
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
	is($steps->{left}{text}, "ls: /tmp/*.spool: No such file or directory\n", 'and nothing else');
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

sub check_guest {
	my ($dir, $name) = @_;
	my $steps = steps_of(slurp("$dir/$name.out"));
	my $list = $steps->{list}{text} // '';
	# a lockup is one of a machine that has much else to do
	my ($complaint) = slurp("$dir/$name.log") =~ /^(.*\b(?:BUG(?!: soft lockup)|Oops|WARNING|Kernel panic)\b.*(?:\n.*){0,25})/m;

	is(slurp("$dir/$name.why"), '', 'the guest comes to its end') or diag(substr(slurp("$dir/$name.log"), -600));
	is($complaint, undef, 'the kernel has no complaint');
	if ($list !~ /^bpf +schedtap:sched_scx_switch$/m) {
		my @absent = $list =~ /^- +schedtap:sched_scx_\w+: the kernel is built without task_struct.scx$/mg;

		is(scalar(@absent), 3, 'without sched_ext its events are absent, with a reason') or diag($list);
		return;
	}
	my $refused = $steps->{try}{text} // '';
	SKIP: {
		# libbpf 1.1 compares functions with those of kernels whose BTF has one argument more
		skip("$1: $2", 1) if $refused =~ /'(\w+)': (func_proto \S+ incompatible)/;
		is($steps->{try}{rc}, 0, 'the scheduler is loaded') or diag($refused) && return;
		check_coming_and_going($steps);
		check_stall($steps, $list =~ /^bpf +sched_ext:sched_ext_exit$/m);
	}
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my %vmlinuz = map { (split)[0, 1] } `$here/fetch @kernels 2>$dir/fetch.err`;
plan(skip_all => 'no kernels: ' . slurp("$dir/fetch.err")) if !%vmlinuz;

make_initramfs($dir);
my %running;
for my $name (grep { $vmlinuz{$_} } @kernels) {
	delete($running{wait()}) if keys(%running) == $at_once;
	my $pid = fork() // die "fork: $!";
	if (!$pid) {
		boot($dir, $vmlinuz{$name}, $name);
		POSIX::_exit(0);
	}
	$running{$pid} = 1;
}
1 while wait() > 0;
for my $name (@kernels) {
	SKIP: {
		skip("$name: " . slurp("$dir/fetch.err"), 1) if !$vmlinuz{$name};
		subtest $name => sub { check_guest($dir, $name) };
	}
}
done_testing();
