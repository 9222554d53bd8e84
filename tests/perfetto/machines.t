#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings of several machines in one export: Perfetto has each machine's slices, counters and marks, at times of the first
# machine's clock, which are computed here from the recordings' wall clocks.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Files;
use Perfetto;
use Recordings;
use TraceCmd qw(with_option time_shift UNAME);

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

my $tmp = memory_folder();
my $wall = 1_700_000_000_000_000_000; # wall clock at 0 of alpha's clock

# recording NAME, HOST, RECORDER, FILE, OFFSET, FIRST, TID: one task runs from FIRST + 100 to FIRST + 300. OFFSET: wall clock minus the
# recording's; undef: unknown. The window is 1000 ns long.
sub recording {
	my ($name, $host, $recorder, $file, $offset, $first, $tid) = @_;
	my $clocks = defined $offset ? sprintf(',"clocks":[{"monotonic_ns":%d,"realtime_ns":%d}]', $first, $first + $offset) : '';
	my $of = $recorder ? qq(,"recorder":{"id":"$recorder","file":$file,"continues":true}) : '';
	my @at = map { $first + $_ } 100, 200, 300, 1000;

	spew("$tmp/$name.txt", <<"END");
uname @{[$host eq UNAME ? $host : "Linux $host 6.1.0 #1 SMP x86_64"]}
cpus 2
meta {"tool":"schedtap 0.1","complete":true,"tasks":[[$tid,$tid,"task$tid",null,"began"]],"window":{"start_ns":$first,"end_ns":$at[3]}$clocks$of}
$at[0] 1 0 sched:sched_switch prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=0 next_comm=task$tid next_pid=$tid next_prio=120
$at[1] 1 $tid schedtap:sched_update_nr_running cpu=1 change=1 nr_running=77
$at[1] 1 $tid schedtap:sched_set_need_resched comm=task$tid pid=$tid cpu=1 tif=3
$at[2] 1 $tid sched:sched_switch prev_comm=task$tid prev_pid=$tid prev_prio=120 prev_state=1 next_comm=swapper next_pid=0 next_prio=120
END
	system($ENV{MKDAT}, "$tmp/$name.txt", "$tmp/$name.dat") == 0 or die "mkdat of $name\n";
	return "$tmp/$name.dat";
}

# export ARGUMENT...: Return: [stderr, exit status].
sub export {
	my ($ran) = runs("export --to perfetto -o '$tmp/out' " . join(' ', map { "'$_'" } @_));

	return [$ran->[2], $ran->[1]];
}

my $slices = 'select machine.raw_id as machine, tid, sched.ts, dur, sched.ucpu % 4096 as cpu from sched join thread using (utid) ' .
	'join machine on thread.machine_id = machine.id where tid between 1 and 4194304 order by machine.raw_id, sched.ts';
my $unknown = 'select thread.machine_id as machine, ts from sched join thread using (utid) where tid > 4194304 order by 1, 2';
my $counters = "select t.name, ts, value from counter c join track t on c.track_id = t.id where t.name like '%nr_running' order by 1, 2";
my $marks = "select ts, t.machine_id as machine, tid from slice s join thread_track t on s.track_id = t.id join thread using (utid) where s.name = 'sched_set_need_resched' order by 1";
my $errors = "select name, value from stats where severity != 'info' and value > 0";

sub rows { return map { my $row = $_; join(' ', map { $row->{$_} } @{$_[1]}) } @{$_[0]} }

# same NAME, GOT, WANT: two lists of lines.
sub same {
	my ($name, $got, $want) = @_;

	check($name, "@{[join(', ', @$got)]}" eq "@{[join(', ', @$want)]}" ? () : (map({ "got $_" } @$got), map({ "want $_" } @$want)));
}

sub fails {
	my ($name, $re, @arguments) = @_;
	my ($err, $status) = @{export(@arguments)};

	check($name, $status && $err =~ $re ? () : "status $status: $err");
}

my $alpha = recording('alpha', 'alpha', 'aa', 1, $wall, 1_000_000, 10);
my $later = recording('later', 'alpha', 'aa', 2, $wall, 1_004_000, 10);
# its clock is 5 s ahead of alpha's, and it has the same thread number
my $beta = recording('beta', 'beta', 'bb', 1, $wall - 5_000_000_000, 5_001_000_500, 10);
my $twin = recording('twin', 'alpha', 'cc', 1, $wall + 2_000_000, 500_000, 12);
my $early = recording('early', 'early', 'dd', 1, $wall - 9_000_000_000, 1_000, 13);
my $clockless = recording('clockless', 'gamma', 'ee', 1, undef, 1_000_000, 14);
my $foreign = recording('foreign', 'delta', '', 0, $wall, 1_000_000, 15);

