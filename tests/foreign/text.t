#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Text recordings: reports on the text of a recording equal those on the recording itself, value by value. The texts are what trace-cmd
# and schedtap dump print of it, and what ftrace and perf would print, made here of the lines of dump. Texts with microseconds are made of
# those with nanoseconds by stretching time a thousandfold, with no two events at once, so that they lose nothing: what else is rounded is
# no business of the reader. Then what a program, a user or an enemy may have put into a text.
# SCHEDTAP, MKDAT and BUILD name the program, the one that makes recordings, and the build.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use JSON::XS;
use lib dirname(abs_path($0)) . '/..';
use Files;
use Recordings;

my $here = dirname(abs_path($0));
my $dir = memory_folder();
my $has_trace_cmd = system('command -v trace-cmd >/dev/null') == 0;
my ($n, $failed) = (0, 0);

$ENV{TMPDIR} = "$dir"; # of the program's files, too

sub check {
	my ($ok, $what, @said) = @_;

	$n++;
	$failed++ if !$ok;
	print $ok ? '' : 'not ', "ok $n - $what\n";
	print STDERR map { "# $_\n" } @said[0 .. ($#said > 9 ? 9 : $#said)] if !$ok;
}

# ---- texts ----------------------------------------------------------------------------------
# The events of a recording as the lines of dump have them.
sub events_of {
	my ($dat) = @_;
	my @events;

	for (split(/\n/, (runs("dump -i $dat"))[0][0])) {
		/^ *(.*)-(\d+) +\[(\d+)\] (\d+)\.(\d{9}): (\w+):(\w+): ?(.*)$/ or next;
		push(@events, { comm => $1, tid => $2, cpu => $3, s => $4, ns => $5, system => $6, name => $7, text => $8 });
	}
	return @events;
}

# Stretch time a thousandfold and put 1 us between events that are less apart. @digits: of a second's fraction.
sub stretched {
	my ($text, $digits) = @_;
	my $last = 0;

	return join('', map {
		s{(\d+)\.(\d{9}): }{
			$last = "$1$2" > $last ? "$1$2" : $last + 1;
			sprintf('%d.%06d%s: ', $last / 1_000_000, $last % 1_000_000, '0' x ($digits - 6));
		}e;
		$_;
	} split(/^/, $text));
}

my $ftrace_head = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n" .
	"#                                _-----=> irqs-off/BH-disabled\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n" .
	"#              | |         |   |||||     |         |\n";

sub ftrace {
	my (@events) = @_;

	return join('', $ftrace_head, map { sprintf("%16s-%-7d [%s] d..2. %s.%s: %s: %s\n", @$_{qw(comm tid cpu s ns name text)}) } @events);
}

sub with_tgid {
	my (@events) = @_;

	return join('', $ftrace_head,
		map { sprintf("%16s-%-7d (%s) [%s] .... %s.%s: %s: %s\r\n", @$_{qw(comm tid)}, $_->{tid} ? sprintf('%7d', $_->{tid}) : '-------',
			@$_{qw(cpu s ns name text)}) } @events);
}

sub perf {
	my (@events) = @_;

	return join('', map { sprintf("%16s %5d [%s] %s.%s: %30s: %s\n", $_->{tid} ? $_->{comm} : 'swapper', @$_{qw(tid cpu s ns)},
		"$_->{system}:$_->{name}", $_->{text}) } @events);
}

sub perf_with_stacks {
	my (@events) = @_;

	return join('', "# ========\n# hostname : box\n# os release : 6.1.0-test\n# arch : x86_64\n#\n",
		map { sprintf("%16s %5d/%-5d [%s] %s.%s:          1 %s: %s\n\tffffffff81 schedule ([kernel.kallsyms])\n\n", $_->{tid} ? $_->{comm} : 'swapper',
			@$_{qw(tid tid cpu s ns)}, "$_->{system}:$_->{name}", $_->{text}) } @events);
}

sub systrace {
	my (@events) = @_;

	return "<!DOCTYPE html>\n<html><head><script>\n" . ('x' x 70_000) . "\n</script></head><body>\n<!-- BEGIN TRACE -->\n" .
		"<script class=\"trace-data\" type=\"application/text\">\n" . ftrace(@events) .
		"</script>\n<script class=\"trace-data\" type=\"application/text\">\nPROCESS DUMP\nUSER PID\n</script>\n<!-- END TRACE -->\n</body></html>\n";
}

# A page of before 2013: the lines are a text in a program.
sub old_systrace {
	my (@events) = @_;

	return "<!DOCTYPE html>\n<html><head></head><body><script>\n  var linuxPerfData = \"\\\n" . (ftrace(@events) =~ s/\n/\\n\\\n/gr) .
		"\";\n</script></body></html>\n";
}

sub trace_cmd {
	my ($dat, $options) = @_;

	return (commands("trace-cmd report $options -i $dat"))[0][0];
}

# Each text: its name, and how it is made of a recording and its events.
my @forms = (
	['schedtap dump', sub { (runs("dump -i $_[0]"))[0][0] }],
	['ftrace', sub { shift; ftrace(@_) }],
	['ftrace with processes and CRLF', sub { shift; with_tgid(@_) }],
	['perf script', sub { shift; perf(@_) }],
	['perf script with stacks', sub { shift; perf_with_stacks(@_) }],
	['systrace', sub { shift; systrace(@_) }],
	['old systrace', sub { shift; old_systrace(@_) }],
	map { my $options = $_; ["trace-cmd report $options", sub { trace_cmd($_[0], $options) }] } $has_trace_cmd ? ('-t', '-t -l', '-t -N', '-t -R', '-t -R -l') : (),
);

# ---- reports --------------------------------------------------------------------------------
my @reports = ('latency --json --worst 5', 'states --json', 'timehist --json', 'migrations --json', 'wakers --json', 'balance --json',
	'summary --json', 'placement --json', 'placement --list --json', 'explain --json', 'map --json', 'critical --json -t 10 --path', 'latency --json --preempted');

# Rows of tasks, whose order depends on names and on times, by task. A number that several tasks had has several rows.
sub by_task {
	my ($rows) = @_;
	my (%rows, %nr);

	for (@$rows) {
		return undef unless ref eq 'HASH' && exists($_->{tid});
		my $tid = $_->{tid} // 'all';
		$rows{"$tid#" . ($nr{$tid}++ || 0)} = $_;
	}
	return @$rows ? \%rows : undef;
}

my $by_plugin; # the text is that of trace-cmd's plugin, which has no + in prev_state, and Z and X the other way round

# What differs, as lines. Names that only a recording knows may be missing, and so may processes.
sub differences {
	my ($at, $a, $b) = @_;

	if (ref($a) eq 'ARRAY' && ref($b) eq 'ARRAY' && by_task($a) && by_task($b)) {
		($a, $b) = (by_task($a), by_task($b));
	}
	if (ref($a) eq 'HASH' && ref($b) eq 'HASH') {
		return map { differences("$at.$_", $a->{$_}, $b->{$_}) }
			grep { !/^(comm|\w*tgid|bytes|wall.*|.*_wall|throttling_possible)$/ } sort(keys(%{{%$a, %$b}}));
	}
	if (ref($a) eq 'ARRAY' && ref($b) eq 'ARRAY') {
		return "$at: " . @$a . ' and ' . @$b . ' elements' if @$a != @$b;
		return map { differences("$at\[$_]", $a->[$_], $b->[$_]) } 0 .. $#$a;
	}
	($a, $b) = map { defined() ? ref() ? encode_json($_) : $_ : 'null' } $a, $b;
	return $a eq $b || ($at =~ /comm$/ && $b eq 'null') || ($by_plugin && "$a and $b" =~ /^(R\+ and R|X and Z|Z and X)$/) ? () : "$at: $a and $b";
}

sub report_of {
	my ($file, @options) = @_;

	return map {
		my ($out, $status, $err) = @$_;
		my $values = eval { [JSON::XS->new->incr_parse($out)] };
		die "no JSON of $file: $status, $err" if !$values || !@$values;
		delete($_->{recording}) for @$values;
		$values;
	} runs(map { "$_ -i $file @options" } @reports);
}

sub compare {
	my ($what, $dat, $which, @units) = @_;
	my @events = events_of($dat);
	my $perf = "$dir/perf.data";
	system("$ENV{BUILD}/tests/fuzz/dat2perf", $dat, $perf) == 0 or die "dat2perf failed\n";
	my %own = (dat => [report_of($dat)], perf => [report_of($perf)]);

	for my $form (grep { $_->[0] =~ $which } @forms) {
		my ($name, $make) = @$form;
		my $text = $make->($dat, @events);
		my $like = $name =~ /^perf/ ? 'perf' : 'dat';
		my %texts = ('', $text, 'us', stretched($text, 6));

		$own{"$like us"} //= @units > 1 && [report_of(spew("$dir/stretched", stretched($text, 9)))];
		for my $unit ($name =~ /^(ftrace|perf script|trace-cmd report -t)$/ ? @units : '') {
			my @theirs = report_of(spew("$dir/text", $texts{$unit}));
			$by_plugin = $name =~ /^trace-cmd/ && $name !~ /-[NR]/;
			my $own = $own{$unit ? "$like us" : $like};
			# dat2perf does not write how many CPUs there are, which map shows from the start on
			my @compared = grep { $like eq 'dat' || $reports[$_] !~ /^map/ } 0 .. $#reports;
			my @wrong = map { differences($reports[$_] =~ s/ .*//r, $own->[$_], $theirs[$_]) } @compared;

			check(!@wrong, "$what: " . @events . " events as $name" . ($unit && ' with microseconds'), @wrong);
		}
	}
}

my $generate = "$ENV{BUILD}/tests/truth/generate";
mkdir("$dir/22") or die;
system($generate, 22, 300, "$dir/22") == 0 or die "$generate failed\n";
compare('simulated', "$dir/22/whole.dat", qr/./, '', 'us');
compare('simulated, without sched_waking', "$dir/22/wakeup.dat", qr/^(schedtap|ftrace$|perf script$|trace-cmd report -t -[NR]$)/, '');
compare('simulated, with lost events', "$dir/22/losses.dat", qr/^(schedtap|trace-cmd report -t -[NR]$)/, '');

# Real recordings know more of themselves than their events say, so only the kernel's own events are compared.
sub kernel_events {
	# a kernel before v4.14 calls dead tasks x, of which -R prints the number that means parked since then
	return join("\n", map { s/^.*?(?=\[\d+\] )//r =~ s/prev_state=[xP]/prev_state=X/r } grep { / (sched|task|irq|power):\w+: / } split(/\n/, (runs("dump -i $_[0]"))[0][0]));
}

for my $dat (glob("$here/../recordings/{arm64_v6,0.1/{plain,module,stacks}}.dat")) {
	my $own = kernel_events($dat);

	for my $form (grep { $_->[0] =~ /^(schedtap|trace-cmd report -t -[NR]$)/ } @forms) {
		my $theirs = kernel_events(spew("$dir/text", $form->[1]->($dat)));

		check($own && $own eq $theirs, basename($dat) . " as $form->[0]: " . ($own =~ tr/\n// + 1) . ' events');
	}
}

# ---- what a text may hold -------------------------------------------------------------------
sub without_tasks {
	return map { s/^.*?(?=\[\d+\] (?:\d+\.\d{9}:|some|\d+ events) )//r } split(/\n/, $_[0]);
}

# The events that dump prints of a text, without the task; and what is said of it.
sub read_text {
	my ($text) = @_;
	my ($out, $status, $err) = @{(runs('dump -i ' . spew("$dir/text", $text)))[0]};

	return ($status, [without_tasks($out)], $err);
}

sub expect {
	my ($what, $text, $events, $note) = @_;
	my ($status, $got, $err) = read_text($text);
	my $ok = $status == ($events ? 0 : 1) && "@$got" eq "@{$events // []}" && (defined($note) ? $err =~ $note : 1);

	check($ok, $what, "status $status", @$got, $err);
}

sub line {
	my ($time, $cpu, $event, $task) = @_;

	return sprintf("%16s-%-7d [%03d] d..2. %s: %s\n", $task ? @$task : ('<idle>', 0), $cpu, $time, $event);
}

my $waking = 'sched_waking: comm=a pid=1 prio=120 target_cpu=000';
my $first = "[000] 1.000001000: sched:$waking";

# trace-cmd pads the names of events
sub padded {
	my ($time, $event, $task) = @_;

	return line($time, 0, $event =~ s/^(\w+: )/sprintf('%-22s', $1)/er, $task);
}

# names that look like what follows them; each is a task's, up to 15 bytes
sub expect_names {
	my @names = @_;
	my $shown = join(', ', map { "'" . s/[\t\a]/?/gr . "'" } @names);
	my (@lines, @events);

	for my $name (@names) {
		my $us = sprintf('%03d', 10 + @lines);
		my $printed = $name =~ s/\t/\\t/r =~ s/\a/\\x07/r;

		push(@lines, line("1.000$us", 0, "sched_waking: comm=$name pid=12 prio=100 target_cpu=001", [$name, 9]),
			line("1.000$us", 0, "sched_switch: prev_comm=$name prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=$name next_pid=12 next_prio=100", [$name, 9]),
			line("1.000$us", 1, "sched_switch: prev_comm=x prev_pid=9 prev_prio=120 prev_state=D ==> next_comm=$name next_pid=12 next_prio=100", ['x', 9]));
		push(@events, "[000] 1.000${us}000: sched:sched_waking: comm=$printed pid=12 prio=100 target_cpu=001",
			"[000] 1.000${us}001: sched:sched_switch: prev_comm=$printed prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=$printed next_pid=12 next_prio=100",
			"[001] 1.000${us}002: sched:sched_switch: prev_comm=x prev_pid=9 prev_prio=120 prev_state=D ==> next_comm=$printed next_pid=12 next_prio=100");
	}
	expect("tasks called $shown", join('', @lines), \@events);
	@lines = @events = ();
	for my $name (grep { /[^ ]/ } @names) {
		my $us = sprintf('%03d', 10 + @lines);
		my $printed = $name =~ s/\t/\\t/r =~ s/\a/\\x07/r;

		push(@lines, padded("1.000$us", "sched_switch: $name:9 [120] S ==> $name:12 [-1]", [$name, 9]), padded("1.000$us", "sched_wakeup: $name:7 [5]<CPU:001>", [$name, 12]));
		push(@events, "[000] 1.000${us}000: sched:sched_switch: prev_comm=$printed prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=$printed next_pid=12 next_prio=-1",
			"[000] 1.000${us}001: sched:sched_wakeup: comm=$printed pid=7 prio=5 target_cpu=001");
	}
	expect("trace-cmd's text of tasks called $shown", join('', @lines), \@events, qr/does not say whether a task/) if @lines;
}

my @names = ('', ' ', 'a b', ' prev_pid=1', ' prev_prio=2 x', 'x prev_state=S', ' ==> next_comm', ':5 [120] S ==> ', ' next_pid=7', '-12 [000] ', '-1 [0] 1.2: e:',
	'<idle>', '<...>', 'comm=', ']', "tab\tbell\a", 'x prio=1', ' target_cpu=1', '] 1.000001: s:');
expect_names(@names);
expect_names($_) for @names[0, 3, 4, 7, 10, 17];
expect('a name with an end of line', line('1.000001', 0, "sched_waking: comm=a\nb pid=1 prio=120 target_cpu=000") . line('1.000002', 0, $waking),
	['[000] 1.000001000: sched:sched_waking: comm=a\nb pid=1 prio=120 target_cpu=000', $first =~ s/1\.000001/1.000002/r]);
expect('states of old kernels', join('', map { line("1.00000$_->[0]", 0, "sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=$_->[1] ==> next_comm=b next_pid=2 next_prio=1") }
	[1, 'D|K'], [2, 'D|N'], [3, 'S|W'], [4, 'R+'], [5, 'x'], [6, '0x2'], [7, '1026']),
	[map { "[000] 1.00000$_->[0]000: sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=$_->[1] ==> next_comm=b next_pid=2 next_prio=1" }
		[1, 'D'], [2, 'I'], [3, 'S'], [4, 'R+'], [5, 'X'], [6, 'D'], [7, 'I']]);
expect('a number that means dead or parked', line('1.000001', 0, 'sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=64 ==> next_comm=b next_pid=2 next_prio=1'),
	['[000] 1.000001000: sched:sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=P ==> next_comm=b next_pid=2 next_prio=1'], qr/taken for parked/);
expect('a field that the definition does not have', line('1.000001', 0, 'sched_wakeup: comm=a pid=1 prio=120 success=1 target_cpu=000'),
	[$first =~ s/waking/wakeup/r]);
expect('events of one microsecond', join('', map { line('1.000001', $_, $waking) } 1, 0, 1), [map { "[00$_->[0]] 1.00000100$_->[1]: sched:$waking" } [1, 0], [0, 1], [1, 2]],
	qr/microseconds/);
expect('other events', line('1.000001', 0, 'irq_handler_exit: irq=5 ret=handled') . line('1.000002', 0, 'softirq_entry: vec=1 [action=TIMER]') .
	line('1.000003', 0, 'sched_process_exec: filename=/a pid=1 old_pid=2 pid=5 old_pid=6') . line('1.000004', 0, 'sched_stat_runtime: comm=a pid=1 runtime=5 [ns]') .
	line('1.000005', 0, 'cpu_idle: state=4294967295 cpu_id=1'),
	['[000] 1.000001000: irq:irq_handler_exit: irq=5 ret=handled', '[000] 1.000002000: irq:softirq_entry: vec=1 [action=TIMER]',
		'[000] 1.000003000: sched:sched_process_exec: filename=/a pid=1 old_pid=2 pid=5 old_pid=6', '[000] 1.000004000: text:sched_stat_runtime: comm=a pid=1 runtime=5 [ns]',
		'[000] 1.000005000: power:cpu_idle: state=4294967295 cpu_id=1']);

expect('a mark of an old kernel', line('1.000001', 0, '0: B|12|hello: world'), ['[000] 1.000001000: text:tracing_mark_write: B|12|hello: world']);
{
	my $text = line('1.000001', 0, $waking);
	my $note = qr/\A(?!.*(?:incomplete|not events))/s;

	expect('a page: other parts, and lines without an end, are no damage', "<html>\n<!-- BEGIN TRACE -->\n$text</script>\n<!-- BEGIN TRACE -->\nPROCESS DUMP\n{\"json\": 1} </script>\n</html>", [$first], $note);
	expect('a page whose last line of events has no end', "<html>\n<!-- BEGIN TRACE -->\n$text" . ($text =~ s/\n//r) . '</script></html>', [$first, $first =~ s/1000:/1001:/r], $note);
	expect('a page that is cut', "<html>\n<!-- BEGIN TRACE -->\n$text" . ($text =~ s/000\n//r), [$first], qr/last line is incomplete/);
	expect('an old page', "<html>\n<script>var linuxPerfData = \"\\\n" . ($text =~ s/\n/\\n\\\n/r) . "\";\n</script></html>\n", [$first]);
}

# losses
expect("ftrace's lost events", line('1.000001', 0, $waking) . "CPU:0 [LOST 12 EVENTS]\n" . line('1.000002', 0, $waking) . "CPU:0 [LOST EVENTS]\n" . line('1.000003', 0, $waking),
	[$first, '[000] 12 events lost between 1.000001000 and 1.000002000', $first =~ s/01000/02000/r, '[000] some events lost between 1.000002000 and 1.000003000',
		$first =~ s/01000/03000/r]);
expect("trace-cmd's lost events", line('1.000001', 0, $waking) . "CPU:0 [12 EVENTS DROPPED]\n" . line('1.000002', 0, $waking) . "CPU:0 [EVENTS DROPPED]\n" . line('1.000003', 0, $waking),
	[$first, '[000] 12 events lost between 1.000001000 and 1.000002000', $first =~ s/01000/02000/r, '[000] some events lost between 1.000002000 and 1.000003000',
		$first =~ s/01000/03000/r]);
expect('a buffer that was overwritten', "# tracer: nop\n# entries-in-buffer/entries-written: 3/30   #P:2\n" . line('1.000001', 0, $waking) . "##### CPU 1 buffer started ####\n" .
	line('1.000002', 1, $waking), [$first, '[001] some events lost between 1.000002000 and 1.000002000', $first =~ s/000\] 1\.000001/001] 1.000002/r], qr/overwritten in the ring buffers: 27/);
expect('lost events of a CPU without others', line('1.000001', 0, $waking) . "CPU:1 [LOST 12 EVENTS]\n" . line('1.000002', 0, $waking),
	[$first, "[000] 1.000002000: sched:$waking", '[001] 12 events lost between 1.000001000 and 1.000002000']);
expect("perf's lost events", "   a     1 [000]     1.000001: sched:$waking\n   a     1 [000]     1.000002: PERF_RECORD_LOST lost 7\n   a     1 [000]     1.000003: sched:$waking\n",
	[$first, '[000] 7 events lost between 1.000001000 and 1.000003000', $first =~ s/01000/03000/r], qr/^(?!.*whether events were lost)/s);
{
	my $dat = "$dir/22/losses.dat";
	my ($own) = runs("dump -i $dat");
	my ($status, $got) = read_text($own->[0]);

	check($own->[0] =~ /lost between/ && "@$got" eq join(' ', without_tasks($own->[0])), "schedtap's lost events", @$got);
}

# damage
expect('a last line that is cut', line('1.000001', 0, $waking) . line('1.000002', 0, $waking) =~ s/00\n//r, [$first], qr/last line is incomplete/);
expect('lines that are not events', "hello\n" . line('1.000001', 0, $waking) . " => schedule\n => do_idle\n", [$first], qr/not events: 3, of these lines of stacks: 2/);
expect('a line that does not fit', line('1.000001', 0, $waking) . line('1.000002', 0, 'sched_waking: comm=a pid=x'), [$first], qr/lines of sched_waking without the expected text: 1/);
expect('an event that never fits', join('', map { line("1.0000$_", 0, 'sched_switch: hello') } 10 .. 26), ['[000] 1.000026000: text:sched_switch: hello'], qr/lines of sched_switch without the expected text: 16/);
expect('no events', "# tracer: nop\n#\n", undef, qr/has no events/);
expect('lines that are not in order', line('2.000001', 0, $waking) . line('1.000001', 0, $waking), undef, qr/sort the file/);
expect('a CPU that cannot be', line('2.000001', 99999, $waking), undef, qr/CPU 99999/);
expect('numbers that are too large', line('1.000001', 0, $waking) . line('99999999999.000001', 0, $waking) . "   a-99999999999 [000] 1.000001: $waking\n", [$first], qr/not events: 2/);

print "1..$n\n";
exit($failed ? 1 : 0);
