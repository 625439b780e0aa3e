/* What the loader knows of an object: where it lies, its symbols and its relocations. */
#ifndef DARSHAN_OBJECT_H
#define DARSHAN_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
    const char *name;
    ElfW(Addr) base;
    uintptr_t start, end;             /* of all its segments */
    uintptr_t relro_start, relro_end; /* whole pages that are read-only after start-up */
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations, *jumps;
    size_t n_relocations, n_jumps, n_relative;
};

/* False: it has no symbols, so that nothing in it can be redirected. */
bool object_describe(const struct dl_phdr_info *info, struct object *object);

#endif
