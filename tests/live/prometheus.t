#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A real Prometheus reads schedtap serve: its quantiles against latency of a recording of the same time, and every expression of
# docs/metrics.md and examples/metrics/. SOAK=1: for two minutes.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::XS;
use Test::More;
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Cgroups;
use Files;

my $here = abs_path(dirname(__FILE__));
my $top = "$here/../..";
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $load = ($ENV{BUILD} // "$top/build") . '/tests/live/tally_load';
my $load_s = $ENV{SOAK} ? 120 : 4;
my $dir = tempdir(CLEANUP => 1);

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no Prometheus (Debian: prometheus)') if system('command -v prometheus promtool >/dev/null');
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;

my (@children, %path);
END {
	my $status = $?;
	kill('KILL', @children);
	waitpid($_, 0) for @children;
	rmdir("$mount$_") for values(%path);
	$? = $status;
}
for (qw(a b)) {
	$path{$_} = "/prometheus-$$-$_";
	mkdir("$mount$path{$_}") or plan(skip_all => "no cgroup can be made: $!");
}

sub start {
	my ($log, @command) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		open(STDOUT, '>', "$dir/$log");
		open(STDERR, '>&', \*STDOUT);
		exec(@command) or exit(127);
	}
	push(@children, $pid);
	return $pid;
}

# Until $done says so, for up to a minute.
sub await {
	my ($what, $done) = @_;
	my $end = time + 60;

	while (!$done->()) {
		die("no $what after a minute: " . substr(slurp("$dir/$what"), -600)) if time > $end;
		sleep(0.05);
	}
}

# Prometheus chooses no free port itself.
my $port = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')->sockport();

sub get {
	my ($what, %form) = @_;
	my $url = "http://127.0.0.1:$port/api/v1/$what";
	my $http = HTTP::Tiny->new(timeout => 30);
	my $answer = %form ? $http->post_form($url, \%form) : $http->get($url);
	my $said = eval { decode_json($answer->{content}) } // { error => $answer->{content} };

	return $said->{data} // $said->{error};
}

# The result; a sentence if the expression is wrong.
sub query {
	my ($expr) = @_;
	my $data = get('query', query => $expr);

	return ref($data) ? $data->{result} : $data;
}

