#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page of `schedtap view` in a real browser: it is drawn, gets parts as it is zoomed, is loaded anew, and ends the program when it is
# closed. served.mjs looks.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dir = memory_folder();
my ($chromium) = map { chomp; $_ } `command -v chromium 2>/dev/null`;
plan(skip_all => 'no chromium on this machine') unless $chromium;
plan(skip_all => 'no node on this machine') if system('command -v node >/dev/null') != 0;
chomp(my $tools = `$here/fetch`);
plan(skip_all => 'nothing to drive a browser with') if $? || $tools eq '';

# More slices than a part that is served may have, all events that reports ask for, and names that would be markup.
my @lines = ('cpus 2', '1000000000 0 0 sched:sched_migrate_task comm=a pid=20 orig_cpu=1 dest_cpu=0');
for my $i (1 .. 12_000) {
	for my $cpu (0, 1) {
		my @tasks = ([10 + $cpu, '"</script><img>"'], [20 + $cpu, 'b']);
		my ($prev, $next) = @tasks[$i % 2, ($i + 1) % 2];
		my $at = 1_000_000_000 + $i * 20_000 + $cpu * 7_000;

		push(@lines, "@{[$at - 3000]} $cpu $prev->[0] sched:sched_waking comm=$next->[1] pid=$next->[0] target_cpu=$cpu",
			"$at $cpu $prev->[0] sched:sched_switch prev_comm=$prev->[1] prev_pid=$prev->[0] prev_state=1 next_comm=$next->[1] next_pid=$next->[0]");
	}
}
spew("$dir/in.txt", join("\n", @lines) . "\n");
system($ENV{MKDAT}, "$dir/in.txt", "$dir/in.dat") == 0 or die "mkdat failed\n";

my $pid = open(my $out, '-|', $ENV{SCHEDTAP_PROGRAM}, 'view', '--no-browser', "$dir/in.dat") // die;
chomp(my $address = <$out> // die "no address\n");
my $said = eval { decode_json(`node '$here/served.mjs' '$tools' '$chromium' '$address'`) } // { failed => 'nothing was said' };

is($said->{failed}, undef, 'the browser came to its end');
cmp_ok($said->{drawn_ms}, '>', 0, 'the page was drawn');
ok(!$said->{error}, 'it shows no error');
is_deeply($said->{errors}, [], 'nor does the console');
is_deeply($said->{elsewhere}, [], 'no request goes elsewhere');
isnt($said->{address}, $address, 'its address is not the one that was printed');
is_deeply([grep { $_->{status} != 200 } @{$said->{parts}}], [], 'all parts came');
is($said->{parts}[0]{ns}, $said->{window_ns}, 'the first is of all');
cmp_ok((sort { $a <=> $b } map { $_->{ns} } @{$said->{parts}})[0], '<', $said->{window_ns} / 10, 'zoomed, it gets one of what is in sight');
is($said->{second}[0], 403, 'a second tab with the printed address is refused');
like($said->{second}[1], qr/works only once/, 'and the answer says why');
is($said->{again}, '1', 'the page can be loaded anew');
local $SIG{ALRM} = sub { kill('KILL', $pid) };
alarm(120);
waitpid($pid, 0);
is($?, 0, 'closed, it ends the program');
done_testing();
