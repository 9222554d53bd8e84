# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Reads what `schedtap serve` answers: a series is NAME{LABELS} => value.
package Metrics;
use strict;
use warnings;
use Exporter qw(import);
use List::Util qw(sum0);
our @EXPORT = qw(parse_text value cgroups wrong_sums decreases families);

sub parse_text {
	my ($text) = @_;
	my %series;

	for (grep { !/^#/ } split(/\n/, $text)) {
		/^(\w+(?:\{.*\})?) (\S+)$/ or die "no series: $_\n";
		die "twice: $1\n" if exists($series{$1});
		$series{$1} = $2;
	}
	return \%series;
}

sub label { my ($series, $name) = @_; return $series =~ /[{,]$name="((?:[^"\\]|\\.)*)"/ ? $1 : '' }

# The sum of all series of a name with these labels.
sub value {
	my ($series, $name, %labels) = @_;

	return sum0(map { $series->{$_} } grep {
			my $one = $_;
			/^\Q$name\E(?:\{|$)/ && !grep { label($one, $_) ne $labels{$_} } keys(%labels)
	} keys(%$series));
}

sub cgroups {
	my ($series) = @_;

	return map { label($_, 'cgroup') } grep { /^sched_cpu_seconds_total/ } keys(%$series);
}

sub wrong_sums {
	my ($series) = @_;
	my (%waited, %caused, %buckets, %count, @wrong);

	for (keys(%$series)) {
		my ($cgroup, $kind) = (label($_, 'cgroup'), label($_, 'kind'));

		$waited{$cgroup} += $series->{$_} if /^sched_wait_seconds_sum/;
		$caused{$cgroup} += $series->{$_} if /^sched_wait_caused_seconds_total/;
		$count{"$cgroup $kind"} = $series->{$_} if /^sched_wait_seconds_count/;
		push(@{ $buckets{"$cgroup $kind"} }, [label($_, 'le'), $series->{$_}]) if /^sched_wait_seconds_bucket/;
	}
	for (keys(%waited)) {
		push(@wrong, "$_: waited $waited{$_} s, caused $caused{$_} s") if abs($waited{$_} - $caused{$_}) > 1e-6;
	}
	my $idle = value($series, 'sched_idle_seconds_total');
	my $empty = value($series, 'sched_run_queue_tasks_bucket', le => '0.0') / 1e6;
	push(@wrong, "idle for $idle s, no runnable task for $empty s") if abs($idle - $empty) > 1e-4;
	for my $of (keys(%count)) {
		my @in_order = map { $_->[1] } sort { ($a->[0] eq '+Inf' ? 1e9 : $a->[0]) <=> ($b->[0] eq '+Inf' ? 1e9 : $b->[0]) } @{ $buckets{$of} };

		push(@wrong, "$of: buckets @in_order, count $count{$of}")
			if $in_order[-1] != $count{$of} || grep { $in_order[$_] < $in_order[$_ - 1] } 1 .. $#in_order;
	}
	return @wrong;
}

# Counters that are less than before.
sub decreases {
	my ($before, $after) = @_;

	return map { "$_: $before->{$_}, then $after->{$_}" }
		grep { /^\w+_(?:total|sum|count|bucket)\b/ && exists($after->{$_}) && $after->{$_} < $before->{$_} } keys(%$before);
}

# Names of the families in delimited protobuf.
sub families {
	my ($bytes) = @_;
	my ($at, @names) = (0);
	my $varint = sub {
		my ($v, $shift) = (0, 0);

		while (1) {
			my $byte = ord(substr($bytes, $at++, 1));

			$v |= ($byte & 0x7f) << $shift;
			return $v if !($byte & 0x80);
			$shift += 7;
		}
	};

	while ($at < length($bytes)) {
		my $len = $varint->();
		my $end = $at + $len;

		die "a family begins with byte " . ord(substr($bytes, $at, 1)) . "\n" if ord(substr($bytes, $at++, 1)) != 0x0a;
		push(@names, substr($bytes, $at + 1, ord(substr($bytes, $at, 1))));
		$at = $end;
	}
	return @names;
}

1;
