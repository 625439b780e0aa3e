/* Wrappers called from many threads, while others look at the records and recordings begin and end.
 *
 * Usage: test_recorder DIRECTORY. The wrappers are called by name, nothing is redirected. */
#include "recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "hooks.h"
#include "segments.h"
#include "snapshot.h"

enum { THREADS = 4, ROUNDS = 300, RECORDINGS = 40, SIZE = 512 };

static const char *directory;
static int shared_fd;
static atomic_bool finished;
static const char *const nothing[] = {NULL};
static struct arena_view own;
static int64_t bins_begin[MODULES];

static bool children;

static void start(uint64_t segments_max)
{
    struct recorder_options options = {
        .leads = true,
        .children = children,
        .arena_ceiling = (uint64_t)256 << 20,
        .files_ceiling = 1000,
        .segments_max = segments_max,
        .extended = true,
        .excluded = nothing,
        .included = nothing,
    };
    snprintf(options.session, sizeof(options.session), "%s", test_session());
    EQUAL(recorder_start(&options), 0);
    own = snapshot_own();
    memset(bins_begin, 0, sizeof(bins_begin));
}

/* Four transfers of SIZE bytes a round on a descriptor, two on a stream, one on the shared file. */
static void one_round(int fd, FILE *stream)
{
    char buffer[SIZE] = {0};
    CHECK(hook_pwrite(fd, buffer, SIZE, 0) == SIZE);
    CHECK(hook_lseek(fd, 0, SEEK_SET) == 0);
    CHECK(hook_read(fd, buffer, SIZE) == SIZE);
    CHECK(hook_pread(fd, buffer, SIZE, 0) == SIZE);
    CHECK(hook_pread64(fd, buffer, SIZE, 0) == SIZE);
    CHECK(hook_fwrite(buffer, 1, SIZE, stream) == SIZE);
    CHECK(hook_fflush(stream) == 0);
    CHECK(hook_fseek(stream, 0, SEEK_SET) == 0);
    CHECK(hook_fread(buffer, 1, SIZE, stream) == SIZE);
    CHECK(hook_fseek(stream, 0, SEEK_SET) == 0);
    CHECK(hook_pread(shared_fd, buffer, SIZE, 0) == SIZE);
}

static void *work(void *number)
{
    char path[4096], other[4096];
    snprintf(path, sizeof(path), "%s/own-%d", directory, *(int *)number);
    snprintf(other, sizeof(other), "%s/stream-%d", directory, *(int *)number);
    int fd = hook_open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    FILE *stream = hook_fopen(other, "w+");
    CHECK(fd >= 0 && stream != NULL);
    for (int i = 0; i < ROUNDS; i++) {
        one_round(fd, stream);
        int copy = hook_dup(fd);
        hook_close(copy);
    }
    hook_close(fd);
    hook_fclose(stream);
    return NULL;
}

static void *work_until_finished(void *number)
{
    while (!atomic_load(&finished))
        work(number);
    return NULL;
}

static int64_t drained[MODULES][BIN_COLUMNS], traced;

static void drain_bins(enum module module)
{
    static struct bins bins;
    static double idle[BINS_MAX];
    int64_t now = recorder_now();
    snapshot_drain_bins(&own, module, bins_begin[module], now, &bins, idle);
    bins_begin[module] = now;
    for (int32_t i = 0; i < bins.used; i++) {
        CHECK(idle[i] >= 0 && idle[i] <= 1);
        for (int column = 0; column < BIN_COLUMNS; column++)
            drained[module][column] += bins.values[i][column];
    }
}

static void drain(void)
{
    if (!recorder_begin_reading())
        return;
    size_t n;
    uint64_t dropped;
    free(snapshot_drain_segments(&own, &n, &dropped));
    traced += (int64_t)n;
    drain_bins(POSIX_MODULE);
    drain_bins(STDIO_MODULE);
    recorder_end_reading();
}

/* Each record is consistent in itself at any moment. */
static void look(void)
{
    enum { ROOM = 64 };
    static uint32_t places[ROOM];
    static uint64_t ids[ROOM];
    static int64_t counters[ROOM][POSIX_COUNTERS];
    static double fcounters[ROOM][POSIX_FCOUNTERS];
    struct record_copies out = {ROOM, places, ids, counters[0], fcounters[0]};
    if (!recorder_begin_reading())
        return;
    static struct totals totals;
    snapshot_totals(&own, STDIO_MODULE, &totals);
    size_t n = snapshot_copy(&own, POSIX_MODULE, false, &out);
    char *names = snapshot_names(&own, POSIX_MODULE, places, n);
    recorder_end_reading();
    CHECK(names != NULL);
    free(names);
    for (size_t i = 0; i < n; i++) {
        EQUAL(counters[i][14], counters[i][3] * SIZE); /* BYTES_READ, READS */
        EQUAL(counters[i][15], counters[i][4] * SIZE);
    }
}

static void *look_until_finished(void *unused)
{
    while (!atomic_load(&finished)) {
        drain();
        look();
    }
    return unused;
}

