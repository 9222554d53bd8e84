#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The pages of two machines in one file (`schedtap export --to html A.dat B.dat`): each is the page of its machine alone, and in browsers
# they show the same time (beside.mjs).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dir = memory_folder();
chdir($dir) or die "$dir: $!\n";

# A recording of 8 ms that begins $later_ns after the first machine's.
sub recording {
	my ($host, $id, $later_ns) = @_;

	spew("$host.txt", <<"END");
cpus 2
meta {"tool":"schedtap 0.1","complete":true,"tasks":[[10,10,"of $host",null,"began"]],"window":{"start_ns":1000000,"end_ns":9000000},"clocks":[{"monotonic_ns":1000000,"realtime_ns":@{[1_700_000_000_000_000_000 + $later_ns]}}],"recorder":{"id":"$id","file":1,"continues":true},"host":{"hostname":"$host","release":"6.1.0"}}
uname Linux $host 6.1.0 #1 SMP x86_64
1100000 1 0 sched:sched_switch prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=0 next_comm="of $host" next_pid=10 next_prio=120
3000000 1 10 sched:sched_switch prev_comm="of $host" prev_pid=10 prev_prio=120 prev_state=1 next_comm=swapper next_pid=0 next_prio=120
END
	system($ENV{MKDAT}, "$host.txt", "$host.dat") == 0 or die "mkdat\n";
}

recording('alpha', 'aa', 0);
recording('beta', 'bb', 4_000_000);
my ($both) = runs('export --to html -o both.html alpha.dat beta.dat');
is($both->[1], 0, 'an export') or diag($both->[2]);
my @pages = map { s/&#(\d+);/chr($1)/ger } slurp('both.html') =~ /<iframe title="[^"]*" srcdoc="([^"]*)"/g;
is(scalar(@pages), 2, 'two pages');
for (['alpha', 0], ['beta', 1]) {
	my ($host, $i) = @$_;

	runs("export --to html -o one.html $host.dat");
	ok($pages[$i] =~ s/"beside":\{"origin_ns":"(\d+)"\},//r eq slurp('one.html'), "the page of $host is that of it alone");
	is($1, 1_000_000 + 4_000_000 * $i, '... and says when it begins');
}
my ($part) = runs('export --to html -o part.html --time 0.002,0.006 alpha.dat beta.dat');
is_deeply([map { s/&#(\d+);/chr($1)/ger =~ /"origin_ns":"(\d+)",.*"beside":.*"window_ns":(\d+)/ } slurp('part.html') =~ /srcdoc="([^"]*)"/g],
	[2_000_000, 4_000_000, 1_000_000, 1_000_000], '--time is on the first clock');

my %names = (chromium => [qw(chromium chromium-browser)], firefox => [qw(firefox-esr firefox)]);
for my $browser (sort(keys(%names))) {
	SKIP: {
		my ($path) = grep { -x } map { my $name = $_; map { "$_/$name" } split(/:/, $ENV{PATH}) } @{$names{$browser}};
		chomp(my $tools = qx('$here/fetch' 2>&1));

		skip("no $browser on this machine", 1) if !$path;
		skip($tools, 1) if $? != 0;
		my $said = qx(node '$here/beside.mjs' '$tools' $browser '$path' both.html 2>&1);
		is($? >> 8, 0, "in $browser") or diag($said);
	}
}
chdir('/'); # to be removed, a folder must not be the current one
done_testing();
