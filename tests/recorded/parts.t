#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/recorded/parts.t [SEEDS [FIRST]]: the numbers of top, read from recordings (src/show/recorded/):
#   - the numbers of a small recording are those that a person counts
#   - parts that follow each other add up to the whole, forwards and backwards; the split of waits adds up to the waits, and run times to CPU time
#   - waits are those of schedtap latency
#   - where events are lost, no wait is counted that the complete recording does not have
# Recordings are those of the golden tests, and simulated ones with seeds from FIRST [1] on (SEEDS: 3, in a soak 40).
use strict;
use warnings;
use JSON::XS;
use File::Basename qw(dirname);
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $read = "$ENV{BUILD}/tests/recorded/read";
my $generate = "$ENV{BUILD}/tests/truth/generate";
my $seeds = $ARGV[0] // ($ENV{SOAK} ? 40 : 3);
my $first = $ARGV[1] // $ENV{SEED} // 1;
my $json = JSON::XS->new->canonical;
my $tests = 0;

for ($ENV{SCHEDTAP}, $ENV{MKDAT}, $generate, $read) {
	next if -x;
	print "Bail out! $_ is missing\n";
	exit 1;
}

sub ok {
	my ($name, @wrong) = @_;

	printf("%s %d - %s\n", @wrong ? 'not ok' : 'ok', ++$tests, $name);
	print map { "# $_\n" } @wrong > 8 ? (@wrong[0 .. 7], '...') : @wrong;
}

sub readings {
	my ($file, @args) = @_;

	return map { $json->decode($_) } split(/\n/, qx($read $file @args 2>/dev/null));
}

# ---- sums --------------------------------------------------------------------------------------

# Without sched_migrate_task, parts do not know all changes of CPU.
sub comparable {
	my ($file, @differences) = @_;
	my $has_migrations = qx($ENV{SCHEDTAP} dump -i $file 2>/dev/null) =~ /sched_migrate_task/;

	return grep { $has_migrations || !/migrations/ } @differences;
}

# Numbers that add up, by name. Culprits are named only if they are among a row's greatest: they count together.
sub flat {
	my ($view) = @_;
	my %sums = (cpu_ns => $view->{cpu_ns}, missed => $view->{missed}, map { ("migrations $_" => $view->{migrations}[$_]) } 0 .. 2);

	while (my ($name, $row) = each(%{$view->{rows}})) {
		$sums{"$name $_"} = $row->{$_} for qw(run_ns self_ns idle_ns kernel_ns elsewhere_ns censored);
		$sums{"$name others"} = $row->{other_ns};
		$sums{"$name others"} += $_ for values(%{$row->{culprits}});
		for my $kind (0 .. 2) {
			$sums{"$name wait $kind"} = $row->{wait_ns}[$kind];
			$sums{"$name bucket $kind $_"} = $row->{buckets}[$kind]{$_} for keys(%{$row->{buckets}[$kind]});
		}
	}
	for my $cpu (@{$view->{cpus}}) {
		$sums{"cpu $cpu->{cpu} $_"} = $cpu->{$_} for qw(cpu_ns idle_ns switches);
	}
	for my $task (@{$view->{tasks}}) {
		$sums{"task $task->{tid} $_"} += $task->{$_} for qw(run_ns wait_ns waits voluntary involuntary migrations);
	}
	$sums{"llc $_->{llc}"} = $_->{idle_while_waiting_ns} for @{$view->{llcs}};
	return \%sums;
}

sub add {
	my %sums;

	for my $part (@_) {
		$sums{$_} += $part->{$_} for keys(%$part);
	}
	return \%sums;
}

