/* Names: hashes, cleaning, exclusions, mounts. */
#include "paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static char out[NAME_LIMIT];

static uint64_t id_of(const char *name)
{
    return name_id(name, strlen(name));
}

/* Values of real Darshan, with lengths on both sides of the hash's 24-byte blocks. */
static void test_ids_are_darshans(void)
{
    CHECK(id_of("") == 10211412111675192767u);
    CHECK(id_of("a") == 2110215103713784748u);
    CHECK(id_of("<STDIN>") == 14734109647742566553u);
    CHECK(id_of("<STDOUT>") == 15920181672442173319u);
    CHECK(id_of("<STDERR>") == 7238257241479193519u);
    CHECK(id_of("heatmap:POSIX") == 16592106915301738621u);
    CHECK(id_of("heatmap:STDIO") == 3989511027826779520u);
    CHECK(id_of("heatmap:MPIIO") == 3668870418325792824u);
    CHECK(id_of("12345678901234567890123") == 11123812889382760314u);
    CHECK(id_of("123456789012345678901234") == 11915191245769330402u);
    CHECK(id_of("1234567890123456789012345") == 4881903546409015229u);
    CHECK(name_id("abc", 1) == 2110215103713784748u); /* as far as told */
}

static void expect_clean(int line, const char *path, const char *directory, const char *expected)
{
    size_t length = clean_path(path, directory, out);
    if (length == strlen(expected) && strcmp(out, expected) == 0)
        return;
    fprintf(stderr, "%d: %s became %s (%zu)\n", line, path, out, length);
    CHECK(!"cleaned as expected");
}
#define CLEAN(path, directory, expected) expect_clean(__LINE__, path, directory, expected)

static void test_cleaning(void)
{
    CLEAN("/a/b", NULL, "/a/b");
    CLEAN("//tmp//d/./...///x", NULL, "/tmp/d/.../x");
    CLEAN("/./tmp/..", NULL, "/tmp/..");
    CLEAN("/././././x", NULL, "/x");
    CLEAN("///", NULL, "/");
    CLEAN("/./", NULL, "/");
    CLEAN("/a/.", NULL, "/a/.");
    CLEAN("/a/b/", NULL, "/a/b/");
    CLEAN("/a//./..//.b", NULL, "/a/../.b");
    CLEAN("/a/.//././/b", NULL, "/a/b");
    CLEAN("", NULL, "");
    CLEAN("<STDIN>", NULL, "<STDIN>");
    CLEAN("<x//./y", NULL, "<x//./y");
    CLEAN("x", "/d", "/d/x");
    CLEAN("./x", "/d", "/d/x");
    CLEAN("../x", "/d/", "/d/../x");
    CLEAN("/x", "/d", "/x"); /* already absolute */
    CLEAN("\xff\xfe//\xc3", "/d", "/d/\xff\xfe/\xc3");
}

static void test_relative_to_the_current_directory(void)
{
    char *before = getcwd(NULL, 0);
    CHECK(chdir("/usr") == 0);
    CLEAN("bin/x", NULL, "/usr/bin/x");
    CHECK(chdir("/") == 0);
    CLEAN("./sub/../x", NULL, "/sub/../x");
    CHECK(before != NULL && chdir(before) == 0);
    free(before);
}

static void test_overlong_names_are_refused(void)
{
    static char path[NAME_LIMIT + 2];
    memset(path, 'x', sizeof(path) - 1);
    *path = '/';
    EQUAL(clean_path(path, NULL, out), 0);
    path[NAME_LIMIT] = '\0';
    EQUAL(clean_path(path, NULL, out), 0);
    path[NAME_LIMIT - 1] = '\0';
    EQUAL(clean_path(path, NULL, out), NAME_LIMIT - 1);
    EQUAL(clean_path("y", path, out), 0);
    path[NAME_LIMIT - 2] = '\0';
    EQUAL(clean_path("y", path, out), 0);
    path[NAME_LIMIT - 3] = '\0';
    EQUAL(clean_path("y", path, out), NAME_LIMIT - 1);
}

static void test_directory_of_a_name(void)
{
    EQUAL(directory_length("/a/b", 4), 2);
    EQUAL(directory_length("/a/b///", 7), 2);
    EQUAL(directory_length("/a", 2), 1);
    EQUAL(directory_length("/", 1), 1);
    EQUAL(directory_length("", 0), 0);
    EQUAL(directory_length("<STDIN>", 7), 0);
}

