/* Redirects calls by name: finds the slots through which loaded objects call, and puts wrappers in.
 *
 * A slot is a JUMP_SLOT, GLOB_DAT or absolute-64 relocation against an undefined symbol. The object
 * that holds the wrappers, the loader and the vdso are left alone, and so is the C library: calls
 * that it makes to itself are not the program's. */
#ifndef DARSHAN_GOT_H
#define DARSHAN_GOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct got_target {
    const char *name;
    void *wrapper;
    void *real; /* NULL: leave the name alone */
};

enum { GOT_SKIPS_MAX = 64, GOT_TEXT = 200 };

struct got_skip {
    char object[GOT_TEXT];
    char name[GOT_TEXT];
    const char *reason;
};

struct got_report {
    uint32_t objects;
    uint32_t slots;
    uint32_t n_skips; /* may exceed GOT_SKIPS_MAX; only so many are described */
    struct got_skip skips[GOT_SKIPS_MAX];
};

/* Patches every loaded object; `targets` must stay until the restore. */
void got_patch(const struct got_target *targets, size_t n, struct got_report *report);
/* Between a patch and its restore: patches what was loaded since. `report`, which may be NULL, tells
 * about everything since the patch. */
void got_update(struct got_report *report);
/* Puts back what the slots held that still hold a wrapper. */
void got_restore(void);
/* In a forked child: what the parent patched stays as it is, and counts as patched where `keeps`;
 * else the next patch restores it first. */
void got_forget(bool keeps);

#endif
