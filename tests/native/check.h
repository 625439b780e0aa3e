/* Checks for tests in C: each failed one is printed with its place; `checks_result` ends main. */
#ifndef DARSHAN_CHECK_H
#define DARSHAN_CHECK_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int failed_checks;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            atomic_fetch_add(&failed_checks, 1);                                                   \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
        }                                                                                          \
    } while (0)

#define EQUAL(expression, expected)                                                                \
    do {                                                                                           \
        int64_t value_ = (int64_t)(expression), expected_ = (int64_t)(expected);                   \
        if (value_ != expected_) {                                                                 \
            atomic_fetch_add(&failed_checks, 1);                                                   \
            fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", __FILE__, __LINE__,     \
                    #expression, value_, expected_);                                               \
        }                                                                                          \
    } while (0)

/* A session name that no other run has. */
static inline const char *test_session(void)
{
    static char name[24];
    snprintf(name, sizeof(name), "test-%d", (int)getpid());
    return name;
}

static inline int checks_result(void)
{
    return atomic_load(&failed_checks) ? 1 : 0;
}

#endif