static void test_darshans_exclusions(void)
{
    struct exclusions rules = {darshan_excluded, darshan_included, false};
    CHECK(is_excluded(&rules, "/etc/passwd"));
    CHECK(!is_excluded(&rules, "/etc"));
    CHECK(!is_excluded(&rules, "/lib64/libc.so.6"));
    CHECK(is_excluded(&rules, "/dev/shm/x"));
    CHECK(is_excluded(&rules, "/var/opt/x"));
    CHECK(!is_excluded(&rules, "/var/opt/cray/dws/mounts/x"));
    CHECK(!is_excluded(&rules, "/tmp/../etc/passwd"));
    CHECK(!is_excluded(&rules, "/home/user/etc/x"));
    CHECK(!is_excluded(&rules, "<STDOUT>"));
    CHECK(!is_excluded(&rules, ""));
}

static void test_prefixes_and_components(void)
{
    const char *const excluded[] = {"/usr", "/data/set", NULL}, *const included[] = {"/usr/me", NULL};
    struct exclusions plain = {excluded, included, false}, whole = {excluded, included, true};
    CHECK(is_excluded(&plain, "/usrx") && !is_excluded(&whole, "/usrx"));
    CHECK(is_excluded(&plain, "/usr") && is_excluded(&whole, "/usr"));
    CHECK(is_excluded(&plain, "/usr/x") && is_excluded(&whole, "/usr/x"));
    CHECK(!is_excluded(&plain, "/usr/men") && is_excluded(&whole, "/usr/men"));
    CHECK(!is_excluded(&plain, "/usr/me/x") && !is_excluded(&whole, "/usr/me/x"));
    CHECK(!is_excluded(&whole, "/data/sets") && is_excluded(&whole, "/data/set/1"));
    CHECK(!is_excluded(&plain, "/us") && !is_excluded(&whole, "/us"));
}

static void test_the_root_leaves_everything_out(void)
{
    const char *const excluded[] = {"/", NULL}, *const included[] = {NULL};
    struct exclusions whole = {excluded, included, true};
    CHECK(is_excluded(&whole, "/x"));
    CHECK(is_excluded(&whole, "/"));
    CHECK(!is_excluded(&whole, "<STDOUT>"));
}

static void test_alignment_is_that_of_the_longest_prefix(void)
{
    static struct mounts mounts = {
        {{"/data/deep", "ext4", 512}, {"/data", "ext4", 1024}, {"/", "ext4", 4096}}, 3};
    EQUAL(mounts_alignment(&mounts, "/data/deep/x"), 512);
    EQUAL(mounts_alignment(&mounts, "/data/x"), 1024);
    EQUAL(mounts_alignment(&mounts, "/database/x"), 1024); /* as text, not by component */
    EQUAL(mounts_alignment(&mounts, "/dat"), 4096);
    EQUAL(mounts_alignment(&mounts, "<STDOUT>"), -1);
    mounts.entries[2].block_size = 0;
    mounts.entries[2].path = "/nothing/there";
    EQUAL(mounts_alignment(&mounts, "/nothing/there/x"), 4096); /* cannot be asked */
}

static void test_mounts_of_this_machine(void)
{
    static struct mounts mounts;
    mounts_read(&mounts);
    CHECK(mounts.n > 0 && mounts.n <= MOUNTS_MAX);
    for (size_t i = 0; i < mounts.n; i++) {
        CHECK(strcmp(mounts.entries[i].type, "tmpfs") != 0);
        CHECK(strcmp(mounts.entries[i].type, "proc") != 0);
        CHECK(i == 0 || strlen(mounts.entries[i - 1].path) >= strlen(mounts.entries[i].path));
    }
    CHECK(mounts_alignment(&mounts, "/") > 0);
    mounts_free(&mounts);
    EQUAL(mounts.n, 0);
}

int main(void)
{
    test_ids_are_darshans();
    test_cleaning();
    test_relative_to_the_current_directory();
    test_overlong_names_are_refused();
    test_directory_of_a_name();
    test_darshans_exclusions();
    test_prefixes_and_components();
    test_the_root_leaves_everything_out();
    test_alignment_is_that_of_the_longest_prefix();
    test_mounts_of_this_machine();
    return checks_result();
}