sub differences {
	my ($name, $want, $got) = @_;
	my %names = (%$want, %$got);

	return map { "$name: $_: " . ($want->{$_} // 0) . ', not ' . ($got->{$_} // 0) }
		grep { ($want->{$_} // 0) != ($got->{$_} // 0) } sort(keys(%names));
}

# What must hold in each reading.
sub check_reading {
	my ($name, $view) = @_;
	my (@wrong, $run_ns);

	while (my ($slot, $row) = each(%{$view->{rows}})) {
		my ($waits, $split) = (0, 0);
		$run_ns += $row->{run_ns};
		$waits += $_ for @{$row->{wait_ns}};
		$split += $_ for values(%{$row->{culprits}}), map { $row->{$_} } qw(self_ns idle_ns kernel_ns other_ns elsewhere_ns);
		push(@wrong, "$name: $slot waits $waits, split $split") if $waits != $split;
	}
	push(@wrong, "$name: run $run_ns, CPUs $view->{cpu_ns}") if $run_ns != $view->{cpu_ns};
	return @wrong;
}

# Number and sum, and each longest wait of a CPU is in some row.
sub check_latency {
	my ($file, $view) = @_;
	my (@wrong, $kind);

	for my $option ('', '--preempted', '--throttled') {
		my ($line) = qx($ENV{SCHEDTAP} latency -i $file $option --json 2>/dev/null);
		my ($count, $sum, $i) = (0, 0, $kind++ // 0);
		my $all = $line ? $json->decode($line)->{all} : next;
		for my $row (values(%{$view->{rows}})) {
			$sum += $row->{wait_ns}[$i];
			$count += $_ for values(%{$row->{buckets}[$i]});
		}
		push(@wrong, "$file $option: $all->{count} waits, not $count") if $all->{count} != $count;
		push(@wrong, "$file $option: $all->{avg_ns} ns on average, not " . $sum / $count) if $count && abs($all->{avg_ns} - $sum / $count) > 1;
	}
	return @wrong;
}

# ---- a small recording -------------------------------------------------------------------------

# 1 ms of two CPUs. web runs on CPU 0, but for db, which it wakes twice; kworker/1:0 is woken on the idle CPU 1.
my $small = <<'END';
meta {"window":{"start_ns":1000000000,"end_ns":1001000000},"cgroups":[[1,"/"],[10,"/web"],[11,"/db"]],"tasks":[[100,90,"web",10,"both"],[101,101,"db",11,"both"],[8,8,"kworker/1:0",1,"both"]]}
cpus 2
1.000000000 0 0 sched:sched_switch prev_comm=swapper/0 prev_pid=0 prev_prio=120 next_comm=web next_pid=100 next_prio=120
1.000000000 1 8 sched:sched_switch prev_comm=kworker/1:0 prev_pid=8 prev_prio=120 prev_state=1 next_comm=swapper/1 next_pid=0 next_prio=120
1.000100000 0 100 sched:sched_waking comm=db pid=101 prio=110 target_cpu=0
1.000150000 0 100 sched:sched_switch prev_comm=web prev_pid=100 prev_prio=120 prev_state=0 next_comm=db next_pid=101 next_prio=110
1.000200000 0 101 sched:sched_switch prev_comm=db prev_pid=101 prev_prio=110 prev_state=1 next_comm=web next_pid=100 next_prio=120
1.000300000 0 100 sched:sched_waking comm=kworker/1:0 pid=8 prio=120 target_cpu=1
1.000310000 1 0 sched:sched_switch prev_comm=swapper/1 prev_pid=0 prev_prio=120 next_comm=kworker/1:0 next_pid=8 next_prio=120
1.000350000 1 8 sched:sched_switch prev_comm=kworker/1:0 prev_pid=8 prev_prio=120 prev_state=1 next_comm=swapper/1 next_pid=0 next_prio=120
1.000400000 0 100 sched:sched_waking comm=db pid=101 prio=110 target_cpu=0
1.000500000 0 100 sched:sched_switch prev_comm=web prev_pid=100 prev_prio=120 prev_state=1 next_comm=db next_pid=101 next_prio=110
1.000600000 0 101 sched:sched_switch prev_comm=db prev_pid=101 prev_prio=110 prev_state=1 next_comm=swapper/0 next_pid=0 next_prio=120
END

sub row {
	my ($run_ns, $waking, $preempted, %more) = @_;

	return { run_ns => $run_ns, wait_ns => [$waking, $preempted, 0], self_ns => 0, idle_ns => 0, kernel_ns => 0, other_ns => 0,
		elsewhere_ns => 0, censored => 0, culprits => {}, %more };
}

sub check_small {
	my $dir = memory_folder();
	my $file = "$dir/small.dat";
	spew("$dir/in.txt", $small);
	system($ENV{MKDAT}, "$dir/in.txt", $file) == 0 or die "mkdat failed\n";
	my ($whole, $early, $late) = readings($file, 2);
	my %want = (
		'idle' => row(1_360_000, 0, 0),
		'kernel threads' => row(40_000, 10_000, 0, idle_ns => 10_000),
		'/' => row(0, 0, 0),
		'/web' => row(450_000, 0, 50_000, culprits => { '/db' => 50_000 }),
		'/db' => row(150_000, 150_000, 0, culprits => { '/web' => 150_000 }),
	);
	delete($_->{buckets}) for map { values(%{$_->{rows}}) } $whole, $early, $late;
	ok('rows of a small recording', $json->encode($whole->{rows}) eq $json->encode(\%want) ? () : ($json->encode($whole->{rows}), $json->encode(\%want)));
	# the switch at 500 us ends a wait of the first half
	ok('rows of its second half', grep { $_ } map {
		my ($slot, $key, $want) = @$_;
		$late->{rows}{$slot}{$key} == $want ? () : "$slot $key $late->{rows}{$slot}{$key}, not $want"
	} ['/db', 'run_ns', 100_000], ['/web', 'run_ns', 0], ['idle', 'run_ns', 900_000]);
	my ($db) = grep { $_->{tid} == 101 } @{$whole->{tasks}};
	my ($web) = grep { $_->{tid} == 100 } @{$whole->{tasks}};
	my %task = (tid => 101, tgid => 101, comm => 'db', start_ns => 0, run_ns => 150_000, wait_ns => 150_000, waits => 2, voluntary => 2, involuntary => 0,
		migrations => 0, cpu => 0, slot => '/db', prio => 110, max_wait_ns => 100_000, buckets => { 6 => 1, 7 => 1 });
	ok('a task', $json->encode($db) eq $json->encode(\%task) ? () : ($json->encode($db), $json->encode(\%task)));
	ok('another task', $web->{tgid} == 90 && $web->{involuntary} == 1 && $web->{voluntary} == 1 && $web->{waits} == 1 ? () : $json->encode($web));
	ok('CPUs', join(' ', map { "$_->{switches} $_->{idle_ns} $_->{cpu_ns} $_->{max_wait_ns}[0] $_->{max_wait_ns}[1]" } @{$whole->{cpus}}) eq
		'5 400000 1000000 100000 50000 3 960000 1000000 10000 0' ? () : $json->encode($whole->{cpus}));
	ok('all tasks', $whole->{all_tasks} == 3 && $whole->{from_waking} ? () : "$whole->{all_tasks}");
	my ($around) = readings($file, 900_000_000, 2_000_000_000);
	ok('time outside is unknown', $around->{cpu_ns} == 2_000_000 ? () : "$around->{cpu_ns}");
}

# 4 s in which a CPU is idle throughout, a task waits for 2 s, and one sleeps for 3 s.
my $long = <<'END';
meta {"window":{"start_ns":1000000000,"end_ns":5000000000},"cgroups":[[1,"/"],[10,"/web"],[11,"/db"]],"tasks":[[100,100,"web",10,"both"],[101,101,"db",11,"both"],[102,102,"log",1,"both"]],"running":[[1,0,1000000100]]}
cpus 2
1.000000000 0 0 sched:sched_switch prev_comm=swapper/0 prev_pid=0 prev_prio=120 next_comm=log next_pid=102 next_prio=120
1.100000000 0 102 sched:sched_switch prev_comm=log prev_pid=102 prev_prio=120 prev_state=1 next_comm=web next_pid=100 next_prio=120
1.500000000 0 100 sched:sched_waking comm=db pid=101 prio=120 target_cpu=0
3.500000000 0 100 sched:sched_switch prev_comm=web prev_pid=100 prev_prio=120 prev_state=1 next_comm=db next_pid=101 next_prio=120
4.100000000 0 101 sched:sched_waking comm=log pid=102 prio=120 target_cpu=0
4.200000000 0 101 sched:sched_switch prev_comm=db prev_pid=101 prev_prio=120 prev_state=0 next_comm=log next_pid=102 next_prio=120
4.300000000 0 102 sched:sched_switch prev_comm=log prev_pid=102 prev_prio=120 prev_state=1 next_comm=db next_pid=101 next_prio=120
END

sub check_long {
	my $dir = memory_folder();

	spew("$dir/long.txt", $long);
	system($ENV{MKDAT}, "$dir/long.txt", "$dir/long.dat") == 0 or die "mkdat failed\n";
	my ($whole, @parts) = readings("$dir/long.dat", 8);
	ok('parts of long waits and slices', check_parts("$dir/long.dat", 8),
		map { $_->{cpu_ns} == 1_000_000_000 ? () : "$_->{from_ns}: $_->{cpu_ns} ns of CPUs" } @parts);
	ok('a wait of 2 s is split', $whole->{rows}{'/db'}{culprits}{'/web'} == 2_000_000_000 ? () : $json->encode($whole->{rows}{'/db'}));
}

# ---- all recordings ----------------------------------------------------------------------------

sub check_parts {
	my ($file, $nr) = @_;
	my ($whole, @parts) = readings($file, $nr);
	my (undef, @back) = readings($file, $nr, 'back');

	return () if !$whole; # without switches
	my @wrong = (differences("$file in $nr parts", flat($whole), add(map { flat($_) } @parts)),
		differences("$file backwards", flat($whole), add(map { flat($_) } @back)));
	@wrong = comparable($file, @wrong) if @wrong;
	return (map({ check_reading("$file $_->{from_ns}", $_) } $whole, @parts), @wrong, check_latency($file, $whole));
}

# Waits and run times of the damaged recording are some of the complete one's, and its parts add up.
sub check_damaged {
	my ($file, $complete) = @_;
	my ($whole, @parts) = readings($file, 9);
	my ($got, @wrong) = (flat($whole), map { check_reading("$file $_->{from_ns}", $_) } $whole, @parts);

	for my $name (grep { /bucket|cpu|run_ns/ && !/task/ } sort(keys(%$got))) {
		push(@wrong, "$file: $name: $got->{$name} of " . ($complete->{$name} // 0)) if $got->{$name} > ($complete->{$name} // 0);
	}
	push(@wrong, differences($file, $got, add(map { flat($_) } @parts)));
	return @wrong;
}

sub check_simulated {
	my ($seed) = @_;
	my $dir = memory_folder();

	system($generate, $seed, 12000, "$dir") == 0 or die "generate of seed $seed failed\n";
	ok("seed $seed: parts of recordings without losses", map { check_parts("$dir/$_.dat", 13) } qw(whole waking wakeup queue_lean switch));
	my ($complete) = map { flat($_) } readings("$dir/whole.dat");
	ok("seed $seed: damaged recordings", map { check_damaged("$dir/$_.dat", $complete) } qw(loss losses overwritten));
	my ($missed) = map { $_->{missed} } readings("$dir/loss.dat");
	ok("seed $seed: lost events are counted", $missed ? () : 'none');
}

check_small();
check_long();
# Without monitor/wwnr: a task is switched in on two CPUs at once, which a later event shows. Parts that end before that event do not know.
ok('parts of golden recordings', map { check_parts($_, 7) } grep { !m{golden-monitor-wwnr} } distinct(golden_recordings()));
check_simulated($_) for $first .. $first + $seeds - 1;
print "1..$tests\n";
