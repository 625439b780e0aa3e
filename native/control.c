#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks.h"

enum { TARGETS_MAX = 512 };

static struct got_target targets[TARGETS_MAX];
static size_t n_targets;
static void choose_targets(bool extended)
{
    unsigned lists = DARSHAN | BOOKKEEPING | (extended ? EXTENDED : 0u);
    n_targets = 0;
    for (size_t i = 0; i < n_hooks && n_targets < TARGETS_MAX; i++)
        if (hooks[i].list & lists)
            targets[n_targets++] =
                (struct got_target){hooks[i].name, hooks[i].wrapper, *hooks[i].real};
}

/* Rings that were set up in any way, as long as their descriptors are open. */
static void count_rings(void)
{
    static const char ring[] = "anon_inode:[io_uring]";
    unsigned n = 0;
    DIR *entries = opendir("/proc/self/fd");
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char target[sizeof(ring)];
        ssize_t length = readlinkat(dirfd(entries), entry->d_name, target, sizeof(target));
        n += length == sizeof(ring) - 1 && memcmp(target, ring, sizeof(ring) - 1) == 0;
    }
    closedir(entries);
    unsigned known = atomic_load(&recorder.shared->rings);
    if (n > known)
        atomic_compare_exchange_strong(&recorder.shared->rings, &known, n);
}

void control_update(struct got_report *report)
{
    unsigned flags = recorder_enter_quietly();
    got_update(report);
    if (report != NULL)
        count_rings();
    recorder_leave_quietly(flags);
}

static void update(void)
{
    control_update(NULL);
}

/* Regular files that were open before the recording: known from now on, without an open of their
 * own. Darshan does not know them, so only where more than Darshan's calls are recorded. */
static void adopt_descriptors(void)
{
    DIR *entries = opendir("/proc/self/fd");
    if (entries == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char path[PATH_MAX];
        struct stat status;
        int fd = atoi(entry->d_name);
        if (*entry->d_name == '.' || fd == dirfd(entries) || fd == recorder.arena.fd ||
            fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0)
            continue;
        ssize_t length = readlinkat(dirfd(entries), entry->d_name, path, sizeof(path) - 1);
        if (length <= 0 || *path != '/')
            continue;
        path[length] = '\0';
        report_adopt(fd, NULL, path, lseek(fd, 0, SEEK_CUR));
    }
    closedir(entries);
}

static void in_child(void)
{
    bool records = atomic_load(&recorder.serial) != 0 && recorder.options.children;
    hooks_forget();
    got_forget(records);
    if (atomic_load(&recorder.serial) != 0)
        recorder_fork();
}

static void note_exit(int status, void *unused)
{
    (void)unused;
    recorder_note_end(EXITED, status);
}

static int start(const struct recorder_options *options, struct got_report *report)
{
    static bool handles_forks;
    int error = recorder_start(options);
    if (error != 0)
        return error;
    if (!handles_forks) {
        pthread_atfork(NULL, NULL, in_child);
        on_exit(note_exit, NULL);
    }
    handles_forks = true;
    atomic_store(&recorder.objects_loaded, update);
    report_standard_streams();
    if (options->extended)
        adopt_descriptors();
    choose_targets(options->extended);
    got_patch(targets, n_targets, report);
    return 0;
}

int control_start(const struct recorder_options *options, struct got_report *report)
{
    if (atomic_load(&recorder.serial) != 0)
        return -EALREADY;
    if (!hooks_resolve())
        return -ENOSYS;
    unsigned flags = recorder_enter_quietly();
    int error = start(options, report);
    recorder_leave_quietly(flags);
    return error;
}

void control_stop(void)
{
    unsigned flags = recorder_enter_quietly();
    atomic_store(&recorder.objects_loaded, NULL);
    got_restore();
    if (atomic_load(&recorder.serial) != 0)
        recorder_stop();
    recorder_leave_quietly(flags);
}

/* A process that ends without a stop: its threads may go on, but its file must not stay. */
static void __attribute__((destructor)) at_exit(void)
{
    recorder_abandon();
}
