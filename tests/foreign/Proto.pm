# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Perfetto traces, written by hand: messages of fields, and the few messages that the tests need.
package Proto;
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT = qw(varint field message packet bundle event switch waking compact);

sub varint {
	my ($v) = @_;
	my $out = '';

	$v = unpack('Q', pack('q', $v)) if $v < 0;
	while ($v >= 0x80) {
		$out .= chr($v & 0x7f | 0x80);
		$v >>= 7;
	}
	return $out . chr($v);
}

# field NUMBER, VALUE: a number, or bytes if VALUE is a reference to them.
sub field {
	my ($number, $v) = @_;

	return ref($v) ? varint($number << 3 | 2) . varint(length($$v)) . $$v : varint($number << 3) . varint($v);
}

# message NUMBER => VALUE, ...: undefined values are left out.
sub message {
	my @fields = @_;
	my $out = '';

	while (my ($number, $v) = splice(@fields, 0, 2)) {
		$out .= field($number, $v) if defined($v);
	}
	return $out;
}

sub packet { return field(1, \message(@_)) }

# bundle CPU, NUMBER => VALUE...: a packet with the fields of an FtraceEventBundle.
sub bundle {
	my ($cpu, @fields) = @_;

	return packet(1 => \message(1 => $cpu, @fields));
}

# event TIME, PID, NUMBER, FIELD...: an FtraceEvent, as fields of a bundle.
sub event {
	my ($time, $pid, $number, @fields) = @_;

	return (2 => \message(1 => $time, 2 => $pid, $number => \message(@fields)));
}

# switch TIME, PREV, STATE, NEXT: tasks have names of their tids.
sub switch {
	my ($time, $prev, $state, $next) = @_;

	return event($time, $prev, 4, 1 => \"task $prev", 2 => $prev, 3 => 120, 4 => $state, 5 => \"task $next", 6 => $next, 7 => 120);
}

sub waking {
	my ($time, $by, $tid, $cpu) = @_;

	return event($time, $by, 20, 1 => \"task $tid", 2 => $tid, 3 => 120, 5 => $cpu);
}

# compact [[TIME, STATE, NEXT], ...], [[TIME, TID, CPU], ...]: columns, as a field of a bundle.
sub compact {
	my ($switches, $wakings) = @_;
	my (%name, @names, %columns);
	my $number = sub { $name{$_[0]} //= push(@names, "task $_[0]") - 1 };

	for ([1, 3, 6, $switches], [7, 8, 11, $wakings]) {
		my ($times, $tids, $names, $rows) = @$_;
		my $last = 0;

		for my $row (@{$rows // []}) {
			$columns{$times} .= varint($row->[0] - $last);
			$last = $row->[0];
			my ($tid, $other) = $times == 1 ? @$row[2, 1] : @$row[1, 2];
			$columns{$tids} .= varint($tid);
			$columns{$times == 1 ? 2 : 9} .= varint($other);
			$columns{$times == 1 ? 4 : 10} .= varint(120);
			$columns{$names} .= varint($number->($tid));
			$columns{12} .= varint(0) if $times == 7;
		}
	}
	return (4 => \message((map { (5 => \$_) } @names), map { ($_ => \$columns{$_}) } sort { $a <=> $b } keys %columns));
}

1;
