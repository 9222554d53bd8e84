#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How long tasks waited while a CPU was idle that they could use: what serve and top say, against a recording of the same time, of which
# this test only takes the events. idle_load.c makes a task wait that may use an idle CPU, and one that may not.
#
# The events do not say which CPUs a task may use. So there are two limits. At least the waits of the load's victim count that ended after
# it was allowed to use the other CPU. At most all waits of all tasks count, but for those of tasks that may use one CPU alone.
#
# alone: on a busy machine the other CPU is never idle
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use JSON::XS;
use List::Util qw(max min sum0);
use Test::More;
use Time::HiRes qw(clock_gettime sleep CLOCK_MONOTONIC);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Busy;
use Files;
use Metrics;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $load = ($ENV{BUILD} // "$here/../../build") . '/tests/live/idle_load';
my $rounds = 50; # of each kind
my $clocks_ns = 50e3; # by which the recorder's time of a switch may differ from the tally's
my $slices = 14; # fewer than the tally keeps of a CPU
my $dir = tempdir(CLEANUP => 1);
my $metric = 'sched_idle_while_waiting_seconds_total';

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;

# ---- two CPUs of one LLC ----

sub list_of { return map { /(\d+)-(\d+)/ ? ($1 .. $2) : $_ } split(/,/, $_[0] =~ s/\s//r) }

my %online = map { $_ => 1 } list_of(slurp('/sys/devices/system/cpu/online'));
my %may_use = map { $_ => 1 } list_of(slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m ? $1 : '');

# The CPUs that share the cache of the highest level; without caches, the package.
sub llc_of {
	my $folder = "/sys/devices/system/cpu/cpu$_[0]";
	my ($last) = map { $_->[1] } sort { $b->[0] <=> $a->[0] } map { -e "$_/level" ? [slurp("$_/level") + 0, "$_/shared_cpu_list"] : () } glob("$folder/cache/index*");

	return list_of(slurp($last // "$folder/topology/package_cpus_list"));
}

my ($cpu, $other);
for my $first (sort { $a <=> $b } keys(%may_use)) {
	($cpu, $other) = grep { $online{$_} && $may_use{$_} } llc_of($first);
	last if defined($other);
}
plan(skip_all => 'no two CPUs share a cache') if !defined($other);
my ($llc) = llc_of($cpu);

# The CPUs that each task may use, as a list.
sub affinities {
	my %list;

	for my $path (glob('/proc/[0-9]*/task/[0-9]*/status')) {
		open(my $f, '<', $path) or next; # the task has ended
		my $text = do { local $/; readline($f) } // '';

		$list{$1} = $2 if $text =~ /^Pid:\s*(\d+)\n.*^Cpus_allowed_list:\s*(\S+)/ms;
	}
	return %list;
}

# ---- run ----

my %pids;
END { my $status = $?; kill('KILL', values(%pids)); waitpid($_, 0) for values(%pids); $? = $status }

sub start {
	my ($name, @options) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		open(STDOUT, '>', "$dir/$name");
		open(STDERR, '>', "$dir/$name.err");
		exec($schedtap, $name, @options);
	}
	$pids{$name} = $pid;
}

sub await {
	my ($name, $done) = @_;

	until ($done->()) {
		die("$name ended: " . slurp("$dir/$name.err")) if waitpid($pids{$name}, 1);
		sleep(0.02);
	}
}

sub stop {
	my ($name) = @_;

	kill('INT', $pids{$name});
	waitpid(delete($pids{$name}), 0);
}

sub metric_now {
	my ($address) = slurp("$dir/serve") =~ /(http\S+)/;

	return HTTP::Tiny->new(timeout => 10)->get($address)->{content};
}

sub refreshes { return map { decode_json($_) } slurp("$dir/top") =~ /^(.*\})\n/mg }

sub now_ns { return int(clock_gettime(CLOCK_MONOTONIC) * 1e9) }

# The recording is the shortest: it has all events of a machine that may be busy.
my $since = busy_since();
start('serve', qw(--metrics 127.0.0.1:0));
start('top', qw(-b --json -d 100ms));
await('serve', sub { -s "$dir/serve" });
await('top', sub { slurp("$dir/top") =~ /\n/ });
my %may_use_before = affinities();
start('record', '-o', "$dir/all.dat", map { ('-e', $_) } qw(sched_switch sched_waking sched_wakeup_new sched_migrate_task));
await('record', sub { -e "$dir/all.dat.spool/meta.json" });
sleep(0.1); # a wait that ends later began in the recording
my $from_ns = now_ns();
my $before = metric_now();
my $load_says = `$load $cpu $other $rounds`;
plan(skip_all => 'no real-time task allowed') if $? >> 8 == 3;
is($?, 0, 'the load ran');
$load_says = decode_json($load_says);
my $to_ns = now_ns();
sleep(0.1); # an answer is kept for so long
my $after = metric_now();
await('top', sub { (refreshes())[-1]{end_ns} > $to_ns });
stop($_) for qw(record top serve);
my %may_use_after = affinities();
my $why_busy = why_busy($since);

# ---- the recording ----

# Read the events. Return: long waits and the victim's, and when each CPU began to run which task.
sub read_events {
	my ($victim) = @_;
	my (%from, %seen, %is_running, %is_woken, %is_moved, %runs, @waits, $start);

	open(my $dump, '-|', "$schedtap dump -i $dir/all.dat") or die "$!\n";
	while (<$dump>) {
		if (/ \[0*(\d+)\] +(\d+)\.(\d+): sched:sched_switch: .* prev_pid=(\d+) prev_prio=\S+ prev_state=(R?).* ==> next_comm=.* next_pid=(\d+) /) {
			my ($at_cpu, $ns, $prev, $state, $next) = ($1, "$2$3", $4, $5, $6);

			$start //= $ns;
			push(@{ $runs{$at_cpu} }, [$ns, $next]);
			$seen{$prev} = $ns;
			# a task that is woken on its way to sleep waits from now on
			$from{$prev} = $state || delete($is_woken{$prev}) ? $ns : undef;
			delete($is_running{$prev});
			# a waking that was hidden from the recording came after the task was last seen
			my $from = $from{$next} // $seen{$next} // $start;
			push(@waits, { tid => $next, cpu => $at_cpu, from => $from, to => $ns, is_known => defined($from{$next}), is_moved => $is_moved{$next} })
				if $next && ($next == $victim || $ns - $from >= 0.9e6);
			$is_running{$next} = 1;
			$seen{$next} = $ns;
			delete($_->{$next}) for \(%from, %is_woken, %is_moved);
		} elsif (/ (\d+)\.(\d+): sched:sched_w\w+: .* pid=(\d+) /) {
			if ($is_running{$3}) { $is_woken{$3} = 1 } else { $from{$3} //= "$1$2" }
		} elsif (/: sched:sched_migrate_task: .* pid=(\d+) /) {
			$is_moved{$1} = 1;
		}
	}
	close($dump);
	return (\@waits, \%runs);
}

# How long a CPU was idle. $least: only what its last switches before the end say.
sub idle_ns {
	my ($runs, $from, $to, $least) = @_;
	my ($low, $high, $ns, $nr) = (0, scalar(@$runs), 0, 0);

	while ($low < $high) { # number of switches before the end
		my $middle = int(($low + $high) / 2);

		if ($runs->[$middle][0] < $to) { $low = $middle + 1 } else { $high = $middle }
	}
	for (my $i = $low - 1; $i >= 0 && $to > $from && !($least && $nr++ >= $slices); $i--) {
		my $begin = max($from, $runs->[$i][0]);

		$ns += $to - $begin if $runs->[$i][1] == 0;
		$to = $begin;
	}
	$ns += $to - $from if !$least && $to > $from && !@$runs; # it has not switched
	return $ns;
}

my ($waits, $runs) = read_events($load_says->{victim});

# May it certainly use no other CPU?
sub is_pinned {
	my ($w) = @_;

	return scalar(grep { $w->{to} > $_->[0] && $w->{to} < $_->[1] } @{ $load_says->{pinned} }) if $w->{tid} == $load_says->{victim};
	return ($may_use_before{ $w->{tid} } // '') eq $w->{cpu} && ($may_use_after{ $w->{tid} } // '') eq $w->{cpu};
}

my ($least_ns, $most_ns, $pinned_ns, $nr_widened) = (0, 0, 0, 0);
my @of_victim = grep { $_->{tid} == $load_says->{victim} } @$waits;
for my $allowed (@{ $load_says->{widened} }) {
	my ($w) = grep { $_->{to} > $allowed } @of_victim;

	next if !$w || !$w->{is_known} || $w->{from} > $allowed || $w->{cpu} != $cpu || $w->{is_moved} || $w->{to} - $w->{from} < 1.1e6;
	$nr_widened++;
	$least_ns += max(0, idle_ns($runs->{$other} // [], $w->{from}, $w->{to}, 1) - 2 * $clocks_ns);
}
for my $w (grep { $_->{to} - $_->{from} >= 0.9e6 } @$waits) {
	my $idle_ns = max(0, map { idle_ns($runs->{$_}, $w->{from} - $clocks_ns, $w->{to} + $clocks_ns, 0) } grep { $_ != $w->{cpu} } keys(%$runs));

	if (is_pinned($w)) {
		$pinned_ns += $idle_ns if $w->{tid} == $load_says->{victim};
	} else {
		$most_ns += min($w->{to} - $w->{from}, $idle_ns + 2 * $clocks_ns) if $idle_ns;
	}
}
my $lost = decode_json(`$schedtap summary -i $dir/all.dat --json`)->{recording}{lost};
note(sprintf('of the recording: at least %.1f ms, at most %.1f ms; the pinned task waited for %.1f ms beside an idle CPU', map { $_ / 1e6 } $least_ns, $most_ns, $pinned_ns));

# ---- compare ----

my ($by_serve, $of_before) = map { value(parse_text($_), $metric, llc => $llc) } $after, $before;
my @lines = grep { $_->{start_ns} >= $from_ns && $_->{start_ns} < $to_ns } refreshes();
my %of_llc = map { $_->{llc} => 1 } map { @{ $_->{llcs} } } @lines;
my $by_top = sum0(map { $_->{idle_while_waiting_ns} } map { @{ $_->{llcs} } } @lines) / 1e9;

$by_serve -= $of_before;
ok(exists($of_llc{$llc}), "top has LLC $llc");
like($after, qr/^\Q$metric\E\{llc="$llc"\} \d/m, "serve has LLC $llc");
SKIP: {
	skip("the recording lost $lost events", 3) if $lost;
	for (['serve', $by_serve], ['top', $by_top]) {
		my ($name, $s) = @$_;
		my $is_right = $s >= 0.98 * $least_ns / 1e9 && $s <= 1.02 * $most_ns / 1e9 + 1e-3;

		# it may stop a CPU between the two programs on a switch
		skip("the hypervisor took CPUs: $why_busy", 1) if !$is_right && $why_busy =~ /([1-9]\d*) % were stolen/;
		ok($is_right, sprintf('%s: %.1f ms', $name, $s * 1e3)) or diag(sprintf('the recording: %.1f to %.1f ms', map { $_ / 1e6 } $least_ns, $most_ns));
	}
	skip("machine was busy: $why_busy", 1) if $why_busy && $least_ns < 1e6 * $rounds;
	cmp_ok($least_ns, '>=', 1e6 * $rounds, "the other CPU was idle while the victim waited in $nr_widened rounds");
}
done_testing();
