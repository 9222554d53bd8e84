#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The examples of the README, the user guides, the man pages and --help run as they stand: `schedtap ...` lines, in
# order, each page in a folder of its own that holds a recording under the names that they use, and a Makefile. Several
# pages run at the same time, for most of what they do is to record for some time.
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Socket;
use lib dirname(__FILE__) . '/..';
use Files;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $dat2perf = dirname($schedtap) . '/tests/fuzz/dat2perf';
if ($> != 0) {
	print "1..0 # SKIP not root\n";
	exit 0;
}
# a mark goes to all recorders of the network namespace, a port is one server's, and recorders find all users' programs in /dev/shm
if (!$ENV{IN_NAMESPACE} && !system('unshare -nm true 2>/dev/null')) {
	$ENV{IN_NAMESPACE} = 1;
	exec(qw(unshare -nm sh -c), 'mount -t tmpfs tmpfs /dev/shm; exec "$@"', 'sh', $^X, abs_path($0));
}
if ($ENV{IN_NAMESPACE}) {
	socket(my $s, AF_INET, SOCK_DGRAM, 0) or die "socket: $!\n";
	my $up = pack('a16 s x22', 'lo', 0x41);
	ioctl($s, 0x8914, $up) or die "lo: $!\n"; # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING
}
my $together = 4; # pages

