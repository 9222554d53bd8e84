/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks that are found by pointer arithmetic, such as the one around a sched_entity. The verifier
 * lets a program read their members only with bpf_probe_read_kernel(), which costs as much as the
 * rest of a small program, or after a cast by the kernel.
 */
#ifndef TAP_BPF_CAST_H
#define TAP_BPF_CAST_H

/* Set by the loader: the kernel has bpf_rdonly_cast(), since v6.2. */
const volatile bool tap_has_cast = false;

extern void *bpf_rdonly_cast(const void *address, __u32 btf_type) __ksym __weak;

/* Only where tap_has_cast is true. A wrong address reads as zeros. */
static __always_inline struct task_struct *tap_cast_task(void *address)
{
	return bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct task_struct));
}

static __always_inline struct task_struct *tap_se_task(struct sched_entity *se)
{
	return (void *)se - bpf_core_field_offset(struct task_struct, se);
}

/*
 * Return the pointer at @address as a number, with which the verifier allows arithmetic. It takes
 * the members' types from the struct, so the cast is to one that begins with a number.
 */
static __always_inline u64 tap_number_at(const void *address)
{
	u64 number = 0;

	if (tap_has_cast)
		return *(u64 *)bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct pt_regs));
	bpf_probe_read_kernel(&number, sizeof(number), address);
	return number;
}

#endif
