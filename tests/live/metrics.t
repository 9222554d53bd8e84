#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap serve --metrics: its numbers of cgroups against the kernel's own of the tasks in them (tally_load.c); whether all adds up and
# no counter decreases while cgroups come and go; and clients that behave badly. SOAK=1: 200 scrapes.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::XS;
use List::Util qw(sum0);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Cgroups;
use Files;
use Metrics;
use Tally;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $load = ($ENV{BUILD} // "$here/../../build") . '/tests/live/tally_load';
my $scrapes = $ENV{SOAK} ? 200 : 20;
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;

my @children;
my %folder = map { $_ => "$mount/metrics-$$-$_" } qw(a b storm);
END {
	my $status = $?;
	kill('KILL', @children);
	waitpid($_, 0) for @children;
	rmdir($_) for glob("$folder{storm}/*"), values(%folder);
	$? = $status;
}
mkdir($_) or plan(skip_all => "no cgroup can be made: $!") for values(%folder);

# ---- start ----

# The first option may be what to run in place of schedtap.
sub start {
	my (@options) = @_;
	my @command = ref($options[0]) ? @{ shift(@options) } : $schedtap;
	my $pid = open(my $out, '-|') // die "fork: $!\n";

	if (!$pid) {
		open(STDERR, '>', "$dir/err");
		exec(@command, 'serve', @options);
	}
	push(@children, $pid);
	chomp(my $address = readline($out) // die('schedtap serve: ' . slurp("$dir/err")));
	return { pid => $pid, out => $out, address => $address };
}

sub stop {
	my ($s) = @_;

	kill('TERM', $s->{pid});
	waitpid($s->{pid}, 0);
	@children = grep { $_ != $s->{pid} } @children;
	return $? >> 8;
}

my $s = start('--metrics', '127.0.0.1:0');
my $few = start('--metrics', '127.0.0.1:0', '--max-cgroups', 1);
my ($port) = $s->{address} =~ m{^http://127\.0\.0\.1:(\d+)/metrics$};
ok($port, "it says where: $s->{address}");

# The longest wait of a cgroup is at most so long.
sub longest {
	my ($series, $path) = @_;
	my @below = sort { $a <=> $b } grep { $_ ne '+Inf' } map {
		my $le = $_;
		value($series, 'sched_wait_seconds_bucket', cgroup => $path, le => $le) == value($series, 'sched_wait_seconds_count', cgroup => $path) ? $le : ()
	} values(%{ { map { /le="([^"]*)"/ ? ($1 => $1) : () } keys(%$series) } });

	return $below[0] // 60;
}

sub scrape {
	my (%headers) = @_;

	return HTTP::Tiny->new(timeout => 10)->get($s->{address}, { headers => { Accept => 'text/plain;version=0.0.4', %headers } });
}

# ---- cgroups come and go, and two have a load ----

my %from;
for (['a', 3000, 1000], ['b', 1000, 2000]) {
	my ($name, @us) = @$_;

	open($from{$name}, '-|', 'taskset', '-c', '0', $load, $folder{$name}, @us, 2) or die "$load: $!\n";
}
my ($first, $switches);
my $end = time + 60;
do { # until both have a place
	sleep(0.05);
	$switches = all_switches();
	$first = parse_text(scrape()->{content});
} until time > $end || 2 == grep { /^\/metrics-$$-[ab]$/ } cgroups($first);
my $storm = fork() // die "fork: $!\n";
if (!$storm) {
	for (my $i = 0;; $i++) {
		my $pid = fork() // die;

		mkdir("$folder{storm}/$i");
		if (!$pid) {
			spew("$folder{storm}/$i/cgroup.procs", $$);
			POSIX::_exit(0);
		}
		waitpid($pid, 0);
		rmdir("$folder{storm}/$i");
	}
}
push(@children, $storm);
my (@wrong, $before, $last);
for (1 .. $scrapes) {
	my $answer = scrape();

	push(@wrong, "status $answer->{status}: $answer->{content}"), last if $answer->{status} != 200;
	$last = parse_text($answer->{content});
	push(@wrong, wrong_sums($last), $before ? decreases($before, $last) : ());
	$before = $last;
	sleep(0.1);
}
is_deeply(\@wrong, [], "$scrapes answers: all adds up, no counter decreases");
my %kernel = map { $_ => decode_json(readline($from{$_}) // die "$load says nothing\n") } keys(%from);
kill('KILL', $storm);
waitpid($storm, 0);
$last = parse_text(scrape()->{content});
my $hidden = all_switches() - $switches - value($last, 'sched_switches_total') + value($first, 'sched_switches_total');
$hidden = 0 if $hidden < 0;
note("$hidden switches were hidden");

for my $name (sort(keys(%kernel))) {
	my $path = $folder{$name} =~ s/^\Q$mount\E//r;
	my %numbers = map { $_ => value($last, "sched_wait_seconds_$_", cgroup => $path) } qw(count sum);
	my $ran = value($last, 'sched_cpu_seconds_total', cgroup => $path);
	my $waits = [map { $kernel{$name}{waking}[$_] + $kernel{$name}{preempted}[$_] } 0, 1];

	my $censored = value($last, 'sched_wait_censored_total', cgroup => $path);

	ok(is_between($numbers{count} + $censored, $waits, 0, 2 + $hidden), "$path: $numbers{count} waits and $censored of unknown length, the kernel counts @$waits");
	ok(is_between($ran * 1e9, $kernel{$name}{run_ns}, 0.01, 30e3 * $waits->[1]), "$path: ran $ran s, the kernel says @{ $kernel{$name}{run_ns} } ns");
	ok(is_between($numbers{sum} * 1e9, $kernel{$name}{wait_ns}, 0.02, 30e3 * $waits->[1] + $hidden * longest($last, $path) * 1e9),
		"$path: waited $numbers{sum} s, the kernel says @{ $kernel{$name}{wait_ns} } ns");
}
cmp_ok(value($last, 'sched_cpu_seconds_total', cgroup => "/metrics-$$-storm/(removed)"), '>', 0, 'what came and went is counted');
my $of_few = parse_text(HTTP::Tiny->new(timeout => 10)->get($few->{address})->{content});
is_deeply([wrong_sums($of_few)], [], 'with a single place for cgroups all adds up');
cmp_ok(value($of_few, 'schedtap_cgroups_folded_total'), '>', 0, 'and what has no place counts with an ancestor');
stop($few);

# ---- formats ----

my $text = scrape();
like($text->{headers}{'content-type'}, qr{^text/plain; version=0\.0\.4}, 'text');
my $open = scrape(Accept => 'application/openmetrics-text;version=1.0.0');
like($open->{headers}{'content-type'}, qr{^application/openmetrics-text; version=1\.0\.0}, 'OpenMetrics');
like($open->{content}, qr/\n# EOF\n\z/, 'and it ends');
is_deeply([wrong_sums(parse_text($open->{content}))], [], 'and adds up');
my $protobuf = scrape(Accept => 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited');
like($protobuf->{headers}{'content-type'}, qr{^application/vnd\.google\.protobuf}, 'protobuf');
is_deeply([families($protobuf->{content})], [$text->{content} =~ /^# TYPE (\w+)/mg], 'has the same families');
SKIP: {
	skip('no promtool', 1) if system('command -v promtool >/dev/null');
	spew("$dir/text", $text->{content});
	is(`promtool check metrics <$dir/text 2>&1`, '', 'promtool accepts the text');
}

# ---- clients ----

my $http = HTTP::Tiny->new(timeout => 10);
my $head = $http->head($s->{address});
ok($head->{status} == 200 && $head->{headers}{'content-length'} > 1000, 'HEAD');
is($http->post($s->{address})->{status}, 405, 'POST');
is($http->get("http://127.0.0.1:$port/x")->{status}, 404, 'another path');
is($http->get("http://127.0.0.1:$port/")->{status}, 200, 'the root');
my @idle = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") // () } 1 .. 1000;
$end = time + 10; # each may stay for two seconds
my $status = 0;
sleep(0.2) until ($status = scrape()->{status}) == 200 || time > $end;
is($status, 200, 'after ' . @idle . ' clients that asked nothing');
close($_) for @idle;
my @readers = map { my $client = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"); print $client "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"; $client } 1 .. 4;
is(scrape()->{status}, 200, 'beside clients that read nothing');

# ---- with the unit's capabilities and no others ----

sub confined {
	my ($caps) = slurp("$here/../../tools/schedtap-metrics.service") =~ /^AmbientCapabilities=(.*)$/m;
	my $set = join(',', '-all', map { lc(s/CAP_/+/r) } split(' ', $caps));

	system('cp', $schedtap, "$dir/schedtap");
	chmod(0755, $dir, "$dir/schedtap");
	return ('setpriv', qw(--reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps), $set, '--ambient-caps', $set, '--bounding-set', $set, "$dir/schedtap");
}

{
	my $confined = start([confined()], '--metrics', '127.0.0.1:0');
	sleep(0.5);
	my $answer = HTTP::Tiny->new(timeout => 10)->get($confined->{address})->{content};

	like($answer, qr/^sched_switches_total [1-9]/m, 'with the capabilities of its unit');
	unlike($answer, qr/schedtap_probe_seconds/, 'which do not suffice to measure a BPF program');
	is(stop($confined), 0, 'and it ends');
}

# ---- end ----

kill('HUP', $s->{pid});
sleep(0.2);
is(scrape()->{status}, 200, 'it goes on after SIGHUP');
is(stop($s), 0, 'SIGTERM ends it');
ok(!IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"), 'and its port');
my $unix = start('--metrics', "unix:$dir/socket", '--cgroups', 1);
my $client = IO::Socket::UNIX->new(Peer => "$dir/socket") // die "$!\n";
print $client "GET /metrics HTTP/1.0\r\n\r\n";
my $answer = join('', <$client>);
like($answer, qr/^HTTP\/1\.. 200 .*\nsched_switches_total \d/s, 'a Unix socket');
is_deeply([grep { m{/.*/} } cgroups(parse_text($answer =~ s/^.*?\r\n\r\n//sr))], [], 'cgroups to a depth of 1');
kill('KILL', $unix->{pid});
waitpid($unix->{pid}, 0);
$unix = start('--metrics', "unix:$dir/socket");
is(stop($unix), 0, 'it takes the socket of one that was killed');
ok(!-e "$dir/socket", 'and removes it');

$s = start('--metrics', '127.0.0.1:0');
($port) = $s->{address} =~ /:(\d+)/;
for (["127.0.0.1:$port", 1, qr/Address already in use/], ['0.0.0.0:0', 2, qr/loopback/], ['x', 2, qr/not an address/], ['127.0.0.1:65536', 2, qr/not an address/], ['unix:' . 'x' x 200, 2, qr/not a path/]) {
	my ($address, $code, $said) = @$_;
	my $out = `$schedtap serve --metrics $address 2>&1 >/dev/null`;

	is($? >> 8, $code, substr($address, 0, 20) . ": exit code $code");
	like($out, $said, 'and why');
}
stop($s);
done_testing();
