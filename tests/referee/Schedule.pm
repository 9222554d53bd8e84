# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A schedule made from a seed: some CPUs and tasks take random steps, each of which the kernel could take. Each step writes the events that the
# kernel would trace, and logs what really happened (Truth.pm). The steps do not follow a policy: tasks run and wait in any order, so that rare
# orders are as frequent as others.
package Schedule;
use strict;
use warnings;
use List::Util qw(first max min);
use Truth;

my $begin = 1_000_000_000;
my %letter = (S => 1, D => 2, T => 4, t => 8, Z => 32, P => 64, I => 128, R => 0, 'R+' => 256);
my %slept = (S => 'sleep', I => 'sleep', D => 'blocked', T => 'stopped', t => 'stopped', P => 'stopped');

# Interrupt handlers: [kind, event fields, what woke the task, as critical says it].
my @handlers = (
	['irq', 'irq=11 name=nvme0q1', 'disk'], ['irq', 'irq=12 name=eth0', 'network'], ['irq', 'irq=9 name=acpi', 'interrupt'],
	['softirq', 'vec=1', 'timer'], ['softirq', 'vec=3', 'network'], ['softirq', 'vec=4', 'disk'], ['softirq', 'vec=6', 'interrupt'],
);

# All ingredients of a schedule that a seed may switch on.
our @ingredients = qw(irq idle resched throttle fork move affinity classes);

sub chance { return rand() < $_[0] }
sub one_of { return $_[int(rand(@_))] }

