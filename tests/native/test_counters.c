/* The rules of counters.c for POSIX records, with invented times. */
#include "counters.h"

#include <string.h>

#include "check.h"

#define S INT64_C(1000000000)
#define SPAN(from, to) ((struct span){(from) * S, (to) * S}) /* seconds */
#define SPAN_MS(from, to) ((struct span){(from) * S / 1000, (to) * S / 1000})

static struct posix_record posix;
static struct value_count accesses[VALUE_SET_MAX], strides[VALUE_SET_MAX];
static int64_t counters[POSIX_COUNTERS];
static double fcounters[POSIX_FCOUNTERS];
static int64_t clock_seconds;

/* Darshan's order of counters, as far as it is asked for here. */
enum {
    OPENS, FILENOS, DUPS, READS, WRITES, SEEKS, STATS, MMAPS, FSYNCS, FDSYNCS, RENAME_SOURCES,
    RENAME_TARGETS, RENAMED_FROM, MODE, BYTES_READ, BYTES_WRITTEN, MAX_BYTE_READ,
    MAX_BYTE_WRITTEN, CONSEC_READS, CONSEC_WRITES, SEQ_READS, SEQ_WRITES, RW_SWITCHES,
    MEM_NOT_ALIGNED, MEM_ALIGNMENT, FILE_NOT_ALIGNED, FILE_ALIGNMENT, MAX_READ_TIME_SIZE,
    MAX_WRITE_TIME_SIZE, SIZE_READ, SIZE_WRITE = 39, STRIDE_STRIDE = 49, STRIDE_COUNT = 53,
    ACCESS_ACCESS = 57, ACCESS_COUNT = 61, FASTEST_RANK = 65,
};
enum {
    F_OPEN_START, F_READ_START, F_WRITE_START, F_CLOSE_START, F_OPEN_END, F_READ_END, F_WRITE_END,
    F_CLOSE_END, F_READ_TIME, F_WRITE_TIME, F_META_TIME, F_MAX_READ_TIME, F_MAX_WRITE_TIME,
};

static void begin(void)
{
    memset(&posix, 0, sizeof(posix));
    memset(accesses, 0, sizeof(accesses));
    memset(strides, 0, sizeof(strides));
    posix.last_direction = NO_DIRECTION;
    posix.file_alignment = -1;
    posix.mmaps = -1;
    clock_seconds = 0;
}

static struct span next_second(void)
{
    clock_seconds++;
    return SPAN_MS(1000 * clock_seconds, 1000 * clock_seconds + 500);
}

static void transfer(enum direction direction, int64_t offset, int64_t size)
{
    posix_transfer(&posix, direction, offset, size, true, accesses, strides, next_second());
}

static int64_t counter(int index)
{
    posix_export(&posix, &posix.accesses, accesses, &posix.strides, strides, counters, fcounters);
    return counters[index];
}

static int64_t milliseconds(int index)
{
    posix_export(&posix, &posix.accesses, accesses, &posix.strides, strides, counters, fcounters);
    return (int64_t)(fcounters[index] * 1000 + (fcounters[index] < 0 ? -0.5 : 0.5));
}

/* What real Darshan gave under a scripted clock. */
static void test_scripted_clock(void)
{
    begin();
    posix_open(&posix, 0644, SPAN(1, 2));
    posix_transfer(&posix, WRITING, 0, 100, true, accesses, strides, SPAN(10, 20));
    posix_transfer(&posix, WRITING, 100, 50, true, accesses, strides, SPAN(11, 12));
    posix_transfer(&posix, WRITING, 150, 70, true, accesses, strides, SPAN(5, 25));
    posix_transfer(&posix, READING, 0, 10, true, accesses, strides, SPAN(30, 40));
    posix_transfer(&posix, READING, 10, 20, true, accesses, strides, SPAN(50, 60));
    posix_sync(&posix, false, SPAN(61, 62));
    posix_seek(&posix, 0, SPAN(70, 75));
    posix_close(&posix, SPAN(80, 81));
    EQUAL(milliseconds(F_WRITE_TIME), 8000);
    EQUAL(milliseconds(F_READ_TIME), 20000);
    EQUAL(milliseconds(F_META_TIME), 7000);
    EQUAL(milliseconds(F_MAX_WRITE_TIME), 20000);
    EQUAL(milliseconds(F_MAX_READ_TIME), 10000);
    EQUAL(milliseconds(F_WRITE_START), 5000);
    EQUAL(milliseconds(F_WRITE_END), 25000);
    EQUAL(milliseconds(F_READ_START), 30000);
    EQUAL(milliseconds(F_READ_END), 60000);
    EQUAL(milliseconds(F_OPEN_START), 1000);
    EQUAL(milliseconds(F_OPEN_END), 2000);
    EQUAL(milliseconds(F_CLOSE_START), 80000);
    EQUAL(milliseconds(F_CLOSE_END), 81000);
    EQUAL(counter(MAX_WRITE_TIME_SIZE), 70);
    EQUAL(counter(MAX_READ_TIME_SIZE), 10); /* a tie keeps the first */
    EQUAL(counter(FSYNCS), 1);
    EQUAL(counter(MODE), 0644);
}

