# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests in guests share.
package VM;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
our @EXPORT = qw(which slurp steps_of pack_initramfs module_events);

my $here = dirname(__FILE__);

sub which { my ($x) = grep { -x } map { "$_/$_[0]" } split(/:/, $ENV{PATH}); return $x }
sub slurp { open(my $f, '<:raw', $_[0]) or return ''; local $/; return <$f> // '' }

# What a guest said, by step: each command's output and exit code.
sub steps_of {
	my ($said) = @_;
	my %steps;

	$said =~ s/\r//g;
	while ($said =~ /^@@ (?!rc )(\w+)\n(.*?)^@@ rc (\d+)$/msg) {
		$steps{$1} = { text => $2, rc => $3 };
	}
	return \%steps;
}

sub pack_initramfs {
	my ($dir) = @_;

	system("cd $dir/root && find . | busybox cpio -o -H newc >$dir/initrd 2>/dev/null") == 0
		or die 'cannot pack the initramfs';
}

# All events that the module can have: the families of kmod/families.h.
sub module_events {
	my (@events, %seen);

	for my $family (slurp("$here/../../kmod/families.h") =~ /"(\w+\.h)"/g) {
		push(@events, slurp("$here/../../events/$family") =~ /^TRACE_HOOK\((\w+),/mg);
	}
	return grep { !$seen{$_}++ } @events;
}

1;
