/* Time bins: whatever happens to them, they add up to what was put in. */
#include "bins.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MS INT64_C(1000000)

static struct bins bins, other, sum;
static double idle[BINS_MAX];

static void begin(struct bins *which, int64_t now)
{
    memset(which, 0, sizeof(*which));
    bins_reset(which, now);
}

static int64_t total(const struct bins *which, int column)
{
    int64_t value = 0;
    for (int i = 0; i < BINS_MAX; i++) {
        value += which->values[i][column];
        CHECK(i < which->used || which->values[i][column] == 0);
        CHECK(which->values[i][column] >= 0);
    }
    return value;
}

static void all_idle(void)
{
    for (int i = 0; i < BINS_MAX; i++)
        idle[i] = 1.0;
}

static void test_call_within_a_bin(void)
{
    begin(&bins, 0);
    bins_transfer(&bins, READING, 100, (struct span){31 * MS, 38 * MS});
    EQUAL(bins.values[3][BIN_BYTES + READING], 100);
    EQUAL(bins.values[3][BIN_CALLS + READING], 1);
    EQUAL(bins.values[3][BIN_CALL_TIME], 7 * MS);
    EQUAL(bins.used, 4);
    bins_metadata(&bins, true, (struct span){32 * MS, 33 * MS});
    bins_metadata(&bins, false, (struct span){32 * MS, 33 * MS});
    EQUAL(bins.values[3][BIN_METADATA_CALLS], 1); /* the other has no counter in Darshan */
    EQUAL(bins.values[3][BIN_CALL_TIME], 9 * MS);
    EQUAL(total(&bins, BIN_BYTES + WRITING), 0);
}

static void test_call_over_several_bins(void)
{
    begin(&bins, 0);
    bins_transfer(&bins, WRITING, 1000, (struct span){5 * MS, 30 * MS});
    EQUAL(bins.values[0][BIN_BYTES + WRITING], 200);
    EQUAL(bins.values[1][BIN_BYTES + WRITING], 400);
    EQUAL(bins.values[2][BIN_BYTES + WRITING], 400);
    EQUAL(bins.values[3][BIN_BYTES + WRITING], 0); /* it ended on this bin's edge */
    EQUAL(bins.values[3][BIN_CALLS + WRITING], 1);
    EQUAL(bins.values[0][BIN_CALL_TIME], 5 * MS);
    EQUAL(bins.values[2][BIN_CALL_TIME], 10 * MS);
    bins_transfer(&bins, WRITING, 7, (struct span){11 * MS, 64 * MS}); /* fewer bytes than bins */
    EQUAL(total(&bins, BIN_BYTES + WRITING), 1007);
    EQUAL(total(&bins, BIN_CALL_TIME), 78 * MS);
}

static void test_calls_without_time_or_bytes(void)
{
    begin(&bins, 0);
    bins_transfer(&bins, READING, 50, (struct span){20 * MS, 20 * MS});
    bins_transfer(&bins, READING, 50, (struct span){25 * MS, 21 * MS}); /* a clock that lies */
    bins_transfer(&bins, READING, 0, (struct span){1 * MS, 99 * MS});
    EQUAL(bins.values[2][BIN_BYTES + READING], 100);
    EQUAL(total(&bins, BIN_BYTES + READING), 100);
    EQUAL(total(&bins, BIN_CALLS + READING), 3);
}

static void test_call_that_began_before_the_first_bin(void)
{
    begin(&bins, 105 * MS);
    EQUAL(bins.first, 10);
    bins_transfer(&bins, READING, 64, (struct span){3 * MS, 119 * MS});
    EQUAL(total(&bins, BIN_BYTES + READING), 64);
    EQUAL(total(&bins, BIN_CALL_TIME), 19 * MS); /* only what lies in the bins */
    bins_transfer(&bins, READING, 36, (struct span){3 * MS, 9 * MS}); /* all of it before */
    EQUAL(bins.values[0][BIN_BYTES + READING], 64 * 10 / 19 + 36);
    EQUAL(total(&bins, BIN_BYTES + READING), 100);
    EQUAL(total(&bins, BIN_CALLS + READING), 2);
}

static void test_widening(void)
{
    begin(&bins, 30 * MS); /* on an odd place of the grid */
    int64_t bytes = 0;
    for (int64_t i = 0; i < 3 * BINS_MAX; i++) {
        int64_t start = 30 * MS + i * 10 * MS;
        bins_transfer(&bins, READING, i, (struct span){start, start + 7 * MS});
        bytes += i;
    }
    EQUAL(bins.width, 40 * MS);
    EQUAL(bins.first, 0);
    CHECK(bins.used <= BINS_MAX);
    EQUAL(total(&bins, BIN_BYTES + READING), bytes);
    EQUAL(total(&bins, BIN_CALLS + READING), 3 * BINS_MAX);
    EQUAL(total(&bins, BIN_CALL_TIME), 3 * BINS_MAX * 7 * MS);
    EQUAL(bins.values[0][BIN_CALLS + READING], 1); /* place 3 of 0..3 */
    EQUAL(bins.values[1][BIN_CALLS + READING], 4);
    bins_transfer(&bins, READING, 1, (struct span){1, 1000000 * 10 * MS}); /* far away at once */
    EQUAL(total(&bins, BIN_BYTES + READING), bytes + 1);
    CHECK(bins.used <= BINS_MAX);
}

