/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_BASE_THREAD_H
#define TAP_BASE_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

/* A program's signals are for its own threads: this one has all of them blocked. Return: 0; -errno.
 */
int tap_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* As sem_wait(), also where a signal comes between. */
void tap_sem_wait(sem_t *sem);
/*
 * Sleeps as long as this thread has run since the last call that slept, if that is a millisecond or
 * more: a thread with a real-time priority leaves half of a CPU to others. @rested_ns: 0 at first.
 */
void tap_thread_rest(uint64_t *rested_ns);
/* Sleep for @ns, which counts as a rest: tap_thread_rest() sleeps less later. */
void tap_thread_sleep(uint64_t ns, uint64_t *rested_ns);

#endif