# Return: what Prometheus calls the instance.
sub start_serve {
	my ($name, @options) = @_;

	start($name, $schedtap, qw(serve --metrics 127.0.0.1:0), @options);
	await($name, sub { -e "$dir/$name" && slurp("$dir/$name") =~ m{http://(\S+)/metrics\n} });
	return (slurp("$dir/$name") =~ m{http://(\S+)/metrics\n})[0];
}

# ---- run ----

my $recorder = start('record', $schedtap, qw(record -e sched -o), "$dir/all.dat");
await('record', sub { -e "$dir/all.dat.spool/meta.json" });
my %prometheus;
my %target = (queued => start_serve('serve'), waking => start_serve('serve-waking', '--from-waking'));
my $target = $target{queued};
spew("$dir/alerts.yml", slurp("$top/examples/metrics/alerts.yml"));
spew("$dir/prometheus.yml", slurp("$top/examples/metrics/prometheus.yml") =~ s/127\.0\.0\.1:9774/$target{queued}','$target{waking}/gr =~ s/15s/500ms/r);
start('prometheus', qw(prometheus --enable-feature=native-histograms --config.file), "$dir/prometheus.yml", '--storage.tsdb.path', "$dir/tsdb",
	'--web.listen-address', "127.0.0.1:$port");
await('prometheus', sub { my $up = query('sum(up)'); ref($up) && @$up && $up->[0]{value}[1] == 2 });
my %from;
for (['a', 4000, 1000], ['b', 1000, 2000]) {
	my ($name, @us) = @$_;

	open($from{$name}, '-|', 'taskset', '-c', '0', $load, "$mount$path{$name}", @us, $load_s) or die "$load: $!\n";
}
my %kernel = map { $_ => decode_json(readline($from{$_}) // die "$load says nothing\n") } keys(%from);
my $ended = time;
await('prometheus', sub { query('min(timestamp(up))')->[0]{value}[1] > $ended + 0.5 }); # an answer is kept for 100 ms

# Numbers of waits, and quantiles, of a cgroup by kind.
sub waits_of {
	my ($instance, $name) = @_;
	my $series = "sched_wait_seconds{instance=\"$instance\",cgroup=\"$path{$name}\"}";
	my %of = map { $_->{metric}{kind} => { nr => $_->{value}[1] } } @{ query("histogram_count($series)") };

	for my $part (0.5, 0.99, 0.999) {
		$of{ $_->{metric}{kind} }{$part} = $_->{value}[1] for @{ query("histogram_quantile($part, $series)") };
	}
	return \%of;
}

my %waits;
for my $begin (keys(%target)) {
	$waits{$begin}{$_} = waits_of($target{$begin}, $_) for keys(%path);
}
kill('INT', $recorder);
waitpid($recorder, 0);

# ---- quantiles ----

my %key = (0.5 => 'p50_ns', 0.99 => 'p99_ns', 0.999 => 'p999_ns');
my %option = (waking => [], preempted => ['--preempted']);
my %earlier_us = (queued => 20, waking => 1); # a wakeup takes up to 20 us until the task is queued

sub compare {
	my ($begin, $name, $kind, $latency) = @_;
	my $is = $waits{$begin}{$name}{$kind};
	my ($nr, $other) = ($is->{nr} // 0, $latency->{count});
	my $what = "$name, $kind, from $begin";

	ok(abs($nr - $other) <= 0.02 * $other + 3, "$what: $nr waits, latency says $other");
	# a quantile of few waits is one of the longest ones, and which one is a matter of definition
	for my $part (grep { $nr * (1 - $_) >= 10 } sort(keys(%key))) {
		my ($us, $said) = ($is->{$part} * 1e6, $latency->{ $key{$part} } / 1e3);

		# a bucket on either side
		ok($us <= 1.19 * $said + 1 && $us >= $said / 1.19 - $earlier_us{$begin}, sprintf('%s: p%g %.1f us, latency says %.1f', $what, 100 * $part, $us, $said));
	}
}

for my $name (sort(keys(%path))) {
	for my $kind (sort(keys(%option))) {
		# a recording has the task in the cgroup before it entered, too
		my $latency = decode_json(`$schedtap latency -i $dir/all.dat --json -g $path{$name} @{ $option{$kind} } --time $kernel{$name}{entered_ns}ns,`)->{all};

		compare($_, $name, $kind, $latency) for sort(keys(%target));
	}
}

# ---- expressions ----

my @blocks = split(/^```(.*)\n/m, slurp("$top/docs/metrics.md")); # text, language, block, '', text, ...
my @asked = map { $blocks[4 * $_ + 1] eq '' ? $blocks[4 * $_ + 2] =~ s/\n//r : () } 0 .. @blocks / 4 - 1;
my $dashboard = decode_json(slurp("$top/examples/metrics/dashboard.json"));
push(@asked, map { $_->{expr} } map { @{ $_->{targets} } } @{ $dashboard->{panels} });
cmp_ok(scalar(@asked), '>=', 15, 'expressions of the docs and the dashboard');
for my $expr (@asked) {
	my $run = $expr =~ s{/system\.slice/nginx\.service}{$path{a}}r =~ s/\$instance/$target/gr =~ s/\$cgroup/$path{a}/gr =~ s/\[(?:5m|\$__rate_interval)\]/[10s]/gr;
	my $result = query($run);
	# no quota is set here, and classic buckets are not stored beside native ones
	my $empty = $expr =~ /throttled/ || ($expr =~ /wait_seconds_bucket/ && $expr !~ / or /);

	ok(ref($result) && ($empty || @$result), substr($expr, 0, 100)) or diag($run, explain($result));
}
my $rules = `promtool check rules $top/examples/metrics/alerts.yml 2>&1`;
like($rules, qr/SUCCESS: 4 rules found/, 'promtool accepts the alerts') or diag($rules);
my $config = `promtool check config $dir/prometheus.yml 2>&1`;
like($config, qr/SUCCESS.*is valid/, 'and the configuration') or diag($config);
my @alerts = map { $_->{query} } map { @{ $_->{rules} } } @{ get('rules')->{groups} };
is(scalar(@alerts), 4, 'Prometheus has them');
for my $expr (@alerts) {
	# without the threshold each has a value, but for throttled tasks and lost switches
	my $result = query($expr =~ s/\[(?:5m|15m)\]/[10s]/gr =~ s/> [0-9.]+/>= 0/gr);

	ok(ref($result) && (@$result || $expr =~ /throttled/), substr($expr, 0, 100)) or diag(explain($result));
}
done_testing();
