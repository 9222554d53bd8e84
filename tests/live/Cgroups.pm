# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
package Cgroups;
use strict;
use warnings;
use Exporter qw(import);
use Files;
our @EXPORT = qw(cgroup_mount);

# The mount point of the hierarchy that -g means: version 1 with the CPU controller, or version 2; or undef.
sub cgroup_mount {
	my @mounts = map { [split(' ')] } split(/\n/, slurp('/proc/self/mounts'));
	my ($v1) = grep { $_->[2] eq 'cgroup' && ",$_->[3]," =~ /,cpu,/ } @mounts;
	my ($v2) = grep { $_->[2] eq 'cgroup2' } @mounts;

	return ($v1 // $v2 // [])->[1];
}

1;
