/* A lock of one word for a few instructions: no system call unless its holder was preempted. */
#ifndef DARSHAN_SPIN_H
#define DARSHAN_SPIN_H

#include <sched.h>
#include <stdatomic.h>

typedef atomic_uint spin_lock;

enum { SPINS_BEFORE_YIELD = 100 };

static inline void spin_acquire(spin_lock *lock)
{
    unsigned spins = 0;
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire) != 0) {
        while (atomic_load_explicit(lock, memory_order_relaxed) != 0) {
            if (++spins % SPINS_BEFORE_YIELD == 0)
                sched_yield();
        }
    }
}

static inline void spin_release(spin_lock *lock)
{
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
