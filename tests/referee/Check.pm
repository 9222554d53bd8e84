# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What schedtap-check(1) must say of a schedule: the values of metrics, bounds that contain what really happened, and verdicts that follow from the
# bounds and are true.
package Check;
use strict;
use warnings;
use List::Util qw(max sum0);
use Compare;
use Critical;
use Explain;
use States;
use Wakers;

my @explained = qw(unknown throttled placing irq softirq idle_state idle_exit idle stop deadline realtime higher resched lazy queued lower);
my %holds = ('<' => sub { $_[0] < $_[1] }, '<=' => sub { $_[0] <= $_[1] }, '>' => sub { $_[0] > $_[1] }, '>=' => sub { $_[0] >= $_[1] });

sub questions {
	my ($schedule, $window) = @_;

	return question(metrics($schedule, $window));
}

sub metrics {
	my ($schedule, $window) = @_;

	return (of_recording($schedule, $window), of_cpus($schedule, $window), of_waits($schedule, $window), of_explain($schedule, $window),
		of_critical($schedule, $window));
}

# The question with a rule about each metric.
sub question {
	my (@metrics) = @_;
	my (%want, $rules);

	for my $nr (0 .. $#metrics) {
		my $rule = rule($metrics[$nr], $nr);
		$rules .= "rule r$nr : $rule->{text}\n";
		$want{"r$nr"} = sub { wrong($rule, $_[0]) };
	}
	return { args => 'check --json', rules => $rules, status => [0, 4, 5], want => { '*' => 1, %want },
		todo => [[qr/with waits whose beginning was not seen/, 'bounds leave out waits whose beginning was not seen']],
		shape => sub { by_key($_[0]{rules}, 'name') } };
}

