#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Other people's readers against our recordings of this machine, in several shapes: trace-cmd
# and libkshark must find the events that `schedtap dump` finds, and read the same values in
# them. SCHEDTAP names the program.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib dirname(__FILE__) . '/..';
use Files;

my $here = dirname(abs_path($0));
my $schedtap = $ENV{SCHEDTAP} // "$here/../../build/schedtap";
my $tmp = tempdir(CLEANUP => 1);
my ($n, $failed) = (0, 0);

my @shapes = (
	{ name => 'plain', args => [] },
	{ name => 'zstd', args => [qw(--compress zstd)] },
	{ name => 'with loss', args => [qw(--buffer 4k)], loses => 1 },
	{ name => 'with loss, zstd', args => [qw(--buffer 16k --compress zstd)], loses => 1 },
	{ name => 'from tracefs', args => [qw(-b tracefs -e sched)], tracefs => 1 },
	{ name => 'from tracefs with loss', args => [qw(-b tracefs -e sched --buffer 8k)],
	  tracefs => 1, loses => 1 },
	# not timer:*, of whose flags libtraceevent 1.7 prints nonsense
	{ name => 'from both', args => [qw(-e sched -e pelt -e workqueue:* -e signal:*)],
	  tracefs => 1 },
	{ name => 'limited to tasks', args => [qw(-c perl*)] },
	{ name => 'killed and repaired', args => [], kills => 1 },
	{ name => 'lean', args => [qw(--lean)] },
	{ name => 'lean with loss', args => [qw(--lean --buffer 4k)], loses => 1 },
	{ name => 'lean, killed and repaired', args => [qw(--lean)], kills => 1 },
	{ name => 'of a flight recorder', args => [qw(--keep 10s --after 1ms)], marks => 1 },
	{ name => 'several systems', args => [qw(-e sched -e irq -e idle -e workqueue:* -e task:*
	  -e nr_running -e util_est)], tracefs => 1 },
	{ name => 'own events', args => [qw(-e sched -e task_demand -e queue_change), '--define',
	  "$here/../../examples/own_events.h", '-e', 'pelt_se_tp{pid, comm, util=se->avg.util_avg}'] },
);

# A pair of processes that wake each other $ARGV[0] times. $ARGV[1]: "stop": for a quarter of them the
# recorder, which is the parent, is stopped; "kill": it is killed at the end; a command: it is run at the end.
my $load = <<'PERL';
	pipe(my $a, my $b); pipe(my $c, my $d);
	if (!fork) { close $b; my $x; while (sysread($a, $x, 1)) { syswrite($d, 'x') } exit }
	my ($nr, $does, $x) = (@ARGV, '');
	for (1 .. $nr) {
		kill('STOP', getppid) if $does eq 'stop' && $_ == int($nr / 2);
		kill('CONT', getppid) if $does eq 'stop' && $_ == int($nr * 3 / 4);
		syswrite($b, 'x'); sysread($c, $x, 1);
	}
	exit if $does =~ /^(|stop)$/;
	select(undef, undef, undef, 0.2);
	$does eq 'kill' ? kill('KILL', getppid) : system($does);
PERL

# check NAME, WHY: one TAP line; an empty WHY is well.
sub check {
	my ($name, $why) = @_;
	my @lines = split(/\n/, $why);

	$n++;
	$failed++ if @lines;
	print @lines ? 'not ok ' : 'ok ', "$n - $name\n";
	splice(@lines, 10) if @lines > 10;
	print STDERR map { "# $_\n" } @lines;
}

sub skip {
	my ($name, $why) = @_;

	$n++;
	print "ok $n - $name # SKIP $why\n";
}

# Returns standard output (as a file to read), and why it did not go well or ''.
sub run {
	my @cmd = @_;
	my $pid = fork;

	if (!$pid) {
		open(STDOUT, '>', "$tmp/stdout") or die;
		open(STDERR, '>', "$tmp/stderr") or die;
		exec(@cmd) or exit(127);
	}
	waitpid($pid, 0);
	my $status = $?;
	my $why = slurp("$tmp/stderr");
	$why .= "@cmd: status $status\n" if $status;
	open(my $out, '<', "$tmp/stdout") or die;
	return ($out, $why);
}

# {"ts cpu tid name text"} -> how often, {name} -> how often, and [losses, events lost]
sub read_dump {
	my ($file) = @_;
	my ($out, $why) = run($schedtap, 'dump', '-i', $file);
	my %d = (events => {}, names => {}, holes => 0, lost => 0, why => $why);

	while (<$out>) {
		if (/^\*\*\* \[.*\] (\d+|some) events? lost/) {
			$d{holes}++;
			$d{lost} += $1 eq 'some' ? 0 : $1;
		} elsif (/^.*-(\d+)\s+\[(\d+)\] ([\d.]+): (\w+):(\w+): *(.*)$/) {
			$d{events}{"$3 $2 $1 $5 $6"}++;
			$d{names}{"$4/$5"}++;
		} else {
			$d{why} .= "dump printed: $_";
		}
	}
	return \%d;
}

