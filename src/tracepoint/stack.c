// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A stack of the library's own, for work that a site does once per process or ring and that needs
 * more stack: creating a file or a ring. The thread that passes the site may have only a few
 * kilobytes left, such as on a signal stack or in a coroutine.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracepoint/internal.h"

#define STACK_BYTES ((size_t)128 << 10) /* only touched pages take memory: some 20 KiB */

static _Alignas(64) char stack[STACK_BYTES];

/*
 * Clobbers all registers that a call may change; the old stack pointer is kept in a callee-saved
 * one.
 */
static void call_on_stack(void (*fn)(void *arg), void *arg)
{
	char *top = stack + sizeof(stack);

#if defined(__x86_64__)
	__asm__ volatile(
		"movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[fn]\n\tmovq %%rbx, %%rsp"
		: "+D"(arg), [top] "+r"(top), [fn] "+r"(fn)
		:
		: "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
		  "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		  "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#elif defined(__aarch64__)
	register void *first __asm__("x0") = arg;

	__asm__ volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[fn]\n\tmov sp, x19"
			 : "+r"(first), [top] "+r"(top), [fn] "+r"(fn)
			 :
			 : "x19", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
			   "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2",
			   "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
			   "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
			   "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
#else
	(void)top; /* other machines: use the thread's stack */
	fn(arg);
#endif
}

void tap_on_own_stack(void (*fn)(void *arg), void *arg)
{
	uint64_t all = UINT64_MAX, before;
	int cancel;

	/* a thread must not be cancelled at a site */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/*
	 * a signal handler might need more stack than is left, must not run on this stack, and must
	 * not wait for the thread that it interrupts
	 */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (tap_lock_of(&tap_process->stack)) {
		call_on_stack(fn, arg);
		tap_unlock_of(&tap_process->stack);
	} else {
		fn(arg);
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	pthread_setcancelstate(cancel, &cancel);
}
