/* The calls that are redirected: one list, from which the wrappers' declarations, the table for the
 * GOT and the documentation's coverage table are made.
 *
 * DARSHAN: wrapped by Darshan 3.5.0's shared library. EXTENDED: missed by it (fortified variants,
 * names of newer glibc), the same rules. BOOKKEEPING: never counted; keep the recording right. */
#ifndef DARSHAN_HOOKS_H
#define DARSHAN_HOOKS_H

#include <aio.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "hook_list.h"

/* these are also macros where the header is optimised */
#undef fread_unlocked
#undef fwrite_unlocked

enum hook_list { DARSHAN = 1, EXTENDED = 2, BOOKKEEPING = 4 };

struct hook {
    const char *name;
    enum hook_list list;
    void *wrapper;
    void **real; /* NULL in it: this libc does not have the call */
};

extern const struct hook hooks[];
extern const size_t n_hooks;

/* The calls themselves, resolved once before anything is redirected. */
struct real_calls {
#define HOOK(list, result, name, parameters) result(*name) parameters;
    HOOK_LIST(HOOK)
#undef HOOK
};
extern struct real_calls real;

#define HOOK(list, result, name, parameters) result hook_##name parameters;
HOOK_LIST(HOOK)
#undef HOOK

/* Resolves `real`; false where the C library lacks what no C library lacks. */
bool hooks_resolve(void);
/* In a forked child: locks that other threads of the parent may have held are free. */
void hooks_forget(void);

#endif