/* Calls of several threads arrive in the order in which they end, or any other. */
static void test_overlapping_calls(void)
{
    struct timer timer = {0, 0};
    timer_add(&timer, SPAN_MS(100, 101));
    timer_add(&timer, SPAN_MS(200, 201));
    timer_add(&timer, SPAN_MS(50, 450)); /* began first, ended last: only the rest adds */
    EQUAL(timer.total, (1 + 1 + 249) * S / 1000);
    EQUAL(timer.last_end, 450 * S / 1000);

    timer = (struct timer){0, 0};
    timer_add(&timer, SPAN_MS(19500, 20000));
    timer_add(&timer, SPAN(11, 12)); /* ended before what was recorded: takes away */
    EQUAL(timer.total, -15 * S / 2);
    EQUAL(timer.last_end, 20 * S);

    timer = (struct timer){0, 0};
    for (int thread = 0; thread < 8; thread++) /* eight threads blocked at once */
        timer_add(&timer, SPAN(1, 3));
    EQUAL(timer.total, 2 * S);

    timer = (struct timer){5, 7};
    timer_add(&timer, (struct span){0, 100});
    timer_add(&timer, (struct span){100, 0});
    EQUAL(timer.total, 5);
    EQUAL(timer.last_end, 7);
}

static void test_kinds_of_time_are_apart(void)
{
    begin();
    posix_transfer(&posix, READING, 0, 1, true, accesses, strides, SPAN(1, 5));
    posix_transfer(&posix, WRITING, 0, 1, true, accesses, strides, SPAN(1, 5));
    posix_stat(&posix, SPAN(1, 5));
    EQUAL(milliseconds(F_READ_TIME), 4000);
    EQUAL(milliseconds(F_WRITE_TIME), 4000);
    EQUAL(milliseconds(F_META_TIME), 4000);
}

static void test_stamps(void)
{
    begin();
    posix_transfer(&posix, READING, 0, 1, true, accesses, strides, SPAN_MS(19500, 20000));
    posix_transfer(&posix, READING, 1, 1, true, accesses, strides, SPAN(11, 12));
    EQUAL(milliseconds(F_READ_START), 11000); /* the smallest */
    EQUAL(milliseconds(F_READ_END), 12000);   /* the one recorded last */
    posix_sync(&posix, true, SPAN(30, 31));
    EQUAL(milliseconds(F_WRITE_TIME), 1000);
    EQUAL(milliseconds(F_WRITE_START), 0);
    EQUAL(milliseconds(F_WRITE_END), 0);
    EQUAL(counter(FDSYNCS), 1);
    EQUAL(counter(FSYNCS), 0);
}

static void test_longest_call(void)
{
    begin();
    posix_transfer(&posix, READING, 0, 11, true, accesses, strides, SPAN(1, 2));
    posix_transfer(&posix, READING, 0, 22, true, accesses, strides, SPAN(3, 5));
    posix_transfer(&posix, READING, 0, 33, true, accesses, strides, SPAN(6, 8));
    EQUAL(counter(MAX_READ_TIME_SIZE), 22);
    EQUAL(counter(MAX_WRITE_TIME_SIZE), 0);
    EQUAL(milliseconds(F_MAX_READ_TIME), 2000);
}