# A rule about a metric: { metric, value, truth, unit, options }. Its limit is near the true value. value: what must be printed, if this is known.
sub rule {
	my ($metric, $nr) = @_;
	my $op = (sort(keys(%holds)))[$nr % 4];
	my $limit = sprintf('%.3f', ($metric->{truth} // $metric->{value}) * (0.5, 0.95, 1, 1.05, 2)[$nr % 5]);

	$limit = int($limit) if $metric->{unit} eq 'ns';
	return { %$metric, op => $op, limit => $limit, text => "$metric->{metric} " . ($metric->{options} // '') . " $op $limit$metric->{unit}" };
}

# Returns the error in a row of the report, or nothing.
sub wrong {
	my ($rule, $got) = @_;
	my $truth = $rule->{truth} // $rule->{value};
	my $verdict = verdict($rule, @$got{qw(low high)});

	return "$rule->{text}: value $rule->{value}" if defined($rule->{value}) && !near($rule->{value}, $got->{value});
	return "$rule->{text}: low to high has $truth" if !within($got, $truth);
	return "$rule->{text}: verdict $verdict of these bounds" if $got->{verdict} ne $verdict && !is_close($rule, @$got{qw(low high)});
	return "$rule->{text}: low to high has $rule->{unseen}, with waits whose beginning was not seen" if !within($got, $rule->{unseen} // $truth);
	return '';
}

sub within {
	my ($got, $v) = @_;

	return (!defined($got->{low}) || $got->{low} <= $v + slack($v)) && (!defined($got->{high}) || $got->{high} >= $v - slack($v));
}

# Whether rounding decides the rule.
sub is_close {
	my ($rule, @bounds) = @_;

	return grep { defined($_) && abs($_ - $rule->{limit}) <= slack($_) } @bounds;
}

# Values are printed with six places.
sub slack { return 1e-6 + 1e-9 * abs($_[0]) }

sub near {
	my ($want, $got) = @_;

	return ref($want) ? $want->($got) eq '' : defined($got) && abs($want - $got) <= slack($want);
}

# A rule passes if it holds for each value from low to high, and fails if it holds for none. All comparisons are monotonic.
sub verdict {
	my ($rule, $low, $high) = @_;
	my ($for_low, $for_high) = map { $holds{$rule->{op}}->($_, $rule->{limit}) ? 1 : 0 } $low // -1e99, $high // 1e99;

	return $for_low && $for_high ? 'passed' : $for_low || $for_high ? 'undecided' : 'failed';
}

# ---- metrics ----

sub of_recording {
	my ($schedule, $window) = @_;

	return ({ metric => 'recording.window', unit => 'ns', value => $window->[1] - $window->[0] },
		{ metric => 'recording.lost', unit => '', value => 0 });
}

sub of_cpus {
	my ($schedule, $window) = @_;
	my ($from, $to) = @$window;
	my $truth = $schedule->{truth};
	my ($known, $ran, $unknown) = (0, 0, 0);

	for my $cpu (0 .. $schedule->{nr_cpus} - 1) {
		my $first = $truth->{known}{$cpu} // $to;
		$first = $from if $first < $from;
		$first = $to if $first > $to;
		$unknown += $first - $from;
		$ran += $_->[1] - $_->[0] for grep { $_->[2] } $truth->intervals('runs', $cpu, $from, $to);
		$known += $_->[1] - $_->[0] for grep { $_->[2] } $truth->intervals('runs', $cpu, $first, $to);
	}
	my $all = ($to - $from) * $schedule->{nr_cpus} / 100;
	my $switches = grep { $_->{name} =~ /sched_switch/ && $_->{ns} >= $from && $_->{ns} < $to } @{$schedule->{events}};
	return ({ metric => 'summary.run.share', unit => '%', value => $known / $all, truth => $ran / $all },
		{ metric => 'summary.unknown.share', unit => '%', value => $unknown / $all },
		{ metric => 'summary.switches.rate', unit => '/s', value => $switches / ($to - $from) * 1e9 });
}

# Waits by state, of which there are three sorts: known, from begin to end; true, with those that the window cuts at its end; and all, with those
# whose beginning was not seen. A task that no event names does not count.
sub of_waits {
	my ($schedule, $window) = @_;
	my $seconds = ($window->[1] - $window->[0]) / 1e9;
	my %waits = waits($schedule, $window);
	my @metrics;
	my ($any, $unseen) = map { my $sort = $_; [map { @{$_->{$sort}} } values(%waits)] } qw(true all);

	push(@metrics, { metric => 'latency.any.max', unit => 'ns', value => max(0, @$any), truth => max(0, @$unseen) });
	for my $state (sort(keys(%waits))) {
		my ($known, $true, $all, $ended) = @{$waits{$state}}{qw(known true all ended)};
		push(@metrics, { metric => "latency.$state.rate", unit => '/s', value => @$known / $seconds, unseen => @$ended / $seconds });
		next if !@$known;
		push(@metrics, { metric => "latency.$state.max", unit => 'ns', value => max(@$true), unseen => max(@$all) },
			{ metric => "latency.$state.avg", unit => 'ns', value => sum0(@$known) / @$known, truth => sum0(@$true) / @$true,
				unseen => sum0(@$all) / @$all });
		push(@metrics, { metric => "latency.$state.p$_", unit => 'ns', value => Wakers::percentile($_, @$known),
			truth => exactly($_, @$true), unseen => exactly($_, @$all) }) for 50, 99;
	}
	return @metrics;
}

# For each state of waiting, the lengths of waits: { known, true, all, ended }. ended: those of all that the window
# does not cut at its end. Of a wait without a known beginning or end, only the part in the window counts.
sub waits {
	my ($schedule, $window) = @_;
	my ($from, $to) = @$window;
	my $truth = $schedule->{truth};
	my %waits;

	for my $tid (States::named($schedule, $to)) {
		my @states = $truth->intervals('tasks', $tid, $schedule->{from}, $schedule->{to});
		my $seen = $truth->{seen}{$tid} // $schedule->{to};
		for my $i (0 .. $#states) {
			my ($begin, $end, $state) = @{$states[$i]};
			next if $state !~ /waking|preempted|throttled/ || $end < $from || $begin >= $to;
			my $cut = $end >= $to || $i == $#states;
			next if !$cut && $states[$i + 1][2] eq 'throttled';
			my @sorts = ('all', $begin >= $seen ? 'true' : (), $cut ? () : ('ended', $begin >= $seen ? 'known' : ()));
			$waits{$state} //= { map { $_ => [] } qw(known true all ended) };
			my $from_ns = $cut || $begin < $seen ? max($begin, $from) : $begin;
			push(@{$waits{$state}{$_}}, ($cut ? $to : $end) - $from_ns) for @sorts;
		}
	}
	return %waits;
}

sub exactly {
	my ($p, @values) = @_;
	my @sorted = sort { $a <=> $b } @values;
	my $rank = $p * @sorted / 100;

	return $sorted[int($rank) == $rank ? $rank - 1 : int($rank)];
}

# Shares of all waiting, as the waits' components have them.
sub of_explain {
	my ($schedule, $window) = @_;
	my @waits = Explain::waits($schedule, @$window);
	my $all = Explain::all(@waits)->{delay_ns} || return;
	my %kinds = Explain::kinds(@waits);

	return map { { metric => "explain.$_.share", unit => '%', value => 100 * ($kinds{$_} ? $kinds{$_}{delay_ns} : 0) / $all } } @explained;
}

# The share of the path of the task with the lowest number.
sub of_critical {
	my ($schedule, $window) = @_;
	my ($tid) = States::known($schedule, @$window) or return;
	my @path = Critical::path($schedule, $tid, @$window);

	return { metric => 'critical.waiting.share', options => "-t $tid", unit => '%',
		value => 100 * Critical::scheduling(@path) / ($path[-1][1] - $path[0][0]) };
}

1;