# files of one recorder follow each other though another machine's is between them
my ($err, $status) = @{export($later, $beta, $alpha)};
check('an export of two machines', $status || $err =~ /recorder/ ? "status $status: $err" : ());
my $got = ask("$tmp/out", slices => $slices, unknown => $unknown, counters => $counters, marks => $marks, errors => $errors,
	machines => 'select raw_id, release from machine order by 1');
same('machines', [rows($got->{machines}, [qw(raw_id release)])], ['0 6.1.0', '1 6.1.0']);
same('each machine has its slices', [rows($got->{slices}, [qw(machine tid ts dur cpu)])],
	['0 10 1000100 200 1', '0 10 1004100 200 1', '1 10 1000600 200 1']);
same('a machine is unknown after its recording', [(rows($got->{unknown}, [qw(machine ts)]))[-1]], ['1 1001500']);
same('counters have the name of their machine', [rows($got->{counters}, [qw(name ts value)])],
	['alpha: CPU 1 nr_running 1000200 77', 'alpha: CPU 1 nr_running 1004200 77', 'beta: CPU 1 nr_running 1000700 77']);
same('marks are at threads of their machine', [rows($got->{marks}, [qw(machine tid ts)])], ['0 10 1000200', '1 10 1000700', '0 10 1004200']);
same('Perfetto reports no error', [rows($got->{errors}, [qw(name value)])], []);

# the other order has the other clock
export($beta, $alpha, $later);
same('the first machine has the clock', [rows(ask("$tmp/out", slices => $slices)->{slices}, [qw(machine tid ts dur cpu)])],
	['0 10 5001000600 200 1', '1 10 5001000100 200 1', '1 10 5001004100 200 1']);

export($alpha, $twin, $foreign);
same('one host name: names of files', [rows(ask("$tmp/out", counters => $counters)->{counters}, [qw(name ts)])],
	["$alpha: CPU 1 nr_running 1000200", "$twin: CPU 1 nr_running 2500200", 'delta: CPU 1 nr_running 1000200']);

($err, $status) = @{export('--time', '1004000ns,1004900ns', $alpha, $later, $beta)};
same('--time is on the first clock', [rows(ask("$tmp/out", slices => $slices)->{slices}, [qw(machine tid ts)])], ['0 10 1004100']);
check('a machine outside of --time has a note', $err =~ /beta\.dat': the selection contains nothing to write/ ? () : $err);
export('--time', '1000550ns,1000800ns', $alpha, $beta);
same('--time selects on the other machine', [rows(ask("$tmp/out", slices => $slices)->{slices}, [qw(machine tid ts dur)])], ['1 10 1000600 200']);

fails('no wall clock', qr/clockless\.dat' contains no wall-clock time.*trace-cmd record --date/, $alpha, $clockless);
fails('no wall clock in the first file', qr/clockless\.dat' contains no wall-clock time/, $clockless, $alpha);
fails('before the first clock began', qr/early\.dat' was recorded before the first machine's clock began: name it/, $alpha, $early);
check('... which is possible in the other order', export($early, $alpha)->[1] ? 'it fails' : ());

# A host and its guest by trace-cmd, without wall clocks: the guest's own clock is 7 s behind. They have no host names.
my ($host, $guest) = (recording('host', UNAME, '', 0, undef, 8_000_000_000, 16), recording('guest', UNAME, '', 0, undef, 1_000_000_000, 16));
spew($host, with_option(scalar(slurp($host)), 11, pack('Q<', 4711)));
spew($guest, with_option(scalar(slurp($guest)), 12, time_shift(0, [[0, 7_000_000_050, 1, 0], [2_000_000_000, 7_000_000_050, 1, 0]])));
for (['host and guest', $host, $guest, 0], ['guest and host', $guest, $host, 1]) {
	my ($name, $first, $second, $of_host) = @$_;
	my $of_guest = 1 - $of_host;

	($err, $status) = @{export($first, $second)};
	check("$name: an export", $status ? $err : ());
	same("$name: times are the host's", [rows(ask("$tmp/out", slices => $slices)->{slices}, [qw(machine tid ts dur)])],
		[sort "$of_host 16 8000000100 200", "$of_guest 16 8000000150 200"]);
}
exit(finish());