static void run_threads(void *(*body)(void *), void (*meanwhile)(void))
{
    static int numbers[THREADS];
    pthread_t threads[THREADS], looker;
    atomic_store(&finished, false);
    EQUAL(pthread_create(&looker, NULL, look_until_finished, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        EQUAL(pthread_create(&threads[i], NULL, body, &numbers[i]), 0);
    }
    if (meanwhile != NULL)
        meanwhile();
    if (meanwhile != NULL)
        atomic_store(&finished, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&finished, true);
    pthread_join(looker, NULL);
}

static void open_shared(void)
{
    char path[4096], buffer[SIZE] = {0};
    snprintf(path, sizeof(path), "%s/shared", directory);
    shared_fd = hook_open(path, O_CREAT | O_RDWR, 0600);
    CHECK(shared_fd >= 0 && hook_pwrite(shared_fd, buffer, SIZE, 0) == SIZE);
}

/* However often they were drained, bins and segments add up to what the records say. */
static void test_nothing_is_lost_or_doubled(void)
{
    static struct totals totals;
    const int64_t reads = THREADS * ROUNDS * 4, writes = THREADS * ROUNDS + 1;
    const int64_t items = THREADS * ROUNDS;
    start(1000000);
    open_shared();
    run_threads(work, NULL);
    hook_close(shared_fd);
    drain();
    CHECK(recorder_begin_reading());
    snapshot_totals(&own, POSIX_MODULE, &totals);
    EQUAL(totals.records, THREADS + 1);
    EQUAL(totals.sums[3], reads);
    EQUAL(totals.sums[4], writes);
    EQUAL(totals.sums[14], reads * SIZE);
    EQUAL(totals.sums[15], writes * SIZE);
    EQUAL(totals.sums[0], THREADS + 1 + items); /* opens and copies */
    EQUAL(totals.common_sizes[0].value, SIZE);
    EQUAL(totals.common_sizes[0].count, reads + writes);
    EQUAL(drained[POSIX_MODULE][BIN_BYTES + READING], reads * SIZE);
    EQUAL(drained[POSIX_MODULE][BIN_BYTES + WRITING], writes * SIZE);
    EQUAL(drained[POSIX_MODULE][BIN_CALLS + READING], reads);
    EQUAL(traced + (int64_t)recorder.shared->segments.dropped, reads + writes);
    snapshot_totals(&own, STDIO_MODULE, &totals);
    EQUAL(totals.sums[7], items * SIZE);
    EQUAL(totals.sums[6], items * SIZE);
    EQUAL(totals.sums[5], items);
    EQUAL(drained[STDIO_MODULE][BIN_BYTES + READING], items * SIZE);
    EQUAL(drained[STDIO_MODULE][BIN_BYTES + WRITING], items * SIZE);
    recorder_end_reading();
    recorder_stop();
}

static void begin_and_end_recordings(void)
{
    for (int i = 0; i < RECORDINGS; i++) {
        start(i % 2 ? 5000 : 0);
        usleep(2000);
        recorder_stop();
    }
}

static void test_recordings_begin_and_end_under_way(void)
{
    start(0);
    open_shared();
    recorder_stop();
    run_threads(work_until_finished, begin_and_end_recordings);
    hook_close(shared_fd);
    CHECK(!recorder_begin_reading());
}

/* A child of a process whose threads are in the middle of reports records afresh. */
static void in_child(void)
{
    static struct totals totals;
    char path[4096];
    recorder_fork();
    hooks_forget();
    CHECK(recording() == 0);
    start(100);
    CHECK(table_descriptor(&recorder.table, shared_fd) == NULL);
    snprintf(path, sizeof(path), "%s/child", directory);
    int fd = hook_open(path, O_CREAT | O_WRONLY, 0600);
    EQUAL(hook_write(fd, path, 100), 100);
    hook_close(fd);
    CHECK(recorder_begin_reading());
    snapshot_totals(&own, POSIX_MODULE, &totals);
    recorder_end_reading();
    EQUAL(totals.sums[15], 100);
    recorder_stop();
    _exit(checks_result());
}

/* Where children are recorded, it goes on with the files that it inherited. */
static void in_recorded_child(void)
{
    static struct totals totals;
    char buffer[SIZE];
    recorder_fork();
    hooks_forget();
    EQUAL(hook_pread(shared_fd, buffer, SIZE, 0), SIZE);
    own = snapshot_own();
    CHECK(recorder_begin_reading());
    snapshot_totals(&own, POSIX_MODULE, &totals);
    recorder_end_reading();
    EQUAL(totals.sums[14], SIZE); /* and nothing of what the parent did */
    EQUAL(totals.sums[0], 0);
    recorder_stop();
    _exit(checks_result());
}

static void fork_children(void)
{
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0 && recorder.options.children)
            in_recorded_child();
        if (child == 0)
            in_child();
        int status = 0;
        EQUAL(waitpid(child, &status, 0), child);
        EQUAL(status, 0);
    }
}

static void test_forks_under_way(bool recorded)
{
    children = recorded;
    start(1000);
    open_shared();
    run_threads(work_until_finished, fork_children);
    hook_close(shared_fd);
    CHECK(access(recorder.arena.path, F_OK) == 0); /* the children left it alone */
    recorder_stop();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    directory = argv[1];
    CHECK(hooks_resolve());
    test_nothing_is_lost_or_doubled();
    test_recordings_begin_and_end_under_way();
    if (getenv("NO_FORKS") == NULL) {
        test_forks_under_way(false);
        test_forks_under_way(true);
    }
    return checks_result();
}
