# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Checks what `schedtap top --json` says: whether it adds up, and against what the kernel has counted of a load (tally_load.c).
package Tally;
use strict;
use warnings;
use Exporter qw(import);
use Files;
use List::Util qw(max sum0);
use Test::More;
our @EXPORT = qw(check_refreshes check_load is_between all_switches);

# Switches of all CPUs since the machine booted. Tracepoints of some machines hide switches from tasks of a container's own: then the tally
# has fewer, and lacks the waits that ended with them.
sub all_switches { return slurp('/proc/stat') =~ /^ctxt (\d+)/m ? $1 : 0 }

# Sums of waits by kind and of culprits, which must be equal.
sub adds_up {
	my ($what) = @_;

	return sum0(map { $_->{sum_ns} } values(%{ $what->{waits} })) == sum0(map { $_->{ns} } @{ $what->{culprits} });
}

sub wrong_sums {
	my ($r) = @_;
	my @wrong = map { "$_->{cgroup}: waits and culprits differ" } grep { !adds_up($_) } @{ $r->{cgroups} };
	my $ran_ns = $r->{idle_ns} + sum0(map { $_->{run_ns} } @{ $r->{cgroups} });

	push(@wrong, 'all: waits and culprits differ') if !adds_up($r);
	push(@wrong, 'CPUs were idle for longer than tasks waited')
		if sum0(map { $_->{idle_while_waiting_ns} } @{ $r->{llcs} }) > sum0(map { $_->{sum_ns} } values(%{ $r->{waits} }));
	push(@wrong, "$ran_ns ns of $r->{cpu_ns} ns ran or were idle") if abs($ran_ns - $r->{cpu_ns}) > 10e3 * $r->{cpus};
	for my $kind (keys(%{ $r->{waits} })) {
		push(@wrong, "$kind: the longest wait is shorter than p99.9")
			if ($r->{waits}{$kind}{p99_9_ns} // 0) > 1.1 * $r->{max_wait_ns}{$kind} + 300;
	}
	return @wrong;
}

# Tasks: no more waits than all have, none longer than the longest one, and which in the right bucket.
sub wrong_tasks {
	my ($r) = @_;
	my $longest_ns = max(values(%{ $r->{max_wait_ns} }));
	my $waits = sum0(map { $_->{count} } values(%{ $r->{waits} }));
	my $of_tasks = sum0(map { @{ $_->{waits_by_length} } } @{ $r->{tasks} });
	my @wrong;

	push(@wrong, "tasks have $of_tasks waits, all have $waits") if $of_tasks > $waits;
	for my $t (@{ $r->{tasks} }) {
		my ($last) = grep { $t->{waits_by_length}[$_] } reverse(0 .. 19);
		my $from_s = $last ? 2**($last - 21) : 0;
		my $to_s = !defined($last) ? 0 : $last < 19 ? 2**($last - 20) : 1e9;

		push(@wrong, "task $t->{tid}: not 20 lengths") if @{ $t->{waits_by_length} } != 20;
		push(@wrong, "task $t->{tid}: the longest wait, $t->{max_wait_ns} ns, is not from $from_s to $to_s s")
			if $t->{max_wait_ns} < $from_s * 1e9 - 1 || $t->{max_wait_ns} > $to_s * 1e9 + 1 || $t->{max_wait_ns} > $longest_ns;
		push(@wrong, "task $t->{tid}: priority $t->{prio}") if $t->{prio} < -1 || $t->{prio} > 139;
	}
	return @wrong;
}

# Two refreshes in a row: each CPU's time is there once. The first ones may correct the time of those before, by $corrected_ns for each.
sub wrong_time {
	my ($corrected_ns, $before, $after) = @_;
	my $ns = ($after->{end_ns} - $after->{start_ns}) * @{ $after->{cpus} };

	return ('a gap between refreshes') if $before->{end_ns} != $after->{start_ns};
	return if @{ $before->{cpus} } != @{ $after->{cpus} } || abs($after->{cpu_ns} - $ns) <= $corrected_ns * @{ $after->{cpus} };
	return ("$after->{cpu_ns} ns of $ns ns are there");
}

sub check_refreshes {
	my ($corrected_ns, @refreshes) = @_;

	is_deeply([map { wrong_sums($_) } @refreshes], [], 'all adds up at each refresh');
	is_deeply([map { wrong_tasks($_) } @refreshes], [], "the tasks' waits are among them");
	is_deeply([map { wrong_time($corrected_ns, @refreshes[$_ - 1, $_]) } 1 .. $#refreshes], [], 'no time is missing');
}

sub of_cgroup {
	my ($name, @refreshes) = @_;
	my %sum = map { $_ => 0 } qw(censored run_ns wait_ns waking preempted throttled throttled_ns);

	for my $c (map { grep { $_->{cgroup} eq $name } @{ $_->{cgroups} } } @refreshes) {
		$sum{run_ns} += $c->{run_ns};
		$sum{wait_ns} += $_->{sum_ns} for values(%{ $c->{waits} });
		$sum{throttled_ns} += $c->{waits}{throttled}{sum_ns};
		$sum{$_} += $c->{waits}{$_}{count} for keys(%{ $c->{waits} });
		$sum{censored} += sum0(values(%{ $c->{censored} }));
	}
	return \%sum;
}

# Between what the kernel counted in the cgroup and around it, but for a part and a number.
sub is_between {
	my ($x, $pair, $part, $few) = @_;
	my ($inside, $around) = @$pair;

	return $x >= $inside * (1 - $part) - $few && $x <= $around * (1 + $part) + $few;
}

# At each refresh that has a single task in the cgroup, except the first and the last one, the task has all waits of the cgroup.
sub check_task {
	my ($cgroup, @refreshes) = @_;
	my @pairs;

	for my $r (@refreshes) {
		my ($c) = grep { $_->{cgroup} eq $cgroup } @{ $r->{cgroups} };
		my @tasks = grep { ($_->{cgroup} // '') eq $cgroup } @{ $r->{tasks} };

		push(@pairs, [sum0(map { @{ $_->{waits_by_length} } } @tasks), sum0(map { $_->{count} } values(%{ $c->{waits} }))])
			if $c && @tasks == 1;
	}
	shift(@pairs);
	pop(@pairs);
	is_deeply([map { $_->[0] } @pairs], [map { $_->[1] } @pairs], "$cgroup: its waits are its task's");
	cmp_ok(scalar(@pairs), '>', 1, "$cgroup: and the task was there");
}

# A load that was the only task of its cgroup, from before the first refresh's end to the last. $may_differ: by which part of them run
# time and waits (.part) and counts of waits (.switches) may differ, by how much the clock of the kernel's numbers may have been old in
# all when tasks that were just woken were switched in (.clock_ns), and how many switches were hidden (.hidden). Return: the cgroup's sums.
sub check_load {
	my ($cgroup, $kernel, $may_differ, @refreshes) = @_;
	my $is = of_cgroup($cgroup, @refreshes);
	my $hidden = $may_differ->{hidden} // 0;
	my @waits = (['waking', $is->{waking}, $kernel->{waking}], ['other', $is->{preempted} + $is->{throttled}, $kernel->{preempted}]);

	for (@waits) {
		my ($kind, $here, $there) = @$_;

		ok(is_between($here, $there, $may_differ->{switches}, 1 + $hidden), "$cgroup: $here waits ($kind), the kernel counts @$there");
	}
	my $longest_ns = max(map { values(%{ $_->{max_wait_ns} }) } @refreshes);
	for (['ran', 'run_ns'], ['waited', 'wait_ns']) {
		my ($did, $key) = @$_;

		ok(is_between($is->{$key}, $kernel->{$key}, $may_differ->{part}, $may_differ->{clock_ns} + $hidden * $longest_ns),
			"$cgroup: $did $is->{$key} ns, the kernel says @{ $kernel->{$key} }");
	}
	cmp_ok($is->{censored}, '<=', 1, "$cgroup: no wait but the first is censored");
	check_task($cgroup, @refreshes);
	return $is;
}

1;
