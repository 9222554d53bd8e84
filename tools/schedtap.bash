# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion for bash, on top of the package bash-completion: the program itself knows its
# commands, options and events; files and the command after -- are bash's.

_schedtap()
{
	local cur prev words cword i

	_init_completion -n := || return
	for ((i = 2; i < cword; i++)); do
		if [[ ${words[i]} == -- && ${words[1]} != diff ]]; then
			_command_offset $((i + 1))
			return
		fi
	done
	mapfile -t COMPREPLY < <("${words[0]}" __complete -- "${words[@]:1:cword}" 2>/dev/null)
	__ltrim_colon_completions "$cur"
}

complete -o default -F _schedtap schedtap
