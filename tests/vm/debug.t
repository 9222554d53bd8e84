#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module in a kernel that checks memory, locks and RCU (debug.config), on two CPUs of which one
# comes and goes: its events are enabled, read and recorded under load, and it is unloaded meanwhile.
# Not part of "make test": the kernel is built first.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $here = dirname(__FILE__);
my $program = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $quiet_s = 300; # the guest is never silent as long
my $nr_cycles = 20;

# Why an event that the kernel has does not happen in the guest.
my %silent = (
	'sched_compute_energy' => 'no energy model',
	'sched_overutilized' => 'no energy model',
);

# What the kernel's checks print; nearly all end with a backtrace.
my $splat = qr/^.*(?:\bBUG\b|WARNING|KASAN|Oops|ODEBUG|Call Trace|Kernel panic|possible circular|
	possible recursive|inconsistent lock|suspicious RCU|sleeping function|scheduling while atomic|
	Invalid wait context|corruption|detected stalls|unpatched)/mx;

sub missing {
	return 'the guest is x86-64' if `uname -m` ne "x86_64\n";
	return "'$program' is not built" if !-x $program;
	for (qw(busybox chrt ldd make gcc flex bison bc pahole)) {
		return "no $_ on this machine" if !which($_);
	}
	return;
}

# A line that a tool prints, or the end of the test.
sub line_of {
	my ($dir, @command) = @_;
	chomp(my $line = `@command 2>$dir/error`);

	BAIL_OUT(slurp("$dir/error")) if $?;
	return $line;
}

sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";

	make_path(map { "$root/$_" } qw(bin proc sys dev tmp));
	install_program($root, which('busybox'), 'busybox');
	install_program($root, which('chrt'), 'chrt');
	install_program($root, $program, 'schedtap');
	copy("$here/debug-init", "$root/init") or die "debug-init: $!";
	copy("$here/load", "$root/bin/load") or die "load: $!";
	copy("$dir/module/schedtap.ko", "$root/schedtap.ko") or die "schedtap.ko: $!";
	chmod(0755, "$root/init", "$root/bin/load");
	pack_initramfs($root, "$dir/initrd");
}

sub boot {
	my ($dir, $qemu, $tree) = @_;
	my @qemu = ($qemu, '-accel', 'tcg', '-cpu', 'max', '-smp', 2, '-m', 1024,
		'-nodefaults', '-display', 'none', '-no-reboot',
		'-serial', "file:$dir/log", '-serial', "file:$dir/out",
		'-kernel', "$tree/arch/x86/boot/bzImage", '-initrd', "$dir/initrd",
		'-append', "console=ttyS0 panic=-1 oops=panic cycles=$nr_cycles");

	# qemu lets one CPU run what another just replaced, when static keys are toggled: rare, and
	# nothing of the kernel's.
	for my $try (1 .. 3) {
		is(run_guest($quiet_s, "$dir/out", @qemu), '', 'the guest comes to its end');
		last if slurp("$dir/log") !~ /Oops: int3/;
		diag("try $try: qemu ran a break point that was gone");
	}
	return (slurp("$dir/log") =~ s/\r//gr, steps_of(slurp("$dir/out")));
}

sub check_events {
	my ($log, $steps) = @_;
	my %absent = $log =~ /schedtap: no event (\w+): (.*)/g;
	my %read = reverse(($steps->{watch}{text} // '') =~ /^\s*(\d+) (\w+)$/mg);

	for my $event (sort(module_events())) {
		my $verdict = verdict($absent{$event}, $read{$event}, $silent{$event});

		isnt($verdict, 'FAILED', $event);
		note(sprintf('%-26s %s', $event, $verdict));
	}
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => 1);
my $qemu = line_of($dir, "$here/fetch", 'qemu');
my $tree = line_of($dir, "$here/debug-kernel");

line_of($dir, $program, 'module', 'build', '--source', "$here/../..", '--output', "$dir/module",
	'--kernel-src', $tree, '--btf', "$tree/vmlinux");
make_initramfs($dir);
my ($log, $steps) = boot($dir, $qemu, $tree);

for my $step (qw(module_load watch cycles module_unload lockdep)) {
	is($steps->{$step}{rc} // 'none', 0, "$step: exit code")
		or diag(substr($steps->{$step}{text} // 'the guest did not get there', -800));
}
my ($complaint) = $log =~ /($splat.*(?:\n.*){0,60})/;
is($complaint, undef, 'the kernel has no complaint');
like($steps->{lockdep}{text} // '', qr/debug_locks:\s+1$/m, 'locks are checked until the end');
is($steps->{cycles}{text} // '', "$nr_cycles\n", 'unloaded while enabled and read, again and again');
my $offline = () = $log =~ /CPU 1 is now offline$/mg;
cmp_ok($offline, '>', 2, 'a CPU went and came meanwhile');
like($steps->{watch}{text} // '', qr/, [1-9]\d* events, .* 0 lost$/m, 'BPF recorded them meanwhile');
check_events($log, $steps);
done_testing();
