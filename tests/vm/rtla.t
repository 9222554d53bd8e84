#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# rtla's analysis and `schedtap explain` give the same reasons for one late wakeup of a timerlat thread: which tasks delayed it and
# for how long, and for how long interrupts did. Not part of "make test": no kernel of Debian has the tracer (timerlat.config), it is built first.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use List::Util qw(sum0);
use Test::More;
use lib dirname(__FILE__);
use VM;

my $here = dirname(__FILE__);
my $program = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $quiet_s = 300; # the guest is never silent as long
my $late_us = 400_000; # emulated beside other work a guest comes 200 ms late by itself
my %about = (part => 0.03, us => 1000); # how far durations may part

sub missing {
	return "'$program' is not built" if !-x $program;
	return lacks_for_x86_guests(qw(chrt make gcc flex bison bc pahole));
}

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
	system('cp', '-a', line_of($dir, "$here/fetch", 'rtla'), "$root/rtla") == 0 or die 'rtla';
	copy("$here/rtla-init", "$root/init") or die "rtla-init: $!";
	copy("$here/rtla-load", "$root/bin/rtla-load") or die "rtla-load: $!";
	chmod(0755, "$root/init", "$root/bin/rtla-load");
	pack_initramfs($root, "$dir/initrd");
}

sub boot {
	my ($dir, $qemu, $tree) = @_;

	my $why = run_guest($quiet_s, "$dir/out", $qemu, '-accel', 'tcg', '-cpu', 'max', '-smp', 2, '-m', 1024, '-nodefaults', '-display', 'none',
		'-no-reboot', '-serial', "file:$dir/log", '-serial', "file:$dir/out", '-kernel', "$tree/arch/x86/boot/bzImage",
		'-initrd', "$dir/initrd", '-append', "console=ttyS0 panic=-1 oops=panic late_us=$late_us");
	is($why, '', 'the guest comes to its end') or diag(substr(slurp("$dir/log"), -600));
	return steps_of(slurp("$dir/out"));
}

# A guest that has no CPU for a while has late interrupts, and rtla has seen enough before the tasks come. So again, if it does not name them.
sub boot_until_seen {
	my ($steps, $said);

	for my $try (1 .. 6) {
		$steps = boot(@_);
		$said = $steps->{rtla}{text} // '';
		return $steps if $said =~ /hog-a:/ && $said =~ /hog-b:/;
		diag("try $try: rtla saw something else: " . substr($said, -500));
	}
	return $steps;
}

# @more_us: what may be in it beside that.
sub agrees {
	my ($name, $ours_us, $theirs_us, $more_us) = @_;
	my $slack_us = $about{us} + $about{part} * $theirs_us;

	note(sprintf('%-12s schedtap %10.1f us, rtla %10.1f us and up to %.1f us', $name, $ours_us, $theirs_us, $more_us));
	ok($ours_us >= $theirs_us - $slack_us && $ours_us <= $theirs_us + $more_us + $slack_us, "$name: as long");
}

# A number of rtla's in us; 0: it says nothing of that.
sub said_us { return $_[0] =~ /^\s*\Q$_[1]\E:?\s+([\d.]+) us/m ? $1 : 0 }

# Of tasks that kept the thread from its CPU, by name: "COMM:TID US us", below those in whose time the timer expired, and the others.
sub their_tasks {
	my ($said) = @_;
	my %us;

	for my $title ('Blocking thread', 'Thread interference') {
		my ($list) = $said =~ /^\s*$title:?\s.*\n((?:\s+\S+:\d+\s+[\d.]+ us\n)+)/m or next;
		$us{$1} += $2 while $list =~ /(\S+):\d+\s+([\d.]+) us/g;
	}
	return \%us;
}

sub our_tasks {
	my ($wait) = @_;
	my %us;

	$us{$_->{comm}} += $_->{ns} / 1000 for grep { defined($_->{comm}) } @{ $wait->{pieces} };
	return \%us;
}

# The thread's latency begins when the timer should have expired, and its wait when the interrupt woke it. rtla takes all interrupts out of a
# task's time; schedtap those that have events of their own, which a CPU's timer and what CPUs send each other have not.
sub compare {
	my ($said, $waits) = @_;
	my $irq_us = said_us($said, 'IRQ latency');
	my $more_us = said_us($said, 'IRQ interference');
	my ($wait) = grep { $_->{wait_ns} / 1000 + $irq_us > $late_us } sort { $a->{from_ns} <=> $b->{from_ns} } @$waits;
	my ($theirs, $ours) = (their_tasks($said), our_tasks($wait // {}));

	ok($wait, 'explain has the wait') or return diag($said);
	agrees('the wait', $wait->{wait_ns} / 1000, said_us($said, 'Thread latency') - $irq_us, 0);
	for my $hog (qw(hog-a hog-b)) {
		ok($theirs->{$hog}, "$hog: rtla names it") or diag($said);
		agrees($hog, $ours->{$hog} // 0, $theirs->{$hog} // 0, $more_us);
	}
	agrees('softirqs', sum0(map { $_->{ns} / 1000 } grep { $_->{kind} eq 'softirq' } @{ $wait->{pieces} }),
		said_us($said, 'Softirq interference'), 0);
	agrees('all tasks', sum0(values(%$ours)), sum0(values(%$theirs)) + $more_us, 0);
	my ($worst) = sort { $theirs->{$b} <=> $theirs->{$a} } keys(%$theirs);
	is((sort { $ours->{$b} <=> $ours->{$a} } keys(%$ours))[0], $worst, 'both blame the same task most');
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => 1);
my $qemu = line_of($dir, "$here/fetch", 'qemu');
my $tree = line_of($dir, "$here/debug-kernel", 'timerlat');

make_initramfs($dir);
my $steps = boot_until_seen($dir, $qemu, $tree);
for (qw(rtla wait)) {
	is($steps->{$_}{rc} // 'none', 0, "$_: exit code") or diag(substr($steps->{$_}{text} // 'the guest did not get there', -2000));
}
compare($steps->{rtla}{text}, decode_json($steps->{wait}{text})->{waits});
done_testing();
