#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Pages of recordings that are hostile, nearly empty, wide or long, and what is refused.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use JSON::XS;
use lib dirname(__FILE__) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $tmp = memory_folder();
my $n = 0;

if (system('command -v node >/dev/null') != 0) {
	print "1..0 # SKIP no node on this machine\n";
	exit 0;
}

sub ok {
	my ($is_so, $name, $why) = @_;

	$n++;
	print $is_so ? 'ok ' : 'not ok ', "$n - $name\n";
	print STDERR "#   $why\n" if !$is_so && defined $why;
}

sub recording {
	my ($name, $text) = @_;
	my $in = spew("$tmp/$name.txt", $text);

	system($ENV{MKDAT}, $in, "$tmp/$name.dat") == 0 or die "$name\n";
	return "$tmp/$name.dat";
}

# With little memory. Return: exit code, what was said.
sub export {
	my ($file, @options) = @_;
	my $said = qx(ulimit -v 400000; $ENV{SCHEDTAP_PROGRAM} export --to html -i '$file' -o '$file.html' @options 2>&1);

	return ($? >> 8, $said);
}

# What node makes of the page: {head, reports, parts}, without the columns of parts.
sub page {
	my ($file) = @_;
	my $script = qq(import("$here/page.mjs").then((m) => { const { head, reports, parts } = m.readPage(process.argv[1]);
		console.log(JSON.stringify({ head, reports, parts: parts.map(({ columns, ...rest }) => rest) })) }));
	my $text = qx(node -e '$script' '$file.html' 2>&1);

	return eval { decode_json($text) } // {error => $text};
}

sub switch_line {
	my ($at, $cpu, $prev, $prev_comm, $next, $next_comm) = @_;

	return "$at $cpu $prev sched:sched_switch prev_comm=$prev_comm prev_pid=$prev prev_prio=120 prev_state=1 " .
		"next_comm=$next_comm next_pid=$next next_prio=120\n";
}

sub pair { return switch_line("$_[0].000000000", $_[1], 0, 'swapper', $_[2], $_[3]) . switch_line("$_[0].000500000", $_[1], $_[2], $_[3], 0, 'swapper') }

