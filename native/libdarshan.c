#include "libdarshan.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "hooks.h"
#include "libdarshan_events.h"
#include "recorder.h"
#include "spin.h"

enum { TARGETS_MAX = 512, CHUNK = 64 * 1024, COPIES_MAX = 8 };
static const int64_t lock_patience = 10000000; /* 10 ms */

/* Libraries built with C11 atomics lock with one byte, others with a mutex. */
typedef unsigned char flag_lock;

static struct {
    struct darshan_library darshan;
    void **core;
    double *time_zero;
    void *lock;
    size_t lock_size;
    void (*begin)(int, char **);
    struct got_target targets[TARGETS_MAX];
    bool redirects;
    /* held while the library's lock is: a fork waits for it, as a child would inherit that lock */
    spin_lock holding;
    sigset_t blocked;
} its;

static int find_object(struct dl_phdr_info *info, size_t size, void *handle)
{
    (void)size;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    if (strncmp(name, "libdarshan.", strlen("libdarshan.")) != 0)
        return 0;
    *(void **)handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return *(void **)handle != NULL;
}

/* It may be preloaded, linked in (also statically), or loaded by somebody for itself. */
static void *find_loaded(void)
{
    void *handle = NULL;
    if (dlsym(RTLD_DEFAULT, "darshan_core_initialize") != NULL)
        return dlopen(NULL, RTLD_LAZY);
    dl_iterate_phdr(find_object, &handle);
    return handle;
}

static size_t size_of_symbol(void *address)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (address == NULL || dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL)
        return 0;
    return symbol->st_size;
}

static void before_fork(void)
{
    spin_acquire(&its.holding);
}

static void after_fork(void)
{
    spin_release(&its.holding);
}

static void in_child(void)
{
    spin_release(&its.holding);
    if (its.redirects)
        got_forget(true); /* the child goes on through the library, which starts anew by itself */
}

static void resolve(void *handle)
{
    Dl_info info;
    static bool handles_forks;
    its.darshan.handle = handle;
    *(void **)&its.begin = dlsym(handle, "darshan_core_initialize");
    its.core = dlsym(handle, "__darshan_core");
    its.time_zero = dlsym(handle, "__darshan_core_wtime_offset");
    its.lock = dlsym(handle, "__darshan_core_mutex");
    its.lock_size = size_of_symbol(its.lock);
    its.darshan.has_core = its.core != NULL && its.time_zero != NULL && its.lock != NULL &&
                           (its.lock_size == sizeof(flag_lock) ||
                            its.lock_size == sizeof(pthread_mutex_t));
    void *within = *(void **)&its.begin;
    if (within != NULL && dladdr(within, &info) != 0 && info.dli_fname != NULL)
        strncpy(its.darshan.path, info.dli_fname, sizeof(its.darshan.path) - 1);
    void *mpi = dlsym(handle, "MPI_Init");
    its.darshan.has_mpi = mpi != NULL && within != NULL && dladdr(mpi, &info) != 0 &&
                          info.dli_fname != NULL && strcmp(info.dli_fname, its.darshan.path) == 0;
    if (!handles_forks)
        pthread_atfork(before_fork, after_fork, in_child);
    handles_forks = true;
}

enum darshan_found darshan_find(const char *path, const char **reason)
{
    *reason = NULL;
    if (its.darshan.handle != NULL)
        return DARSHAN_FOUND;
    void *handle = find_loaded();
    its.darshan.was_loaded = handle != NULL;
    if (handle == NULL && path != NULL) {
        dlerror();
        handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (handle == NULL) {
            static char text[PATH_MAX]; /* the loader's own lasts until its next call */
            const char *error = dlerror();
            snprintf(text, sizeof(text), "%s", error ? error : "");
            *reason = text;
        } else if (dlsym(handle, "darshan_core_initialize") == NULL) {
            *reason = "it is not Darshan's run-time library";
            dlclose(handle);
            handle = NULL;
        }
    }
    if (handle == NULL)
        return DARSHAN_ABSENT;
    resolve(handle);
    return DARSHAN_FOUND;
}

const struct darshan_library *darshan_library(void)
{
    return &its.darshan;
}

bool darshan_is_active(void)
{
    return its.darshan.has_core && __atomic_load_n(its.core, __ATOMIC_ACQUIRE) != NULL;
}

void darshan_begin(void)
{
    if (its.begin != NULL)
        its.begin(0, NULL);
}

bool darshan_mpi_runs(void)
{
    int (*initialized)(int *);
    int runs = 0;
    *(void **)&initialized = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    return initialized != NULL && initialized(&runs) == 0 && runs != 0;
}

double darshan_time_zero(void)
{
    return its.time_zero ? *its.time_zero : 0.0;
}

static bool try_lock(void)
{
    if (its.lock_size == sizeof(pthread_mutex_t))
        return pthread_mutex_trylock(its.lock) == 0;
    return !__atomic_test_and_set((flag_lock *)its.lock, __ATOMIC_ACQUIRE);
}

static void unlock(void)
{
    if (its.lock_size == sizeof(pthread_mutex_t))
        pthread_mutex_unlock(its.lock);
    else
        __atomic_clear((flag_lock *)its.lock, __ATOMIC_RELEASE);
}