# An array, which libtraceevent prints as unsigned decimals, as the kernel does (trace_print_array_seq()).
sub array_of {
	my ($numbers) = @_;

	return '{' . join(',', map { sprintf('0x%x', $_) } split(/ /, $numbers)) . '}';
}

# What trace-cmd printed, by lines. It prints names as they are, and other tests give themselves any: control characters are escaped
# here as dump does.
sub lines_of {
	my ($out) = @_;
	my $text = do { local $/; <$out> } // '';

	$text =~ s/\e\[31mred\n/\\x1B[31mred\\n/g; # the one with a second line
	$text =~ s/([\x00-\x08\x0b-\x1f\x7f])/sprintf('\\x%02X', ord($1))/ge;
	return split(/\n/, $text);
}

# Return: the events and losses that trace-cmd report prints, in the form that read_dump() returns. It prints
# schedtap's loss records as events: they are not counted as further losses.
sub read_trace_cmd {
	my ($file) = @_;
	my ($out, $why) = run(qw(trace-cmd report -N -t --ts-check -i), $file);
	my %d = (events => {}, holes => 0, lost => 0, marks => 0, why => $why);

	for (lines_of($out)) {
		if (/^CPU:\d+ \[(?:(\d+) )?EVENTS DROPPED\]$/) {
			$d{marks}++;
		} elsif (/\s[\d.]+: events_lost:\s+lost_cpu=-?\d+ count=(\d+) /) {
			$d{holes}++;
			$d{lost} += $1;
		} elsif (/^.*-(\d+)\s+\[(\d+)\]\s+([\d.]+): (\w+): +(.*)$/) {
			my ($key, $text) = ("$3 $2 $1 $4", $5);
			$text =~ s/ levels=\K([\d ]*)$/array_of($1)/e;
			$d{events}{"$key $text"}++;
		} elsif (!/^cpus=\d+$/) {
			$d{why} .= "trace-cmd printed: $_\n";
		}
	}
	return \%d;
}

sub differences {
	my ($ours, $theirs) = @_;
	my $why = '';
	my %all = (%$ours, %$theirs);

	for (sort keys %all) {
		my ($a, $b) = ($ours->{$_} // 0, $theirs->{$_} // 0);

		$why .= "dump has $a, the other $b of: $_\n" if $a != $b;
		last if length($why) > 3000;
	}
	return $why;
}

sub loss_agrees {
	my ($shape, $ours, $theirs) = @_;
	my $why = '';

	return '' if $shape->{kills}; # each CPU is unknown after its last event, of which trace-cmd knows nothing
	$why .= "nothing was lost\n" if $shape->{loses} && !$ours->{holes};
	$why .= "dump shows $ours->{holes} losses, trace-cmd marks $theirs->{marks}\n"
		if $ours->{holes} != $theirs->{marks};
	# of what tracefs lost there is no record of ours
	$why .= "dump: $ours->{lost} lost in $ours->{holes}, trace-cmd: $theirs->{lost} in " .
		"$theirs->{holes}\n"
		if !$shape->{tracefs} &&
		   "$ours->{holes} $ours->{lost}" ne "$theirs->{holes} $theirs->{lost}";
	return $why;
}

# {"ts cpu prev_state next_pid"} of sched_switch
sub switches {
	my ($file) = @_;
	my ($out, $why) = run($schedtap, qw(dump --json -e sched_switch -i), $file);
	my %found;

	while (<$out>) {
		my ($state) = /"prev_state":(-?\d+)/;
		my ($next) = /"next_pid":(\d+)/;

		$found{"$1 $2 $state $next"}++ if /"ts_ns":(\d+),(?:"ts_wall":"[^"]*",)?"cpu":(\d+),/;
	}
	return \%found;
}

sub kshark_agrees {
	my ($kshark, $file, $ours) = @_;
	my ($out, $why) = run($kshark, $file);
	my (%names, %found);

	while (<$out>) {
		$names{$1} = $2 if /^count (\S+) (\d+)$/;
		$found{$1}++ if /^switch (.*)$/;
	}
	delete $names{'schedtap/events_lost'};
	return $why . differences($ours->{names}, \%names) . differences(switches($file), \%found);
}

# Compiles kshark.c. Returns the program, or undef and why not.
sub build_kshark {
	my ($out, $why);

	return (undef, 'no libkshark-dev') unless -f '/usr/include/kernelshark/libkshark.h';
	# its header names json-c's, of which it needs no more than this
	spew("$tmp/json-c/json.h", "struct json_object;\n");
	($out, $why) = run($ENV{CC} // 'cc', qw(-std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror),
			   '-idirafter', $tmp, "$here/kshark.c", '-o', "$tmp/kshark", '-lkshark');
	die "kshark.c: $why" if $why;
	return "$tmp/kshark";
}

# trace-cmd split marks every sub-buffer after a loss as ending in a count of lost events, even one without room for it
# (0xc0000fec, where the recording has 0x80000fec), and libtraceevent then reads 8 bytes past the end of the sub-buffer,
# where trace-cmd report may die of SIGSEGV. dump reads such files. split writes only the first of several buffers: event
# kinds of the others are missing.
sub rewritten_differs {
	my ($way, $ours, $theirs, $new) = @_;

	return differences($theirs->{events}, read_trace_cmd($new)->{events}) if $way ne 'split';
	my $split = read_dump($new);
	my @lacks = grep { !$split->{names}{$_} } keys %{$ours->{names}};
	return differences($ours->{events}, $split->{events}) unless @lacks;
	my %kept = map { ($_ => $ours->{names}{$_}) } grep { $split->{names}{$_} } keys %{$ours->{names}};

	return "no @lacks\n" if grep { /^sched\/sched_(switch|waking)$/ } @lacks;
	return differences(\%kept, $split->{names});
}

# What trace-cmd writes of ours has the same events.
sub check_rewritten {
	my ($shape, $file, $ours, $theirs) = @_;
	my %ways = ('split' => [], 'convert --file-version 6' => [], 'convert --file-version 7' => [],
		    'convert --compression none' => []);

	for my $way (sort keys %ways) {
		my ($out, $why) = run('trace-cmd', split(' ', $way), '-i', $file, '-o', "$tmp/new.dat");
		my ($new) = glob("$tmp/new.dat*");

		if ($new && $why !~ /: status /) { # else it just says how it goes
			$why = rewritten_differs($way, $ours, $theirs, $new);
		} else {
			$why ||= "no file\n";
		}
		check("$shape->{name}: trace-cmd $way", $why);
		unlink(glob("$tmp/new.dat*"));
	}
}

sub check_shape {
	my ($shape, $kshark, $no_kshark) = @_;
	my $file = "$tmp/x.dat";
	# a recorder that is quick enough loses nothing: it is stopped
	my $why = (run($schedtap, 'record', '-o', $file, @{$shape->{args}}, '--', $^X, '-e', $load,
		       $shape->{loses} ? (2000, 'stop') : $shape->{kills} ? (600, 'kill') :
		       $shape->{marks} ? (600, "$schedtap mark x") : 600))[1];

	$why .= (run($schedtap, 'repair', $file))[1] if $shape->{kills};
	rename($_, $file) for glob("$tmp/x-*.dat");
	check("$shape->{name}: records", -s $file ? '' : $why);
	return unless -s $file;
	my ($ours, $theirs) = (read_dump($file), read_trace_cmd($file));
	my $complaint = $ours->{why};
	$complaint =~ s/^schedtap: .* is incomplete: its recorder did not finish, .*\n//m if $shape->{kills};
	check("$shape->{name}: dump has no complaint", $complaint);
	check("$shape->{name}: trace-cmd has no complaint", $theirs->{why});
	check("$shape->{name}: trace-cmd reads every event as dump does",
	      keys %{$ours->{events}} < 1000 ? "only few events\n" :
	      differences($ours->{events}, $theirs->{events}));
	check("$shape->{name}: trace-cmd shows the same loss", loss_agrees($shape, $ours, $theirs));
	if ($kshark) {
		check("$shape->{name}: libkshark reads the same events and fields",
		      kshark_agrees($kshark, $file, $ours));
	} else {
		skip("$shape->{name}: libkshark", $no_kshark);
	}
	check_rewritten($shape, $file, $ours, $theirs);
	check("$shape->{name}: trace-cmd $_", (run('trace-cmd', split(' ', $_), '-i', $file))[1])
		for 'hist', 'dump --all', 'dump --validate', 'report --stat', 'report -w';
	unlink($file);
}

$ENV{LC_ALL} = 'C';
if ($> != 0 || system('command -v trace-cmd >/dev/null') != 0) {
	print '1..0 # SKIP ', $> ? 'needs root' : 'no trace-cmd', "\n";
	exit 0;
}
my $tracefs = -d '/sys/kernel/tracing/events/sched';
my ($kshark, $no_kshark) = build_kshark();
for my $shape (@shapes) {
	if ($shape->{tracefs} && !$tracefs) {
		skip($shape->{name}, 'no tracefs');
	} else {
		check_shape($shape, $kshark, $no_kshark);
	}
}
print "1..$n\n";
exit($failed ? 1 : 0);