static void test_sequential_and_consecutive(void)
{
    begin();
    transfer(READING, 0, 10); /* byte 0 counts as seen: neither */
    EQUAL(counter(SEQ_READS), 0);
    EQUAL(counter(CONSEC_READS), 0);
    transfer(READING, 10, 10);
    EQUAL(counter(SEQ_READS), 1);
    EQUAL(counter(CONSEC_READS), 1);
    transfer(READING, 25, 5); /* a gap: sequential only */
    EQUAL(counter(SEQ_READS), 2);
    EQUAL(counter(CONSEC_READS), 1);
    transfer(READING, 3, 5); /* backwards */
    EQUAL(counter(SEQ_READS), 2);

    begin();
    transfer(WRITING, 1, 1); /* at offset 1 both */
    EQUAL(counter(SEQ_WRITES), 1);
    EQUAL(counter(CONSEC_WRITES), 1);
    EQUAL(counter(SEQ_READS), 0);

    begin();
    transfer(READING, 7, 1); /* further on: sequential, without a stride */
    EQUAL(counter(SEQ_READS), 1);
    EQUAL(counter(CONSEC_READS), 0);
    EQUAL(counter(STRIDE_COUNT), 0);
}

static void test_nothing_moved(void)
{
    begin();
    for (int64_t offset = 0; offset < 1000; offset += 300)
        transfer(READING, offset, offset == 900 ? 100 : 300);
    transfer(READING, 1000, 0); /* the end of the file */
    EQUAL(counter(READS), 5);
    EQUAL(counter(SEQ_READS), 4);
    EQUAL(counter(CONSEC_READS), 4);
    EQUAL(counter(BYTES_READ), 1000);
    EQUAL(counter(MAX_BYTE_READ), 999);
    EQUAL(counter(SIZE_READ), 2);
    EQUAL(counter(ACCESS_ACCESS), 300);
    EQUAL(counter(ACCESS_COUNT), 3);
    EQUAL(counter(ACCESS_ACCESS + 1), 100);
    EQUAL(counter(ACCESS_COUNT + 1), 1);
    EQUAL(counter(ACCESS_ACCESS + 2), 0);

    begin();
    transfer(READING, 0, 0); /* leaves the last byte before byte 0 */
    transfer(READING, 0, 10);
    EQUAL(counter(SEQ_READS), 1);
    EQUAL(counter(CONSEC_READS), 1);

    begin();
    transfer(READING, 5000, 0); /* beyond the end */
    EQUAL(counter(MAX_BYTE_READ), 4999);
}

static void test_position_is_the_files(void)
{
    begin();
    posix_open(&posix, 0, next_second());
    transfer(WRITING, 100, 20); /* pwrite moves it too */
    EQUAL(posix.position, 120);
    posix_seek(&posix, 7, next_second());
    EQUAL(posix.position, 7);
    EQUAL(counter(SEEKS), 1);
    posix_close(&posix, next_second());
    EQUAL(posix.position, 7); /* stays; what was last does not */
    EQUAL(posix.moved[WRITING].last_byte, 0);
    posix_open(&posix, 0, next_second());
    EQUAL(posix.position, 0);
    EQUAL(counter(OPENS), 2);
    transfer(READING, 40, 5);
    posix_dup(&posix, next_second());
    posix_fileno(&posix, next_second());
    EQUAL(posix.position, 45); /* a copy begins nothing anew */
    EQUAL(posix.moved[READING].last_byte, 44);
    EQUAL(counter(OPENS), 4);
    EQUAL(counter(DUPS), 1);
    EQUAL(counter(FILENOS), 1);
}

static void test_strides(void)
{
    begin();
    for (int64_t i = 0; i < 6; i++)
        transfer(READING, i * 1000, 100);
    EQUAL(counter(STRIDE_STRIDE), 900);
    EQUAL(counter(STRIDE_COUNT), 5);

    begin();
    transfer(READING, 0, 1); /* ends with last byte 0: the first pair has no stride */
    for (int64_t i = 1; i < 4; i++)
        transfer(READING, i * 1000, 1);
    EQUAL(counter(STRIDE_STRIDE), 999);
    EQUAL(counter(STRIDE_COUNT), 2);

    begin();
    transfer(READING, 0, 100);
    transfer(READING, 100, 100);
    EQUAL(counter(STRIDE_STRIDE), 0); /* consecutive: kept as 0, never shown */
    EQUAL(counter(STRIDE_COUNT), 0);
    EQUAL(posix.strides.n, 1);
}

static void test_directions_alternate(void)
{
    begin();
    transfer(READING, 0, 1);
    EQUAL(counter(RW_SWITCHES), 0);
    transfer(WRITING, 0, 1);
    transfer(WRITING, 1, 1);
    posix_close(&posix, next_second());
    posix_open(&posix, 0, next_second());
    transfer(READING, 0, 1); /* the last direction outlives a close */
    EQUAL(counter(RW_SWITCHES), 2);
}

