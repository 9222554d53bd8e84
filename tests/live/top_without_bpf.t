#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap top and stat where BPF programs may not be loaded: as an ordinary user, and as root without the capabilities. Their numbers
# against readings of the same files by this test, taken all the time: a counter that only grows must lie between those before and after.
# And everything that is null has a reason.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::XS;
use List::Util qw(sum0);
use POSIX ();
use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_REALTIME);
use Time::Local qw(timegm);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Cgroups;
use Files;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $dir = tempdir(CLEANUP => 1);
my $tick_ns = 1e9 / POSIX::sysconf(POSIX::_SC_CLK_TCK());

plan(skip_all => 'needs root') if $> != 0;
chmod(0755, $dir);
my %ways = (
	'ordinary user' => [qw(setpriv --reuid 65534 --clear-groups --bounding-set=-all)],
	'root without CAP_BPF' => ['setpriv', '--bounding-set=-sys_admin,-bpf,-perfmon'],
);
for (sort(keys(%ways))) {
	plan(skip_all => "$schedtap does not run as $_") if system("@{ $ways{$_} } $schedtap --version >/dev/null 2>&1");
}

sub slurp_if { return eval { slurp($_[0]) } // '' }

# ---- a load in a cgroup of its own ----

my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;
my $name = "/without-bpf-$$";
my ($cpuacct) = map { $_->[1] } grep { $_->[2] eq 'cgroup' && ",$_->[3]," =~ /,cpuacct,/ } map { [split(' ')] } split(/\n/, slurp('/proc/self/mounts'));
my ($busy, @made);
END {
	my $status = $?;
	if ($busy) {
		kill('KILL', $busy);
		waitpid($busy, 0);
	}
	select(undef, undef, undef, 0.1);
	rmdir($_) for @made;
	$? = $status;
}
for my $folder (map { "$_$name" } grep { defined } $mount, $cpuacct) {
	next if -d $folder;
	mkdir($folder) or plan(skip_all => "no cgroup can be made: $!");
	push(@made, $folder);
}
$busy = fork() // die "fork: $!\n";
if (!$busy) {
	spew("$_/cgroup.procs", $$) for @made;
	exec('taskset', '-c', '0', 'perl', '-e', '1 while 1');
}

# Run time of the load's cgroup, in ns; or undef.
sub usage_ns {
	return 1000 * $1 if slurp_if("$mount$name/cpu.stat") =~ /^usage_usec (\d+)/m;
	my ($file) = grep { -e } map { "$_$name/cpuacct.usage" } grep { defined } $mount, $cpuacct;
	return $file ? slurp($file) + 0 : undef;
}

# ---- the test's own readings ----

# What only grows; undef: this kernel does not have it.
sub reading {
	my %r = (began_ns => 1e9 * clock_gettime(CLOCK_REALTIME));
	my @cpus = map { [split(' ')] } slurp('/proc/stat') =~ /^cpu\d+ (.*)/mg;

	$r{cpu_ns} = $tick_ns * sum0(map { sum0(@$_[0 .. 7]) } @cpus);
	$r{idle_ns} = $tick_ns * sum0(map { sum0(@$_[3, 4]) } @cpus);
	($r{switches}) = slurp('/proc/stat') =~ /^ctxt (\d+)/m;
	$r{pressure_ns} = 1000 * $1 if slurp_if('/proc/pressure/cpu') =~ /^some .*total=(\d+)/;
	my @waits = map { [(split(' '))[7, 8]] } slurp_if('/proc/schedstat') =~ /^cpu\d+ (.*)/mg;
	@r{qw(wait_ns waits)} = map { my $i = $_; sum0(map { $_->[$i] } @waits) } 0, 1 if @waits;
	$r{cgroup_ns} = usage_ns();
	@r{qw(task_ns task_wait_ns task_waits)} = split(' ', slurp_if("/proc/$busy/schedstat"));
	$r{ended_ns} = 1e9 * clock_gettime(CLOCK_MONOTONIC);
	return \%r;
}

# Runs top and takes readings meanwhile. Return: what it printed, its status, and the readings.
sub watch_top {
	my ($way, @args) = @_;
	my @readings = reading();
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		open(STDOUT, '>', "$dir/out");
		open(STDERR, '>', "$dir/err");
		exec(@{ $ways{$way} }, $schedtap, 'top', @args);
	}
	while (!waitpid($pid, 1)) {
		push(@readings, reading());
		select(undef, undef, undef, 0.02);
	}
	my $status = $?;
	return { out => slurp("$dir/out"), err => slurp("$dir/err"), status => $status >> 8, readings => [@readings, reading()] };
}

# CLOCK_REALTIME of a refresh, in ns. It is taken after the refresh's reading, and .end_ns before it.
sub wall_ns {
	my ($year, $month, $day, $hour, $minute, $s) = $_[0]{time_wall} =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):([\d.]+)Z$/;

	return 1e9 * (timegm(0, $minute, $hour, $day, $month - 1, $year) + $s);
}

