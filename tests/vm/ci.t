#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# All that docs/ci.md says, with its commands: a guest (ci-init) records, the recordings come out of it, and rules are held
# against them with the exit codes of the page's table. In a guest with a clock that counts its
# instructions, as the page has it: make soak. make test has Part/Ci.pm.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__), dirname(__FILE__) . '/..';
use Files qw(spew);
use Part::Ci;
use VM;

my $top = abs_path(dirname(abs_path($0)) . '/../..');
my $schedtap = abs_path($ENV{SCHEDTAP} // "$top/build/schedtap");
my $quiet_s = 60; # a boot and five short recordings take half a minute
my $page = slurp("$top/docs/ci.md");

sub make_initramfs {
	my ($dir) = @_;
	my $root = "$dir/root";
	my ($guest) = $page =~ /```guest\n(.*?)```/s;

	make_path(map { "$root/$_" } qw(bin proc sys dev out));
	install_program($root, which('busybox'), 'busybox');
	install_program($root, $schedtap, 'schedtap');
	copy("$top/tests/vm/ci-init", "$root/init") or die "init: $!";
	chmod(0755, "$root/init");
	spew("$root/guest", $guest);
	pack_initramfs($root, "$dir/initrd");
}

sub run_on_host {
	my ($command) = @_;

	if ($command =~ /^qemu/) {
		my $why = run_guest($quiet_s, 'said', 'sh', '-c', "exec $command >said 2>&1 </dev/null");

		return is($why, '', 'the guest comes to its end');
	}
	my ($rc, $said) = Part::Ci::run($command);
	return is($rc, 0, $command) || diag($said);
}

sub check_guest {
	my ($numbers) = $page =~ /^for i in ([\d ]+);/m;

	run_on_host($_) for Part::Ci::commands('host');
	my $said = slurp('said');
	ok($said =~ /^the guest's commands ended with 0\r?$/m, "the guest's commands") or diag(substr($said, -800));
	return is_deeply([glob('run*.dat')], [map { "run$_.dat" } split(' ', $numbers)], 'the recordings are there');
}

sub check_rules {
	my $code_of = Part::Ci::exit_codes();
	my @cases = (
		(map { ['every rule passed', $_] } Part::Ci::commands('sh')),
		['a rule certainly failed, even if events are missing', 'schedtap check never.rules run*.dat'],
		['a rule certainly failed, even if events are missing', 'schedtap check --strict eevdf run*.dat'],
		['no rule failed, at least one is undecided', 'schedtap check eevdf run*.dat'],
		['no recording', 'schedtap check my.rules run0.dat'],
		['bad rules', 'schedtap check bad.rules run*.dat'],
	);

	spew('my.rules', $page =~ /```rules\n(.*?)```/s);
	spew('never.rules', "rule never : latency.any.max < 1ns\n" . slurp("$top/rules/eevdf.rules"));
	spew('bad.rules', "rule bad : latency.any.max <\n");
	for (@cases) {
		my ($means, $command) = @$_;
		my ($rc, $said) = Part::Ci::run($command);

		is($rc, $code_of->{$means}, "$means: $command") or diag($said);
	}
}

my $why = -x $schedtap ? lacks_for_x86_guests(qw(ldd tar truncate)) : "'$schedtap' is not built";
plan(skip_all => $why) if $why;

my $dir = tempdir(CLEANUP => 1);
my ($vmlinuz) = map { (split)[1] } `$top/tests/vm/fetch 6.12 2>$dir/fetch.err`;
plan(skip_all => 'no kernel: ' . slurp("$dir/fetch.err")) if !$vmlinuz;

symlink($vmlinuz, "$dir/bzImage") or die "bzImage: $!";
make_initramfs($dir);
Part::Ci::install_program_and_rules($dir, $schedtap);
$ENV{PATH} = "$dir/bin:$ENV{PATH}";
chdir($dir) or die "$dir: $!";
if (check_guest()) {
	check_rules();
	Part::Ci::check_look();
}
chdir('/');
done_testing();
