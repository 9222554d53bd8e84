/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_THREAD_H
#define TAP_BASE_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

/*
 * Start a thread with all signals blocked, so that only the program's own threads handle signals.
 * Return: 0; -errno.
 */
int tap_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* sem_wait() that continues to wait after a signal handler ran. */
void tap_sem_wait(sem_t *sem);
/*
 * Limit a real-time thread to half of a CPU: sleep as long as this thread has run since it last
 * slept here, once that is at least 1 ms. @rested_ns: the caller sets it to 0 before the first
 * call.
 */
void tap_thread_rest(uint64_t *rested_ns);
/* Sleep for @ns and count it as rest, so that the next tap_thread_rest() sleeps less. */
void tap_thread_sleep(uint64_t ns, uint64_t *rested_ns);

#endif
