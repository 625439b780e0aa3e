#include "paths.h"

#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Darshan 3.5.0's defaults (darshan-core.h), compared as plain prefixes. */
const char *const darshan_excluded[] = {"/etc/", "/dev/",  "/usr/", "/bin/",  "/boot/", "/lib/",
                                        "/opt/", "/sbin/", "/sys/", "/proc/", "/var/",  NULL};
const char *const darshan_included[] = {"/var/opt/cray/dws/mounts/", NULL};

static void mix(uint64_t *a, uint64_t *b, uint64_t *c)
{
    static const struct {
        unsigned right_a, left_b, right_c;
    } rounds[4] = {{43, 9, 8}, {38, 23, 5}, {35, 49, 11}, {12, 18, 22}};
    for (int i = 0; i < 4; i++) {
        *a = (*a - *b - *c) ^ (*c >> rounds[i].right_a);
        *b = (*b - *c - *a) ^ (*a << rounds[i].left_b);
        *c = (*c - *a - *b) ^ (*b >> rounds[i].right_c);
    }
}

static uint64_t little_endian(const unsigned char *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint64_t name_id(const char *name, size_t length)
{
    const unsigned char *at = (const unsigned char *)name;
    size_t left = length;
    uint64_t a = 0, b = 0, c = 0x9e3779b97f4a7c13ULL;
    for (; left >= 24; left -= 24, at += 24) {
        a += little_endian(at, 8);
        b += little_endian(at + 8, 8);
        c += little_endian(at + 16, 8);
        mix(&a, &b, &c);
    }
    c += length;
    a += little_endian(at, left < 8 ? left : 8);
    if (left > 8)
        b += little_endian(at + 8, left - 8 < 8 ? left - 8 : 8);
    if (left > 16)
        c += little_endian(at + 16, left - 16) << 8;
    mix(&a, &b, &c);
    return c;
}

/* Drops from each match of `pattern` all but its last byte; overlapping matches included. */
static size_t collapse(char *name, size_t length, const char *pattern)
{
    size_t width = strlen(pattern);
    for (char *at = name; (at = strstr(at, pattern)) != NULL;) {
        size_t rest = length - (size_t)(at - name) - (width - 1);
        memmove(at, at + width - 1, rest + 1);
        length -= width - 1;
    }
    return length;
}

size_t clean_path(const char *path, const char *directory, char out[NAME_LIMIT])
{
    size_t used = 0, length = strlen(path);
    if (*path != '/' && *path != '<' && *path != '\0') {
        if (directory == NULL) {
            if (getcwd(out, NAME_LIMIT) == NULL)
                return 0;
            used = strlen(out);
        } else {
            used = strlen(directory);
            if (used >= NAME_LIMIT)
                return 0;
            memcpy(out, directory, used);
        }
        if (used + 1 >= NAME_LIMIT)
            return 0;
        out[used++] = '/';
    }
    if (used + length >= NAME_LIMIT)
        return 0;
    memcpy(out + used, path, length + 1);
    length += used;
    if (*out == '/') {
        length = collapse(out, length, "//");
        length = collapse(out, length, "/./");
    }
    return length;
}

size_t directory_length(const char *name, size_t length)
{
    if (length == 0 || *name != '/')
        return 0;
    while (length > 1 && name[length - 1] == '/')
        length--;
    while (length > 1 && name[length - 1] != '/')
        length--;
    return length > 1 ? length - 1 : 1;
}

static bool matches(const char *const *prefixes, bool whole_components, const char *name)
{
    for (; *prefixes != NULL; prefixes++) {
        size_t width = strlen(*prefixes);
        if (strncmp(name, *prefixes, width) != 0)
            continue;
        if (!whole_components || name[width] == '/' || name[width] == '\0' ||
            (width > 0 && (*prefixes)[width - 1] == '/'))
            return true;
    }
    return false;
}

bool is_excluded(const struct exclusions *rules, const char *name)
{
    return matches(rules->excluded, rules->whole_components, name) &&
           !matches(rules->included, rules->whole_components, name);
}

static bool is_skipped_type(const char *type)
{
    static const char *const skipped[] = {
        "tmpfs",    "proc",        "sysfs",       "devpts", "binfmt_misc", "fusectl",  "debugfs",
        "securityfs", "nfsd",      "none",        "rpc_pipefs", "hugetlbfs", "cgroup", NULL};
    for (const char *const *name = skipped; *name != NULL; name++)
        if (strcmp(type, *name) == 0)
            return true;
    return false;
}

static void add_mount(struct mounts *mounts, const struct mntent *found)
{
    for (size_t i = 0; i < mounts->n; i++)
        if (strcmp(mounts->entries[i].path, found->mnt_dir) == 0 &&
            strcmp(mounts->entries[i].type, found->mnt_type) == 0)
            return;
    if (mounts->n == MOUNTS_MAX)
        return;
    struct mount entry = {strdup(found->mnt_dir), strdup(found->mnt_type), 0};
    if (entry.path != NULL && entry.type != NULL)
        mounts->entries[mounts->n++] = entry;
}

static int by_length(const void *a, const void *b)
{
    size_t left = strlen(((const struct mount *)a)->path);
    size_t right = strlen(((const struct mount *)b)->path);
    return (left < right) - (left > right);
}

/* NOTE: which mounts count, and that exact `nfs` comes in a second pass, is Darshan's. */
void mounts_read(struct mounts *mounts)
{
    mounts->n = 0;
    for (int nfs = 0; nfs < 2; nfs++) {
        char line[NAME_LIMIT];
        struct mntent entry;
        FILE *table = setmntent("/etc/mtab", "r");
        if (table == NULL)
            break;
        while (getmntent_r(table, &entry, line, sizeof(line)) != NULL)
            if (!is_skipped_type(entry.mnt_type) && (strcmp(entry.mnt_type, "nfs") == 0) == nfs)
                add_mount(mounts, &entry);
        endmntent(table);
    }
    qsort(mounts->entries, mounts->n, sizeof(*mounts->entries), by_length);
}

void mounts_free(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->n; i++) {
        free(mounts->entries[i].path);
        free(mounts->entries[i].type);
    }
    mounts->n = 0;
}

static int32_t block_size(const char *path)
{
    enum { LUSTRE_MAGIC = 0x0BD00BD0, LUSTRE_BLOCK = 1048576, UNKNOWN_BLOCK = 4096 };
    struct statfs status;
    if (statfs(path, &status) != 0)
        return UNKNOWN_BLOCK;
    return status.f_type == LUSTRE_MAGIC ? LUSTRE_BLOCK : (int32_t)status.f_bsize;
}

int32_t mounts_alignment(struct mounts *mounts, const char *name)
{
    for (size_t i = 0; i < mounts->n; i++) {
        struct mount *mount = &mounts->entries[i];
        if (strncmp(name, mount->path, strlen(mount->path)) != 0)
            continue;
        if (mount->block_size == 0)
            mount->block_size = block_size(mount->path);
        return mount->block_size;
    }
    return -1;
}
