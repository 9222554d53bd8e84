#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap and its module on other kernels: boots each under qemu with an initramfs of busybox and
# the programs, and looks at what the guest (init) reports. No KVM is needed.
#
# KERNELS: names for fetch [the oldest and the newest; all others: make soak, make matrix]
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/../live';
use Picks;
use Resched;
use VM;

my $here = dirname(__FILE__);
my $program = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my @kernels = grep { !/^arm64-/ } split(' ', $ENV{KERNELS} // '6.1 7.3');
my $quiet_s = 300; # the longest step, 100 cycles of the module, takes a minute or two, and says nothing before its end
my $at_once = 2;

# Why an event that a kernel has does not happen in the guest. All others must be recorded.
my %silent = (
	# with several CPUs static keys that are toggled often panic or hang a guest ("Oops: int3"), so
	# these have one; arm64.t's have four
	'sched:sched_migrate_task' => 'one CPU',
	'schedtap:sched_cpu_capacity' => 'one CPU has no scheduling domain to balance',
	'schedtap:sched_compute_energy' => 'no energy model',
	'schedtap:sched_overutilized' => 'no energy model',
	'cpuhp:cpuhp_exit' => 'one CPU, which stays',
	'power:cpu_frequency' => 'no frequency scaling',
	'schedtap:sched_dl_server_start' => 'the one CPU is never without a fair task for a second',
	'schedtap:sched_dl_server_stop' => 'the one CPU is never without a fair task for a second',
);
sub missing {
	return "'$program' is not built" if !-x $program;
	return lacks_for_x86_guests(qw(ldd chrt make gcc trace-cmd perf bpftrace));
}

# What all guests share.
sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";

	make_path(map { "$root/$_" } qw(bin usr/bin usr/sbin proc sys dev tmp));
	install_program($root, $_ eq 'schedtap' ? $program : which($_), $_)
		for qw(busybox chrt schedtap trace-cmd perf bpftrace);
	system("gcc -O2 -static -o $root/bin/keys $here/keys.c") == 0 or die 'keys.c';
	system("gcc -O2 -static -o $root/bin/probed $here/../live/probed.c") == 0 or die 'probed.c';
	copy("$here/init", "$root/init");
	copy("$here/load", "$root/bin/load");
	copy("$here/../live/$_", "$root/$_") for qw(picks.h picks_flat.h);
	copy("$here/../live/pick_load", "$root/bin/pick_load");
	chmod(0755, "$root/init", "$root/bin/load", "$root/bin/pick_load");
	open(my $f, '>', "$root/tracepoints") or die "$root/tracepoints: $!";
	print $f "$_\n" for module_tracepoints();
	close($f);
	pack_initramfs($root, "$dir/initrd");
}

# Builds the module for a kernel, and puts it into an archive that is read behind the shared one.
# Return: why it is not there, or ''.
sub build_module {
	my ($dir, $name, $vmlinuz, $headers) = @_;
	my $to = "$dir/$name";

	make_path("$to/root");
	copy("$dir/initrd", "$to/initrd") or die "$to/initrd: $!";
	return 'Debian has no headers of it any more' if $headers eq '-';
	my $out = `'$program' module build --source $here/../.. --output $to/module --kernel-src $headers --btf $vmlinuz 2>&1`;
	return $out if $?;
	copy("$to/module/schedtap.ko", "$to/root/schedtap.ko") or die "$to: $!";
	# as one of a kernel that is configured in another way
	make_path("$to/root/other");
	my $other = slurp("$to/module/schedtap.ko");
	$other =~ s/(vermagic=[^\0]*)mod_unload/$1mod_unlaod/ or die 'vermagic';
	open(my $f, '>:raw', "$to/root/other/schedtap.ko") or die "$to: $!";
	print $f $other;
	close($f);
	pack_initramfs("$to/root", "$to/more");
	system("cat $to/more >>$to/initrd") == 0 or die "$to/initrd";
	return '';
}

