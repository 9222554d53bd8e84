# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What takes long to build for guests is kept in the cache of fetch (built/), under a checksum over all that it is built
# from. A build sees nothing else: its sources are copied, its environment is empty.
package Built;
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use lib dirname(__FILE__);
use VM;
our @EXPORT = qw(built module_for portable_for disk_of);

my $top = dirname(__FILE__) . '/../..';
my $cache = ($ENV{SCHEDTAP_VM_CACHE} // ($ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache") . '/schedtap-vm') . '/built';
my $keep_days = 7;

# Of a file that is the system's, or too large to read each time.
sub identity {
	my ($path) = @_;
	my @stat = stat($path);

	return join(' ', $path, @stat ? @stat[1, 7, 9, 10] : 'none');
}

# Of all files in a folder.
sub tree_identity {
	my ($dir) = @_;

	return `find -L '$dir' -type f -printf '%p %i %s %T\@ %C\@\\n' 2>/dev/null | LC_ALL=C sort`;
}

# The programs that build a module, by what the name leads to.
sub toolchain {
	my @programs = (qw(gcc ld as ar objcopy nm make sh perl), map { `gcc -print-prog-name=$_` =~ s/\n//r } qw(cc1 collect2));

	return join("\n", `gcc -v 2>&1`, map { identity(m{^/} ? $_ : which($_) // $_) } @programs);
}

sub remove_old {
	for my $old (grep { -M > $keep_days } glob("$cache/*")) {
		remove_tree($old);
	}
}

# @what: its kind. @key: all that it is made from. @make: called with an empty folder; returns what went wrong, or ''.
# Return: the folder, what went wrong.
sub built {
	my ($what, $key, $make) = @_;
	my $dir = "$cache/$what-" . sha256_hex(join("\0", map { utf8::is_utf8($_) ? die : $_ } $what, @$key));

	make_path($cache);
	remove_old();
	if (-e $dir) {
		utime(undef, undef, $dir);
		return ($dir, '');
	}
	my $new = tempdir(DIR => $cache, CLEANUP => 1);
	my $why = $make->($new);
	return (undef, $why) if $why;
	chmod(0755, $new);
	# another test may have been faster
	rename($new, $dir) or -e $dir or die "$dir: $!";
	return ($dir, '');
}

# Files below @from, as [path, content].
sub sources {
	my ($from, @paths) = @_;

	return map { [$_, slurp("$from/$_")] } sort(map { s{^\Q$from\E/}{}r } split(/\n/, `find @{[map { "'$from/$_'" } @paths]} -type f`));
}

sub write_sources {
	my ($to, @sources) = @_;

	for (@sources) {
		make_path(dirname("$to/$_->[0]"));
		open(my $f, '>:raw', "$to/$_->[0]") or die "$to/$_->[0]: $!";
		print $f $_->[1];
		close($f);
	}
}

# @headers: as fetch prints it; the folder above has the other packages that it uses.
sub headers_identity {
	my ($headers) = @_;

	return tree_identity($headers =~ s{(\.headers)/.*}{$1}r);
}

my $environment = 'env -i PATH="$PATH" LC_ALL=C';

# The module, in a folder. Return: it, what went wrong.
sub module_for {
	my ($program, $vmlinuz, $headers) = @_;
	my @sources = sources($top, qw(kmod events));

	return built('module', [slurp(__FILE__), slurp($program), identity($vmlinuz), headers_identity($headers), toolchain(), map { @$_ } @sources], sub {
		my ($to) = @_;

		write_sources("$to/source", @sources);
		my $said = `$environment '$program' module build --source $to/source --output $to/out --kernel-src $headers --btf $vmlinuz 2>&1`;
		return $said || 'no module' if $?;
		rename("$to/out/schedtap.ko", "$to/schedtap.ko") or return "no schedtap.ko: $said";
		remove_tree("$to/source", "$to/out");
		return '';
	});
}

# Events of a program, as a module.
sub portable_for {
	my ($headers) = @_;
	my @sources = map { [basename($_), slurp("$top/$_")] }
		qw(tests/tracepoint/portable.h tests/tracepoint/portable_fire.h tests/vm/portable_module.c);

	push(@sources, ['Kbuild', "obj-m := portable.o\nportable-y := portable_module.o\nCFLAGS_portable_module.o := -I\$(src)\n"]);
	return built('portable', [slurp(__FILE__), headers_identity($headers), toolchain(), map { @$_ } @sources], sub {
		my ($to) = @_;

		write_sources("$to/source", @sources);
		# the module's own types would need pahole
		# nor does Debian 12's gcc know what the headers of later kernels ask of theirs
		my $said = `$environment make -s -C $headers M=$to/source CC=gcc CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= CONFIG_DEBUG_INFO_BTF_MODULES= modules 2>&1`;
		return $said || 'no module' if $?;
		rename("$to/source/portable.ko", "$to/portable.ko") or return "no portable.ko: $said";
		remove_tree("$to/source");
		return '';
	});
}

# Large programs with their libraries, for /disk of a guest: a file system (ext4), and an archive of the same (cpio).
# Return: the folder with both, what went wrong.
sub disk_of {
	my (@programs) = @_;
	my @files = map { my $path = which($_); [$path, "bin/$_"], map { [$_, 'lib/' . basename($_)] } libraries_of($path) } @programs;

	return built('disk', [slurp(__FILE__), slurp("$VM::here/VM.pm"), identity(which('mkfs.ext4')), map { ($_->[1], identity($_->[0])) } @files], sub {
		my ($to) = @_;

		for (@files) {
			make_path(dirname("$to/root/disk/$_->[1]"));
			copy($_->[0], "$to/root/disk/$_->[1]") && chmod(0755, "$to/root/disk/$_->[1]") or return "$_->[0]: $!";
		}
		my $said = `cd $to && mkfs.ext4 -q -m 0 -O ^has_journal -d root/disk ext4 400M 2>&1`;
		return $said || 'mkfs.ext4' if $?;
		pack_initramfs("$to/root", "$to/cpio");
		remove_tree("$to/root");
		return '';
	});
}

1;
