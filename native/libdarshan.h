/* Reads a real libdarshan that is loaded in this process, through what it exports: the pointer to its
 * state, whose first members are where its log lies in memory.
 *
 * What the memory means (the log's header, records of each module) is not known here but in Python,
 * where it is checked; this part finds it and copies it without harm to the threads that use it.
 *
 * RATIONALE: the library frees its memory at its end, which begins with setting that pointer to NULL
 * under its lock. Who holds the lock and sees the pointer may read. Every call that Darshan records
 * takes the same lock, so it is held for a few microseconds at a time, with signals blocked, and
 * never while this process forks. */
#ifndef DARSHAN_LIBDARSHAN_H
#define DARSHAN_LIBDARSHAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "got.h"

/* Where a log that is being made lies, in the order of the library's own members. */
struct darshan_log {
    void *core; /* of which state these are */
    char *header, *job, *exe, *names, *modules;
};

/* One module's records: of the library's private description. */
struct darshan_region {
    char *start, *end;
    size_t left; /* bytes that are not used yet */
};

struct darshan_library {
    void *handle;
    char path[PATH_MAX];
    bool was_loaded;         /* before anybody here asked for it */
    bool has_core;           /* exports the pointer to its state, as 3.4.0 and later do */
    bool has_mpi;            /* wraps MPI */
};

enum darshan_found { DARSHAN_ABSENT, DARSHAN_FOUND };

/* Finds the library where it is loaded; else loads `path`, unless that is NULL. On failure `reason`
 * is the loader's text or NULL. */
enum darshan_found darshan_find(const char *path, const char **reason);
const struct darshan_library *darshan_library(void);
/* Whether it records. */
bool darshan_is_active(void);
/* Begins to record, where it does not by itself. */
void darshan_begin(void);
/* Whether MPI runs in this process. */
bool darshan_mpi_runs(void);
/* Seconds since the epoch at the library's time zero. */
double darshan_time_zero(void);

/* All of the following return false where the library does not record any more, or the lock could
 * not be had in time. */
bool darshan_get_log(struct darshan_log *log);
/* Of the first `n` modules, for a library that does not keep them in the header. `used` has a bit for
 * each module that must be there; `*fits` tells whether just those are. */
bool darshan_get_regions(const struct darshan_log *log, struct darshan_region *regions, size_t n,
                         uint64_t used, bool *fits);
/* How much memory there is for names, likewise. */
bool darshan_get_names_size(const struct darshan_log *log, size_t *size);
/* Copies records of `record_size` bytes each, every one again until it has not changed meanwhile, a
 * few times at most. `frees`: the library gives the memory back at its end. */
bool darshan_copy(const struct darshan_log *log, const char *from, size_t size, size_t record_size,
                  bool frees, char *to);

/* Lets calls of all loaded objects go through the library. Returns how many kinds of calls. */
size_t darshan_redirect(struct got_report *report);
/* Redirects what was loaded since, where calls were redirected. */
void darshan_redirect_new(struct got_report *report);
void darshan_put_back(void);
/* Begins to see single accesses; see `events_begin`. */
unsigned darshan_watch(double library_zero, double begin, uint64_t segments_max);

#endif
