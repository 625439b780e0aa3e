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

enum { TARGETS_MAX = 256 };

static struct got_target targets[TARGETS_MAX];
static size_t n_targets;
static struct got_report report;

static void choose_targets(bool extended)
{
    unsigned lists = DARSHAN | BOOKKEEPING | (extended ? EXTENDED : 0u);
    n_targets = 0;
    for (size_t i = 0; i < n_hooks && n_targets < TARGETS_MAX; i++)
        if (hooks[i].list & lists)
            targets[n_targets++] =
                (struct got_target){hooks[i].name, hooks[i].wrapper, *hooks[i].real};
}

void control_update(void)
{
    if (got_has_new_objects())
        got_patch(targets, n_targets, &report);
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
        if (*entry->d_name == '.' || fd == dirfd(entries) || fstat(fd, &status) != 0 ||
            !S_ISREG(status.st_mode) || status.st_nlink == 0)
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
    if (atomic_load(&recorder.serial) == 0)
        return;
    got_fork();
    hooks_fork();
    recorder_fork();
}

int control_start(const struct recorder_options *options, struct got_report *out)
{
    static bool handles_forks;
    if (atomic_load(&recorder.serial) != 0)
        return -EALREADY;
    if (!hooks_resolve())
        return -ENOSYS;
    int error = recorder_start(options);
    if (error != 0)
        return error;
    if (!handles_forks)
        pthread_atfork(NULL, NULL, in_child);
    handles_forks = true;
    recorder.objects_loaded = control_update;
    report_standard_streams();
    if (options->extended)
        adopt_descriptors();
    memset(&report, 0, sizeof(report));
    choose_targets(options->extended);
    got_patch(targets, n_targets, &report);
    *out = report;
    return 0;
}

void control_stop(void)
{
    recorder.objects_loaded = NULL;
    got_restore();
    if (atomic_load(&recorder.serial) != 0)
        recorder_stop();
}

const struct got_report *control_report(void)
{
    return &report;
}
