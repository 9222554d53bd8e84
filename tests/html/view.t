#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# schedtap view, as a browser and as those who should not reach it see it: by HTTP, without a browser.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IO::Select;
use IO::Socket::INET;
use IO::Uncompress::RawInflate qw(rawinflate);
use JSON::XS;
use MIME::Base64;
use POSIX qw(WNOHANG);
use Test::More;
use Time::HiRes qw(sleep time);
use lib dirname(__FILE__) . '/..';
use Busy;
use Files;
use Recordings;

my $limit_s = 120; # for what must come
my $dir = memory_folder();
my $json = JSON::XS->new->utf8;
my @running;
$SIG{PIPE} = 'IGNORE';
delete @ENV{qw(DISPLAY WAYLAND_DISPLAY)};
END {
	my $status = $?;

	kill('KILL', @running) if @running;
	waitpid($_, 0) for @running;
	$? = $status;
}

# ---- recordings ----------------------------------------------------------------------------------

# recording NAME, LINE...
sub recording {
	my ($name, @lines) = @_;

	spew("$dir/in.txt", join("\n", @lines) . "\n");
	system($ENV{MKDAT}, "$dir/in.txt", "$dir/$name.dat") == 0 or die "mkdat: $name\n";
	return "$dir/$name.dat";
}

# Two tasks on each of two CPUs take turns, @turns times; one has a name that would be markup.
sub turns {
	my ($turns) = @_;
	my @lines = ('cpus 2');
	my $at = 1_000_000_000;

	for my $i (1 .. $turns) {
		for my $cpu (0, 1) {
			my ($a, $b) = (10 + $cpu, 20 + $cpu);
			my ($prev, $next) = $i % 2 ? ($a, $b) : ($b, $a);
			my $names = $next < 20 ? 'prev_comm=b next_comm="</script><img>"' : 'prev_comm="</script><img>" next_comm=b';
			$at += 1000 + $i * 7919 % 5000;
			push(@lines, "$at $cpu $prev sched:sched_waking comm=x pid=$next target_cpu=$cpu") if $i % 3;
			$at += 100;
			push(@lines, "$at $cpu $prev sched:sched_switch $names prev_pid=$prev next_pid=$next prev_state=" . ($i % 3 ? 1 : 0));
		}
	}
	return @lines;
}

my $small = recording('small', turns(300));
my $large = recording('large', turns(30_000)); # more slices than a part that is served may have
my $empty = recording('empty', '1000000000 0 1 sched:sched_waking comm=x pid=2 target_cpu=0');

# ---- the program ---------------------------------------------------------------------------------

# start OPTION...: Return: what is known of the one that serves; or where it does not serve {rc, out, err}.
sub start {
	my ($file, @options) = @_;
	my $n = our $started++;
	my $pid = fork() // die;

	if (!$pid) {
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', "$dir/$n.out") or die;
		open(STDERR, '>', "$dir/$n.err") or die;
		exec($ENV{SCHEDTAP_PROGRAM}, 'view', @options, $file) or POSIX::_exit(127);
	}
	my $v = { pid => $pid, n => $n };
	push(@running, $pid);
	for (my $until = time() + $limit_s; time() < $until; sleep(0.05)) {
		my $out = -e "$dir/$n.out" ? slurp("$dir/$n.out") : '';
		if ($out =~ m{\A(http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32}))\n\z}) {
			@$v{qw(address port ticket)} = ($1, $2, $3);
			return $v;
		}
		return $v if defined(wait_end($v, 0));
	}
	die "'schedtap view @options' neither serves nor ends\n";
}

# Return: its exit code (or -signal), when it has ended within so many seconds; else undef.
sub wait_end {
	my ($v, $seconds) = @_;
	my $until = time() + $seconds;

	while (1) {
		if (waitpid($v->{pid}, WNOHANG) == $v->{pid}) {
			@running = grep { $_ != $v->{pid} } @running;
			$v->{rc} = $? & 127 ? -($? & 127) : $? >> 8;
			@$v{qw(out err)} = (slurp("$dir/$v->{n}.out"), slurp("$dir/$v->{n}.err"));
			return $v->{rc};
		}
		return if time() >= $until;
		sleep(0.02);
	}
}

