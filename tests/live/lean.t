#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Lean recordings against an ordinary one of the same seconds: the switches are the same ones, their time stamps and the names of the tasks
# too; waits agree, except that a wait after a sleep begins later; trace-cmd prints all of it. Then what --lean is combined with.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use List::Util qw(max min sum0);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
plan(skip_all => 'the kernel has no sched_info') if `$schedtap list -v sched_switch` !~ /next_queued_ns/;

# Tasks that wake each other, tasks that take each other's CPU, and short ones with new names.
spew("$dir/load", <<'END');
pipe(my $a, my $b); pipe(my $c, my $d);
for my $n (1 .. 3) {
	next if fork();
	$0 = "spin $n";
	1 while eval { my ($user, $system) = times; $user + $system } < 0.5;
	exit(0);
}
if (!fork()) {
	$0 = "pong";
	close($b);
	while (sysread($a, my $x, 1)) { syswrite($d, 'x') }
	exit(0);
}
close($a); close($d);
$0 = 'ping';
for my $n (1 .. 4000) {
	syswrite($b, 'x');
	sysread($c, my $x, 1);
	next if $n % 100;
	if (!fork()) { exec('sh', '-c', 'true') }
	$0 = "ping $n";
}
close($b);
1 while wait() > 0;
END

sub run { return scalar(`$_[0] 2>&1`) }
sub json { return decode_json(scalar(`$_[0]`)) }

# The lean recording begins after the ordinary one, and ends before it.
my $out = run("$schedtap record -b bpf --buffer 256K -e sched -e task -o $dir/o.dat -- $schedtap record --lean --buffer 256K -o $dir/l.dat -- perl $dir/load");
is($?, 0, 'both are recorded') or BAIL_OUT($out);
is(scalar(() = $out =~ / 0 lost/g), 2, 'nothing is lost') or BAIL_OUT($out);

