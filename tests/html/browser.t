#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page of `schedtap export --to html` in a real browser: what it shows against our own reports, keys, links, names that would be
# markup, other schemes and sizes. browser.mjs looks; here is what it looks at. SCHEDTAP and MKDAT name the programs, BROWSER says
# chromium [default] or firefox; screenshots are kept in tests/html/ beside MKDAT.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $here = dirname(abs_path($0));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $mkdat = abs_path($ENV{MKDAT} // dirname($schedtap) . '/tests/mkdat');
my $tmp = tempdir(CLEANUP => 1);
my %reports = (summary => 'summary', explain => 'explain', latency => 'latency --over-time --hist');
my $hostile = '</script><img src=x onerror=alert(1)>';

sub skip {
	print "1..0 # SKIP $_[0]\n";
	exit 0;
}

# Two CPUs on which four tasks take turns for a second, with load tracking, migrations, and a loss.
sub write_load {
	my ($path) = @_;
	my @names = ('</script><b>x', '<img/src=x>', "\\x1b[2Jred", 'worker');
	my @cpus = map { { now => 1_000_000_000 + $_ * 70_000, on => -1 } } 0, 1;
	my $random = 7; # the same load each time

	open(my $out, '>', $path) or die "$path: $!";
	print $out <<"END";
meta {"tool":"schedtap 0.1","command_line":["$hostile"],"window":{"start_ns":1000000000,"end_ns":2000000000},"tasks":[[100,100,"\\u003c/script>",5],[101,100,"\\u003cimg/src=x>",6],[103,103,"worker",6]],"cgroups":[[5,"/$hostile"],[6,"/b"]],"clocks":[{"monotonic_ns":1000000000,"boottime_ns":1000000000,"realtime_ns":1763792140000000000}]}
cpus 2
END
	my @records;
	for my $n (1 .. 1500) {
		my $at = $cpus[0]{now} <= $cpus[1]{now} ? 0 : 1;
		my ($cpu, $other) = ($cpus[$at], $cpus[1 - $at]);
		$random = ($random * 1103515245 + 12345) % 2**31;
		my $ns = 300_000 + $random % 2_000_000;
		my $next = $random / 1000 % 5 - 1;
		$next = -1 if $next == $other->{on} || $next == $cpu->{on};
		last if $cpu->{now} + $ns > 1_999_000_000;
		my ($time, $before) = ($cpu->{now}, $cpu->{on});
		my ($prev_comm, $next_comm) = map { $_ < 0 ? "swapper/$at" : qq("$names[$_]") } $before, $next;
		my ($prev_pid, $next_pid) = map { $_ < 0 ? 0 : 100 + $_ } $before, $next;
		push @records, [$time - 200_000 - $random % 90_000, "$at $prev_pid sched:sched_waking comm=$next_comm pid=$next_pid prio=120 target_cpu=$at"] if $next >= 0;
		my $state = $random % 3 ? 1 : 0;
		push @records, [$time, "$at $prev_pid sched:sched_switch prev_comm=$prev_comm prev_pid=$prev_pid prev_prio=120 prev_state=$state " .
			"next_comm=$next_comm next_pid=$next_pid next_prio=120"];
		push @records, [$time + 1000, "$at $next_pid schedtap:sched_pelt_cfs cpu=$at cgroup=1 util=" . $random % 1024 . " load=100 runnable=200"];
		push @records, [$time + 2000, "$at $next_pid sched:sched_migrate_task comm=worker pid=103 prio=120 orig_cpu=$at dest_cpu=" . (1 - $at)] if $n % 50 == 0;
		@$cpu{qw(now on)} = ($time + $ns, $next);
	}
	# in the order of time on each CPU
	print $out sprintf("%d %s\n", @$_) for sort { $a->[0] <=> $b->[0] } @records;
	print $out "lost 1 1998000000 1999500000 12\n";
	close($out) or die "$path: $!";
}

sub run {
	system(@_) == 0 or die "cannot run @_\n";
}

my $browser = $ENV{BROWSER} // 'chromium';
my %names = (chromium => [qw(chromium chromium-browser)], firefox => [qw(firefox-esr firefox)]);
my ($path) = grep { -x } map { my $name = $_; map { "$_/$name" } split(/:/, $ENV{PATH}) } @{$names{$browser}};
skip("no $browser on this machine") if !$path;
skip('no node on this machine') if !grep { -x "$_/node" } split(/:/, $ENV{PATH});
chomp(my $tools = qx('$here/fetch' 2>&1));
skip($tools) if $? != 0;

my $shots = dirname($mkdat) . '/html';
my $dat = "$tmp/<img src=x onerror=alert(1)>.dat";
make_path($shots);
write_load("$tmp/in.txt");
run($mkdat, "$tmp/in.txt", $dat);
run($schedtap, qw(export --to html -i), $dat, '-o', "$tmp/page.html");
for my $name (sort keys %reports) {
	my $text = do {
		open(my $in, '-|', $schedtap, split(/ /, $reports{$name}), '--json', '-i', $dat) or die "$name: $!";
		local $/;
		<$in>;
	};
	open(my $out, '>', "$tmp/$name.json") or die "$name: $!";
	print $out $text;
	close($out) or die "$name: $!";
}
exit(system('node', "$here/browser.mjs", $tools, $browser, $path, $tmp, $shots) >> 8 || 0);
