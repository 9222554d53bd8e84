# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kernel module beside BPF, trace-cmd, perf and bpftrace. parts/module is the guest's.
package Part::Module;
use strict;
use warnings;
use Built;
use List::Util qw(sum0);
use Part::Record;
use Test::More;
use VM;

my $nr_cycles = $ENV{SOAK} ? 100 : 4;
my %silent = %Part::Record::silent;

# Return: the module with another vermagic, as if it were built for a kernel with another configuration.
sub other_module {
	my ($module) = @_;

	$module =~ s/(vermagic=[^\0]*)mod_unload/$1mod_unlaod/ or die 'vermagic';
	return $module;
}

sub lacks { return $_[0]{headers} eq '-' ? 'Debian has no headers of it any more' : '' }
sub words { return "cycles=$nr_cycles" }

sub install {
	my ($root, $g) = @_;
	my ($dir, $why) = module_for($g->{program}, $g->{vmlinuz}, $g->{headers});

	$g->{no_module} = $why;
	return if $why;
	install_script($root, 'load');
	install_program($root, which('chrt'), 'chrt');
	compile('-static', '-o', "$root/bin/keys", "$VM::here/keys.c");
	install_text($root, 'tracepoints', join('', map { "$_\n" } module_tracepoints()));
	install_text($root, 'schedtap.ko', slurp("$dir/schedtap.ko"));
	install_text($root, 'other/schedtap.ko', other_module(slurp("$dir/schedtap.ko")));
}

# Each event's records on each CPU, as texts of its fields, in their order.
sub records {
	my ($who, $text) = @_;
	my %records;

	while ($text =~ /^$who: .*? \[(\d+)\].*? [\d.]+: (?:schedtap:)?(\w+): (.*)$/mg) {
		my ($cpu, $event, $fields) = ($1, $2, $3);

		# cgroups come and go, and are printed at different times
		$fields =~ s/ ?\bpath=\S*//;
		$fields =~ s/^ +| +$//g;
		push(@{$records{$event}{$cpu + 0}}, $fields);
	}
	return \%records;
}

# BPF recorded while the module was on: what it has of a CPU must be in what the module has, in the same order. Return: how many of
# the module's records lie between them, at least; undef: it is not in there.
sub skipped {
	my ($part, $whole) = @_;
	my $least;

	for my $from (grep { $whole->[$_] eq $part->[0] } 0 .. $#$whole) {
		my ($i, $at) = (0, $from);

		for (; $i < @$part && $at < @$whole; $at++) {
			$i++ if $whole->[$at] eq $part->[$i];
		}
		my $nr = $at - $from - @$part;
		$least = $nr if $i == @$part && (!defined($least) || $nr < $least);
	}
	return $least;
}

# What differs between CPUs of one event, and how many of its records BPF lacks.
sub compare {
	my ($part, $whole) = @_;
	my ($lacks, @differ) = (0);

	# members of each CPU's own, and files of /sys, which not all kernels have
	for my $member (qw(capacity_curr capacity_orig)) {
		next if grep { /\b$member=/ } map { @$_ } values(%$part);
		for my $texts (values(%$whole)) {
			s/ $member=\d+$// for @$texts;
		}
	}
	for my $cpu (sort(keys(%$part))) {
		my $nr = skipped($part->{$cpu}, $whole->{$cpu} // []);

		defined($nr) ? ($lacks += $nr) : push(@differ, $cpu);
	}
	return ($lacks, @differ);
}

# Where the records of a CPU part.
sub first_difference {
	my ($part, $whole) = @_;
	my ($at) = grep { $whole->[$_] eq $part->[0] } 0 .. $#$whole;

	return "the first record is not there: $part->[0]" if !defined($at);
	my ($i) = grep { $part->[$_] ne ($whole->[$at + $_] // 'none') } 0 .. $#$part;
	return join("\n", "record $i of " . @$part, "BPF:    $part->[$i]", "module: " . ($whole->[$at + $i] // 'none'),
		"before: $part->[$i - 1]", 'next of the module: ' . ($whole->[$at + $i + 1] // 'none'));
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
# and since then halved every 32 periods of 1024 us. Of CPU 0.
sub check_sum {
	my ($text) = @_;
	my (%tasks, @errors);

	for (split(/\n/, $text)) {
		my %f = /(\w+)=(\S+)/g;

		if (/^sched_pelt_se/) {
			next if $f{pid} < 0;
			# one that has moved to another CPU took its util with it
			$f{cpu} == 0 ? ($tasks{$f{pid}} = \%f) : delete($tasks{$f{pid}});
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
	cmp_ok($errors[@errors * 0.9] // 9999, '<', 32, 'nearly always');
}

sub check {
	my ($g) = @_;
	my ($name, $steps) = @$g{qw(name steps)};

	is($g->{no_module}, '', 'the module is built') or return;
	my %why = ($steps->{module_log}{text} // '') =~ /schedtap: no event (\w+): (.*)/g;
	my $both = $steps->{module_both}{text} // '';
	my ($module, $bpf) = (records('module', $both), records('bpf', $both));
	my %verdict;

	ok(scalar(keys %$bpf) || ($steps->{doctor}{text} // '') !~ /yes, over BPF/, 'both recorded');
	for my $step (qw(module_load module_status module_both module_record module_filter module_cycles module_unload)) {
		is($steps->{$step}{rc} // 'none', 0, "$step: exit code")
			or diag(substr($steps->{$step}{text} // 'the guest did not get there', -800));
	}
	is($steps->{module_again}{text} // '', "schedtap: the schedtap module is already loaded\n", 'not loaded twice');
	is($steps->{module_gone}{text} // '', "schedtap: the schedtap module is not loaded\n", 'nothing is left of it');
	like($steps->{module_held}{text} // '', qr/\Aschedtap: the schedtap module is in use: [^\n]*\n\z/, 'not unloaded while perf has it open');
	like($steps->{module_other}{text} // '', qr/\Aschedtap: [^\n]*the module was built for another kernel [^\n]*\n\z/, 'of another kernel: refused');
	is($steps->{module_other_gone}{text} // '', "schedtap: the schedtap module is not loaded\n", 'nothing is left of that');
	is((split(/\n/, $steps->{module_cycles}{text} // ''))[-1], $nr_cycles,
		'unloaded while enabled and read, again and again');
	is($steps->{module_filter}{text} // '', "util > 0 && pid > 1\n0\n", 'filter and trigger work');
	unlike($both, qr/^overrun: [1-9]/m, 'the module lost nothing');
	# a guest that others slow down is interrupted while a program runs, which the kernel then does not run again
	my $lost = sum0($both =~ /^bpf: \*\*\* \[[^\]]*\] (\d+) events? lost/mg);
	my $all_lacking = 0;
	for my $event (module_events()) {
		my $nr = sum0(map { scalar(@$_) } values(%{$module->{$event} // {}}));
		$verdict{$event} = verdict($why{$event}, $nr, $silent{"schedtap:$event"});
		isnt($verdict{$event}, 'FAILED', "module: $event");
		next if !$bpf->{$event};
		my ($lacks, @differ) = compare($bpf->{$event}, $module->{$event});

		is(join(' ', @differ), '', "module and BPF agree on $event, on each CPU");
		diag("CPU $_: ", first_difference($bpf->{$event}{$_}, $module->{$event}{$_})) for @differ;
		$all_lacking += $lacks;
	}
	cmp_ok($all_lacking, '<=', $lost, 'BPF lacks no event that it has not counted as lost');
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

1;
