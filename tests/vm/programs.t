#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the compiler of definitions and filters can make, other kernels take: tests/live/program_fuzz makes random ones in
# guests, of what their tracepoints pass, and what is computed there is what a compiler of C has.
#
# KERNELS: names for fetch. PROGRAMS: how many in each [500: a thousand in all]. SEED: of all that is random [1]
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/../live';
use Values;
use VM;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $fuzz = dirname($schedtap) . '/tests/live/program_fuzz';
my @kernels = split(' ', $ENV{KERNELS} // '6.1 7.3');
my $nr = $ENV{PROGRAMS} // 500;
my $seed = $ENV{SEED} // 1;
my $quiet_s = 300; # 500 programs take half a minute, in which nothing is said

sub missing {
	return "no '$fuzz'" if !-x $fuzz || !-x $schedtap;
	return lacks_for_x86_guests(qw(gcc));
}

sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";

	make_path(map { "$root/$_" } qw(bin proc sys dev tmp));
	install_program($root, which('busybox'), 'busybox');
	install_program($root, $schedtap, 'schedtap');
	install_program($root, $fuzz, 'program_fuzz');
	is(write_values($fuzz, $root, $seed), '', 'what a compiler has of it') or return;
	rename("$root/values", "$root/bin/values") or die "values: $!";
	copy("$top/tests/vm/programs-init", "$root/init") or die "init: $!";
	chmod(0755, "$root/init");
	pack_initramfs($root, "$dir/initrd");
	return 1;
}

sub boot {
	my ($dir, $vmlinuz, $name) = @_;
	my $why = run_guest($quiet_s, "$dir/$name.out", 'qemu-system-x86_64', '-accel', 'tcg', '-cpu', 'max', '-m', 1024,
		'-nodefaults', '-display', 'none', '-no-reboot', '-serial', "file:$dir/$name.log", '-serial', "file:$dir/$name.out",
		'-kernel', $vmlinuz, '-initrd', "$dir/initrd", '-append', "console=ttyS0 panic=-1 oops=panic nr=$nr seed=$seed");

	open(my $f, '>', "$dir/$name.why") or die "$dir: $!";
	print $f $why;
	close($f);
}

sub check_null {
	my ($said) = @_;

	SKIP: {
		skip('a kernel without csd_function_exit', 1) if $said =~ /no tracepoint 'csd_function_exit'/;
		like($said, qr/own:csd_function_exit: null=1 at=0 flags=0 either=3$/m, 'a member of an argument that is NULL is 0');
	}
}

sub check_guest {
	my ($dir, $name) = @_;
	my $steps = steps_of(slurp("$dir/$name.out"));

	is(slurp("$dir/$name.why"), '', 'the guest comes to its end') or diag(substr(slurp("$dir/$name.log"), -600));
	check_values(map { $steps->{$_}{text} // '' } qw(record want got));
	check_load($steps->{load}{text} // '', $nr);
	check_null($steps->{null}{text} // '');
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => 1);
my %vmlinuz = map { (split)[0, 1] } `$top/tests/vm/fetch @kernels 2>$dir/fetch.err`;
plan(skip_all => 'no kernels: ' . slurp("$dir/fetch.err")) if !%vmlinuz;

if (make_initramfs($dir)) {
	for my $name (grep { $vmlinuz{$_} } @kernels) {
		my $pid = fork() // die "fork: $!";
		next if $pid;
		boot($dir, $vmlinuz{$name}, $name);
		POSIX::_exit(0);
	}
	1 while wait() > 0;
	for my $name (@kernels) {
		SKIP: {
			skip("$name: " . slurp("$dir/fetch.err"), 1) if !$vmlinuz{$name};
			subtest $name => sub { check_guest($dir, $name) };
		}
	}
}
note("seed $seed");
done_testing();