# Make the schedule of a seed. Options: cpus, tasks, steps, and each ingredient as 0 or 1; the seed chooses what is not given.
sub new {
	my ($class, $seed, %given) = @_;
	my $self = bless { seed => $seed, now => $begin, events => [], next_tid => 500 }, $class;

	srand($seed);
	my %with = map { $_ => chance(0.5) ? 1 : 0 } @ingredients;
	$self->{with} = { %with, map { $_ => $given{$_} } grep { exists $given{$_} } @ingredients };
	$self->{nr_cpus} = $given{cpus} // 1 + int(rand(4));
	$self->{steps} = $given{steps} // 60 + int(rand(300));
	$self->{gap} = one_of(300, 3000, 30000);
	$self->{truth} = Truth->new($begin, 0);
	$self->add_cpus();
	$self->add_tasks($given{tasks} // 2 + int(rand(8)));
	$self->start();
	$self->step() for 1 .. $self->{steps};
	for (1 .. 1000) { # reports need a wakeup
		last if grep { $_->{name} eq 'sched:sched_waking' } @{$self->{events}};
		$self->step();
	}
	$self->finish();
	$self->{to} = $self->{truth}{to} = $self->{now} += 1 + int(rand($self->{gap}));
	$self->{from} = $begin;
	$self->choose_window();
	return $self;
}

# A part of the schedule, of which reports are asked as well. Its ends are at no event, since no man page says to which side that would belong.
# Reports refuse a window without any switch or wakeup until its end.
sub choose_window {
	my ($self) = @_;
	my %used = map { $_->{ns} => 1 } @{$self->{events}};
	my $from = $begin + int(rand() * ($self->{to} - $begin) * 0.7);
	my $to = $from + 1 + int(rand() * ($self->{to} - $from - 1));
	my @needed = map { my $name = "sched:$_"; (first { $_->{name} eq $name } @{$self->{events}})->{ns} } qw(sched_switch sched_waking);

	$from++ while $used{$from};
	$to++ while $used{$to} || $to <= max($from, @needed);
	$self->{window} = [$from, $to];
}

# The schedule, with what a report knows that reads all of its events.
sub whole {
	my ($self) = @_;

	return bless { %$self, truth => $self->{truth}->of_whole() }, ref($self);
}

# ---- the world ----

sub add_cpus {
	my ($self) = @_;

	$self->{cpus} = [map { { nr => $_, runs => undef, irqs => [], sleeps => 0, todo => [], asked => '' } } 0 .. $self->{nr_cpus} - 1];
}

sub add_tasks {
	my ($self, $nr) = @_;

	$self->{tasks} = {};
	$self->add_task(100 + $_) for 1 .. $nr;
	$self->list($_) for map { $self->{tasks}{100 + $_} } 1 .. $nr;
	if ($self->{with}{classes}) {
		$self->add_task(20 + $_, comm => "migration/$_", prio => 0, cpus => [$_]) for 0 .. $self->{nr_cpus} - 1;
	}
}

# Add a task that sleeps. A task's fields: tid, comm, prio, cpu, cpus (which it may use), state, limited, quota.
sub add_task {
	my ($self, $tid, %of) = @_;
	my $all = [0 .. $self->{nr_cpus} - 1];
	my $prio = !$self->{with}{classes} ? 120 : one_of(-1, 49, 30, 120, 120, 120, 110, 139);
	my $may = $self->{with}{affinity} && chance(0.4) ? [one_of(@$all)] : $all;
	my $t = { tid => $tid, comm => "t$tid", prio => $prio, cpus => $may, state => 'sleep', from => $begin, limited => 0, quota => 0, waker_cpu => -1, %of };

	$t->{quota} = $self->{with}{throttle} && $t->{prio} != 0 && chance(0.5);
	$t->{cpu} //= one_of(@{$t->{cpus}});
	$self->{truth}->note('prios', $tid, $begin, $t->{prio});
	$self->{truth}{class}{$tid} = $t->{comm} =~ /^migration/ ? 'stop' : $t->{prio} < 0 ? 'deadline' : $t->{prio} < 100 ? 'realtime' : 'fair';
	$self->{truth}{may}{$tid} = $t->{cpus};
	$self->{tasks}{$tid} = $t;
	return $t;
}

# The recording's task list, which was read at its begin and at its end, has this task.
sub list {
	my ($self, $t) = @_;
	my $all = @{$t->{cpus}} == $self->{nr_cpus};

	push(@{$self->{listed}}, "[$t->{tid},$t->{tid},\"$t->{comm}\",null,\"both\"," . ($all ? 'null' : '"' . join(',', @{$t->{cpus}}) . '"') . ']');
	$self->{truth}{listed}{$t->{tid}} = 1;
}

# Before the first event: some tasks run, wait or sleep, which no event shows.
sub start {
	my ($self) = @_;

	for my $t (map { $self->{tasks}{$_} } sort { $a <=> $b } keys(%{$self->{tasks}})) {
		my $cpu = $self->{cpus}[$t->{cpu}];
		my $runs = !$cpu->{runs} && chance(0.5);
		$cpu->{runs} = $t if $runs;
		$self->enters($t, $runs ? 'running' : one_of('sleep', 'sleep', 'preempted'));
		$self->queued($t);
	}
	for my $c (@{$self->{cpus}}) {
		$c->{runs} //= { tid => 0, comm => "swapper/$c->{nr}", prio => 120 };
		$self->{truth}->note('runs', $c->{nr}, $begin, $c->{runs}{tid});
		$self->{truth}->note($_, $c->{nr}, $begin, '') for qw(irqs asked);
		$self->{truth}->note('sleeps', $c->{nr}, $begin, 0);
	}
}

# The task's state becomes STATE now.
sub enters {
	my ($self, $t, $state) = @_;

	$t->{state} = $state;
	$t->{from} = $self->{now};
	$self->{truth}->note('tasks', $t->{tid}, $self->{now}, $t->{limited} && $state =~ /waking|preempted/ ? 'throttled' : $state);
}

# The task is in its CPU's run queue.
sub queued {
	my ($self, $t) = @_;

	$self->{truth}->note('queues', $t->{tid}, $self->{now}, $t->{cpu});
	$self->{truth}->note('placing', $t->{tid}, $self->{now}, '');
	$t->{placing} = 0;
}

sub seen { $_[0]{truth}->first('seen', $_[1]{tid}, $_[0]{now}) }

sub idle { return !$_[0]{runs}{tid} }

# Tasks of a list of states, in order of their numbers.
sub tasks_in {
	my ($self, @states) = @_;
	my %in = map { $_ => 1 } @states;

	return grep { $in{$_->{state}} } map { $self->{tasks}{$_} } sort { $a <=> $b } keys(%{$self->{tasks}});
}

# Tasks that a CPU may switch to.
sub ready {
	my ($self, $c) = @_;

	return grep { $_->{cpu} == $c->{nr} && !$_->{placing} && !$_->{limited} } $self->tasks_in(qw(waking preempted));
}

# ---- events ----

# Write an event of the CPU's running task.
sub event {
	my ($self, $c, $name, $fields) = @_;

	push(@{$self->{events}}, { ns => $self->{now}, cpu => $c->{nr}, tid => $c->{runs}{tid}, name => $name, fields => $fields });
}

# A CPU's last slice must not be its migration thread's, after which the CPU may be offline, and no life must be half begun.
sub finish {
	my ($self) = @_;

	for my $c (@{$self->{cpus}}) {
		while (my $todo = shift(@{$c->{todo}})) {
			$self->pass();
			$todo->();
		}
		while ($c->{runs}{comm} =~ /migration/) {
			$self->pass();
			if (@{$c->{irqs}}) { $self->irq_ends($c) } else { $self->switch($c, 'S', undef) }
		}
	}
}

# The CPU will do this next.
sub later {
	my ($self, $c, $what) = @_;

	$c->{begun} = $self->{now};
	push(@{$c->{todo}}, $what);
}

sub pass { $_[0]{now} += 1 + int(rand() ** 3 * $_[0]{gap}) }

# ---- steps ----

# One step of some CPU: the rest of what it has begun, or something new. What a CPU has begun takes a few us at most.
sub step {
	my ($self) = @_;
	my ($late) = grep { @{$_->{todo}} && $self->{now} >= $_->{begun} + 5000 } @{$self->{cpus}};
	my $c = $late // one_of(@{$self->{cpus}});

	if (grep { @{$_->{todo}} } @{$self->{cpus}}) { $self->{now} += 1 + int(rand(min(1000, $self->{gap}))) } else { $self->pass() }
	if (my $todo = shift(@{$c->{todo}})) {
		$todo->();
		return;
	}
	my @steps = $self->possible($c);
	my $at = rand(List::Util::sum(map { $_->[0] } @steps));
	for (@steps) {
		$at -= $_->[0];
		return $_->[1]->() if $at < 0;
	}
}

# What the CPU may do next: [weight, sub].
sub possible {
	my ($self, $c) = @_;
	my $with = $self->{with};
	my $busy = !idle($c);
	my @steps = [2, sub { $self->wake($c) }];

	if ($with->{irq}) {
		push(@steps, [1, sub { $self->irq_begins($c) }]) if @{$c->{irqs}} < 2;
		push(@steps, [4, sub { $self->irq_ends($c) }]) if @{$c->{irqs}};
	}
	push(@steps, [0.5, sub { $self->ask($c) }]) if $with->{resched};
	push(@steps, [0.3, sub { $self->move($c) }]) if $with->{move} && @{$self->{cpus}} > 1;
	push(@steps, [1, sub { $self->unlimit($c) }]) if grep { $_->{limited} } values(%{$self->{tasks}});
	return @steps if @{$c->{irqs}};
	if ($busy) {
		push(@steps, [3, sub { $self->leave($c) }]);
		push(@steps, [0.3, sub { $self->fork($c) }], [0.1, sub { $self->exec($c) }], [0.2, sub { $self->exit($c) }]) if $with->{fork};
	} else {
		push(@steps, [1, sub { $self->idle_state($c) }]) if $with->{idle};
		push(@steps, [6, sub { $self->leave($c) }]) if !$c->{sleeps} && $self->ready($c);
	}
	return @steps;
}

# A switch: the running task sleeps or is preempted, or the CPU leaves its idle task.
sub leave {
	my ($self, $c) = @_;
	my @ready = $self->ready($c);
	my $prev = $c->{runs};
	my $next = @ready ? one_of(@ready) : undef;
	my $state = idle($c) ? 'R' : one_of(qw(S S S D I T t P));

	if (!idle($c) && $next && chance(0.6)) {
		$state = one_of('R', 'R+');
	}
	$self->limit($c, $prev) if $state =~ /R/ && $prev->{quota} && chance(0.5);
	$self->switch($c, $state, $next);
}

sub switch {
	my ($self, $c, $state, $next) = @_;
	my $prev = $c->{runs};

	$next //= { tid => 0, comm => "swapper/$c->{nr}", prio => 120 };
	$self->event($c, 'sched:sched_switch', "prev_comm=$prev->{comm} prev_pid=$prev->{tid} prev_prio=$prev->{prio} prev_state=$letter{$state} "
		. "next_comm=$next->{comm} next_pid=$next->{tid} next_prio=$next->{prio}");
	$self->begins_chain($c, $prev, $next);
	$self->switched_out($prev, $state) if $prev->{tid};
	if ($next->{tid}) {
		$self->enters($next, 'running');
		$self->seen($next);
	}
	$c->{runs} = $next;
	$self->{truth}->note('runs', $c->{nr}, $self->{now}, $next->{tid});
	$self->asks($c, '');
}

# A CPU's first switch proves what it ran before, but if the CPU may have been offline.
sub begins_chain {
	my ($self, $c, $prev, $next) = @_;
	my $truth = $self->{truth};

	return if defined($truth->{switched}{$c->{nr}});
	$truth->{switched}{$c->{nr}} = $truth->{known}{$c->{nr}} = $self->{now};
	$truth->{origin}{$c->{nr}} = $prev->{tid} if $prev->{tid} || $next->{comm} !~ /^migration/;
}

sub switched_out {
	my ($self, $t, $state) = @_;

	$self->seen($t);
	$self->enters($t, $state =~ /R/ ? 'preempted' : $state eq 'Z' ? 'none' : $slept{$state});
	delete $self->{tasks}{$t->{tid}} if $state eq 'Z';
	$t->{letter} = $state;
}

# A task or an interrupt wakes a task.
sub wake {
	my ($self, $c) = @_;
	my @asleep = $self->tasks_in(qw(sleep blocked stopped));
	my $t = @asleep ? one_of(@asleep) : return;
	my $irq = @{$c->{irqs}} ? $c->{irqs}[-1][2] : idle($c) ? 'interrupt' : '';

	$self->event($c, 'sched:sched_waking', "comm=$t->{comm} pid=$t->{tid} prio=$t->{prio} target_cpu=$t->{cpu}");
	push(@{$self->{truth}{wakeups}}, { ns => $self->{now}, cpu => $c->{nr}, tid => $t->{tid}, waker => $c->{runs}{tid}, irq => $irq,
		from => $t->{from} });
	$t->{waker_cpu} = $c->{nr};
	$self->enters($t, 'waking');
	$self->seen($t);
	$self->queued($t);
	my @others = grep { $_ != $t->{cpu} } @{$t->{cpus}};
	$self->place($c, $t, one_of(@others)) if @others && chance(0.5);
}

# The wakeup chooses another CPU, soon after sched_waking.
sub place {
	my ($self, $c, $t, $to) = @_;

	$t->{placing} = 1;
	$self->{truth}->note('placing', $t->{tid}, $self->{now}, 1);
	$self->later($c, sub { $self->migrate($c, $t, $to) });
}

sub migrate {
	my ($self, $c, $t, $to) = @_;

	$self->event($c, 'sched:sched_migrate_task', "comm=$t->{comm} pid=$t->{tid} prio=$t->{prio} orig_cpu=$t->{cpu} dest_cpu=$to");
	$t->{cpu} = $to;
	$self->queued($t);
}

# Load balancing: a CPU moves a task that waits, or that sleeps and was not dequeued yet. Wakeups move tasks as well: without sched_wakeup, a move
# by the waker's CPU looks like one, unless it comes late and is to this CPU. So others are not made.
sub move {
	my ($self, $c) = @_;
	my @may = grep { !$_->{placing} && @{$_->{cpus}} > 1 && $self->{now} - $_->{from} > 10_000 } $self->tasks_in(qw(waking preempted sleep));
	my $t = @may ? one_of(@may) : return;

	my @to = grep { $_ != $t->{cpu} && ($t->{waker_cpu} != $c->{nr} || $_ == $c->{nr}) } @{$t->{cpus}};
	$self->migrate($c, $t, one_of(@to)) if @to;
}

# ---- interrupts, idle states, requests ----

sub irq_begins {
	my ($self, $c) = @_;
	my $hard = grep { $_->[0] eq 'irq' } @{$c->{irqs}};
	my $handler = one_of(grep { !@{$c->{irqs}} || ($_->[0] eq 'irq' && !$hard) } @handlers) // return;

	$self->event($c, $handler->[0] eq 'irq' ? 'irq:irq_handler_entry' : 'irq:softirq_entry', $handler->[1]);
	push(@{$c->{irqs}}, $handler);
	$self->{truth}->note('irqs', $c->{nr}, $self->{now}, join(' ', map { $_->[0] } @{$c->{irqs}}));
}

sub irq_ends {
	my ($self, $c) = @_;
	my $handler = pop(@{$c->{irqs}});

	$self->event($c, $handler->[0] eq 'irq' ? 'irq:irq_handler_exit' : 'irq:softirq_exit', $handler->[1] =~ s/ name=.*//r);
	$self->{truth}->note('irqs', $c->{nr}, $self->{now}, join(' ', map { $_->[0] } @{$c->{irqs}}));
}

sub idle_state {
	my ($self, $c) = @_;
	my $state = $c->{sleeps} ? 4294967295 : int(rand(4));

	$self->event($c, 'power:cpu_idle', "state=$state cpu_id=$c->{nr}");
	$c->{sleeps} = !$c->{sleeps} || 0;
	$self->{truth}->note('sleeps', $c->{nr}, $self->{now}, $c->{sleeps});
	$self->{truth}->first('idle_seen', $c->{nr}, $self->{now}) if defined($self->{truth}{switched}{$c->{nr}});
}

# A CPU requests that another one, or itself, reschedules. A lazy request changes nothing after one that is not. Before both flags' numbers have
# appeared, no event says that a request is lazy.
sub ask {
	my ($self, $c) = @_;
	my $of = chance(0.7) ? $c : one_of(@{$self->{cpus}});
	my $how = chance(0.5) ? 'lazy' : 'hard';

	$self->event($c, 'schedtap:sched_set_need_resched',
		"comm=$of->{runs}{comm} pid=$of->{runs}{tid} cpu=$of->{nr} tif=" . ($how eq 'hard' ? 3 : 4));
	$self->{truth}->first('flags', $how, $self->{now});
	$how = 'hard' if !defined($self->{truth}{flags}{hard});
	$self->asks($of, $how) if $of->{asked} ne 'hard';
}

sub asks {
	my ($self, $c, $how) = @_;

	$c->{asked} = $how;
	$self->{truth}->note('asked', $c->{nr}, $self->{now}, $how);
}

# ---- throttling ----

# The running task's quota is used up, just before a switch.
sub limit {
	my ($self, $c, $t) = @_;

	$self->event($c, 'schedtap:sched_throttle', "comm=$t->{comm} pid=$t->{tid} by=1");
	$t->{limited} = 1;
}

sub unlimit {
	my ($self, $c) = @_;
	my $t = one_of(grep { $_->{limited} } map { $self->{tasks}{$_} } sort { $a <=> $b } keys(%{$self->{tasks}})) // return;

	$self->event($c, 'schedtap:sched_unthrottle', "comm=$t->{comm} pid=$t->{tid} cpu=$t->{cpu}");
	$t->{limited} = 0;
	$self->enters($t, $t->{state});
}

# ---- lives ----

sub fork {
	my ($self, $c) = @_;
	my ($parent, $tid) = ($c->{runs}, $self->{next_tid}++);

	return if $parent->{comm} =~ /migration/;
	$self->event($c, 'sched:sched_process_fork',
		"parent_comm=$parent->{comm} parent_pid=$parent->{tid} child_comm=$parent->{comm} child_pid=$tid");
	$self->later($c, sub { $self->begin_life($c, $tid) });
}

sub begin_life {
	my ($self, $c, $tid) = @_;
	my $parent = $c->{runs};
	my $t = $self->add_task($tid, comm => $parent->{comm}, prio => $parent->{prio} == -1 ? 120 : $parent->{prio}, cpus => $parent->{cpus});

	$self->event($c, 'sched:sched_wakeup_new', "comm=$t->{comm} pid=$tid prio=$t->{prio} target_cpu=$t->{cpu}");
	push(@{$self->{truth}{wakeups}}, { ns => $self->{now}, cpu => $c->{nr}, tid => $tid, waker => $parent->{tid}, irq => '', from => undef });
	$t->{waker_cpu} = $c->{nr};
	$self->enters($t, 'waking');
	$self->seen($t);
	$self->queued($t);
}

sub exec {
	my ($self, $c) = @_;
	my $t = $c->{runs};

	return if $t->{comm} =~ /migration/;
	$self->event($c, 'sched:sched_process_exec', "filename=/bin/x$t->{tid} pid=$t->{tid} old_pid=$t->{tid}");
	$t->{comm} = "x$t->{tid}";
}

sub exit {
	my ($self, $c) = @_;
	my $t = $c->{runs};

	return if $t->{comm} =~ /migration/;
	$self->event($c, 'sched:sched_process_exit', "comm=$t->{comm} pid=$t->{tid} prio=$t->{prio} group_dead=1");
	$self->later($c, sub { my @ready = $self->ready($c); $self->switch($c, 'Z', @ready ? one_of(@ready) : undef) });
}

# ---- the recording ----

# The schedule in the language of mkdat.
sub text {
	my ($self) = @_;

	my $meta = "{\"window\":{\"start_ns\":$self->{from},\"end_ns\":$self->{to}},\"tasks\":[" . join(',', @{$self->{listed}}) . ']}';

	return join("\n", $self->{with}{throttle} ? 'throttling' : (), "meta $meta", "cpus $self->{nr_cpus}", map { line($_) } @{$self->{events}}) . "\n";
}

sub line {
	my ($event) = @_;

	return "lost $event->{cpu} $event->{from} $event->{ns} $event->{count}" if $event->{name} eq 'lost';
	return "$event->{ns} $event->{cpu} $event->{tid} $event->{name} $event->{fields}";
}

1;