static void test_alignment(void)
{
    begin();
    posix.file_alignment = 4096;
    posix_transfer(&posix, READING, 4096, 1, false, accesses, strides, next_second());
    posix_transfer(&posix, READING, 4097, 4096, true, accesses, strides, next_second());
    EQUAL(counter(MEM_NOT_ALIGNED), 1);
    EQUAL(counter(FILE_NOT_ALIGNED), 1);
    EQUAL(counter(MEM_ALIGNMENT), 8);
    EQUAL(counter(FILE_ALIGNMENT), 4096);
    posix.file_alignment = -1;
    transfer(READING, 3, 1);
    EQUAL(counter(FILE_NOT_ALIGNED), 1);
}

static void test_size_buckets(void)
{
    static const int64_t limits[] = {100,     1024,     10240,     102400,    1048576,
                                     4194304, 10485760, 104857600, 1073741824};
    EQUAL(size_bucket(0), 0);
    for (int i = 0; i < SIZE_BUCKETS - 1; i++) {
        EQUAL(size_bucket(limits[i]), i);
        EQUAL(size_bucket(limits[i] + 1), i + 1);
    }
    EQUAL(size_bucket(INT64_MAX), SIZE_BUCKETS - 1);
    begin();
    for (int i = 0; i < SIZE_BUCKETS - 1; i++) {
        transfer(READING, 0, limits[i] + 1);
        transfer(WRITING, 0, limits[i]);
    }
    for (int i = 0; i < SIZE_BUCKETS; i++) {
        EQUAL(counter(SIZE_READ + i), i > 0);
        EQUAL(counter(SIZE_WRITE + i), i < SIZE_BUCKETS - 1);
    }
}

static void test_common_sizes(void)
{
    begin(); /* by count, then by value, both falling */
    static const int64_t sizes[] = {10, 20, 30, 40, 50, 60, 70};
    for (int i = 0; i < 7; i++)
        transfer(i % 2 ? READING : WRITING, 0, sizes[i]); /* both directions together */
    transfer(READING, 0, 20);
    static const int64_t expected[] = {20, 70, 60, 50};
    for (int i = 0; i < COMMON_VALUES; i++)
        EQUAL(counter(ACCESS_ACCESS + i), expected[i]);
    EQUAL(counter(ACCESS_COUNT), 2);
    EQUAL(counter(ACCESS_COUNT + 3), 1);
}

static void test_renames(void)
{
    begin();
    posix_rename_source(&posix, SPAN(1, 2));
    EQUAL(counter(RENAME_SOURCES), 1);
    EQUAL(milliseconds(F_META_TIME), 1000);
    posix_rename_target(&posix, 0xfedcba9876543210u);
    posix_rename_target(&posix, 5); /* the first source is kept */
    EQUAL(counter(RENAME_TARGETS), 2);
    CHECK((uint64_t)counter(RENAMED_FROM) == 0xfedcba9876543210u);
    EQUAL(milliseconds(F_META_TIME), 1000);
}

static void test_rest_of_a_record(void)
{
    begin();
    posix_open(&posix, 0600, SPAN(1, 2));
    posix_open(&posix, 0, SPAN(3, 4)); /* a plain open keeps the mode */
    posix_metadata(&posix, SPAN(5, 6));
    EQUAL(counter(MODE), 0600);
    EQUAL(counter(MMAPS), -1);
    EQUAL(counter(STATS), 0);
    EQUAL(milliseconds(F_META_TIME), 3000);
    for (int i = FASTEST_RANK; i < POSIX_COUNTERS; i++)
        EQUAL(counter(i), 0);
    for (int i = F_MAX_WRITE_TIME + 1; i < POSIX_FCOUNTERS; i++)
        EQUAL(milliseconds(i), 0);
}

int main(void)
{
    test_scripted_clock();
    test_overlapping_calls();
    test_kinds_of_time_are_apart();
    test_stamps();
    test_longest_call();
    test_sequential_and_consecutive();
    test_nothing_moved();
    test_position_is_the_files();
    test_strides();
    test_directions_alternate();
    test_alignment();
    test_size_buckets();
    test_common_sizes();
    test_renames();
    test_rest_of_a_record();
    return checks_result();
}