sub stop {
	my ($v, $signal) = @_;

	kill($signal // 'INT', $v->{pid});
	return wait_end($v, $limit_s);
}

# ---- HTTP ----------------------------------------------------------------------------------------

# A request that has been sent: %is: method, host, anything else a header.
sub send_request {
	my ($v, $path, %is) = @_;
	my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $v->{port}, Timeout => $limit_s) or return;
	my $method = delete($is{method}) // 'GET';
	my %headers = (Host => "127.0.0.1:$v->{port}", Connection => 'close', %is);

	print $s join("\r\n", "$method $path HTTP/1.1", (map { defined($headers{$_}) ? "$_: $headers{$_}" : () } sort keys %headers), '', '');
	$s->flush;
	return $s;
}

# Return: {status, headers, body}; until the other side closes or, where there is $until, that is there.
sub receive {
	my ($s, $until) = @_;
	my $text = '';

	while (!$until || $text !~ $until) {
		IO::Select->new($s)->can_read($limit_s) or last;
		sysread($s, $text, 1 << 16, length($text)) or last;
	}
	my ($head, $body) = split(/\r\n\r\n/, $text, 2);
	my ($status) = ($head // '') =~ m{^HTTP/1\.1 (\d+)};
	my %headers = map { /^([^:]+): (.*)$/ ? (lc($1), $2) : () } split(/\r\n/, $head // '');
	return { status => $status // 0, headers => \%headers, body => $body // '' };
}

sub ask {
	my $s = send_request(@_) or return { status => -1, headers => {}, body => '' };

	return receive($s);
}

# What a child says that runs as another user, with the code's Return: as text.
sub as_stranger {
	my ($code) = @_;
	my $pid = open(my $out, '-|') // die;

	if (!$pid) {
		POSIX::setgid(65534);
		POSIX::setuid(65534) or POSIX::_exit(1);
		syswrite(STDOUT, $code->());
		POSIX::_exit(0);
	}
	local $/;
	return <$out> // '';
}

# What a page of it has to send along.
sub open_page {
	my ($v) = @_;

	($v->{page}) = ask($v, "/?token=$v->{ticket}")->{headers}{location};
	($v->{token}) = ($v->{page} // '') =~ /token=([0-9a-f]{32})$/;
	return $v;
}

sub ask_as_page {
	my ($v, $path, %is) = @_;

	return ask($v, $path, 'X-Token' => $v->{token}, 'Sec-Fetch-Site' => 'same-origin', %is);
}

# A request that is held open, once the server has it.
sub hold {
	my ($v) = @_;
	my $s = send_request($v, '/alive', 'X-Token' => $v->{token}) or return;

	receive($s, qr/\r\n\r\n1\r\n/);
	return $s;
}

sub head_of { $json->decode(($_[0] =~ m{<script type="application/json" id="head">(.*?)</script>}s)[0]) }

# ---- parts ---------------------------------------------------------------------------------------

# {head, columns}
sub part {
	my ($bytes) = @_;
	my $length = unpack('V', $bytes);
	my $head = $json->decode(substr($bytes, 4, $length));
	my %columns = map { $_ => substr($bytes, $head->{columns}{$_}[0], $head->{columns}{$_}[1]) } keys(%{$head->{columns}});

	die "columns are not where they must be\n" if (4 + $length) % 8 || grep { $_->[0] % 8 } values(%{$head->{columns}});
	return { head => $head, columns => \%columns };
}

# Of the file that `export --to html` writes.
sub exported {
	my ($file, @options) = @_;

	unlink("$dir/page.html");
	system($ENV{SCHEDTAP}, 'export', '--to', 'html', '-o', "$dir/page.html", @options, $file) == 0 or die "export @options\n";
	my $bytes = '';
	for my $text (slurp("$dir/page.html") =~ m{id="part-0-\d+">(.*?)</script>}sg) {
		my $packed = decode_base64($text);
		rawinflate(\$packed => \my $piece) or die;
		$bytes .= $piece;
	}
	return part($bytes);
}

# What both have to say of slices; tasks by the numbers that slices have.
sub slices_of {
	my ($part) = @_;

	return { tasks => $part->{head}{tasks}, nr => $part->{head}{slices}, ns => $part->{head}{to_ns} - $part->{head}{from_ns},
		 map { $_ => unpack('H*', $part->{columns}{$_}) } grep { /^slices\./ } keys(%{$part->{columns}}) };
}

# ---- who may ask ---------------------------------------------------------------------------------

my $v = start($small, '--no-browser');
ok($v->{port}, 'prints an address on this machine, with a token, and nothing else') or BAIL_OUT('it does not serve');
my ($ports) = grep { /^\s*\d+: [0-9A-F]{8}:@{[sprintf('%04X', $v->{port})]} 00000000:0000 0A/ } split(/\n/, slurp('/proc/net/tcp'));
like($ports // '', qr/: 0100007F:/, 'it listens on 127.0.0.1');
is(scalar(grep { / 0A / && /:@{[sprintf('%04X', $v->{port})]} / } split(/\n/, slurp('/proc/net/tcp6'))), 0, 'and nowhere else');

my $wrong = 'f' x 32;
for my $case (
	['no token', '/', 403], ['a wrong token', "/?token=$wrong", 403], ['an empty token', '/?token=', 403], ['a token without a value', '/?token', 403],
	['a part without a token', '/part?from=0&to=1&buckets=1', 403], ['a part with the token of the address', "/part?from=0&to=1&buckets=1&token=$v->{ticket}", 403],
	['a report without a token', '/report/summary', 403], ['alive without a token', '/alive', 403], ['what is not there, without a token', '/favicon.ico', 403], ['an address that ends before its end', '/%00', 403],
	['another Host', "/?token=$v->{ticket}", 403, Host => "example.org:$v->{port}"], ['another port in Host', "/?token=$v->{ticket}", 403, Host => '127.0.0.1:1'],
	['another Origin', "/?token=$v->{ticket}", 403, Origin => 'https://example.org'], ['Origin: null', "/?token=$v->{ticket}", 403, Origin => 'null'],
	['a page of another site', "/?token=$v->{ticket}", 403, 'Sec-Fetch-Site' => 'cross-site'],
	['a page of another port', "/?token=$v->{ticket}", 403, 'Sec-Fetch-Site' => 'same-site'],
	['POST', "/?token=$v->{ticket}", 405, method => 'POST', 'Content-Length' => 0], ['HEAD', "/?token=$v->{ticket}", 405, method => 'HEAD'],
	['OPTIONS', '/part', 405, method => 'OPTIONS', Origin => 'https://example.org', 'Access-Control-Request-Headers' => 'X-Token'],
) {
	my ($name, $path, $status, %is) = @$case;
	my $a = ask($v, $path, %is);

	ok($a->{status} == $status && ($a->{body} =~ /\Arefused: [^\n]+\n\z/ || $name eq 'HEAD') && !grep({ /^access-control/ } keys(%{$a->{headers}})),
		"refused: $name") or diag(explain($a));
}
is(ask($v, '/', method => 'POST', 'Content-Length' => 0)->{headers}{allow}, 'GET', 'another method than GET is answered with the allowed one');

SKIP: {
	skip('not root: there is no other user to be', 3) if $>;
	is(as_stranger(sub { ask($v, "/?token=$v->{ticket}")->{status} }), 0, 'another user who has read the ticket in the list of processes gets no answer');
	pipe(my $ready, my $say) or die;
	my $pid = fork() // die;
	if (!$pid) {
		POSIX::setuid(65534) or POSIX::_exit(1);
		my @slow = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $v->{port}) // () } 1 .. 200; # they ask nothing
		syswrite($say, scalar(@slow) . "\n");
		sleep(1) while 1;
	}
	ok(<$ready> > 64, 'another user opens more connections than there may be');
	is(ask($v, '/')->{status}, 403, '... and the user is answered at once');
	kill('KILL', $pid);
	waitpid($pid, 0);
}

my $first = ask($v, "/?token=$v->{ticket}");
is($first->{status}, 303, 'the address that was printed sends on to the page: refusals before did not take it');
open_page($v);
is($v->{token}, undef, 'it does so once');
($v->{token}) = $first->{headers}{location} =~ m{^/\?token=([0-9a-f]{32})$};
isnt($v->{token}, $v->{ticket}, 'to another token');
is(ask($v, "/?token=$v->{ticket}")->{status}, 403, 'a second browser with the first address is refused');
my $page = ask($v, "/?token=$v->{token}");
is($page->{status}, 200, 'the page comes');
is(ask($v, "/?token=$v->{token}")->{status}, 200, 'and again, when it is loaded anew');
is(ask($v, "/?token=$v->{token}", Host => "localhost:$v->{port}", Origin => "http://localhost:$v->{port}")->{status}, 200, 'also as localhost');

my %want = ('x-content-type-options' => 'nosniff', 'referrer-policy' => 'no-referrer', 'cache-control' => 'no-store',
	'cross-origin-resource-policy' => 'same-origin', 'x-frame-options' => 'DENY');
for my $a ($page, ask($v, '/'), ask_as_page($v, '/nothing'), ask_as_page($v, '/part?from=0&to=1&buckets=1'), ask_as_page($v, '/report/summary')) {
	is_deeply({ map { $_ => $a->{headers}{$_} } keys(%want) }, \%want, "headers of an answer with status $a->{status}");
	like($a->{headers}{'content-security-policy'}, qr/connect-src 'self'.*frame-ancestors 'none'/, 'and its policy');
}

# ---- the page ------------------------------------------------------------------------------------

my $head = head_of($page->{body});
is($page->{headers}{'content-type'}, 'text/html; charset=utf-8', 'the page is HTML');
like($page->{body}, qr/default-src 'none'[^>]*connect-src 'self'/, 'its own policy allows nothing but requests to where it came from');
unlike($page->{body}, qr/@(?:CONNECT|HEAD|REPORTS|PARTS)@/, 'nothing in it is left to be filled in');
ok($head->{served}, 'its head says that it is served');
is_deeply([@$head{qw(cpus parts)}], [[0, 1], []], 'with CPUs, and without parts');
ok(exists($head->{slices}) && !defined($head->{slices}), 'all slices can be had');
my $whole = "/part?from=0&to=$head->{window_ns}&buckets=1000";

# ---- what is not there, and absurd numbers -------------------------------------------------------

for my $path ('/nothing', '/part/', '/report', '/report/', '/report/nothing', '/report/../../etc/passwd', '/report/%2e%2e', '//', "/<script>") {
	my $a = ask_as_page($v, $path);

	ok($a->{status} == 404 && $a->{body} =~ /\A(?:there is no|schedtap view serves no) [^\n]+\n\z/ && $a->{headers}{'content-type'} =~ m{^text/plain}, "not there: $path")
		or diag(explain($a));
}
my $w = $head->{window_ns};
for my $query ('', 'from=0', "from=0&to=$w", "from=0&buckets=9", "to=$w&buckets=9", "from=2&to=1&buckets=9", "from=-1&to=$w&buckets=9",
	"from=0&to=@{[$w + 1]}&buckets=9", "from=$w&to=99999999999999999999999&buckets=9", "from=99999999999999999999999&to=$w&buckets=9",
	"from=0&to=$w&buckets=0", "from=0&to=$w&buckets=1000000000", "from=0&to=$w&buckets=-1", "from=0x0&to=$w&buckets=9", "from=0&to=1e6&buckets=9",
	"from=0&to=$w&buckets=1.5", "from=&to=&buckets=", "from&to&buckets", "from= 0&to=$w&buckets=9", "from=0&to=$w&buckets=9&tasks=x",
	"from=0&to=$w&buckets=9&tasks=1,,2", "from=0&to=$w&buckets=9&tasks=1,", "from=0&to=$w&buckets=9&tasks=99999999999",
	"from=0&to=$w&buckets=9&tasks=-1", "from=0&to=$w&buckets=9&tasks=" . join(',', 1 .. 513)) {
	my $a = ask_as_page($v, "/part?$query");
	my $shown = length($query) > 60 ? substr($query, 0, 60) . '...' : $query;

	ok($a->{status} == 400 && $a->{body} =~ /\A[a-z'][^\n]+\n\z/, "absurd: $shown") or diag(explain($a));
}
is(ask_as_page($v, "/part?from=0&to=$w&buckets=9&tasks=" . join(',', 1 .. 512))->{status}, 200, 'as many tasks as there may be');
ok(ask_as_page($v, '/' . 'x' x 100_000)->{status} >= 400, 'an address without end');
is(ask_as_page($v, $whole)->{status}, 200, 'and it goes on');

# ---- parts ---------------------------------------------------------------------------------------

my $part = part(ask_as_page($v, $whole)->{body});
is_deeply(slices_of($part), slices_of(exported($small)), 'the whole window has the slices of the page that export writes');
is_deeply([@{$part->{head}}{qw(from_ns to_ns)}], [0, $w], 'and its bounds');
for my $window ([0, $w], [0, int($w / 3)], [int($w / 3), int($w / 2)], [$w - 100_000, $w]) {
	my ($from, $to) = @$window;
	my $option = sprintf('%.9f,%.9f', map { ($head->{origin_ns} + $_) / 1e9 } @$window);
	my $served = part(ask_as_page($v, "/part?from=$from&to=$to&buckets=512")->{body});

	is_deeply(slices_of($served), slices_of(exported($small, '--time', $option)), "from $from to $to, too");
	is_deeply([@{$served->{head}}{qw(from_ns to_ns)}], $window, 'with these bounds');
}

for my $window ([777_777, 777_778], [$w, $w], [0, 0]) { # of what has no switch export writes no page
	my ($from, $to) = @$window;
	my $served = part(ask_as_page($v, "/part?from=$from&to=$to&buckets=512")->{body});

	is_deeply([@{$served->{head}}{qw(from_ns to_ns)}], $window, "a window as narrow as from $from to $to");
}

# ---- reports -------------------------------------------------------------------------------------

for my $name (@{$head->{reports}}) {
	my %command = (latency => 'latency --over-time --hist', cgroups => 'explain --by cgroup');
	my $said = `'$ENV{SCHEDTAP}' @{[$command{$name} // $name]} --json -i '$small'`;

	is_deeply($json->decode(ask_as_page($v, "/report/$name")->{body}), $json->decode($said), "report $name is what its command prints");
}
for my $name (keys(%{$head->{failed}})) {
	my $a = ask_as_page($v, "/report/$name");

	ok($a->{status} == 404 && $a->{body} eq "$head->{failed}{$name}\n", "report $name is not there, and says why") or diag(explain($a));
}
cmp_ok(scalar(keys(%{$head->{failed}})), '>', 0, 'there is such a one');

# ---- several at once -----------------------------------------------------------------------------

my @sockets = map { send_request($v, "/part?from=$_&to=$w&buckets=100", 'X-Token' => $v->{token}) } 1 .. 20;
is(ask($v, '/')->{status}, 403, 'a refusal does not wait for other requests');
is(scalar(grep { receive($_)->{status} == 200 } @sockets), 20, '20 parts asked for at once all come');
close(send_request($v, $whole, 'X-Token' => $v->{token})) for 1 .. 20;
is(ask_as_page($v, $whole)->{status}, 200, 'those whose page has gone do no harm');
my $kept = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $v->{port});
print $kept "GET /part?from=0&to=$_&buckets=9 HTTP/1.1\r\nHost: 127.0.0.1:$v->{port}\r\nX-Token: $v->{token}\r\n" .
	($_ == 2 ? "Connection: close\r\n" : '') . "\r\n" for 1, 2;
my @statuses = receive($kept)->{body} =~ m{HTTP/1\.1 (\d+)}g;
is("@statuses", '200', 'a connection is good for several requests');

# ---- how it ends ---------------------------------------------------------------------------------

my @children = split(' ', `ps -o pid= --ppid $v->{pid}`);
is("@children", '', 'it starts no process');
my @pages = map { hold($v) } 1, 2;
close($pages[0]);
is(wait_end($v, 3), undef, 'one of two pages is closed: it goes on');
my ($since, $closed) = (busy_since(), time());
close($pages[1]);
sleep(1);
my $again = hold($v);
SKIP: {
	# after 2 s without a connection, view takes the page for closed
	my $why = time() - $closed < 1.9 ? '' : why_busy($since);

	skip("machine was busy: $why", 1) if $why;
	is(wait_end($v, 3), undef, 'a page that is loaded anew keeps it');
}
close($again) if $again;
is(wait_end($v, $limit_s), 0, 'the last page is closed: it ends by itself');
is($v->{out}, "$v->{address}\n", 'with nothing else on standard output');
like($v->{err}, qr/\Aschedtap: [^\n]+\n\z/, 'and one sentence on standard error');
is(send_request($v, '/'), undef, 'the port is closed');

for my $signal (qw(INT TERM HUP)) {
	my $held = hold(open_page($v = start($small, '--no-browser')));

	is(stop($v, $signal), 0, "ends by SIG$signal while a page is open");
	is(receive($held)->{status}, 0, 'whose connection is closed');
	is(send_request($v, '/'), undef, 'the port is closed');
}
is(stop(start($large, '--no-browser')), 0, 'ends while reports are being made');

# ---- a recording that has more than a part may have ----------------------------------------------

$v = open_page(start($large, '--no-browser'));
$head = head_of(ask($v, $v->{page})->{body});
$part = part(ask_as_page($v, "/part?from=0&to=$head->{window_ns}&buckets=2000")->{body});
is($part->{head}{slices}, undef, 'of too many slices there are none');
cmp_ok($part->{head}{levels}{count}, '>', 3, 'but levels');
cmp_ok($part->{head}{levels}{buckets} * $part->{head}{levels}{ns}, '>=', $head->{window_ns}, 'that covers the window');
cmp_ok($part->{head}{levels}{ns}, '<=', $head->{window_ns} / 60_000, 'in buckets that are as narrow as they can be') or diag(explain($part->{head}{levels}));
is_deeply([@{$part->{head}}{qw(task_levels curves)}], [undef, []], 'and nothing of tasks');
my $most = part(ask_as_page($v, "/part?from=0&to=$head->{window_ns}&buckets=2000&tasks=most")->{body});
cmp_ok(@{$most->{head}{task_levels}{tasks} // []}, '>', 1, 'who asks for most of them has their rows');
my $narrow = "/part?from=1&to=$head->{window_ns}&buckets";
$part = part(ask_as_page($v, "$narrow=2000")->{body});
is($part->{head}{levels}{count}, 1, 'of less than all there is one level');
cmp_ok($part->{head}{levels}{ns}, '<=', $head->{window_ns} / 1000, 'in buckets about as narrow as was asked for') or diag(explain($part->{head}{levels}));
is(length($part->{columns}{'levels.0.busy'}), 2 * $part->{head}{levels}{buckets}, 'of two CPUs');
my $coarse = part(ask_as_page($v, "$narrow=16")->{body});
cmp_ok($coarse->{head}{levels}{buckets}, '<=', 64, 'who asks for few gets few');
my $middle = int($head->{window_ns} / 2);
my $served = part(ask_as_page($v, "/part?from=$middle&to=@{[$middle + 5_000_000]}&buckets=2000")->{body});
my $option = sprintf('%.9f,%.9f', map { ($head->{origin_ns} + $_) / 1e9 } $middle, $middle + 5_000_000);
is_deeply(slices_of($served), slices_of(exported($large, '--time', $option)), 'a part of it has them, as in the page that export writes');
stop($v);

# ---- ports ---------------------------------------------------------------------------------------

$v = start($small, '--no-browser');
my $second = start($small, '--no-browser', '--port', $v->{port});
is($second->{rc}, 1, 'a port in use');
like($second->{err}, qr/\Aschedtap: port $v->{port} is in use[^\n]*\n\z/, 'is said to be so');
is($second->{out}, '', 'and no address is printed');
my $held = hold(open_page($v));
stop($v);
$second = start($small, '--no-browser', '--port', $v->{port});
is($second->{port}, $v->{port}, 'as soon as it is free it can be had');
stop($second);
for my $port (qw(0 -1 65536 http)) {
	is(start($small, '--no-browser', "--port=$port")->{rc}, 2, "port $port is none");
}

# ---- what cannot be shown ------------------------------------------------------------------------

for my $case (['a file that is not there', "$dir/none.dat", 1], ['what is no recording', "$dir/in.txt", 1], ['one without sched_switch', $empty, 1],
	['a window outside of it', $small, 1, '--time', '5000,5001'], ['a window that is none', $small, 2, '--time', 'x']) {
	my ($name, $file, $rc, @options) = @$case;
	my $v = start($file, '--no-browser', @options);

	ok(defined($v->{rc}) && $v->{rc} == $rc && $v->{out} eq '' && $v->{err} =~ /\Aschedtap: [^\n]+\n/, "$name: a sentence, exit $rc") or diag(explain($v));
}
{
	mkdir("$dir/lib");
	spew("$dir/lib/libmicrohttpd.so.12", '');
	local $ENV{LD_LIBRARY_PATH} = "$dir/lib";
	my $v = start($small, '--no-browser');

	is($v->{rc}, 3, 'without libmicrohttpd it does not serve');
	like($v->{err} // '', qr/install it \(Debian: libmicrohttpd12\)/, 'and says what to install');
}
my $hostile = "$dir/<\/script><img onerror=alert(1)>.dat" =~ s{/script}{script}r;
link($small, $hostile) or die;
$v = open_page(start($hostile, '--no-browser'));
$page = ask($v, $v->{page})->{body};
is(head_of($page)->{recording}{file}, $hostile, 'a hostile name of a file is a text');
unlike($page, qr/<img/, 'and no markup');
stop($v);

# ---- the browser ---------------------------------------------------------------------------------

mkdir("$dir/bin");
spew("$dir/bin/xdg-open", "#!/bin/sh\necho \"\$# \$1 \$(ps -o sid= -p \$\$)\" >'$dir/opened.new'; mv '$dir/opened.new' '$dir/opened'\n");
chmod(0755, "$dir/bin/xdg-open");
local $ENV{PATH} = "$dir/bin:$ENV{PATH}";

# opened VIEW, SECONDS: return "COUNT FIRST_ARGUMENT SESSION" of xdg-open, or '' if it was not started
# within SECONDS.
sub opened {
	my ($v, $seconds) = @_;
	my $until = time() + $seconds;

	sleep(0.05) while !-e "$dir/opened" && time() < $until;
	my $said = -e "$dir/opened" ? slurp("$dir/opened") : '';
	unlink("$dir/opened");
	stop($v);
	return $said;
}

$v = start($small);
is(opened($v, 2), '', 'without a screen no browser is opened');
{
	local $ENV{DISPLAY} = ':0';

	$v = start($small);
	my ($nr, $address, $session) = split(' ', opened($v, $limit_s));
	is($address, $v->{address}, 'the browser is opened with the address');
	isnt($session, `ps -o sid= -p $$` + 0, 'out of reach of the terminal\'s Ctrl-C');
	is(opened(start($small, '--no-browser'), 2), '', 'or not, where that is said');
	unlink("$dir/bin/xdg-open");
	$ENV{PATH} = '/nowhere';
	ok(start($small)->{address}, 'without xdg-open the address is printed');
}
done_testing();
