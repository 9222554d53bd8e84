# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests in guests share.
package VM;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IO::Uncompress::Gunzip qw(gunzip);
use MIME::Base64 qw(decode_base64);
use POSIX qw(WNOHANG _exit);
use Time::HiRes qw(sleep time);
our @EXPORT = qw(which lacks_for_x86_guests slurp steps_of libraries_of install_program install_file install_script install_text compile pack_initramfs run_guest module_events module_tracepoints verdict);

our $here = dirname(__FILE__);

sub which { my ($x) = grep { -x } map { "$_/$_[0]" } split(/:/, $ENV{PATH}); return $x }
sub slurp { open(my $f, '<:raw', $_[0]) or return ''; local $/; return <$f> // '' }

# What guests of Debian's x86-64 kernels need beside these programs, and is not there; undef: nothing is missing.
sub lacks_for_x86_guests {
	return 'the guests are x86-64' if `uname -m` ne "x86_64\n";
	for (qw(qemu-system-x86_64 busybox apt-get dpkg-deb), @_) {
		return "no $_ on this machine" if !which($_);
	}
	my $busybox = which('busybox');
	return "'$busybox' is not static (package busybox-static)" if `ldd $busybox 2>&1` =~ /=>/;
	return;
}

# Return: the output of a step. The guest sends long output as base64 of gzip, which begins with "H4sI".
sub unpacked {
	my ($said) = @_;
	my ($packed, $text) = (decode_base64($said));

	return $said if $said !~ /\AH4sI/;
	gunzip(\$packed, \$text) or die 'what the guest packed is damaged';
	return $text;
}

# What a guest said, by step: each command's output and exit code, and where it says so its uptime in seconds.
sub steps_of {
	my ($said) = @_;
	my %steps;

	$said =~ s/\r//g;
	while ($said =~ /^@@ (?!rc )(\w+)\n(.*?)^@@ rc (\d+)(?: ([\d.]+))?$/msg) {
		$steps{$1} = { text => unpacked($2), rc => $3, uptime => $4 };
	}
	return \%steps;
}

# Shared libraries that a program is linked with.
sub libraries_of {
	my ($path) = @_;

	return `ldd $path 2>/dev/null` =~ m{(/\S+) \(0x}g;
}

# The program with its shared libraries, at the paths where its loader looks for them.
sub install_program {
	my ($root, $path, $name) = @_;
	my @libs = libraries_of($path);

	make_path(map { $root . dirname($_) } @libs);
	copy($_, "$root$_") && chmod(0755, "$root$_") or die "$_: $!" for @libs;
	copy($path, "$root/bin/$name") or die "$path: $!";
	chmod(0755, "$root/bin/$name");
}

# A file of tests/vm.
sub install_file {
	my ($root, $path) = @_;

	copy("$here/$path", "$root/" . basename($path)) or die "$path: $!";
}

sub install_script {
	my ($root, @paths) = @_;

	for (@paths) {
		my $to = "$root/bin/" . basename($_);

		copy("$here/$_", $to) && chmod(0755, $to) or die "$_: $!";
	}
}

sub install_text {
	my ($root, $path, $text) = @_;

	make_path(dirname("$root/$path"));
	open(my $f, '>:raw', "$root/$path") or die "$path: $!";
	print $f $text;
	close($f);
}

sub compile { system('gcc', '-O2', @_) == 0 or die "gcc @_" }

sub pack_initramfs {
	my ($root, $to) = @_;

	system("cd $root && find . | busybox cpio -o -H newc >$to 2>/dev/null") == 0
		or die 'cannot pack the initramfs';
}

# Seconds that the thread which waited longest for a CPU has waited since it was first looked at (sched-stats.rst). @seen: what
# is known of each, by its folder.
sub waited_s {
	my ($pid, $seen) = @_;
	my $most = 0;

	for my $task (glob("/proc/$pid/task/*")) {
		my ($ran_ns, $waited_ns) = split(' ', slurp("$task/schedstat")) or next;
		my $t = $seen->{$task} //= { waited_ns => $waited_ns, ran_ns => -1 };

		@$t{qw(ran_ns at)} = ($ran_ns, time()) if $t->{ran_ns} != $ran_ns;
		# a wait that goes on is in the kernel's sum when it is over
		my $goes_on_s = slurp("$task/stat") =~ /^\d+ \(.*\) R /s ? time() - $t->{at} : 0;
		my $s = ($waited_ns - $t->{waited_ns}) / 1e9 + $goes_on_s;
		$most = $s if $s > $most;
	}
	return $most;
}

# Return: why it is ended, or '' as long as it goes on. What it says is the measure, not how long it takes:
# beside other work a guest is slow.
sub why_end {
	my ($quiet_s, $pid, $said, $since) = @_;
	my $size = -s $said // 0;

	%$since = (size => $size, time => time(), seen => {}) if $size != ($since->{size} // -1);
	my $silent_s = time() - $since->{time};
	my $waited_s = waited_s($pid, $since->{seen});
	return sprintf('stuck: not a word for %.0f s, of which it waited %.0f s for a CPU', $silent_s, $waited_s)
		if $silent_s - $waited_s > $quiet_s;
	return sprintf('starved: of %.0f s it waited %.0f s for a CPU', $silent_s, $waited_s) if $silent_s > 4 * $quiet_s;
	return '';
}

sub try_guest {
	my ($quiet_s, $said, @qemu) = @_;
	my ($why, %since) = ('');

	unlink($said);
	my $pid = fork() // die "fork: $!";
	if (!$pid) {
		{ exec(@qemu) };
		_exit(127);
	}
	while (waitpid($pid, WNOHANG) == 0) {
		$why ||= why_end($quiet_s, $pid, $said, \%since);
		kill('KILL', $pid) if $why;
		sleep(0.2);
	}
	return $why || ($? ? "'$qemu[0]' ended with status $?" : '');
}

# Runs a guest to its end, which says something in file @said at least each @quiet_s in which it has a CPU. One
# that was starved is run once more.
# Return: why it did not come to its end, or ''.
sub run_guest {
	my ($quiet_s, $said, @qemu) = @_;
	my $why = try_guest(@_);

	if ($why =~ /^starved/) {
		print STDERR "# the guest is run once more, it was $why\n";
		$why = try_guest(@_);
	}
	return $why;
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
