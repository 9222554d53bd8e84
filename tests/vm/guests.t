#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap and its module on other kernels: boots each once under qemu, with four CPUs. The guest (init) runs the scripts of
# all parts (parts/); the modules of Part/ say what these need, and look at what they report. No KVM is needed.
#
# qemu runs the CPUs in one thread: with one for each, qemu 7.2 runs code that was just patched, and guests whose tracepoints
# are switched on and off panic ("Oops: int3").
#
# KERNELS: names for fetch [the oldest and the newest; all others: make soak, make matrix]. PARTS: such as record,module [all].
# SOAK=1: long. KEEP=1: what the guests said stays.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/../live', dirname(__FILE__) . '/..';
use Built;
use VM;

my $here = dirname(abs_path($0));
my $program = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my @kernels = grep { !/^arm64-/ } split(' ', $ENV{KERNELS} // '6.1 7.3');
my @parts = split(/,/, $ENV{PARTS} // 'record,probes,queues,tally,programs,portable,module,scx,ci,lockdown');
my $quiet_s = 300; # the longest step, 100 cycles of the module, says nothing before its end
my $at_once = 2;
my @large = qw(trace-cmd perf bpftrace);
my %package = map { $_ => 'Part::' . ucfirst } @parts;
my $complaint = qr/\b(?:BUG|Oops|WARNING|Kernel panic)\b/;

# What a part says of itself; @default where it says nothing.
sub ask {
	my ($part, $what, $default, @args) = @_;
	my $sub = $package{$part}->can($what);

	return $sub ? $sub->(@args) : $default;
}

sub missing {
	for (values(%package)) {
		eval "require $_; 1" or die $@;
	}
	return "'$program' is not built" if !$program || !-x $program;
	return lacks_for_x86_guests(qw(ldd chrt make gcc mkfs.ext4 clang), @large);
}

# What the guest of a kernel has; a part that it lacks is not run.
sub make_initramfs {
	my ($g, $disk) = @_;
	my $root = "$g->{dir}/root";

	make_path(map { "$root/$_" } qw(bin proc sys dev tmp disk parts));
	install_program($root, which('busybox'), 'busybox');
	install_program($root, $program, 'schedtap');
	install_text($root, 'init', slurp("$here/init"));
	chmod(0755, "$root/init");
	for my $part (@parts) {
		$g->{lacks}{$part} = ask($part, 'lacks', '', $g);
		next if $g->{lacks}{$part};
		install_text($root, "parts/$part", slurp("$here/parts/$part"));
		ask($part, 'install', '', $root, $g);
	}
	pack_initramfs($root, "$g->{dir}/initrd");
	system("cat $disk/cpio >>$g->{dir}/initrd") == 0 or die "$g->{dir}/initrd" if !$g->{has_disk};
}

# Its log, what it says, and why it did not come to its end are in files: log, out, why.
sub boot {
	my ($g, $disk) = @_;
	my $dir = $g->{dir};
	my @run = grep { !$g->{lacks}{$_} } @parts;
	my @words = map { ask($_, 'words', '') } @run;
	# namespaces of one disk have their names in this order
	my @disks = ('-device', 'nvme,id=disks,serial=out', map { ('-drive', "file=$_->[1],format=raw,if=none,id=$_->[0],readonly=$_->[2]",
		'-device', "nvme-ns,drive=$_->[0],bus=disks,nsid=$_->[3]") } ['out', "$dir/out.img", 'off', 1], ['disk', "$disk/ext4", 'on', 2]);

	install_text($dir, 'out.img', '');
	truncate("$dir/out.img", 64 << 20) or die "$dir/out.img: $!";
	my $why = run_guest($quiet_s, "$dir/out", 'qemu-system-x86_64', '-accel', 'tcg,thread=single', '-smp', 4, '-cpu', 'max',
		'-m', 1536, '-nodefaults', '-display', 'none', '-no-reboot', '-serial', "file:$dir/log", '-serial', "file:$dir/out",
		@disks, '-kernel', $g->{vmlinuz}, '-initrd', "$dir/initrd",
		# one run queue has all tasks: no groups of the kernel's own; on a busy host a clock may seem unstable, and another
		# one takes an access to a device; what hinders attacks costs an emulated CPU a tenth of its time
		'-append', "console=ttyS0 panic=-1 oops=panic noautogroup tsc=reliable mitigations=off parts=@{[join(',', @run)]} @words");
	unlink("$dir/initrd");
	install_text($dir, 'why', $why);
}

# The kernel's log while each part ran.
sub logs_of {
	my ($log) = @_;

	$log =~ s/\r//g;
	my ($boot, %log) = split(/^\[ *[\d.]+\] guests\.t: (\w+)\n/m, $log);
	return { boot => $boot, %log };
}

# The first complaint in a log, with what follows it; undef: none.
sub complaint_in {
	my ($log, $complaint) = @_;

	return ($log =~ /^(.*$complaint.*(?:\n.*){0,40})/m)[0];
}

sub check_log {
	my ($what, $log, $complaint) = @_;

	is(complaint_in($log, $complaint), undef, "$what: the kernel has no complaint");
}

# A guest that stopped early: its first complaint is the reason, and all that it did not reach would hide it.
sub explain_end {
	my ($dir, $log) = @_;

	diag("its first complaint:\n", complaint_in($log =~ tr/\r//dr, $complaint) // "none\n");
	diag("its last words:\n", map { substr(slurp("$dir/$_"), -600) } qw(log out));
}

sub check_guest {
	my ($g) = @_;
	my $dir = $g->{dir};
	my $logs = logs_of(slurp("$dir/log"));

	is(slurp("$dir/why") || (slurp("$dir/out") =~ /^@@ end\r?$/m ? '' : 'it ended early'), '', 'the guest comes to its end')
		or return explain_end($dir, slurp("$dir/log"));
	$g->{steps} = steps_of(slurp("$dir/out"));
	check_log('boot', $logs->{boot} // '', $complaint);
	is($g->{steps}{$_}{rc} // 'none', 0, "$_: exit code") or diag($g->{steps}{$_}{text} // '') for qw(doctor list);
	for my $part (@parts) {
		SKIP: {
			skip("$part: $g->{lacks}{$part}", 1) if $g->{lacks}{$part};
			subtest $part => sub {
				check_log($part, $logs->{$part} // '', ask($part, 'complains', $complaint));
				$package{$part}->can('check')->($g);
			};
		}
	}
	note_times($g->{steps});
}

sub note_times {
	my ($steps) = @_;
	my ($before, %took) = (0);

	for (sort { $steps->{$a}{uptime} <=> $steps->{$b}{uptime} } grep { defined $steps->{$_}{uptime} } keys(%$steps)) {
		$took{$_} = $steps->{$_}{uptime} - $before;
		$before = $steps->{$_}{uptime};
	}
	note("longest steps: ", join(', ', map { sprintf('%s %.1f s', $_, $took{$_}) } grep { defined } (sort { $took{$b} <=> $took{$a} } keys(%took))[0 .. 9]));
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my %guests;
for (`$here/fetch @kernels 2>$dir/fetch.err`) {
	my ($name, $vmlinuz, undef, $version, $headers) = split;

	$guests{$name} = { name => $name, dir => "$dir/$name", vmlinuz => $vmlinuz, version => $version, headers => $headers, program => $program,
		build => dirname($program), has_disk => $name !~ /-rt$/ };
}
plan(skip_all => 'no kernels: ' . slurp("$dir/fetch.err")) if !%guests;

my ($disk, $no_disk) = disk_of(@large);
BAIL_OUT($no_disk) if !$disk;
my %running;
for my $g (map { $guests{$_} // () } @kernels) {
	make_initramfs($g, $disk);
	delete($running{wait()}) if keys(%running) == $at_once;
	my $pid = fork() // die "fork: $!";
	if (!$pid) {
		boot($g, $disk);
		POSIX::_exit(0);
	}
	$running{$pid} = 1;
}
1 while wait() > 0;

for my $name (@kernels) {
	my $g = $guests{$name};

	SKIP: {
		skip("$name: " . slurp("$dir/fetch.err"), 1) if !$g;
		subtest "$name ($g->{version})" => sub { check_guest($g) };
	}
}
diag("kept in $dir") if $ENV{KEEP};
done_testing();