# ---- names -------------------------------------------------------------------------------------------------------------
my @names = ('</script><img', 'onerror=alert(1)', '<!--<script>', '@PARTS@', '@HEAD@', q("\\\\'), ']]>', '\x01\x1b[2J\x7f', '\xff\xfe\xc3(', '\xed\xa0\x80', '&lt;&amp;');
my $lines = '';
my $second = 1;

$lines .= pair($second++, 0, 100 + $second, '"' . (s/"/\\"/gr) . '"') for @names;
my $file = recording('names', qq(meta {"tool":"schedtap 0.1","host":{"hostname":"</script><b>","release":"\@REPORTS\@ <"},"command_line":["</script>",1]}\n$lines));
my ($code, $said) = export($file);
ok($code == 0, 'hostile names: there is a page', $said);
my $page = page($file);
my $text = slurp("$file.html");
my @scripts = $text =~ /<script/g;
my @ends = $text =~ m{</script>}g;
ok(@scripts == @ends && @scripts == 2 + %{$page->{reports} // {}} + @{$page->{parts} // []}, 'no element but ours', scalar(@scripts));
ok($text !~ /<img|onerror|<b>|\x1b|\x01/, 'nothing of a name is outside of the data');
ok(utf8::decode(my $copy = $text), 'the file is UTF-8');
my %seen = map { $_->[2] => 1 } @{$page->{parts}[0]{tasks} // []};
ok($seen{'</script><img'} && $seen{'@PARTS@'} && $seen{"\x01\x1b[2J\x7f"} && $seen{"\x{fffd}\x{fffd}\x{fffd}("}, 'names are what they were', join(', ', keys %seen));
ok(($page->{head}{recording}{host} // '') eq '</script><b>', 'so is the host', $page->{error});

# ---- small, wide, long ---------------------------------------------------------------------------------------------------
($code, $said) = export(recording('empty', "cpus 2\n"));
ok($code != 0 && $said =~ /has no sched_switch events/ && !-e "$tmp/empty.dat.html", 'an empty recording is refused', $said);
($code, $said) = export(recording('others', "cpus 1\n1.000000000 0 7 irq:irq_handler_entry irq=1 name=first\n"));
ok($code != 0 && $said =~ /has no sched_switch events/, 'so is one without switches', $said);
($code, $said) = export($file = recording('one', switch_line('1.000000000', 0, 0, 'swapper', 7, 'a')));
$page = page($file);
ok($code == 0 && $page->{parts}, 'one switch is a page', $said . ($page->{error} // ''));
($code, $said) = export($file = recording('wide', "cpus 256\n" . pair(1, 0, 7, 'a') . pair(2, 255, 8, 'b')));
$page = page($file);
ok($code == 0 && @{$page->{head}{cpus} // []} == 256 && $page->{parts}[0]{slices} >= 2, '256 CPUs have a lane each', $said . ($page->{error} // ''));
($code, $said) = export($file = recording('week', switch_line('1.000000000', 0, 0, 'swapper', 7, 'a') . switch_line('300000.000000000', 0, 7, 'a', 0, 'swapper') .
	switch_line('604800.000000001', 0, 0, 'swapper', 7, 'a')));
$page = page($file);
ok($code == 0 && ($page->{parts}[0]{slices} // 0) == 1 && $page->{parts}[0]{levels}{buckets} <= 16384, 'a week with three events has bounded levels', $said . ($page->{error} // ''));
ok(-s "$file.html" < 1_000_000, 'and is small', -s "$file.html");

# ---- options ---------------------------------------------------------------------------------------------------------------
my $three = recording('three', "cpus 3\n" . pair(1, 0, 7, 'a') . pair(2, 1, 8, 'b') . pair(3, 2, 9, 'c') . pair(4, 2, 7, 'a'));
($code, $said) = export($three, '-c a');
$page = page($three);
ok($code == 0 && join(',', sort map { $_->[0] } @{$page->{parts}[0]{tasks}}) eq '-1,7', 'who is not picked is one of the others',
	$said . encode_json($page->{parts}[0]{tasks} // []));
($code, $said) = export($three, '-C 1-2');
$page = page($three);
ok($code == 0 && "@{$page->{head}{cpus}}" eq '1 2' && $page->{head}{options} eq '-C 1-2', 'lanes are the CPUs that are picked', $said);
($code, $said) = export($three, '--time 2,3');
$page = page($three);
ok($code == 0 && $page->{head}{window_ns} == 1e9 && $page->{head}{origin_ns} eq '2000000000', 'a window is the page\'s', $said);
unlink "$three.html";
($code, $said) = export($three, '-c absent');
ok($code == 1 && !-e "$three.html", 'of a task that was not there is no page', $said);
($code, $said) = export($three, '--max-size 1k');
ok($code == 1 && $said =~ /larger than --max-size/ && !-e "$three.html", '--max-size holds', $said);
($code, $said) = export($three, '--of waits');
ok($code == 2 && $said =~ /--of needs --to folded/, '--of does not go with it', $said);
($code, $said) = export($three, '--slices a,b');
ok($code == 2 && $said =~ /needs? --to perfetto/, 'nor does --slices', $said);

# ---- the page itself -------------------------------------------------------------------------------------------------------
export($three);
$text = slurp("$three.html");
my ($style) = $text =~ m{<style>(.*?)</style>}s;
my ($script) = $text =~ m{<script>(.*?)</script>}s;
my ($policy) = $text =~ /Content-Security-Policy" content="([^"]*)"/;
require Digest::SHA;
my %hash = map { $_->[0] => "'sha256-" . Digest::SHA::sha256_base64($_->[1]) . "='" } ['script', $script], ['style', $style];
ok($policy eq "default-src 'none'; script-src $hash{script}; style-src $hash{style}; img-src data:; base-uri 'none'; form-action 'none'",
	'the policy allows the script and the style, and nothing else', $policy);
ok($text !~ /\@[A-Z]+\@/, 'nothing is left to be filled in');
ok($script !~ /^(import|export) /m, 'modules are one script');
print "1..$n\n";
