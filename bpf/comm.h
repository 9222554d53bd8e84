/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BPF_COMM_H
#define TAP_BPF_COMM_H

/* Copy 16 bytes as two words: the compiler would copy a char array byte by byte. */
static __always_inline void tp_comm(char *to, struct task_struct *p)
{
	((u64 *)to)[0] = *(u64 *)&p->comm[0];
	((u64 *)to)[1] = *(u64 *)&p->comm[8];
}

#endif