/* False: not in time. NOTE: until `leave` no call that Darshan may wrap, and no fork. */
static bool enter(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    spin_acquire(&its.holding);
    for (int64_t end = clock_monotonic() + lock_patience; !try_lock(); sched_yield()) {
        if (clock_monotonic() > end) {
            spin_release(&its.holding);
            pthread_sigmask(SIG_SETMASK, &before, NULL);
            return false;
        }
    }
    its.blocked = before;
    return true;
}

static void leave(void)
{
    sigset_t before = its.blocked;
    unlock();
    spin_release(&its.holding);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool darshan_get_log(struct darshan_log *log)
{
    memset(log, 0, sizeof(*log));
    if (!its.darshan.has_core || !enter())
        return false;
    log->core = *its.core;
    if (log->core != NULL)
        memcpy(&log->header, log->core, sizeof(*log) - offsetof(struct darshan_log, header));
    leave();
    return log->core != NULL;
}

bool darshan_get_regions(const struct darshan_log *log, struct darshan_region *regions, size_t n,
                         uint64_t used, bool *fits)
{
    memset(regions, 0, n * sizeof(*regions));
    if (!enter())
        return false;
    bool is_same = *its.core == log->core;
    struct darshan_region *const *described =
        (void *)((char *)log->core + sizeof(*log) - offsetof(struct darshan_log, header));
    *fits = is_same;
    for (size_t i = 0; *fits && i < n; i++)
        *fits = (described[i] != NULL) == (used >> i & 1) &&
                (uintptr_t)described[i] % sizeof(void *) == 0;
    for (size_t i = 0; *fits && i < n; i++)
        if (described[i] != NULL)
            regions[i] = *described[i];
    leave();
    return is_same;
}

bool darshan_get_names_size(const struct darshan_log *log, size_t *size)
{
    if (!enter())
        return false;
    bool is_same = *its.core == log->core;
    struct darshan_log now;
    if (is_same) {
        memcpy(&now.header, log->core, sizeof(now) - offsetof(struct darshan_log, header));
        *size = malloc_usable_size(now.names);
    }
    leave();
    return is_same;
}

static void copy_record(const char *from, size_t size, char *to)
{
    for (int i = 0; i < COPIES_MAX; i++) {
        memcpy(to, from, size);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (memcmp(to, from, size) == 0)
            return;
    }
}

static void copy_records(const char *from, size_t size, size_t record_size, char *to)
{
    for (size_t at = 0; at < size; at += record_size)
        copy_record(from + at, record_size < size - at ? record_size : size - at, to + at);
}

bool darshan_copy(const struct darshan_log *log, const char *from, size_t size, size_t record_size,
                  bool frees, char *to)
{
    if (record_size == 0 || !its.darshan.has_core)
        return false;
    size_t chunk = record_size < CHUNK ? CHUNK / record_size * record_size : record_size;
    for (size_t at = 0; frees && at < size; at += chunk) {
        if (!enter())
            return false;
        bool is_same = *its.core == log->core;
        if (is_same)
            copy_records(from + at, chunk < size - at ? chunk : size - at, record_size, to + at);
        leave();
        if (!is_same)
            return false;
    }
    if (!frees)
        copy_records(from, size, record_size, to);
    return __atomic_load_n(its.core, __ATOMIC_ACQUIRE) == log->core; /* else it ended meanwhile */
}

static void *hook_of_loading(const char *name)
{
    static const char *const names[] = {"dlopen", "dlmopen", "dlsym", "dlvsym"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            for (size_t k = 0; k < n_hooks; k++)
                if (strcmp(hooks[k].name, name) == 0)
                    return hooks[k].wrapper;
    return NULL;
}

static void objects_loaded(void)
{
    unsigned flags = recorder_enter_quietly();
    got_update(NULL);
    recorder_leave_quietly(flags);
}

size_t darshan_redirect(struct got_report *report)
{
    size_t n = 0;
    if (!hooks_resolve())
        return 0;
    for (size_t i = 0; i < n_hooks && n < TARGETS_MAX; i++) {
        Dl_info info;
        void *wrapper = dlsym(its.darshan.handle, hooks[i].name);
        bool is_its = wrapper != NULL && dladdr(wrapper, &info) != 0 && info.dli_fname != NULL &&
                      strcmp(info.dli_fname, its.darshan.path) == 0;
        if (!is_its)
            wrapper = hook_of_loading(hooks[i].name); /* tells of objects that are loaded later */
        if (wrapper != NULL && *hooks[i].real != NULL)
            its.targets[n++] = (struct got_target){hooks[i].name, wrapper, *hooks[i].real};
    }
    atomic_store(&recorder.objects_loaded, objects_loaded);
    got_patch(its.targets, n, report);
    its.redirects = true;
    return n;
}

void darshan_redirect_new(struct got_report *report)
{
    if (its.redirects)
        got_update(report);
}

void darshan_put_back(void)
{
    if (!its.redirects)
        return;
    atomic_store(&recorder.objects_loaded, NULL);
    got_restore();
    its.redirects = false;
}

unsigned darshan_watch(double library_zero, double begin, uint64_t segments_max)
{
    return events_begin(its.darshan.handle, *(void **)&its.begin, library_zero, begin, segments_max);
}
