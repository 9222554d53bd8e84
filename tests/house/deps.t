#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tools/deps looks for what is needed itself, not for packages, and says what to type where it cannot install.
# Each case has a folder of programs of its own: all of this machine's but @hidden, and stand-ins.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;
use lib dirname(__FILE__) . '/..';
use Files;

my $deps = dirname(abs_path($0)) . '/../../tools/deps';
my $dir = tempdir(CLEANUP => 1);
my @apt = qw(apt-get dpkg-query);
my $no_header = 'grep -q "<jansson.h>" && exit 1; exit 0'; # of a compiler
my $nothing = 'exit 1';
my $user = 'echo 1000'; # of id -u
my $root = 'echo 0';

my @cases = (
	{
		name => 'all is there: not a word, and neither apt nor dpkg is asked',
		hidden => \@apt, stand_in => { map { $_ => 'exit 0' } qw(gcc clang bpftool lowdown) }, says => qr/\A\z/, rc => 0,
	},
	{
		name => 'Debian, not root: the line for sudo',
		os => 'ID=debian', stand_in => { gcc => $no_header, id => $user },
		says => qr/^missing: jansson\.h\n.*'sudo apt-get install libjansson-dev'$/m, rc => 1,
	},
	{
		name => 'Ubuntu is like Debian',
		os => "ID=ubuntu\nID_LIKE=debian", stand_in => { gcc => $no_header, id => $user },
		says => qr/'sudo apt-get install libjansson-dev'$/m, rc => 1,
	},
	{
		name => 'Fedora: dnf', os => 'ID=fedora', stand_in => { gcc => $no_header, id => $user },
		says => qr/'sudo dnf install jansson-devel'$/m, rc => 1,
	},
	{
		name => 'CentOS is like Fedora; root needs no sudo', hidden => \@apt,
		os => "ID=\"centos\"\nID_LIKE=\"rhel fedora\"", stand_in => { gcc => $no_header, id => $root },
		says => qr/run 'dnf install jansson-devel'$/m, rc => 1,
	},
	{
		name => 'Arch: pacman', os => 'ID=arch', stand_in => { gcc => $no_header, id => $user },
		says => qr/'sudo pacman -S --needed jansson'$/m, rc => 1,
	},
	{
		name => 'openSUSE: zypper', os => "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"",
		stand_in => { gcc => $no_header, id => $user }, says => qr/'sudo zypper install libjansson-devel'$/m, rc => 1,
	},
	{
		name => 'Alpine: apk', os => 'ID=alpine', stand_in => { gcc => $no_header, id => $user },
		says => qr/'sudo apk add jansson-dev'$/m, rc => 1,
	},
	{
		name => 'an unknown one: what is missing, and where Debian has it',
		os => 'ID=other', stand_in => { gcc => $no_header }, says => qr/^missing: jansson\.h\n.*packages: libjansson-dev$/m, rc => 1,
	},
	{
		name => 'Debian, root: installed, and nothing is removed for it',
		os => 'ID=debian', stand_in => { gcc => $no_header, id => $root, 'apt-get' => 'echo "apt: $*" >&3' },
		says => qr/^apt: install (?=.* --no-remove ).* libjansson-dev$/m, rc => 0,
	},
	{
		name => 'no compiler for arm64 where gcc-multilib is: it stays',
		group => 'test', os => 'ID=debian', hidden => ['aarch64-linux-gnu-gcc-12', 'g++'],
		stand_in => { id => $root, 'dpkg-query' => 'echo install ok installed', 'apt-get' => 'echo "apt: $*" >&3' },
		says => qr/^going on without gcc-12-aarch64-linux-gnu: gcc-multilib.*^apt: install (?!.*aarch64).* g\+\+/ms, rc => 0,
	},
	map({ {
		name => "$_ has a name for all that building needs",
		os => "ID=$_", stand_in => { gcc => $nothing, clang => $nothing }, nr => 10,
		hidden => ['bpftool', 'lowdown', @apt], says => qr/run '/, rc => 1,
	} } qw(fedora arch suse alpine)),
);

# A folder of programs.
sub programs {
	my ($case) = @_;
	my $bin = tempdir(DIR => $dir);
	my %without = map { $_ => 1 } @{$case->{hidden} // []};

	for my $program (reverse map { glob("$_/*") } split(/:/, $ENV{PATH})) {
		my $name = $program =~ s{.*/}{}r;

		next if $without{$name} || -d $program;
		unlink("$bin/$name");
		symlink($program, "$bin/$name");
	}
	for (keys %{$case->{stand_in}}) {
		unlink("$bin/$_");
		spew("$bin/$_", "#!/bin/sh\n$case->{stand_in}{$_}\n");
		chmod(0755, "$bin/$_");
	}
	return $bin;
}

for my $case (@cases) {
	my $bin = programs($case);

	spew("$dir/os-release", ($case->{os} // 'ID=debian') . "\n");
	my $group = $case->{group} // 'build';
	my $said = `OS_RELEASE=$dir/os-release PATH=$bin $deps $group 3>&1 2>&1`;
	my ($line) = $said =~ /'(.*)'/;

	ok($? >> 8 == $case->{rc} && $said =~ $case->{says} && split(' ', $line // '') >= ($case->{nr} // 0), $case->{name})
		or diag("rc ", $? >> 8, ": $said");
}
done_testing();