# Boots one kernel. Its log, what the guest says, and why it did not come to its end are in files: @name and
# log, out, why.
sub boot {
	my ($dir, $vmlinuz, $name, @words) = @_;
	my ($log, $out) = map { "$dir/$name$_" } qw(log out);
	my $why = run_guest($quiet_s, $out, 'qemu-system-x86_64', '-accel', 'tcg', '-cpu', 'max',
		'-m', 1024, '-nodefaults', '-display', 'none', '-no-reboot',
		'-serial', "file:$log", '-serial', "file:$out",
		'-kernel', $vmlinuz, '-initrd', "$dir/initrd",
		# one run queue has all tasks: no groups of the kernel's own
		'-append', "console=ttyS0 panic=-1 oops=panic noautogroup @words");

	open(my $f, '>', "$dir/${name}why") or die "$dir: $!";
	print $f $why;
	close($f);
}

# What was not said is not looked at where the guest was stopped.
sub came_to_end {
	my ($dir, $name) = @_;

	return is(slurp("$dir/${name}why"), '', "${name}the guest comes to its end") ||
		(diag("its last words:\n", map { substr(slurp("$dir/$name$_"), -600) } qw(log out)) && 0);
}

# A step that prints events as JSON. Return: them.
sub events_of {
	my ($steps, $name) = @_;
	my $step = $steps->{$name};

	is($step->{rc}, 0, "$name: exit code") or diag(substr($step->{text}, 0, 800));
	return $step->{text};
}

