#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Processes in an export, and the cgroups of their threads: their names, or with `record --command-lines` their command lines, of those who were there when the
# recording began and of those who came or executed something since.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Files;
use Perfetto;
use Recordings;

my $tmp = memory_folder();

if (my $why = missing()) {
	print "1..0 # SKIP $why\n";
	exit 0;
}

sub is {
	my ($got, $want, $name) = map { $_ // 'none' } @_;

	check($name, $got eq $want ? () : "$got, not $want");
}

# recording TEXT...: Return: its path.
sub recording {
	system($ENV{MKDAT}, spew("$tmp/in.txt", join('', @_)), "$tmp/in.dat") == 0 or die "$ENV{MKDAT}\n";
	return "$tmp/in.dat";
}

# processes LINES: what the recording says of command lines. Return: of each process what Perfetto has, and its errors.
sub processes {
	my ($lines) = @_;

	my $dat = recording('meta {"window":{"start_ns":1000000000,"end_ns":1001000000},"tasks":[[100,100,"app",null,"both"],[101,100,"worker",null,"both"],' .
		'[200,200,"sh",null,"began"],[200,200,"child",null,"ended"],[300,300,"late",null,"ended"],[400,400,"kthread",null,"both"]]' . "$lines}\n",
		"1.000010000 0 0 sched:sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=app next_pid=100\n",
		"1.000020000 0 100 task:task_newtask pid=300 comm=app clone_flags=0\n",
		"1.000030000 0 100 sched:sched_switch prev_comm=app prev_pid=100 prev_state=0 next_comm=late next_pid=300\n",
		"1.000040000 0 300 sched:sched_switch prev_comm=late prev_pid=300 prev_state=0 next_comm=child next_pid=200\n");
	my $theirs = ask(export_of($dat), processes => 'select pid, name, cmdline from process',
		threads => 'select tid, thread.name, pid from thread join process using (upid)',
		errors => "select name from stats where severity != 'info' and value > 0");
	my %of = map { $_->{pid} => $_ } @{$theirs->{processes}};

	$of{worker} = (grep { $_->{tid} == 101 } @{$theirs->{threads}})[0];
	is(scalar(@{$theirs->{errors}}), 0, "no errors$lines");
	return \%of;
}

my $of = processes('');
is($of->{100}{cmdline}, 'app', 'without command lines a process has its name');
is($of->{worker}{pid}, 100, 'a thread is in its process');
is($of->{worker}{name}, 'worker', 'and keeps its own name');

$of = processes(',"command_lines":[[100,"both",["/usr/bin/app","-v","two words"]],[200,"began",["sh"]],[200,"ended",["child","1"]],[300,"ended",["late"]]]');
is($of->{100}{cmdline}, '/usr/bin/app -v two words', 'a command line that is the same at both ends');
is($of->{100}{name}, '/usr/bin/app', 'its first word is the name');
is($of->{200}{cmdline}, 'child 1', 'of one that executed something the last');
is($of->{300}{cmdline}, 'late', 'of one that came meanwhile');
is($of->{400}{cmdline}, 'kthread', 'who has none has its name');
is($of->{worker}{name}, 'worker', 'a thread keeps its own name then too');

$of = processes(',"command_lines":[[100,"both",[1,{},null]],[200,"both","sh"],[-1,"both",["x"]],[300],7,[400,"never",["y"]],[5e9,"ended",["z"]]]');
is($of->{400}{cmdline}, 'kthread', 'rows that are none');
is(scalar(grep { ($_->{cmdline} // '') =~ /^[xyz]$/ } values %$of), 0, 'are passed over');

$of = processes(',"command_lines":[[100,"both",["a\u0001\u001b[31m"," \ud83d\ude00",""]]]');
is($of->{100}{cmdline}, "a\x01\x1b[31m  \x{1f600} ", 'any characters');

# In cgroups: 100 is in one all along, and so is its child 300; 200 is moved, 500 too, but at an unknown time; where 400 is is not known.
my $dat = recording('meta {"window":{"start_ns":1000000000,"end_ns":1001000000},"cgroups":[[7,"/web\u001b"],[8,"/batch"]],"tasks":[[100,100,"app",7,"both"],' .
	'[200,200,"job",7,"began"],[200,200,"job",8,"ended"],[500,500,"sly",7,"began"],[500,500,"sly",8,"ended"],[400,400,"other",null,"both"]]}' . "\n",
	"1.000010000 0 0 sched:sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=app next_pid=100\n",
	"1.000020000 0 100 task:task_newtask pid=300 comm=app clone_flags=0\n",
	"1.000030000 0 100 sched:sched_switch prev_comm=app prev_pid=100 prev_state=0 next_comm=app next_pid=300\n",
	"1.000040000 0 300 sched:sched_process_exit comm=app pid=300 prio=120\n",
	"1.000050000 0 300 sched:sched_switch prev_comm=app prev_pid=300 prev_state=128 next_comm=job next_pid=200\n",
	"1.000060000 0 200 schedtap:sched_pelt_se cpu=0 comm=job pid=200 cgroup=8\n",
	"1.000070000 0 200 sched:sched_switch prev_comm=job prev_pid=200 prev_state=0 next_comm=other next_pid=400\n",
	"1.000080000 0 400 sched:sched_switch prev_comm=other prev_pid=400 prev_state=0 next_comm=sly next_pid=500\n",
	"1.000090000 0 500 sched:sched_switch prev_comm=sly prev_pid=500 prev_state=0 next_comm=swapper/0 next_pid=0\n");
my $slices = ask(export_of($dat, '-g', '*'), cgroups => 'select tid, s.ts - 1000000000 as ts, s.ts + s.dur - 1000000000 as end, s.name as path from slice s ' .
	"join thread_track t on s.track_id = t.id join thread using (utid) where t.name = 'cgroup' order by tid, s.ts")->{cgroups};
is(join('; ', map { "$_->{tid} from $_->{ts} to $_->{end} in $_->{path}" } @$slices),
	"100 from 0 to 1000000 in /web\x1b; 200 from 0 to 60000 in /web\x1b; 200 from 60000 to 1000000 in /batch; 300 from 20000 to 1000000 in /web\x1b", 'cgroups of threads');
exit(finish());
