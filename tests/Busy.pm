# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Was the machine quiet while a test ran? What others took of the CPUs' time, and what the hypervisor did.
package Busy;
use strict;
use warnings;
use Exporter qw(import);
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
our @EXPORT = qw(busy_since why_busy);

my $limit_pct = 5; # of all CPUs' time
my $hz = POSIX::sysconf(POSIX::_SC_CLK_TCK());

# Seconds since boot that CPUs were busy, and that were stolen from them (proc(5), /proc/stat).
sub machine_s {
	open(my $f, '<', '/proc/stat') or die "/proc/stat: $!\n";
	my (undef, $user, $nice, $system, undef, undef, $irq, $softirq, $steal) = split(' ', <$f>);

	return (($user + $nice + $system + $irq + $softirq) / $hz, $steal / $hz);
}

# CPU seconds of a process, of all below it, and of those it has waited for.
sub tree_s {
	my ($top) = @_;
	my (%children, %ticks, $sum);

	for my $stat (glob '/proc/[0-9]*/stat') {
		open(my $f, '<', $stat) or next;
		my ($pid, $ppid, $times) = (<$f> // '') =~ /^(\d+) \(.*\) \S (\d+) (?:\S+ ){9}(\d+ \d+ \d+ \d+)/s or next;
		push(@{ $children{$ppid} }, $pid);
		$ticks{$pid} += $_ for split(' ', $times);
	}
	for (my @next = ($top); defined(my $pid = shift(@next));) {
		$sum += $ticks{$pid} // 0;
		push(@next, @{ $children{$pid} // [] });
	}
	return $sum / $hz;
}

# A moment to ask from. @top: the process whose tree is the test [this one].
sub busy_since {
	my ($top) = @_;

	$top //= $$;
	my ($busy_s, $stolen_s) = machine_s();
	return join(' ', $top, clock_gettime(CLOCK_MONOTONIC), $busy_s, $stolen_s, tree_s($top));
}

# Return: what kept the machine busy since then, beside the test itself; '' if it was quiet.
sub why_busy {
	my ($since) = @_;
	my ($top, @before) = split(' ', $since);
	my (undef, @now) = split(' ', busy_since($top));
	my ($s, $busy_s, $stolen_s, $own_s) = map { $now[$_] - $before[$_] } 0 .. $#now;
	my $cpus_s = $s * POSIX::sysconf(84) || return ''; # _SC_NPROCESSORS_ONLN, which perl does not name
	my ($others_pct, $stolen_pct) = map { 100 * $_ / $cpus_s } $busy_s - $own_s, $stolen_s;

	# /proc counts in ticks: in a short time one or two are no sign
	return '' if $others_pct + $stolen_pct < $limit_pct || $busy_s - $own_s + $stolen_s < 3 / $hz;
	return sprintf('others used %.0f %% of the CPUs, %.0f %% were stolen', $others_pct, $stolen_pct);
}

1;