sub check_stacks {
	my ($steps) = @_;
	my $text = $steps->{stacks}{text} // '';
	my ($kernel, $user) = $text =~ /^(\d+)$/mg;

	is($steps->{stacks}{rc} // 'none', 0, 'stacks: exit code') or return diag($text);
	cmp_ok($kernel // 0, '>', 20, 'stacks of the kernel') or diag($text);
	cmp_ok($user // 0, '>', 20, 'stacks of programs') or diag($text);
}

sub check_guest {
	my ($log, $steps) = @_;

	for my $step (qw(doctor list record record_more summary count)) {
		is($steps->{$step}{rc} // 'none', 0, "$step: exit code")
			or diag($steps->{$step}{text} // 'the guest did not get there');
	}
	my ($complaint) = $log =~ /^(.*\b(?:BUG|Oops|WARNING|Kernel panic)\b.*(?:\n.*){0,25})/m;
	is($complaint, undef, 'the kernel has no complaint');
	is($steps->{leftovers}{text} // '', '', 'no tracefs instance is left behind');

	my %count = reverse(($steps->{count}{text} // '') =~ /^\s*(\d+) (\S+)$/mg);
	for my $event (($steps->{list}{text} // '') =~ /^bpf\s+(\S+)$/mg) {
		# some are recorded by name alone; without a BPF scheduler sched_ext is silent (scx.t has one)
		next if $silent{$event} || $event =~ /^(?:schedtap:sched_(?:dl_)?pick$|schedtap:sched_(?:un)?throttle|schedtap:sched_scx_|sched_ext:)/;
		cmp_ok($count{$event} // 0, '>', 0, "$event is recorded");
	}
}

# ---- throttling ----

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
	cmp_ok(abs($here_s / $kernel_s - 1), '<', 0.01, "quota: throttled for $here_s s, as the kernel says: $kernel_s s");
	like($said, qr/^ *\d+ by deadline$/m, 'quota: a deadline task is throttled');
	like($said, qr/sched_throttle: .* by=quota$/m, 'quota: a task of a cgroup is throttled');
	like($said, qr/sched_throttle_wakeup:/, 'quota: a task that is woken is throttled') if $name =~ /^6\.(?:1|12)$/;
}

# ---- probes of programs ----

# What the guest prints of three passes.
sub probe_fields {
	my ($i) = @_;

	return "uprobe:twice: i=$i text=pass\n" .
		"uretprobe:twice: retval=@{[2 * $i]}\n" .
		"usdt:demo_places: a=@{[-$i]} b=@{[1000 + $i]} c=-5 d=@{[70 + $i]} e=@{[-$i]} f=2 g=$i h=66 text=pass\n" .
		"usdt:demo_two_places: i=$i\n";
}

sub check_probes {
	my ($steps) = @_;
	my $counts = $steps->{probe_filters}{text} // '';

	is(join('', grep { /^u/ } split(/^/, $steps->{probe_values}{text} // '')), join('', map { probe_fields($_) } 0 .. 2),
		'probes: values');
	# -e twice has 1000 beside what the others let through
	is_deeply([$counts =~ /^(\d+)$/mg], [1000, 1000, 0, 1010, 1100], 'probes: filters') or diag($counts);
	like($steps->{probe_process}{text} // '', qr/^ *100 one\n\z/m, 'probes: of one process');
}

# ---- the module ----

# Each event's records, as texts of its fields, in their order.
sub records {
	my ($who, $text) = @_;
	my %records;

	while ($text =~ /^$who: .*? \[\d+\].*? [\d.]+: (?:schedtap:)?(\w+): (.*)$/mg) {
		my ($event, $fields) = ($1, $2);

		# cgroups come and go, and are printed at different times
		$fields =~ s/ ?\bpath=\S*//;
		$fields =~ s/^ +| +$//g;
		push(@{$records{$event}}, $fields);
	}
	return \%records;
}

# BPF recorded while the module was on: what it has must be a part of what the module has.
sub is_part {
	my ($part, $whole) = map { join("\n", '', @$_, '') } @_;

	return index($whole, $part) >= 0;
}

sub check_module {
	my ($name, $steps) = @_;
	my %why = ($steps->{module_log}{text} // '') =~ /schedtap: no event (\w+): (.*)/g;
	my $both = $steps->{module_both}{text} // '';
	my ($module, $bpf) = (records('module', $both), records('bpf', $both));
	my %verdict;

	ok(scalar(keys %$bpf) || ($steps->{doctor}{text} // '') !~ /yes, over BPF/, 'both recorded');
	for my $step (qw(module_load module_status module_both module_record module_filter module_cycles module_unload)) {
		is($steps->{$step}{rc} // 'none', 0, "$step: exit code")
			or diag(substr($steps->{$step}{text} // 'the guest did not get there', -800));
	}
	is($steps->{module_again}{text} // '', "schedtap: the module is loaded already\n", 'not loaded twice');
	is($steps->{module_gone}{text} // '', "schedtap: the module is not loaded\n", 'nothing is left of it');
	like($steps->{module_held}{text} // '', qr/\Aschedtap: the module is in use: [^\n]*\n\z/, 'not unloaded while perf has it open');
	like($steps->{module_other}{text} // '', qr/\Aschedtap: [^\n]*it was built for another kernel [^\n]*\n\z/, 'of another kernel: refused');
	is($steps->{module_other_gone}{text} // '', "schedtap: the module is not loaded\n", 'nothing is left of that');
	is((split(/\n/, $steps->{module_cycles}{text} // ''))[-1], 100,
		'unloaded while enabled and read, again and again');
	is($steps->{module_filter}{text} // '', "util > 0 && pid > 1\n0\n", 'filter and trigger work');
	unlike($both, qr/^overrun: [1-9]/m, 'the module lost nothing');
	for my $event (module_events()) {
		$verdict{$event} = verdict($why{$event}, scalar(@{$module->{$event} // []}), $silent{"schedtap:$event"});
		isnt($verdict{$event}, 'FAILED', "module: $event");
		ok(is_part($bpf->{$event}, $module->{$event} // []), "module and BPF agree on $event")
			if $bpf->{$event};
	}
	my ($theirs, $ours, $slices) = ($steps->{module_trace_cmd}{text} // '') =~ /^(\d+)$/mg;
	ok($theirs && $theirs == ($ours // 0) && $slices > 100, "trace-cmd records and reads it, and so do we")
		or diag(substr($steps->{module_trace_cmd}{text} // '', -400));
	# what BPF does not reach is recorded over the module
	my %count = reverse(($steps->{module_count}{text} // '') =~ /^\s*(\d+) schedtap:(\S+)$/mg);
	for my $event (qw(sched_set_state sched_set_need_resched)) {
		cmp_ok($count{$event} // 0, '>', 0, "$event is recorded over the module") if $module->{$event};
	}
	unlike($both, qr/^module: .*\benqueued=\d{6,}/m, 'no flag is left in enqueued');
	unlike($both, qr/^module: .*sched_(?:pelt_se|util_est_se): .*\butil=(?:102[5-9]|10[3-9]\d|1[1-9]\d\d|[2-9]\d{3}|\d{5,})\b/m,
		'util is within 0..1024');
	note("verdict $name|$_|$verdict{$_}") for sort keys %verdict;
	check_tools($steps, \%why);
	check_keys($steps->{module_keys}{text} // '');
	check_sum($steps->{module_sum}{text} // '');
}

# An event that the kernel cannot have is simply not there; perf and bpftrace see all others.
sub check_tools {
	my ($steps, $why) = @_;
	my @there = grep { !$why->{$_} } sort(module_events());
	my %count = reverse(($steps->{module_record_perf}{text} // '') =~ /^\s*(\d+)\s+schedtap:(\w+):/mg);

	is_deeply([split(' ', $steps->{$_}{text} // '')], \@there, "$_: these events")
		for qw(module_events module_see_perf module_see_bpftrace);
	cmp_ok($count{$_} // 0, '>', 0, "perf record: $_") for qw(sched_pelt_se sched_pelt_cfs sched_update_nr_running);
}

sub check_keys {
	my ($text) = @_;

	for my $when (['loaded', 0], ['enabled', 1], ['disabled', 0]) {
		my @counts = $text =~ /^$when->[0]: \w+ (\d+)$/mg;

		cmp_ok(scalar(@counts), '>', 5, "static keys of bare tracepoints, $when->[0]");
		# an event whose tracepoint is there and whose member is not stays off
		is(scalar(grep { $_ > $when->[1] } @counts), 0, "at most $when->[1]");
		cmp_ok(scalar(grep { $_ == $when->[1] } @counts), '>', 5, "and there they are $when->[1]");
	}
}

# The run queue's util is the sum of its tasks': of each as it was when the task was seen last,
# and since then halved every 32 periods of 1024 us.
sub check_sum {
	my ($text) = @_;
	my (%tasks, @errors);

	for (split(/\n/, $text)) {
		my %f = /(\w+)=(\S+)/g;

		if (/^sched_pelt_se/) {
			$tasks{$f{pid}} = \%f if $f{pid} >= 0;
		} elsif ($f{path} eq '/') {
			my $sum = 0;

			$sum += $_->{util} * 0.5 ** (($f{update_time} - $_->{update_time}) / (32 * 1024 * 1024))
				for values %tasks;
			push(@errors, abs($sum - $f{util}));
		}
	}
	@errors = sort { $a <=> $b } splice(@errors, @errors / 2); # by then all tasks were seen
	note("sum of util: of @{[scalar @errors]} the median is off by $errors[@errors / 2], 90 % by at most $errors[@errors * 0.9]")
		if @errors;
	cmp_ok(scalar(@errors), '>', 100, 'sched_pelt_cfs of the root');
	cmp_ok($errors[@errors / 2] // 9999, '<', 20, "util is the sum of the tasks' util");
	cmp_ok($errors[@errors * 0.9] // 9999, '<', 64, 'nearly always');
}

# ---- all of them ----

# Words of the kernel's command line with which it does not load the module, as with Secure Boot.
my %locks = (
	signed => { word => 'module.sig_enforce=1', says => qr/signed modules alone/ },
	locked => { word => 'lockdown=integrity', says => qr/a kernel that is not locked down|signed modules alone/ },
);

sub check_locks {
	my ($dir) = @_;

	for my $lock (sort keys %locks) {
		came_to_end($dir, "$lock.") or next;
		my $steps = steps_of(slurp("$dir/$lock.out"));
		my $says = $locks{$lock}{says};

		isnt($steps->{module_load}{rc} // 0, 0, "$lock: not loaded");
		like($steps->{module_load}{text} // '', qr/\Aschedtap: [^\n]*(?:$says)[^\n]*\n\z/, "$lock: and why");
		is($steps->{module_gone}{text} // '', "schedtap: the module is not loaded\n", "$lock: nothing is left");
	}
}

sub exec_guest {
	my ($dir, $name, $g) = @_;

	boot("$dir/$name", $g->{vmlinuz}, '');
	if (!$g->{no_module}) {
		boot("$dir/$name", $g->{vmlinuz}, "$_.", 'only=load', $locks{$_}{word}) for keys %locks;
	}
	unlink("$dir/$name/initrd");
	POSIX::_exit(0);
}

sub check_all {
	my ($dir, $name, $g) = @_;
	my $steps = steps_of(slurp("$dir/out"));

	came_to_end($dir, '') or return;
	check_guest(slurp("$dir/log"), $steps);
	SKIP: {
		skip('BPF, stacks, and probes of programs: this kernel has no BPF for us', 1) if $name =~ /^5\./;
		like($steps->{doctor}{text} // '', qr/yes, over BPF/, 'the kernel takes our BPF programs');
		check_stacks($steps);
		check_probes($steps);
	}
	SKIP: {
		skip('picks: ' . (($steps->{list}{text} // '') =~ /(schedtap:sched_pick.*)/)[0], 1) if !$steps->{picks};
		check_picks(events_of($steps, 'picks'), 300, 1);
	}
	SKIP: {
		skip('quota: ' . (($steps->{list}{text} // '') =~ /(schedtap:sched_throttle .*)/)[0], 1) if !$steps->{quota};
		check_quota($name, $steps);
	}
	SKIP: {
		skip('resched: ' . (($steps->{list}{text} // '') =~ /(schedtap:sched_exit.*)/)[0], 1) if !$steps->{resched};
		check_resched(events_of($steps, 'resched'), 100);
	}
	SKIP: {
		skip("the module: $g->{no_module}", 1) if $g->{headers} eq '-';
		is($g->{no_module}, '', 'the module is built') or return;
		check_module($name, $steps);
		check_locks($dir);
	}
}

my $why = missing();
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => !$ENV{KEEP});
my %guests;
for (`$here/fetch @kernels 2>$dir/fetch.err`) {
	my ($name, $vmlinuz, undef, $version, $headers) = split;

	$guests{$name} = { vmlinuz => $vmlinuz, version => $version, headers => $headers };
}
plan(skip_all => 'no kernels: ' . slurp("$dir/fetch.err")) if !%guests;

make_initramfs($dir);
my %running;
for my $name (grep { $guests{$_} } @kernels) {
	my $g = $guests{$name};

	$g->{no_module} = build_module($dir, $name, $g->{vmlinuz}, $g->{headers});
	delete($running{wait()}) if keys(%running) == $at_once;
	my $pid = fork();
	exec_guest($dir, $name, $g) if !$pid;
	$running{$pid} = 1;
}
1 while wait() > 0;

for my $name (@kernels) {
	my $g = $guests{$name};

	SKIP: {
		skip("$name: " . slurp("$dir/fetch.err"), 1) if !$g;
		subtest "$name ($g->{version})" => sub { check_all("$dir/$name", $name, $g) };
	}
}
done_testing();
