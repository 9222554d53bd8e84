# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests in guests share.
package VM;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IO::Uncompress::Gunzip qw(gunzip);
use MIME::Base64 qw(decode_base64);
our @EXPORT = qw(which slurp steps_of install_program pack_initramfs module_events module_tracepoints verdict);

my $here = dirname(__FILE__);

sub which { my ($x) = grep { -x } map { "$_/$_[0]" } split(/:/, $ENV{PATH}); return $x }
sub slurp { open(my $f, '<:raw', $_[0]) or return ''; local $/; return <$f> // '' }

# What is long comes as gzip, which begins so in base64.
sub unpacked {
	my ($said) = @_;
	my ($packed, $text) = (decode_base64($said));

	return $said if $said !~ /\AH4sI/;
	gunzip(\$packed, \$text) or die 'what the guest packed is damaged';
	return $text;
}

# What a guest said, by step: each command's output and exit code.
sub steps_of {
	my ($said) = @_;
	my %steps;

	$said =~ s/\r//g;
	while ($said =~ /^@@ (?!rc )(\w+)\n(.*?)^@@ rc (\d+)$/msg) {
		$steps{$1} = { text => unpacked($2), rc => $3 };
	}
	return \%steps;
}

# The program with its shared libraries, at the paths where its loader looks for them.
sub install_program {
	my ($root, $path, $name) = @_;
	my @libs = `ldd $path 2>/dev/null` =~ m{(/\S+) \(0x}g;

	make_path(map { $root . dirname($_) } @libs);
	copy($_, "$root$_") && chmod(0755, "$root$_") or die "$_: $!" for @libs;
	copy($path, "$root/bin/$name") or die "$path: $!";
	chmod(0755, "$root/bin/$name");
}

sub pack_initramfs {
	my ($root, $to) = @_;

	system("cd $root && find . | busybox cpio -o -H newc >$to 2>/dev/null") == 0
		or die 'cannot pack the initramfs';
}

# TRACE_HOOK()s of the families of kmod/families.h: all that the module can have.
sub hooks {
	my ($which) = @_;
	my ($text, %seen) = ('');

	$text .= slurp("$here/../../events/$_") for slurp("$here/../../kmod/families.h") =~ /"(\w+\.h)"/g;
	return grep { !$seen{$_}++ } $text =~ /^TRACE_HOOK\($which/mg;
}

sub module_events { return hooks(qr/(\w+),/) }
sub module_tracepoints { return hooks(qr/\w+, (\w+),/) }

# What became of an event. @absent, @silent: why it cannot happen, or did not; @nr: how often it did.
sub verdict {
	my ($absent, $nr, $silent) = @_;

	return $absent ? "absent: $absent" : $nr ? "fired $nr" : $silent ? "silent: $silent" : 'FAILED';
}

1;
