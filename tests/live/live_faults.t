#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# top -b, stat and serve --metrics with bad input: slow and hostile clients, too many cgroups, hostile names, tids that are used again,
# execve by threads, namespaces, steps of the wall clock, sockets that are in the way, a kernel without sched_info, and kill -9. One top
# runs all the time, with a wall clock that is set; at the end all its refreshes must add up. SOAK=1: more rounds, and slower clients.
use strict;
use warnings;
use Cwd qw(abs_path);
use Encode ();
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::XS;
use List::Util qw(max sum0);
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time clock_gettime CLOCK_MONOTONIC);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Cgroups;
use Files;
use Metrics;
use Tally;

my $here = abs_path(dirname(__FILE__));
my $schedtap = abs_path($ENV{SCHEDTAP} // "$here/../../build/schedtap");
my $faults = ($ENV{BUILD} // "$here/../../build") . '/tests/live/tally_faults';
my $soak = $ENV{SOAK};
my $dir = tempdir(CLEANUP => 1);
my $self = $$;

plan(skip_all => 'needs root') if $> != 0;
plan(skip_all => 'no sched_switch over BPF') if `$schedtap list sched_switch` !~ /^bpf/;
my $mount = cgroup_mount();
plan(skip_all => 'no cgroup hierarchy') if !$mount;
chmod(0755, $dir);

$SIG{$_} = sub { exit(1) } for qw(TERM INT HUP); # with the end's cleaning up

# ---- processes and cgroups ----

my $base = "/faults-$$";
my ($top_pid, @children, @made, $deep);
our @pipes; # from children: a lexical one would be closed before END when the test dies, and perl would wait for the child

# A process of the test's own ends in its loops when the test does.
sub start {
	my ($do) = @_;
	my $pid = fork() // die "fork: $!\n";

	if (!$pid) {
		$SIG{$_} = 'DEFAULT' for qw(TERM INT HUP);
		eval { $do->() };
		print STDERR $@ if $@;
		POSIX::_exit($@ ? 1 : 0);
	}
	push(@children, $pid);
	return $pid;
}

sub is_orphan { return getppid() != $self }

sub end_of {
	my ($pid, $signal) = @_;

	kill($signal, $pid) if $signal;
	waitpid($pid, 0);
	@children = grep { $_ != $pid } @children;
	return $?;
}

sub make_cgroup {
	my ($path) = @_;

	mkdir("$mount$path") or return;
	push(@made, "$mount$path");
	return $path;
}

# Tasks that have been killed leave their cgroups a little later.
sub remove_cgroups {
	my $end = time + 5;

	for my $folder (reverse(@_)) {
		sleep(0.02) until rmdir($folder) || $!{ENOENT} || time > $end;
	}
}

END {
	my $status = $?;
	if ($$ == $self) {
		kill('KILL', @children);
		waitpid($_, 0) for @children;
		if ($deep && chdir($deep->[0])) {
			remove_cgroups($deep->[1]);
			chdir('/');
		}
		remove_cgroups(@made);
	}
	$? = $status;
}
make_cgroup($base) or plan(skip_all => "no cgroup can be made: $!");

# True once $done says so, within some seconds.
sub await {
	my ($done, $s) = @_;
	my $end = time + ($s // 10);

	while (!$done->()) {
		return 0 if time > $end;
		sleep(0.02);
	}
	return 1;
}

# Works for a ms and sleeps for $sleep_s in turns, in a cgroup.
sub start_in {
	my ($path, $comm, $sleep_s) = @_;

	return start(sub {
			spew("$mount$path/cgroup.procs", $$);
			$0 = $comm if defined($comm);
			while (!is_orphan()) {
				my $end = time + 0.001;
				1 while time < $end;
				sleep($sleep_s // 0.03);
			}
	});
}

# The first option may be what to run in place of schedtap.
sub serve {
	my ($address, @options) = @_;
	my @command = ref($options[0]) ? @{ shift(@options) } : $schedtap;
	my $pid = open(my $out, '-|') // die "fork: $!\n";

	if (!$pid) {
		open(STDERR, '>', "$dir/err");
		exec('setpriv', '--pdeathsig', 'KILL', @command, qw(serve --metrics), $address, @options) or POSIX::_exit(127);
	}
	push(@children, $pid);
	push(@pipes, $out);
	chomp(my $url = readline($out) // die('schedtap serve: ' . slurp("$dir/err")));
	return { pid => $pid, url => $url, port => $url =~ /:(\d+)/ ? $1 : 0 };
}

my %accept = (
	text => 'text/plain;version=0.0.4',
	openmetrics => 'application/openmetrics-text;version=1.0.0',
	protobuf => 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
);

sub scrape {
	my ($s, $format) = @_;

	if ($s->{url} =~ /^unix:/) {
		my $c = client($s) // return { status => 0 };
		local $/;

		print $c "GET /metrics HTTP/1.0\r\nAccept: $accept{ $format // 'text' }\r\n\r\n";
		my ($head, $body) = split(/\r\n\r\n/, readline($c) // '', 2);
		my ($status) = ($head // '') =~ m{^HTTP/1\.\d (\d+) };
		my ($type) = ($head // '') =~ /^Content-Type: (.*?)\r?$/m;
		return { status => $status // 0, headers => { 'content-type' => $type // '' }, content => $body // '' };
	}
	return HTTP::Tiny->new(timeout => 10)->get($s->{url}, { headers => { Accept => $accept{ $format // 'text' } } });
}

# The end of a failed command's output, in a message.
sub run {
	my (@command) = @_;
	my $out = qx{@command 2>&1};

	return { code => $? >> 8, out => $out };
}

# Runs top by itself. Return: its refreshes.
sub top_of {
	my ($before, $options) = @_;

	return map { decode_json($_) } split(/\n/, qx{timeout 60 $before $schedtap top -b --json $options 2>$dir/err});
}

# ---- what runs all the time ----

my $step = "$dir/step";
my $has_step = !system("gcc -shared -fPIC -O2 -D_GNU_SOURCE -o $dir/wall_step.so $here/wall_step.c 2>$dir/err");
my @stepped = $has_step ? ('env', "WALL_STEP=$step", "LD_PRELOAD=$dir/wall_step.so", $schedtap) : $schedtap;
spew($step, 0);
spew("$dir/top.json", '');
$top_pid = start(sub {
		open(STDOUT, '>>', "$dir/top.json");
		exec('setpriv', '--pdeathsig', 'KILL', @stepped, qw(top -b --json -d 250ms)) or POSIX::_exit(127);
});
open(my $from_top, '<:raw', "$dir/top.json") or die "top.json: $!\n";
my ($read, @refreshes, %in_top) = ('');

# Reads what top has printed since.
sub refreshes {
	seek($from_top, 0, 1); # past the end of before
	$read .= do { local $/; readline($from_top) // '' };
	while ($read =~ s/^(.*)\n//) {
		push(@refreshes, decode_json($1));
		$in_top{ Encode::encode('UTF-8', $_->{cgroup}) } = 1 for @{ $refreshes[-1]{cgroups} };
	}
	return @refreshes;
}

sub await_refreshes {
	my ($more) = @_;
	my $nr = refreshes() + $more;

	return await(sub { refreshes() >= $nr });
}
await_refreshes(1) or die 'top prints nothing: ' . slurp("$dir/err");
# At a Unix socket, whose buffer of some 200 KB does not hold an answer for a slow client.
my $s = serve("unix:$dir/main", \@stepped);
my $few = serve('127.0.0.1:0', qw(--max-cgroups 1 --max-series 40));

# ---- many cgroups ----

my $nr_many = 300;
my @many = map { make_cgroup("$base/$_") // die "mkdir: $!\n" } 1 .. $nr_many;
my $walker = start(sub {
		# one process goes through all of them again and again: what shares the tally's cache is looked up each time
		until (is_orphan()) {
			for (@many) {
				spew("$mount$_/cgroup.procs", $$);
				sleep(0.0005);
			}
			sleep(0.02);
		}
});
my $began = time;

# ---- slow clients, and others at the same time ----

sub client {
	my ($to) = @_;

	return IO::Socket::UNIX->new(Peer => $1) if $to->{url} =~ /^unix:(.*)/;
	return IO::Socket::INET->new(PeerAddr => "127.0.0.1:$to->{port}");
}

# Sends a byte at a time; the kernel's number of such clients that a server lets in is its limit.
my $slow_server = serve('127.0.0.1:0');
my $slow = start(sub {
		local $SIG{PIPE} = 'IGNORE';
		my @clients = map { client($slow_server) // () } 1 .. 40;
		for (my $i = 0; !is_orphan(); $i++) {
			syswrite($_, substr("GET /metrics HTTP/1.1\r\nX: " . 'y' x 1000, $i % 1000, 1)) for @clients;
			sleep(0.7);
		}
});
my $slow_since = time;

await(sub { (parse_text(scrape($s)->{content})->{"sched_cpu_seconds_total{cgroup=\"$many[-1]\"}"} // 0) > 0 }, 20);

# Reads an answer, a little at a time. Return: head and body.
sub read_slowly {
	my ($c, $bytes, $pause_s) = @_;
	my $all = '';

	while (sysread($c, my $part, $bytes)) {
		$all .= $part;
		sleep($pause_s);
	}
	return split(/\r\n\r\n/, $all, 2);
}

# The same answer is sent to all who ask within 100 ms. Between two equal answers, the slow client gets the same one.
my ($slow_reader, $first_byte, $same) = (undef, '');
for (1 .. 40) {
	my $before = scrape($s)->{content};

	$slow_reader = client($s);
	print $slow_reader "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: $accept{text}\r\nConnection: close\r\n\r\n";
	sysread($slow_reader, $first_byte, 1);
	$same = $before eq scrape($s)->{content} ? $before : undef;
	last if defined($same);
}
my ($pause_s, $bytes) = $soak ? (0.5, 16384) : (0.1, 32768);
pipe(my $slow_out, my $slow_in) or die "pipe: $!\n";
my $slow_pid = start(sub {
		my ($head, $body) = read_slowly($slow_reader, $bytes, $pause_s);
		print $slow_in "$first_byte$head\r\n\r\n$body";
		close($slow_in);
});
close($slow_in);
close($slow_reader);
my (%wrong, %newer);
$wrong{$_} = [] for keys(%accept);
my @scrapers = map {
	my $format = $_;
	start(sub {
			my @mine;

			for (1 .. ($soak ? 100 : 5)) {
				my $a = scrape($s, $format);
				my $type = $accept{$format} =~ s/;.*//r;

				push(@mine, "$format: status $a->{status}, $a->{headers}{'content-type'}") if $a->{status} != 200 || $a->{headers}{'content-type'} !~ /^\Q$type\E/;
				my @found = eval { $format eq 'protobuf' ? ((families($a->{content})) > 5 ? () : 'families are missing') : wrong_sums(parse_text($a->{content})) };
				push(@mine, @found, $@ || ());
				push(@mine, 'no end') if $format eq 'openmetrics' && $a->{content} !~ /\n# EOF\n\z/;
				sleep(0.05);
			}
			spew("$dir/$format.wrong", join("\n", @mine));
	})
} sort(keys(%accept));

# ---- too many cgroups and series ----

my $answer_of_few = scrape($few);
is($answer_of_few->{status}, 200, 'with a single place for cgroups and 40 series there is an answer');
my $of_few = parse_text($answer_of_few->{content});
is_deeply([wrong_sums($of_few)], [], 'which adds up');
cmp_ok(scalar(grep { /cgroup=/ } keys(%$of_few)), '<=', 40, 'and has at most 40 series of cgroups');
my $dropped = value($of_few, 'schedtap_series_dropped_total');
cmp_ok($dropped, '>', 0, 'the others are counted');
sleep(0.3); # SAME_NS of serve.c: answers that follow sooner are the same
cmp_ok(value(parse_text(scrape($few)->{content}), 'schedtap_series_dropped_total'), '>', $dropped, 'in each answer');
my $folded = value($of_few, 'schedtap_cgroups_folded_total');
sleep(0.5);
my $folded_later = value(parse_text(scrape($few)->{content}), 'schedtap_cgroups_folded_total');
# that each is there once: test_live_tally.c
ok($folded >= $nr_many - 1 && $folded_later >= $folded, "cgroups without a place are counted: $folded, later $folded_later");

end_of($walker, 'KILL');
remove_cgroups(map { "$mount$_" } @many);

# ---- hostile names ----

my $odd = "a\"b\\c{}=,#\xe2\x80\xae\x1b[31m\xff\xfe\xc3";
my %name = (
	odd => "$base/$odd",
	byte => "$base/x\x01",
	like_byte => "$base/x\\x01",
	tab => "$base/t\t",
	like_tab => "$base/t\\t",
	systemd => "$base/dev-disk-by\\x2duuid-a\\x20b.swap",
	label => "$base/\"} 1\\",
	long => "$base/" . 'y' x 255,
	kernel => "$base/kernel",
	removed => "$base/(removed)",
);
my @named;
ok(!mkdir("$mount$base/a\nb"), 'the kernel allows no newline in the name of a cgroup');
for (sort(keys(%name))) {
	make_cgroup($name{$_}) or die "$_: $!\n";
	push(@named, start_in($name{$_}, $_ eq 'odd' ? "\"\\\n\xe2\x80\xae\xff\x1b" : 'tap-named'));
}

# As long as a path may be, with the names of its files.
my $parent = $base;
$parent .= '/' . 'd' x 250 while length("$mount$parent") < 3500 && make_cgroup($parent . '/' . 'd' x 250);
my $rest = 4095 - length("$mount$parent/") - length('/cpu.cfs_period_us.............');
for (; $rest > 0; $rest -= 251) {
	my $more = '/' . 'e' x ($rest < 250 ? $rest : 250);

	make_cgroup("$parent$more") or die "mkdir: $!\n";
	$parent .= $more;
}
$name{deep} = $parent;
push(@named, start_in($parent, 'tap-named'));
# And longer than that.
chdir("$mount$parent") or die "chdir: $!\n";
if (mkdir('z' x 200)) {
	$deep = ["$mount$parent", 'z' x 200];
	chdir('z' x 200) or die "chdir: $!\n";
	push(@named, start(sub {
			open(my $f, '>', 'cgroup.procs') or die "cgroup.procs: $!\n";
			print $f $$;
			close($f) or die "cgroup.procs: $!\n";
			sleep(0.03) until is_orphan();
	}));
}
chdir('/');

# ---- names in all formats ----

my %label = (
	odd => 'a"b\\c{}=,#\\xE2\\x80\\xAE\\x1B[31m\\xFF\\xFE\\xC3',
	byte => 'x\\x01',
	like_byte => 'x\\x5Cx01',
	tab => 't\\x09',
	like_tab => 't\\t',
);
my %expected = map { $_ => $label{$_} ? "$base/$label{$_}" : $name{$_} } keys(%name);

# Paths of cgroups in protobuf: labels (2: value) of metrics (4) of families.
sub paths_of_protobuf {
	my ($bytes) = @_;
	my @values;
	my $fields = sub {
		my ($message, $do) = @_;
		my $at = 0;
		my $varint = sub {
			my ($v, $shift) = (0, 0);

			while (1) {
				my $byte = ord(substr($message, $at++, 1));
				$v |= ($byte & 0x7f) << $shift;
				return $v if !($byte & 0x80);
				$shift += 7;
			}
		};

		while ($at < length($message)) {
			my $key = $varint->();
			if (($key & 7) == 2) {
				my $len = $varint->();
				die "a field of $len bytes\n" if $at + $len > length($message);
				$do->($key >> 3, substr($message, $at, $len));
				$at += $len;
			} elsif (($key & 7) == 1) {
				$at += 8;
			} else {
				$varint->();
			}
		}
	};
	my ($label, $metric, $family, %seen);

	$label = sub { push(@values, $_[1]) if $_[0] == 2 };
	$metric = sub { $fields->($_[1], $label) if $_[0] == 1 };
	$family = sub { $fields->($_[1], $metric) if $_[0] == 4 };
	while (length($bytes)) { # each family has its length before it
		my ($len, $shift) = (0, 0);
		while (1) {
			my $byte = ord(substr($bytes, 0, 1, ''));
			$len |= ($byte & 0x7f) << $shift;
			last if !($byte & 0x80);
			$shift += 7;
		}
		$fields->(substr($bytes, 0, $len, ''), $family);
	}
	return grep { m{^/} && !$seen{$_}++ } @values;
}

sub is_utf8 { my ($bytes) = @_; return eval { Encode::decode('UTF-8', $bytes, Encode::FB_CROAK); 1 } }

# Paths of an answer that are not there yet.
sub missing {
	my %has = map { $_ => 1 } @_;

	return grep { !$has{ $expected{$_} } } sort(keys(%expected));
}

# each has to switch first
await(sub { !missing(map { s/\\(.)/$1/gr } cgroups(parse_text(scrape($s, 'text')->{content}))) }, 20);
for my $format (sort(keys(%accept))) {
	my $a = scrape($s, $format)->{content};
	my @paths = eval { $format eq 'protobuf' ? paths_of_protobuf($a) : map { s/\\(.)/$1/gr } cgroups(parse_text($a)) };
	is($@, '', "$format: the answer is valid");
	is_deeply([missing(@paths)], [], "$format: all names are there") or diag(join("\n", grep { length() < 300 && /faults/ && !m{/\d+$} } @paths));
	is(scalar(grep { !is_utf8($_) || /[\x00-\x1f\x7f]/ } @paths), 0, "$format: and are valid UTF-8 without control characters");
	next if $format ne 'text';
	SKIP: {
		skip('no promtool', 1) if system('command -v promtool >/dev/null');
		spew("$dir/text", $a);
		is(`promtool check metrics <$dir/text 2>&1`, '', 'promtool accepts the text');
	}
}
my @utf8 = grep { is_utf8($name{$_}) } sort(keys(%name));
await(sub { refreshes(); !grep { !$in_top{ $name{$_} } } @utf8 }); # a name of each task that ran
ok(is_utf8(slurp("$dir/top.json")), 'top --json: valid UTF-8');
is_deeply([grep { !$in_top{ $name{$_} } } @utf8], [], 'with all names that are UTF-8');
ok(scalar(grep { /^\Q$base\E\/a"b\\c\{\}=,#/ } keys(%in_top)), 'and the one that is not');
ok(scalar(grep { Encode::encode('UTF-8', $_->{comm}) eq "\"\\\n\xe2\x80\xae\xef\xbf\xbd\x1b" } map { @{ $_->{tasks} } } @refreshes), 'and a hostile name of a task');

# ---- text ----

my $hog = start_in($name{odd}, 'tap-hog', 0);
my $hog_2 = start_in("$base/kernel", 'tap-hog', 0);
my $text = qx{$schedtap top -b -n 2 -d 300ms 2>&1};
is($?, 0, 'another top at the same time');
ok(is_utf8($text) && $text !~ /[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae/ && 2 == ($text =~ tr/\n//), 'and its lines have no control characters') or diag($text);
end_of($_, 'KILL') for $hog, $hog_2, @named;
my $stat_text = run("$schedtap stat sh -c ': \"\$0\"; exit 3' '\e[31m\xff\n\xe2\x80\xae'");
is($stat_text->{code}, 3, 'stat of a command with a hostile argument');
ok(is_utf8($stat_text->{out}) && $stat_text->{out} !~ /[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae/, 'which is printed without control characters') or diag($stat_text->{out});

# ---- clients that are not clients ----

sub talk {
	my ($to, $text, $more) = @_;
	my $c = client($to) // return '';
	local $SIG{PIPE} = 'IGNORE';
	local $SIG{ALRM} = sub { die "no answer\n" };

	alarm(10);
	my $got = eval {
		syswrite($c, $text);
		for (my $nr = 0; $more && $nr < 4000; $nr++) {
			syswrite($c, $more) or last;
		}
		local $/;
		readline($c) // '';
	};
	alarm(0);
	return $got // "died: $@";
}

sub memory_kb { return slurp("/proc/$_[0]/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : 0 }

my $kb = memory_kb($few->{pid});
unlike(talk($few, "GET /metrics HTTP/1.1\r\nHost: x\r\n", "X-Endless: " . 'y' x 1000 . "\r\n"), qr/ 200 |died/, 'headers without end');
unlike(talk($few, 'GET /', 'y' x 1000), qr/ 200 |died/, 'a path without end');
unlike(talk($few, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" . "\x00" x 500 . "\r\n\r\n"), qr/ 200 |died/, 'TLS');
cmp_ok(memory_kb($few->{pid}) - $kb, '<', 20000, 'take no memory');
for my $method (qw(POST PUT DELETE OPTIONS TRACE PATCH)) {
	like(talk($few, "$method /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"), qr{^HTTP/1\.1 405 .*^Allow: GET, HEAD\r$}ms, "$method");
}
my $head = talk($few, "HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
ok($head =~ /^Content-Length: \d{4,}\r$/m && $head =~ /\r\n\r\n\z/, 'HEAD: a length and no body');
is(scrape($few)->{status}, 200, 'an answer after all of them');

# ---- tids that are used again, and execve by threads ----

SKIP: {
	skip('kernel is built without CONFIG_CHECKPOINT_RESTORE', 2) if !-e '/proc/sys/kernel/ns_last_pid';
	my $rounds = $soak ? 100 : 8;
	my ($tid, $had) = split(' ', `$faults reuse "$mount$base/kernel" $rounds`);
	my $ended = clock_gettime(CLOCK_MONOTONIC) * 1e9;
	await(sub { (refreshes())[-1]{end_ns} > $ended });
	my @tasks = map { my $r = $_; map { { %$_, ns => $r->{end_ns} - $r->{start_ns} } } grep { $_->{tid} == $tid } @{ $r->{tasks} } } refreshes();

	cmp_ok($had, '>', 1, "$had processes had the tid $tid");
	is_deeply([grep { $_->{run_ns} > 1.1 * $_->{ns} + 20e6 || $_->{wait_ns} > 3600e9 } @tasks], [], 'none ran or waited longer than there was time');
}
my $exec_rounds = $soak ? 300 : 20;
my $plain = decode_json(run("$schedtap stat --json -- perl -e 'my \$e = (times)[0] + 0.3; 1 while (times)[0] < \$e'")->{out});
my $threads = run("$schedtap stat --json -- $faults exec $exec_rounds perl -e 'my \$e = (times)[0] + 0.3; 1 while (times)[0] < \$e; exit 7'");
my $by_thread = decode_json($threads->{out});
is($threads->{code}, 7, "$exec_rounds times execve by a thread: exit code");
cmp_ok($by_thread->{run_ns}, '>', 0.25e9, "stat still counts it: ran $by_thread->{run_ns} ns, without threads $plain->{run_ns}");
is(sum0(map { $_->{sum_ns} } values(%{ $by_thread->{waits} })), sum0(map { $_->{ns} } @{ $by_thread->{culprits} }), 'and adds up');
cmp_ok(max(map { $_->{p99_9_ns} // 0 } values(%{ $by_thread->{waits} })), '<', 1.1 * $by_thread->{elapsed_ns}, 'no wait is longer than the command');
cmp_ok(sum0(map { $_->{count} } values(%{ $by_thread->{waits} })), '>=', $exec_rounds, 'its waits are there');

# ---- namespaces ----

SKIP: {
	skip('no pid namespace can be made', 4) if system('unshare -pf --mount-proc true 2>/dev/null');
	my $inner = start(sub {
			exec(qw(setpriv --pdeathsig KILL unshare -pf --kill-child perl -e), '$0 = "tap-inner"; select(undef, undef, undef, 0.01) while 1');
	});
	my $in = run("unshare -pf --mount-proc $schedtap stat --json -- sh -c 'perl -e \"my \\\$e = (times)[0] + 0.2; 1 while (times)[0] < \\\$e\"; exit \$((\$\$ + 100))'");
	my $j = eval { decode_json($in->{out}) } // {};

	ok($in->{code} > 100 && $in->{code} < 110, 'stat in a pid namespace, in which the command has a low pid') or diag($in->{out});
	cmp_ok($j->{run_ns} // 0, '>', 0.15e9, 'counts the command');
	is($j->{source}, 'tally', 'with the tally');
	my %inner;
	await(sub { %inner = map { $_->{tid} => 1 } grep { $_->{comm} eq 'tap-inner' } map { @{ $_->{tasks} } } refreshes(); %inner });
	is_deeply([map { eval { slurp("/proc/$_/status") } =~ /^NSpid:\s+$_\s+1$/m ? 1 : 0 } keys(%inner)], [1], 'top has the tid of the initial namespace');
	end_of($inner, 'KILL');
}
SKIP: {
	skip('no time namespace can be made', 4) if system('unshare -T --fork --monotonic 5 true 2>/dev/null');
	for my $s (100000, -clock_gettime(CLOCK_MONOTONIC) + 10) {
		my @r = top_of(sprintf('unshare -T --fork --monotonic %d', $s), '-n 2 -d 200ms');
		my @wrong = grep { abs($_->{cpu_ns} - ($_->{end_ns} - $_->{start_ns}) * @{ $_->{cpus} }) > 0.1e9 * @{ $_->{cpus} } } @r;

		is(scalar(@r), 2, sprintf('top in a time namespace with %d s', $s));
		is(scalar(@wrong), 0, 'has the time that went by') or diag(map { "$_->{cpu_ns} of $_->{start_ns} to $_->{end_ns}\n" } @wrong);
	}
}

# ---- the wall clock is set ----

SKIP: {
	skip('no compiler', 4) if !$has_step;
	my @wall;
	my ($before, $since) = (eval { parse_text(scrape($s)->{content}) } // {}, clock_gettime(CLOCK_MONOTONIC));

	for my $seconds (86400, -86400 * 365, 0) {
		spew($step, $seconds);
		await_refreshes(3);
		push(@wall, (refreshes())[-1]{time_wall});
	}
	my ($after, $s_passed) = (eval { parse_text(scrape($s)->{content}) } // {}, clock_gettime(CLOCK_MONOTONIC) - $since);
	my $s_counted = sum0(map { value($after, $_) - value($before, $_) } qw(sched_idle_seconds_total sched_cpu_seconds_total));

	ok($wall[0] gt $wall[2] && $wall[1] lt $wall[2], "top saw the wall clock being set: @wall");
	is(value($after, 'schedtap_start_time_seconds'), value($before, 'schedtap_start_time_seconds'), 'serve began when it began');
	is_deeply([decreases($before, $after)], [], 'no counter decreases');
	my $cpus_s = $s_passed * scalar(@{ (refreshes())[-1]{cpus} });
	SKIP: {
		# what these cgroups ran is in the sum before, and not after
		skip('machine was busy: cgroups were removed meanwhile', 1) if grep { /^sched_cpu_seconds_total/ && !exists($after->{$_}) } keys(%$before);
		ok(abs($s_counted - $cpus_s) < 0.2 * $cpus_s + 0.5, sprintf('serve counted %.1f s of %.1f s', $s_counted, $cpus_s));
	}
}

# ---- sockets that are in the way ----

mkdir("$dir/folder");
spew("$dir/file", '');
mkdir("$dir/sticky");
chmod(01777, "$dir/sticky");
for ("$dir/sticky/dead", "$dir/sticky/private") {
	IO::Socket::UNIX->new(Local => $_, Listen => 1) // die "socket: $!\n";
	chmod(/dead/ ? 0777 : 0700, $_);
}
my $unix = serve("unix:$dir/socket");
for (
	["$dir/folder", 1, qr/the path exists and is not a socket$/], ["$dir/file", 1, qr/the path exists and is not a socket$/],
	["$dir/nothing/x", 1, qr/No such file or directory$/], ["$dir/socket", 1, qr/Address already in use$/],
) {
	my ($path, $code, $said) = @$_;
	my $r = run("timeout 20 $schedtap serve --metrics unix:$path");

	is($r->{code}, $code, basename_of($path) . ": exit code $code");
	like($r->{out}, $said, 'and why');
}
sub basename_of { return $_[0] =~ s{.*/}{}r }
ok(-d "$dir/folder" && -f "$dir/file" && -S "$dir/socket", 'nothing was removed');
SKIP: {
	my @user = ('setpriv', qw(--reuid 65534 --regid 65534 --clear-groups), map { ("--$_", join(',', qw(-all +bpf +perfmon))) } qw(inh-caps ambient-caps bounding-set));
	system('cp', $schedtap, "$dir/schedtap");
	chmod(0755, "$dir/schedtap");
	skip('schedtap does not run as another user', 7) if system("@user $dir/schedtap --version >/dev/null 2>&1");
	for (
		["$dir/x", 3, qr/Permission denied$/], ["$dir/sticky/private", 1, qr/the socket of another user is there$/],
		["$dir/sticky/dead", 3, qr/cannot remove .*, the socket of a server that has ended: Operation not permitted$/],
	) {
		my ($path, $code, $said) = @$_;
		my $r = run("timeout 20 @user $dir/schedtap serve --metrics unix:$path");

		is($r->{code}, $code, basename_of($path) . " as another user: exit code $code");
		like($r->{out}, $said, 'and why');
	}
	ok(-S "$dir/sticky/dead" && -S "$dir/sticky/private", 'both sockets are still there');
}
{
	my $r = run("timeout 20 $schedtap serve --metrics 127.0.0.1:$few->{port}");

	ok($r->{code} == 1 && $r->{out} =~ /Address already in use$/, 'a port that another serve has') or diag($r->{out});
}

# ---- kill -9 ----

# Numbers of the BPF objects that a process has.
sub bpf_ids {
	my ($pid) = @_;
	my %ids;

	for my $text (map { eval { slurp($_) } // () } glob("/proc/$pid/fdinfo/*")) {
		$ids{"$1 $2"} = 1 while $text =~ /^(prog|map|link)_id:\s+(\d+)/mg;
	}
	return sort(keys(%ids));
}

SKIP: {
	skip('no bpftool', 3) if system('command -v bpftool >/dev/null');
	my @ids = (bpf_ids($unix->{pid}));
	my @of_top;
	my $short = start(sub {
			open(STDOUT, '>', '/dev/null');
			exec('setpriv', '--pdeathsig', 'KILL', $schedtap, qw(top -b --json -d 100ms)) or POSIX::_exit(127);
	});
	await(sub { grep { /^link/ } (@of_top = bpf_ids($short)) });
	sleep(0.3);
	push(@ids, bpf_ids($short));
	cmp_ok(scalar(grep { /^(?:prog|map|link) / } @ids), '>', 10, 'serve and top have ' . @ids . ' BPF objects');
	end_of($_, 'KILL') for $short, $unix->{pid};
	my @left;
	await(sub {
			my %there = map { my $kind = $_; map { ("$kind $_->{id}" => 1) } @{ decode_json(`bpftool -j $kind list`) } } qw(prog map link);
			@left = grep { $there{$_} } @ids;
			return !@left;
	});
	is_deeply(\@left, [], 'after kill -9 none of them is there');
	ok(-S "$dir/socket", 'but the socket');
}
my $since = time;
my $again = serve("unix:$dir/socket");
ok(1, sprintf('a new one starts, after %.1f s', time - $since));
# The socket's file is removed, and another server takes its place.
unlink("$dir/socket");
my $third = serve("unix:$dir/socket");
is(end_of($again->{pid}, 'TERM'), 0, 'one of two servers ends');
ok(-S "$dir/socket", 'and leaves the socket of the other one');
is(end_of($third->{pid}, 'TERM'), 0, 'which ends as well');
ok(!-e "$dir/socket", 'and removes it');

# ---- a kernel without sched_info ----

# Writes the kernel's BTF with a struct that has no members. Only sizes change: all types keep their numbers.
sub spew_btf_without {
	my ($struct, $path) = @_;
	my $btf = slurp('/sys/kernel/btf/vmlinux');
	my ($magic, $version, $flags, $head, $types_at, $types_len, $strings_at, $strings_len) = unpack('SCCLLLLL', $btf);
	my $types = substr($btf, $head + $types_at, $types_len);
	my $strings = substr($btf, $head + $strings_at, $strings_len);
	my $name = index($strings, "\0$struct\0") + 1;
	my %fixed = (1 => 4, 3 => 12, 14 => 4, 17 => 4); # bytes after the first 12: INT, ARRAY, VAR, DECL_TAG
	my %each = (4 => 12, 5 => 12, 6 => 8, 13 => 8, 15 => 12, 19 => 12); # and for each member

	for (my $at = 0; $at < length($types);) {
		my ($type_name, $info) = unpack('LL', substr($types, $at, 8));
		my ($kind, $members) = ($info >> 24 & 31, $info & 0xffff);
		my $len = 12 + ($fixed{$kind} // 0) + $members * ($each{$kind} // 0);

		if ($kind == 4 && $type_name == $name) {
			substr($types, $at, $len) = pack('LLL', $name, 4 << 24, 0);
			spew($path, pack('SCCLLLLL', $magic, $version, $flags, 24, 0, length($types), length($types), length($strings)) . $types . $strings);
			return 1;
		}
		$at += $len;
	}
	return 0;
}

SKIP: {
	skip('no BTF with sched_info, or no mount namespace', 7) if !eval { spew_btf_without('sched_info', "$dir/btf") } || system('unshare -m true 2>/dev/null');
	my $in = "unshare -m sh -c 'mount --bind $dir/btf /sys/kernel/btf/vmlinux && mount --bind /dev/null /proc/\$\$/schedstat && exec \"\$@\"' sh";
	my @r = top_of($in, '-n 2 -d 200ms');
	my $last = $r[-1] // {};
	my $stat = eval { decode_json(qx{timeout 60 $in $schedtap stat --json true}) } // {};

	is($last->{source}, 'tally', 'a kernel without sched_info: top has the tally') or diag(slurp("$dir/err"));
	is($last->{waits_begin}, 'waking', 'whose waits begin at the waking');
	cmp_ok($last->{waits}{waking}{count} // 0, '>', 0, 'and are there');
	my @tasks = @{ $last->{tasks} // [] };
	my @known = grep { defined($_->{wait_ns}) || defined($_->{waits}) || !defined($_->{run_ns}) } @tasks;
	ok(@tasks && !@known, 'waits of tasks are null');
	is($stat->{source}, 'tally', 'stat has it as well');
	my $serving = serve('127.0.0.1:0', ['sh', '-c', "exec $in \"\$@\"", 'sh', $schedtap]);
	like(scrape($serving)->{content}, qr/^schedtap_build_info\{.*waits_begin="waking"\} 1$/m, 'and serve');
	is(end_of($serving->{pid}, 'TERM'), 0, 'which ends');
}

# ---- what was left to run ----

for my $format (sort(keys(%accept))) {
	end_of(shift(@scrapers));
	is(slurp("$dir/$format.wrong"), '', "$format: all answers were right beside two other scrapers and a slow one");
}
my ($slow_head, $slow_body) = split(/\r\n\r\n/, do { local $/; readline($slow_out) // '' }, 2);
my ($length) = ($slow_head // '') =~ /^Content-Length: (\d+)\r?$/m;
end_of($slow_pid);
is(length($slow_body // ''), $length // -1, sprintf('a slow client got its whole answer, %.1f MB', ($length // 0) / 1e6));
my @slow_wrong = eval { wrong_sums(parse_text($slow_body)) };
is_deeply([@slow_wrong, $@ || ()], [], 'which adds up');
SKIP: {
	skip('machine was busy: the answer to compare with was another one', 1) if !defined($same);
	ok($slow_body eq $same, 'and is that of the time when it asked, byte for byte');
}

my $got_in = await(sub { scrape($slow_server)->{status} == 200 }, 10);
ok($got_in, sprintf('40 clients that send a byte each 0.7 s keep no one out after %.1f s', time - $slow_since));
end_of($slow, 'KILL');
SKIP: {
	skip('only with SOAK=1', 1) if !$soak;
	my $c = client($slow_server);
	my $c_since = time;

	print $c "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	while (time < $c_since + 90 && sysread($c, my $byte, 1)) {
		sleep(1);
	}
	cmp_ok(time - $c_since, '<', 70, 'a client that reads a byte a second is left after a minute');
}
is(end_of($_->{pid}, 'TERM'), 0, 'SIGTERM ends serve') for $slow_server, $few, $s;
end_of($top_pid, 'TERM');
my @all = refreshes();
check_refreshes(20e6, @all);
my $ns = $all[-1]{end_ns} - $all[0]{start_ns};
is_deeply([grep { $_ > $ns } map { values(%{ $_->{max_wait_ns} }) } @all], [], 'no wait is longer than top ran');
done_testing();