my %lines;
my @guides = map { "$top/docs/$_.md" } qw(start record filters explain eevdf critical diff perfetto html perf-data pelt metrics);
for my $page ("$top/README.md", @guides, glob("$top/docs/man/*.1.md")) {
	my $text = slurp($page) =~ s/ *\\\n +/ /gr; # a command in two lines
	my @blocks = grep { /^    / } split(/\n\n+/, $text); # not the later lines of a list's item
	$lines{$page} = [map { /^    (schedtap [a-z].*)/ ? $1 =~ s/\s+#.*//r : () } map { split(/\n/) } @blocks];
}
my @without = map { s{.*/}{}r } grep { !@{$lines{$_}} } "$top/README.md", @guides; # and commands
for my $cmd (grep { $_ ne 'help' } split(' ', `$schedtap __complete -- ''`)) {
	my ($example) = `$schedtap help $cmd` =~ /^\s*(?:example:\s*)?(schedtap $cmd\b.*)$/mi;
	push(@{$lines{'--help'}}, $example) if $example;
	push(@without, $cmd) unless $example && @{$lines{"$top/docs/man/schedtap-$cmd.1.md"} // []};
}

# Its first minute: another line of the page may have recorded it anew.
sub window {
	my ($file) = @_;
	my ($start) = `schedtap dump -i $file` =~ /\] +(\d+)\.\d+:/;

	return "$start," . ($start + 60);
}

my $bin = tempdir(CLEANUP => 1);
symlink($schedtap, "$bin/schedtap") or die;
$ENV{PATH} = "$bin:$ENV{PATH}";

# What the pages read: a task that goes from one CPU to the other and back, and a compiler.
my $makefile = q(all:) . "\n\t" . q(for c in 0 1 0; do taskset -p -c $$c $$$$; sleep 0.07; done) . "\n\t" .
	       q(cp -f /bin/sleep cc1; ./cc1 0.1 & printf %s $$! >cc1.pid; wait) . "\n";
my $made = tempdir(CLEANUP => 1);
chdir($made) or die;
spew('Makefile', $makefile);
system('schedtap record -o trace.dat --stack sched_switch --stack sched_waking -- make >/dev/null 2>&1; ' .
       'schedtap record -o resched.dat -e resched -e idle -e irq -e sched -- sleep 0.1 2>/dev/null');

# What a recorder leaves that is killed.
my $killed = "$bin/killed.dat.spool";
my $recorder = fork() // die "fork: $!\n";
if (!$recorder) {
	open(STDERR, '>', '/dev/null');
	exec('schedtap', 'record', '-o', "$bin/killed.dat", '-e', 'sched_switch');
}
for (1 .. 3000) {
	last if -s "$killed/meta.json" && grep { -s } glob("$killed/*.cpu*");
	select(undef, undef, undef, 0.02);
}
kill('KILL', $recorder);
waitpid($recorder, 0);

# The thread with most PELT events: one that has few may only have been created.
sub busiest {
	my ($file) = @_;
	my %count;

	$count{$_}++ for `schedtap dump -i $file -e sched_pelt_se` =~ / pid=(\d+)/g;
	return (sort { $count{$b} <=> $count{$a} || $a <=> $b } keys(%count))[0];
}

# Run a page's commands, of which the first has this number. Return: TAP.
sub run_page {
	my ($page, $nr) = @_;
	my $dir = tempdir(CLEANUP => 1);
	my $said = '';

	chdir($dir) or die;
	system("cp $made/* . && for f in make svc stacks old new run1 run2 run3; do cp trace.dat \$f.dat; done; " .
	       'mkdir demo ci; cp trace.dat demo; cp trace.dat ci; echo "rule lost : recording.lost == 0" >my.rules');
	system("for f in before after run; do $top/tests/golden/bench/json \$f.json 500 4; done");
	symlink("$top/examples", 'examples') or die;
	system("$dat2perf trace.dat perf.data --chains; cp perf.data box.data; cp perf.data many.data; xz -k perf.data") if $page =~ /perf-data\.md/;
	system('cp trace.dat client.dat; cp resched.dat server.dat') if $page =~ m{schedtap-export|/html\.md};
	for my $line (@{$lines{$page}}) {
		my $run = $line;
		my $want = 0;

		# what a page says about another machine's recording, said about this one
		$run =~ s/--time \S+/'--time ' . window($run =~ m{([\w\/]+\.dat)} ? $1 : 'trace.dat')/e;
		$run =~ s/(?:request:)?request_start,(?:request:)?request_done --by id/sched_waking,sched_migrate_task --by pid/;
		$run =~ s/^(schedtap critical .*)-c cc1\b/"$1-t " . slurp('cc1.pid')/e; # others may compile as well
		$run =~ s/^(schedtap (?:record(?!.* -d )(?!.* -- )|view|serve|top$).*)/timeout -s INT 1 $1/;
		$run =~ s/127\.0\.0\.1:9774/127.0.0.1:0/; # several pages run at once
		$run =~ s/-g '\/(?!\*)[^']+'/-g '\/'/; # a cgroup that is here
		$run =~ s/ -t \d+/' -t ' . busiest('pelt.dat')/e if $page =~ /pelt\.md/;
		$run =~ s/"\$\(pidof [^)]*\)"/\$\$/;
		system("cp -r $killed trace.dat.spool") if $line =~ /^schedtap summary trace\.dat\.spool/;
		$run =~ s/^schedtap mark/schedtap record -o marked.dat -- $&/; # into a recording that runs
		$run =~ s/^schedtap list --enabled/schedtap record -o on.dat -- $&/; # while something is on
		$run =~ s/\bschedtap bench \w+\b(?!.* -d 1)/$& -d 0.2 --warm-up 0.1/;
		$run =~ s/^schedtap ab (?!.*-r )/$&-r 2 / unless $ENV{SOAK}; # rounds: of 'make' each takes a second
		# nothing is there to repair, no program has that pid, the shell has no probes, and they say so
		$want = 1 if $line =~ /^schedtap (?:repair\b(?! --verify)|tracefs|list -p)/ && $page !~ /record\.md/;
		my $is_verdict = $line =~ /^schedtap check/; # whatever it is
		my $out = `( $run ) 2>&1 >/dev/null`;
		my $code = $? >> 8;
		$code = 0 if ($run =~ /^timeout/ && $code == 124) || ($is_verdict && ($code == 4 || $code == 5));
		my $name = ($page =~ s{.*/}{}r) . ": $line";
		$name =~ s/#/\\#/g;
		$said .= ($code == $want ? 'ok ' : 'not ok ') . $nr++ . " - $name\n";
		$said .= "exit $code: $out\n" =~ s/^/# /gmr if $code != $want;
	}
	chdir('/');
	return $said;
}

my @pages = sort keys %lines;
my ($nr, $running) = (1, 0);
my $results = tempdir(CLEANUP => 1);
for my $i (0 .. $#pages) {
	wait() if $running++ >= $together;
	my $pid = fork() // die "fork: $!\n";
	if (!$pid) {
		spew("$results/$i", run_page($pages[$i], $nr));
		exit 0;
	}
	$nr += @{$lines{$pages[$i]}};
}
1 while wait() > 0;
print "1..$nr\n", map { slurp("$results/$_") } 0 .. $#pages;
print @without ? 'not ' : '', "ok $nr - all commands have examples (@without)\n";
