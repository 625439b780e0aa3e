/* The sets of values that the most common sizes and strides come from. */
#include "counters.h"

#include <string.h>

#include "check.h"

static void test_value_set_is_full(void)
{
    struct value_set set = {0};
    struct value_count more[VALUE_SET_MAX - VALUE_SET_INLINE], top[COMMON_VALUES];
    memset(more, 0, sizeof(more));
    value_set_add(&set, NULL, 0);
    for (int64_t value = 1; value < VALUE_SET_MAX; value++)
        value_set_add(&set, more, value);
    EQUAL(set.n, VALUE_SET_MAX); /* 0 took one of the places */
    for (int i = 0; i < 50; i++)
        value_set_add(&set, more, 777);
    EQUAL(set.n, VALUE_SET_MAX);
    value_set_top(&set, more, top);
    for (int i = 0; i < COMMON_VALUES; i++)
        EQUAL(top[i].value, VALUE_SET_MAX - 1 - i);
    for (int i = 0; i < 9; i++)
        value_set_add(&set, more, i < 5 ? 0 : 3);
    value_set_top(&set, more, top);
    EQUAL(top[0].value, 3); /* 0 is more frequent and never shown */
    EQUAL(top[0].count, 5);
    EQUAL(value_set_at(&set, more, 0)->count, 6);
}

static void test_value_set_without_room(void)
{
    struct value_set set = {0};
    struct value_count top[COMMON_VALUES];
    for (int64_t value = 1; value <= VALUE_SET_INLINE; value++) {
        CHECK(!value_set_wants_room(&set));
        value_set_add(&set, NULL, value);
    }
    CHECK(value_set_wants_room(&set));
    value_set_add(&set, NULL, 99); /* no room was to be had: ignored, nothing breaks */
    value_set_add(&set, NULL, 1);
    EQUAL(set.n, VALUE_SET_INLINE);
    value_set_top(&set, NULL, top);
    EQUAL(top[0].value, 1);
    EQUAL(top[0].count, 2);
    EQUAL(top[VALUE_SET_INLINE].count, 0);
}

int main(void)
{
    test_value_set_is_full();
    test_value_set_without_room();
    return checks_result();
}
