/* Names of records: how a path is written, hashed and left out, and where it is mounted. */
#ifndef DARSHAN_PATHS_H
#define DARSHAN_PATHS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAME_LIMIT = 2 * PATH_MAX, MOUNTS_MAX = 64 };

/* Darshan's record id of a name: Bob Jenkins' public-domain 64-bit hash "lookup8", seed 0. */
uint64_t name_id(const char *name, size_t length);

/* Writes the name of `path` as Darshan writes it: made absolute with `directory` (NULL: the current
 * directory), `//` and `/./` collapsed; links and `..` stay. Returns its length, or 0 where it does
 * not fit. */
size_t clean_path(const char *path, const char *directory, char out[NAME_LIMIT]);

/* How much of a name names the directory that the last component is in; 0 where there is none. */
size_t directory_length(const char *name, size_t length);

/* Which names are not recorded. */
struct exclusions {
    const char *const *excluded; /* ends with NULL */
    const char *const *included; /* exceptions, ends with NULL */
    bool whole_components;       /* `/usr` matches `/usr` and `/usr/x`, not `/usrx` */
};

bool is_excluded(const struct exclusions *rules, const char *name);

struct mount {
    char *path;
    char *type;
    int32_t block_size; /* 0: not asked yet */
};

struct mounts {
    struct mount entries[MOUNTS_MAX];
    size_t n;
};

void mounts_read(struct mounts *mounts);
void mounts_free(struct mounts *mounts);
/* Block size of the mount that a name lies in by the longest textual prefix, -1 where none. */
int32_t mounts_alignment(struct mounts *mounts, const char *name);

extern const char *const darshan_excluded[];
extern const char *const darshan_included[];

#endif