# By CPU: [time, what it is to be recognized by] of each switch. A task that dies becomes dead (X) while it leaves, or stays a zombie (Z):
# its parent may do that between the two recordings' looks.
sub switches_of {
	my ($file) = @_;
	my %by_cpu;

	open(my $f, '-|', "$schedtap dump -i $file -e sched_switch --json") or die;
	while (<$f>) {
		my $e = decode_json($_);
		my $s = $e->{fields};

		$s->{prev_state} = 'dead' if $s->{prev_state} & 0x30;
		push(@{$by_cpu{$e->{cpu}}}, [$e->{ts_ns}, join(' ', @$s{qw(prev_pid prev_prio prev_state next_pid next_prio next_queued_ns next_delay_ns)})]);
	}
	return %by_cpu;
}
my %ordinary = switches_of("$dir/o.dat");
my %lean = switches_of("$dir/l.dat");
my (@early, $nr, @missing);
for my $cpu (sort(keys(%lean))) {
	my @o = @{$ordinary{$cpu}};
	my @l = @{$lean{$cpu}};

	# the same task may go to sleep several times in the same way
	my ($first) = sort { abs($o[$a][0] - $l[0][0]) <=> abs($o[$b][0] - $l[0][0]) } grep { $o[$_][1] eq $l[0][1] } 0 .. $#o;
	splice(@o, 0, $first // 0);
	$#o = $#l if @o > @l;
	push(@missing, map { "CPU $cpu, switch $_: $l[$_][1]" } grep { ($o[$_][1] // '') ne $l[$_][1] } 0 .. $#l);
	push(@early, map { $o[$_][0] - $l[$_][0] } 0 .. $#l) if !@missing;
	$nr += @l;
}
cmp_ok($nr, '>', 5000, 'switches');
is(scalar(@missing), 0, 'each is that of the ordinary recording') or diag(@missing[0 .. min(9, $#missing)]);
# Both look at a clock, one after the other, and on a virtual machine much may come between.
@early = sort { $a <=> $b } @early;
my ($median, $near) = ($early[@early / 2], scalar(grep { abs($_) < 5000 } @early));
ok(abs($median) < 1000, 'the time stamps are the same, median') or diag("$median ns");
cmp_ok($near, '>', 0.95 * @early, 'within 5 us nearly always') or diag("$near of " . @early);
is_deeply([grep { my $l = $lean{$_}; grep { $l->[$_][0] < $l->[$_ - 1][0] } 1 .. $#$l } keys(%lean)], [], 'and in order');

# {tid} -> [slice]
sub slices_of {
	my ($file) = @_;
	my (%slices, @columns);

	open(my $f, '-|', "$schedtap timehist -i $file --csv") or die;
	while (<$f>) {
		chomp;
		my @row = split(/,/, $_, -1);
		@columns = @row if !@columns;
		my %r; @r{@columns} = @row;
		push(@{$slices{$r{tid}}}, \%r) if $r{what} eq 'slice' && $r{tid};
	}
	return \%slices;
}
my ($slices, $lean_slices) = (slices_of("$dir/o.dat"), slices_of("$dir/l.dat"));

# Slices that begin at the same time, within 4 us, and are known in both: their names and waits.
my (%sum, %nr, %names, @differ, @longer, @misnamed);
for my $tid (keys(%$lean_slices)) {
	my @others = @{$slices->{$tid} // []};

	for my $l (@{$lean_slices->{$tid}}) {
		shift(@others) while @others && $others[0]{time_ns} < $l->{time_ns} - 4000;
		my $o = $others[0] or next;

		next if $l->{unknown_ns} || $o->{unknown_ns} || $o->{time_ns} > $l->{time_ns} + 4000;
		$names{$o->{comm}} = 1;
		push(@misnamed, "$tid: $l->{comm}, not $o->{comm}") if $l->{comm} ne $o->{comm};
		for my $kind (qw(waking_ns preempted_ns)) {
			next if !$l->{$kind} && !$o->{$kind};
			$nr{$kind}++;
			$sum{$kind}[0] += $o->{$kind};
			$sum{$kind}[1] += $l->{$kind};
			push(@differ, $l->{$kind} - $o->{$kind}) if $kind eq 'preempted_ns' && abs($l->{$kind} - $o->{$kind}) > 3000;
			push(@longer, $l->{$kind} - $o->{$kind}) if $kind eq 'waking_ns' && $l->{$kind} > $o->{$kind} + 3000;
		}
	}
}
is_deeply(\@misnamed, [], 'tasks have the same names') or diag(@misnamed);
cmp_ok(scalar(keys(%names)), '>=', 40, 'which change');
cmp_ok($nr{waking_ns}, '>', 2000, 'waits after a wakeup');
cmp_ok($nr{preempted_ns}, '>', 20, 'waits after a preemption');
cmp_ok(scalar(@differ), '<=', 1 + 0.03 * $nr{preempted_ns}, 'waits after a preemption are the same within 3 us, 97 % of them') or
	diag("@differ");
cmp_ok(abs($sum{preempted_ns}[1] / $sum{preempted_ns}[0] - 1), '<', 0.02, 'and their sum within 2 %');
cmp_ok(scalar(@longer), '<=', 1 + 0.01 * $nr{waking_ns}, 'waits from the queue on are not longer than those from the waking on') or
	diag("@longer");

my $summary = json("$schedtap summary -i $dir/l.dat --json");
ok($summary->{recording}{waits_from_queue}, 'the summary says where waits begin');
cmp_ok($summary->{price}{bytes} / $summary->{price}{events}, '<', 48, 'bytes per event');
SKIP: {
	skip('no trace-cmd', 1) if !`which trace-cmd`;
	is(scalar(() = `trace-cmd report -i $dir/l.dat 2>/dev/null` =~ /sched_switch:.* ==> /g), $nr, 'trace-cmd prints them');
}

# ---- what lean recordings cannot tell ----

for (['wakers', '-e sched_waking'], ["critical -t $$", '-e sched_waking'], ['balance', '-e sched_migrate_task']) {
	my ($report, $helps) = @$_;

	like(run("$schedtap $report -i $dir/l.dat"), qr/\Q$helps\E/, "$report names what helps");
	isnt($?, 0, "$report refuses");
}
like(run("$schedtap migrations -i $dir/l.dat"), qr/has no sched_migrate_task: migrations are inferred/, 'migrations says what it counts');
is($?, 0, 'and counts it');
like(run("$schedtap record --lean -b tracefs -o $dir/x.dat -d 1"), qr/--lean records over BPF/, 'not over tracefs');
is($? >> 8, 2, 'a usage error');
like(run("$schedtap record --lean -e sched_switch -f 'next_comm == \"x\"' -o $dir/x.dat -d 1"), qr/Field not found/,
	'a filter by what the short form lacks');

# ---- combined ----

run("$schedtap record --lean -e sched_migrate_task -e sched_switch -o $dir/m.dat -- perl $dir/load");
my $all = json("$schedtap summary -i $dir/m.dat --json");
my %count = map { $_->{event} =~ s{.*:}{}r => $_->{count} } @{$all->{kinds}};
cmp_ok($count{sched_migrate_task}, '>', 0, '-e adds events');
cmp_ok($count{sched_switch}, '>', 5000, 'and switches stay');
ok(!exists($count{sched_waking}), 'without wakeups');
run("$schedtap migrations -i $dir/m.dat");
is($?, 0, 'migrations has them then');
run("$schedtap balance -i $dir/m.dat");
is($?, 0, 'and the balance');

run("$schedtap record --lean -c 'spin*' -o $dir/c.dat -- perl $dir/load");
my $spin = json("$schedtap summary -i $dir/c.dat --json -c 'spin*'");
my @spinning = grep { ($_->{comm} // '') =~ /^spin \d$/ } @{$spin->{tasks}};
is(scalar(@spinning), 3, 'by name: three tasks');
cmp_ok(abs(sum0(map { $_->{run_ns} } @spinning) / 1.5e9 - 1), '<', 0.1, 'that ran for as long as they did');

run("$schedtap record --lean --keep 10s --when 'preempted > 1ms' --after 100ms -o $dir/f.dat -- perl $dir/load");
my ($kept) = glob("$dir/f-*.dat");
ok($kept, 'a flight recorder saves a file when a task waits');
my $preempted = json("$schedtap latency --preempted -i $kept --json");
cmp_ok($preempted->{all}{max_ns}, '>', 1e6, 'which has the wait') if $kept;

run("$schedtap record --lean -e sched_switch -f 'prev_pid != next_pid && next_pid == 0' -o $dir/i.dat -d 0.5");
is(scalar(grep { $_->{fields}{next_pid} } map { decode_json($_) } split(/\n/, `$schedtap dump -i $dir/i.dat -e sched_switch --json`)), 0,
	'a filter of the short form');
done_testing();