static void test_reset_keeps_nothing(void)
{
    begin(&bins, 0);
    for (int64_t i = 0; i < 2000; i++)
        bins_transfer(&bins, READING, 5, (struct span){i * 10 * MS, i * 10 * MS + MS});
    bins_reset(&bins, 20005 * MS);
    EQUAL(bins.width, 10 * MS);
    EQUAL(bins.first, 2000);
    EQUAL(total(&bins, BIN_CALLS + READING), 0);
    bins_transfer(&bins, READING, 5, (struct span){20010 * MS, 20011 * MS});
    EQUAL(bins.values[1][BIN_BYTES + READING], 5);
}

static void test_merge_of_other_widths_and_beginnings(void)
{
    begin(&sum, 50 * MS);
    all_idle();
    begin(&bins, 30 * MS); /* earlier */
    bins_transfer(&bins, READING, 10, (struct span){31 * MS, 32 * MS});
    bins_transfer(&bins, WRITING, 10, (struct span){70 * MS, 75 * MS});
    bins_merge(&sum, idle, &bins);
    EQUAL(sum.width, 10 * MS);
    EQUAL(sum.values[0][BIN_BYTES + READING], 10); /* before its first bin: into that */
    EQUAL(sum.values[2][BIN_BYTES + WRITING], 10);
    EQUAL((int64_t)(idle[2] * 1000 + 0.5), 500);

    begin(&other, 60 * MS); /* wider */
    for (int64_t i = 0; i < 1500; i++)
        bins_transfer(&other, READING, 3, (struct span){(60 + i * 10) * MS, (65 + i * 10) * MS});
    EQUAL(other.width, 20 * MS);
    bins_merge(&sum, idle, &other);
    EQUAL(sum.width, 20 * MS);
    EQUAL(total(&sum, BIN_BYTES + READING), 10 + 3 * 1500);
    EQUAL(total(&sum, BIN_BYTES + WRITING), 10);

    begin(&bins, 0); /* narrower again, and beyond the end of what there is */
    bins_transfer(&bins, READING, 1, (struct span){5 * MS, 6 * MS});
    bins_merge(&sum, idle, &bins);
    begin(&bins, 40000 * MS);
    bins_transfer(&bins, READING, 1, (struct span){40005 * MS, 40006 * MS});
    bins_merge(&sum, idle, &bins);
    EQUAL(sum.width, 40 * MS);
    EQUAL(total(&sum, BIN_BYTES + READING), 12 + 3 * 1500);
    begin(&bins, 0);
    bins_merge(&sum, idle, &bins); /* empty */
    EQUAL(total(&sum, BIN_CALLS + READING), 3 + 1500);
}

/* Two threads that are busy half of the time each, independently, leave a quarter idle. */
static void test_idle_time(void)
{
    begin(&sum, 0);
    all_idle();
    begin(&bins, 0);
    bins_transfer(&bins, READING, 1, (struct span){0, 5 * MS});
    bins_merge(&sum, idle, &bins);
    bins_merge(&sum, idle, &bins);
    EQUAL((int64_t)(idle[0] * 1000 + 0.5), 250);
    begin(&bins, 0);
    for (int thread = 0; thread < 3; thread++) /* more call time than the bin is wide */
        bins_transfer(&bins, READING, 1, (struct span){0, 9 * MS});
    bins_merge(&sum, idle, &bins);
    EQUAL((int64_t)(idle[0] * 1000), 0);
    EQUAL((int64_t)idle[1], 1);
}

/* Random calls into random bins that are merged at random: every column stays exact. */
static void test_random_sums(void)
{
    int64_t expected[BIN_COLUMNS] = {0}, now = 0;
    srand(7);
    begin(&sum, 0);
    all_idle();
    begin(&bins, 0);
    for (int i = 0; i < 20000; i++) {
        int64_t length = (rand() % 4 == 0 ? rand() % 3000 : rand() % 5) * MS / 3;
        int64_t end = now + rand() % (5 * MS), bytes = rand() % 100000;
        enum direction direction = rand() % 2 ? READING : WRITING;
        struct span call = {end > length ? end - length : 1, end};
        now = end;
        bins_transfer(&bins, direction, bytes, call);
        expected[BIN_BYTES + direction] += bytes;
        expected[BIN_CALLS + direction]++;
        if (rand() % 500 == 0) {
            bins_merge(&sum, idle, &bins);
            bins_reset(&bins, now);
        }
    }
    bins_merge(&sum, idle, &bins);
    for (int column = 0; column < BIN_METADATA_CALLS; column++)
        EQUAL(total(&sum, column), expected[column]);
}

int main(void)
{
    test_call_within_a_bin();
    test_call_over_several_bins();
    test_calls_without_time_or_bytes();
    test_call_that_began_before_the_first_bin();
    test_widening();
    test_reset_keeps_nothing();
    test_merge_of_other_widths_and_beginnings();
    test_idle_time();
    test_random_sums();
    return checks_result();
}