# The least and the most that a counter can have grown from one refresh's reading to the next one's.
sub bounds {
	my ($key, $from, $to, @readings) = @_;
	my $before = sub { my ($r) = @_; (grep { $_->{ended_ns} <= $r->{end_ns} } @readings)[-1] // $readings[0] };
	my $after = sub { my $ns = wall_ns($_[0]); (grep { $_->{began_ns} >= $ns } @readings)[0] // $readings[-1] };

	return ($before->($to)->{$key} - $after->($from)->{$key}, $after->($to)->{$key} - $before->($from)->{$key});
}

sub check_number {
	my ($what, $is, $key, $slack, $refreshes, @readings) = @_;

	return is($is, undef, "$what: not on this kernel") if !defined($readings[0]{$key});
	my ($least, $most) = bounds($key, @$refreshes, @readings);
	ok(defined($is) && $is >= $least - $slack && $is <= $most + $slack, "$what: " . ($is // 'null') . " is from $least to $most");
}

# ---- keys ----

# Keys of an object with their values, such as "cpus[].cpu"; of a list with all values.
sub flat {
	my ($prefix, $v, $to) = @_;

	if (ref($v) eq 'HASH') {
		flat($prefix eq '' ? $_ : "$prefix.$_", $v->{$_}, $to) for keys(%$v);
	} elsif (ref($v) eq 'ARRAY') {
		push(@{ $to->{$prefix} }, 'a list');
		flat("$prefix\[]", $_, $to) for @$v;
	} else {
		push(@{ $to->{$prefix} }, $v);
	}
	return $to;
}

sub check_reasons {
	my ($what, $object) = @_;
	my %why = map { $_->{key} => $_->{why} } @{ $object->{unknown} };
	my $flat = flat('', $object, {});
	my @null = grep { !grep { defined } @{ $flat->{$_} } } keys(%$flat);

	is_deeply([grep { !$why{$_} } sort(@null)], [], "$what: all that is null has a reason");
	is_deeply([grep { $flat->{$_} && grep { defined } @{ $flat->{$_} } } sort(keys(%why))], [], "$what: nothing known has one");
	like($why{waits}, qr/CAP_(BPF|PERFMON)/, "$what: which names the capability");
}

# ---- top ----

my $sentence = qr/\Aschedtap: kinds, quantiles and culprits of waits are not shown: [^\n]*CAP_(BPF|PERFMON)[^\n]*\n\z/;

for my $way (sort(keys(%ways))) {
	my $run = watch_top($way, qw(-b --json -n 3 -d 1500ms));
	my @refreshes = map { decode_json($_) } split(/\n/, $run->{out});
	my @readings = @{ $run->{readings} };

	is($run->{status}, 0, "$way: top ends with 0");
	like($run->{err}, $sentence, "$way: and says why");
	is(scalar(@refreshes), 3, "$way: three objects");
	for my $i (1 .. $#refreshes) {
		my $r = $refreshes[$i];
		my $pair = [@refreshes[$i - 1, $i]];
		my ($c) = grep { $_->{cgroup} eq $name } @{ $r->{cgroups} };
		my ($t) = grep { $_->{tid} == $busy } @{ $r->{tasks} };
		my $w = $r->{all_waits} // {};

		is($r->{source}, 'proc', "$way: source");
		check_number("$way: cpu_ns", $r->{cpu_ns}, 'cpu_ns', 3 * $tick_ns, $pair, @readings);
		check_number("$way: idle_ns", $r->{idle_ns}, 'idle_ns', 3 * $tick_ns, $pair, @readings);
		check_number("$way: switches", $r->{switches}, 'switches', 0, $pair, @readings);
		check_number("$way: pressure", $r->{pressure_ns}, 'pressure_ns', 0, $pair, @readings);
		check_number("$way: number of waits", $w->{count}, 'waits', 0, $pair, @readings);
		check_number("$way: time waited", $w->{sum_ns}, 'wait_ns', 0, $pair, @readings);
		check_number("$way: run time of the cgroup", $c->{run_ns}, 'cgroup_ns', 0, $pair, @readings);
		check_number("$way: run time of the task", $t->{run_ns}, 'task_ns', 0, $pair, @readings);
		check_number("$way: the task waited", $t->{wait_ns}, 'task_wait_ns', 0, $pair, @readings);
		like($t->{involuntary_switches}, qr/^\d+$/, "$way: the task's switches");
		is(scalar(grep { $_->{idle_ns} > $_->{cpu_ns} } @{ $r->{cpus} }), 0, "$way: no CPU idles longer than its time");
		check_reasons($way, $r);
	}
	my $text = watch_top($way, qw(-b -n 1 -d 100ms));
	like($text->{out}, qr/\A\d\d:\d\d:\d\d  (\d+ %|-) busy  [\d.]+ (k )?switches\/s  waking -  preempted -  throttled -  waiting (-|\d+ % \(pressure\))  mean wait (-|[\d.]+ \w+)  culprit -  .*censored -  lost -\n\z/,
		"$way: text");
	like($text->{err}, $sentence, "$way: with the reason before it");
	is(watch_top($way, qw(-b -n 1 --from-waking))->{status}, 3, "$way: --from-waking needs BPF");
}

SKIP: {
	skip('no BPF here', 2) if `$schedtap list sched_switch` !~ /^bpf/;
	my $tally = decode_json(`$schedtap top -b --json -n 1 -d 100ms`);
	my $proc = decode_json(`@{ $ways{'ordinary user'} } $schedtap top -b --json -n 1 -d 100ms 2>/dev/null`);

	is($tally->{source}, 'tally', 'source with BPF');
	is_deeply([grep { !exists($proc->{$_}) } sort(keys(%$tally))], [], 'all its keys are there without');
}

# ---- stat ----

# Works and sleeps in turns, and prints what the kernel has counted of it: ns that it ran and waited, how often, and its switches.
spew("$dir/work.pl", <<'EOF');
for (1 .. 20) {
	my $end = (times)[0] + 0.02;
	1 while (times)[0] < $end;
	select(undef, undef, undef, 0.002);
}
open(my $f, '<', '/proc/self/schedstat');
my @n = split(' ', <$f>);
open($f, '<', '/proc/self/status');
print join(' ', @n, map { /^(?:non)?voluntary_ctxt_switches:\s+(\d+)/ ? $1 : () } <$f>), "\n";
EOF

sub stat_of {
	my ($way, @command) = @_;
	my $out = qx{@{ $ways{$way} } $schedtap stat --json @command 2>$dir/err};

	return { status => $? >> 8, err => slurp("$dir/err"), lines => [map { /^\{/ ? () : [split(' ')] } split(/\n/, $out)],
		json => $out =~ /^(\{.*)/m ? decode_json($1) : {} };
}

for my $way (sort(keys(%ways))) {
	my $one = stat_of($way, 'perl', "$dir/work.pl");
	my ($run_ns, $wait_ns, $waits, $voluntary, $involuntary) = @{ $one->{lines}[0] };
	my $j = $one->{json};

	is($one->{status}, 0, "$way: stat: exit code");
	like($one->{err}, $sentence, "$way: stat says why");
	is($j->{source}, 'proc', "$way: stat: source");
	# rusage has whole us
	ok($j->{run_ns} >= $run_ns - 2000 && $j->{run_ns} < $run_ns + 30e6, "$way: ran $j->{run_ns} ns, itself says $run_ns");
	ok($j->{main_thread}{wait_ns} >= $wait_ns && $j->{main_thread}{waits} >= $waits && $j->{main_thread}{waits} < $waits + 50,
		"$way: waited $j->{main_thread}{wait_ns} ns, $j->{main_thread}{waits} times; itself says $wait_ns, $waits");
	ok($j->{voluntary_switches} >= $voluntary && $j->{voluntary_switches} < $voluntary + 20,
		"$way: $j->{voluntary_switches} voluntary switches, itself says $voluntary");
	ok($j->{involuntary_switches} >= $involuntary && $j->{involuntary_switches} < $involuntary + 50,
		"$way: $j->{involuntary_switches} involuntary switches, itself says $involuntary");
	check_reasons("$way: stat", $j);

	my $two = stat_of($way, 'sh', '-c', "'perl $dir/work.pl; perl $dir/work.pl; exit 7'");
	my $least_ns = sum0(map { $_->[0] } @{ $two->{lines} });

	is($two->{status}, 7, "$way: exit code of the command");
	is($two->{json}{exit_code}, 7, "$way: which the object has");
	ok($two->{json}{run_ns} >= $least_ns - 4000 && $two->{json}{run_ns} < $least_ns + 80e6, "$way: two children ran $two->{json}{run_ns} ns, themselves say $least_ns");
	cmp_ok($two->{json}{main_thread}{run_ns}, '<', $least_ns / 4, "$way: main_thread is the shell's alone");
	is(stat_of($way, '--from-waking', 'true')->{status}, 3, "$way: stat --from-waking needs BPF");
	is(stat_of($way, "$dir/nothing")->{status}, 127, "$way: no such command");
	like(qx{@{ $ways{$way} } $schedtap stat true 2>&1 >/dev/null},
		qr/^true:\n +\d.* elapsed\n +\d.* ran, on [\d.]+ CPUs\n +(-|\d\S* \w+)  waited.*\n +\d+  voluntary switches\n +\d+  involuntary switches\n +-  migrations\n/m, "$way: text");
}
done_testing();
