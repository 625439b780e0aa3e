/* The rules of counters.c for STDIO records, with invented times. */
#include "counters.h"

#include <string.h>

#include "check.h"

#define SPAN(from, to) ((struct span){(from) * INT64_C(1000000000), (to) * INT64_C(1000000000)})

static struct stdio_record stdio;
static int64_t counters[STDIO_COUNTERS];
static double fcounters[STDIO_FCOUNTERS];

/* Darshan's order of counters. */
enum {
    OPENS, FDOPENS, READS, WRITES, SEEKS, FLUSHES, BYTES_WRITTEN, BYTES_READ,
    MAX_BYTE_READ, MAX_BYTE_WRITTEN,
};
enum {
    F_META_TIME, F_WRITE_TIME, F_READ_TIME, F_OPEN_START, F_CLOSE_START, F_WRITE_START,
    F_READ_START, F_OPEN_END, F_CLOSE_END, F_WRITE_END, F_READ_END,
};

static void begin(void)
{
    memset(&stdio, 0, sizeof(stdio));
}

static int64_t counter(int index)
{
    stdio_export(&stdio, counters, fcounters);
    return counters[index];
}

static int64_t milliseconds(int index)
{
    stdio_export(&stdio, counters, fcounters);
    return (int64_t)(fcounters[index] * 1000 + 0.5);
}

static void test_streams_share_a_position(void)
{
    begin();
    stdio_open(&stdio, SPAN(1, 2));
    stdio_transfer(&stdio, WRITING, 10, SPAN(3, 4));
    stdio_transfer(&stdio, WRITING, 20, SPAN(4, 5));
    stdio_open(&stdio, SPAN(6, 7)); /* a second stream on the file: back to the beginning */
    stdio_transfer(&stdio, WRITING, 30, SPAN(8, 9));
    stdio_transfer(&stdio, WRITING, 20, SPAN(9, 10));
    EQUAL(counter(MAX_BYTE_WRITTEN), 49);
    EQUAL(counter(BYTES_WRITTEN), 80);
    EQUAL(counter(WRITES), 4);
    EQUAL(counter(OPENS), 2);
    stdio_fdopen(&stdio, SPAN(11, 12)); /* this one does not */
    stdio_transfer(&stdio, READING, 5, SPAN(13, 14));
    EQUAL(counter(FDOPENS), 1);
    EQUAL(counter(OPENS), 3);
    EQUAL(counter(MAX_BYTE_READ), 54);
    EQUAL(counter(BYTES_READ), 5);
}

static void test_flush_is_a_write_of_nothing(void)
{
    begin();
    stdio_open(&stdio, SPAN(1, 2));
    stdio_seek(&stdio, 500, SPAN(3, 4));
    stdio_flush(&stdio, SPAN(5, 7));
    EQUAL(counter(FLUSHES), 1);
    EQUAL(counter(WRITES), 0);
    EQUAL(counter(BYTES_WRITTEN), 0);
    EQUAL(counter(MAX_BYTE_WRITTEN), 499); /* as far as the seek went */
    EQUAL(milliseconds(F_WRITE_TIME), 2000);
    EQUAL(milliseconds(F_WRITE_START), 5000);
    EQUAL(milliseconds(F_WRITE_END), 7000);
    stdio_transfer(&stdio, WRITING, 0, SPAN(8, 9)); /* an empty text is a write */
    EQUAL(counter(WRITES), 1);
}

static void test_times_of_streams(void)
{
    begin();
    stdio_open(&stdio, SPAN(1, 2));
    stdio_transfer(&stdio, READING, 1, SPAN(3, 6));
    stdio_transfer(&stdio, WRITING, 1, SPAN(7, 9));
    stdio_seek(&stdio, 0, SPAN(10, 11));
    stdio_close(&stdio, SPAN(20, 24));
    static const int64_t expected[] = {6, 2, 3, 1, 20, 7, 3, 2, 24, 9, 6, 0, 0, 0, 0};
    for (int i = 0; i < STDIO_FCOUNTERS; i++)
        EQUAL(milliseconds(i), expected[i] * 1000);
    for (int i = MAX_BYTE_WRITTEN + 1; i < STDIO_COUNTERS; i++)
        EQUAL(counter(i), 0);
    EQUAL(counter(SEEKS), 1);
}

int main(void)
{
    test_streams_share_a_position();
    test_flush_is_a_write_of_nothing();
    test_times_of_streams();
    return checks_result();
}
