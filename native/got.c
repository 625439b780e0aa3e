#include "got.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "object.h"
#include "spin.h"

#if defined(__x86_64__)
enum { RELOCATION_JUMP = R_X86_64_JUMP_SLOT, RELOCATION_GLOBAL = R_X86_64_GLOB_DAT };
enum { RELOCATION_ABSOLUTE = R_X86_64_64 };
#elif defined(__aarch64__)
enum { RELOCATION_JUMP = R_AARCH64_JUMP_SLOT, RELOCATION_GLOBAL = R_AARCH64_GLOB_DAT };
enum { RELOCATION_ABSOLUTE = R_AARCH64_ABS64 };
#else
#error "only x86-64 and aarch64 are known here"
#endif

struct saved_slot {
    void **slot;
    void *original;
    size_t order;
};

struct seen_object {
    ElfW(Addr) base;
    const void *headers;
    void **first_slot; /* NULL: nothing to patch in it */
    void *wrapper;     /* what that slot holds while the object is the one that was seen */
};

/* Grows by mapping, as it may be needed where the heap must not be touched. */
struct array {
    void *items;
    size_t n, room, item_size;
};

enum { NAMES = 1024 }; /* at least four times the targets */

static struct {
    spin_lock lock;
    const struct got_target *by_name[NAMES];
    struct array saved, seen;
    unsigned long long loads, unloads;
    uintptr_t libc_start, libc_end;
    struct got_report report;
    bool active, restoring;
} got = {.saved.item_size = sizeof(struct saved_slot), .seen.item_size = sizeof(struct seen_object)};

static void *append(struct array *array)
{
    if (array->n == array->room) {
        size_t room = array->room ? 2 * array->room : 1024;
        void *items = array->items
                          ? mremap(array->items, array->room * array->item_size,
                                   room * array->item_size, MREMAP_MAYMOVE)
                          : mmap(NULL, room * array->item_size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (items == MAP_FAILED)
            return NULL;
        array->items = items;
        array->room = room;
    }
    return (char *)array->items + array->item_size * array->n++;
}

static size_t hash(const char *name)
{
    size_t value = 5381;
    while (*name)
        value = value * 33 + (unsigned char)*name++;
    return value % NAMES;
}

static void index_targets(const struct got_target *targets, size_t n)
{
    memset(got.by_name, 0, sizeof(got.by_name));
    for (size_t i = 0; i < n; i++) {
        size_t place = hash(targets[i].name);
        while (got.by_name[place] != NULL)
            place = (place + 1) % NAMES;
        got.by_name[place] = &targets[i];
    }
}

static const struct got_target *find_target(const char *name)
{
    for (size_t place = hash(name); got.by_name[place] != NULL; place = (place + 1) % NAMES)
        if (strcmp(got.by_name[place]->name, name) == 0)
            return got.by_name[place];
    return NULL;
}

static bool is_left_alone(const struct object *object)
{
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR), loader = getauxval(AT_BASE);
    uintptr_t own = (uintptr_t)&got, libc = got.libc_start;
    return (own >= object->start && own < object->end) ||
           (vdso >= object->start && vdso < object->end) ||
           (loader != 0 && loader == object->base) || (libc != 0 && libc == object->start);
}

static void skip(const struct object *object, const char *name, const char *reason)
{
    struct got_report *report = &got.report;
    if (got.restoring)
        return;
    if (report->n_skips < GOT_SKIPS_MAX) {
        struct got_skip *described = &report->skips[report->n_skips];
        strncpy(described->object, object->name, GOT_TEXT - 1);
        strncpy(described->name, name, GOT_TEXT - 1);
        described->reason = reason;
    }
    report->n_skips++;
}

static bool unlock_pages(const struct object *object)
{
    return object->relro_end <= object->relro_start ||
           mprotect((void *)object->relro_start, object->relro_end - object->relro_start,
                    PROT_READ | PROT_WRITE) == 0;
}

static void lock_pages(const struct object *object)
{
    if (object->relro_end > object->relro_start)
        mprotect((void *)object->relro_start, object->relro_end - object->relro_start, PROT_READ);
}

/* Whether a slot calls what the target stands for: the C library's function, what stands in for it
 * (another interposer), or the loader's stub that will find it at the first call. */
static bool is_bound_to(const struct object *object, const struct got_target *target, void *value,
                        unsigned type)
{
    uintptr_t at = (uintptr_t)value;
    return value == target->real || (at >= got.libc_start && at < got.libc_end) ||
           (type == RELOCATION_JUMP && at >= object->start && at < object->end);
}

static void *original_of(void **slot, const struct got_target *target)
{
    const struct saved_slot *saved = got.saved.items;
    size_t low = 0, high = got.saved.n;
    while (low < high) { /* the last one of that address */
        size_t middle = low + (high - low) / 2;
        if (saved[middle].slot <= slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && saved[low - 1].slot == slot ? saved[low - 1].original : target->real;
}

static bool save(void **slot, void *original)
{
    struct saved_slot *saved = append(&got.saved);
    if (saved == NULL)
        return false;
    *saved = (struct saved_slot){slot, original, got.saved.n};
    return true;
}

/* Looks at one relocation; `pages_unlocked` remembers whether the object's pages were made
 * writable: 0 not tried, 1 yes, -1 refused. */
static void visit(const struct object *object, const ElfW(Rela) * relocation, int *pages_unlocked,
                  struct seen_object *seen)
{
    unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    if (type != RELOCATION_JUMP && type != RELOCATION_GLOBAL && type != RELOCATION_ABSOLUTE)
        return;
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    if (symbol->st_shndx != SHN_UNDEF || relocation->r_addend != 0 || symbol->st_name == 0)
        return;
    const struct got_target *target = find_target(object->strings + symbol->st_name);
    if (target == NULL || target->real == NULL)
        return;
    void **slot = (void **)(object->base + relocation->r_offset);
    void *value = __atomic_load_n(slot, __ATOMIC_RELAXED);
    void *wanted = got.restoring ? original_of(slot, target) : target->wrapper;
    if (got.restoring ? value != target->wrapper : value == target->wrapper)
        return;
    if (!got.restoring && !is_bound_to(object, target, value, type)) {
        if (value != NULL)
            skip(object, target->name, "bound to another library");
        return;
    }
    bool protected = (uintptr_t)slot >= object->relro_start && (uintptr_t)slot < object->relro_end;
    if (protected && *pages_unlocked == 0)
        *pages_unlocked = unlock_pages(object) ? 1 : -1;
    if (protected && *pages_unlocked < 0) {
        skip(object, target->name, "its page cannot be made writable");
        return;
    }
    if (!got.restoring && !save(slot, value))
        return;
    __atomic_store_n(slot, wanted, __ATOMIC_RELEASE);
    if (seen != NULL && seen->first_slot == NULL) {
        seen->first_slot = slot;
        seen->wrapper = target->wrapper;
    }
    if (!got.restoring)
        got.report.slots++;
}

static void visit_object(const struct object *object, struct seen_object *seen)
{
    int pages_unlocked = 0;
    size_t first = object->n_relative < object->n_relocations ? object->n_relative : 0;
    for (size_t i = first; i < object->n_relocations; i++)
        visit(object, &object->relocations[i], &pages_unlocked, seen);
    for (size_t i = 0; i < object->n_jumps; i++)
        visit(object, &object->jumps[i], &pages_unlocked, seen);
    if (pages_unlocked > 0)
        lock_pages(object);
}

static struct seen_object *find_seen(const struct dl_phdr_info *info)
{
    struct seen_object *seen = got.seen.items;
    for (size_t i = 0; i < got.seen.n; i++)
        if (seen[i].base == info->dlpi_addr && seen[i].headers == info->dlpi_phdr)
            return &seen[i];
    return NULL;
}

/* An object that was seen is the same one as long as its slots still hold what was put there. Where
 * another one was loaded in its place, they may not even be there. */
static bool is_same(const struct seen_object *seen, const struct object *object, bool any_unloaded)
{
    uintptr_t slot = (uintptr_t)seen->first_slot;
    if (slot == 0)
        return !any_unloaded;
    return slot >= object->start && slot + sizeof(void *) <= object->end &&
           __atomic_load_n(seen->first_slot, __ATOMIC_RELAXED) == seen->wrapper;
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *any_unloaded)
{
    struct object object;
    (void)size;
    bool described = object_describe(info, &object);
    struct seen_object *seen = find_seen(info);
    if (seen != NULL && is_same(seen, &object, *(const bool *)any_unloaded))
        return 0;
    if (seen == NULL && (seen = append(&got.seen)) == NULL)
        return 0;
    *seen = (struct seen_object){info->dlpi_addr, info->dlpi_phdr, NULL, NULL};
    if (!described || is_left_alone(&object))
        return 0;
    got.report.objects++;
    visit_object(&object, seen);
    return 0;
}

static int restore_object(struct dl_phdr_info *info, size_t size, void *unused)
{
    struct object object;
    (void)size, (void)unused;
    if (object_describe(info, &object) && !is_left_alone(&object))
        visit_object(&object, NULL);
    return 0;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *address)
{
    struct object object;
    (void)size;
    if (!object_describe(info, &object) || (uintptr_t)address < object.start ||
        (uintptr_t)address >= object.end)
        return 0;
    got.libc_start = object.start;
    got.libc_end = object.end;
    return 1;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *counts)
{
    (void)size;
    ((unsigned long long *)counts)[0] = info->dlpi_adds;
    ((unsigned long long *)counts)[1] = info->dlpi_subs;
    return 1;
}

static void patch_all(void)
{
    unsigned long long counts[2] = {0};
    dl_iterate_phdr(read_counts, counts);
    bool any_unloaded = counts[1] != got.unloads;
    if (counts[0] == got.loads)
        return;
    got.loads = counts[0];
    got.unloads = counts[1];
    dl_iterate_phdr(patch_object, &any_unloaded);
}

static int by_slot(const void *a, const void *b)
{
    const struct saved_slot *left = a, *right = b;
    if (left->slot != right->slot)
        return left->slot < right->slot ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static void restore_all(void)
{
    got.restoring = true;
    if (got.saved.n > 0)
        qsort(got.saved.items, got.saved.n, sizeof(struct saved_slot), by_slot);
    dl_iterate_phdr(restore_object, NULL);
    got.restoring = false;
    got.saved.n = 0;
    got.seen.n = 0;
    got.loads = 0;
}

void got_patch(const struct got_target *targets, size_t n, struct got_report *report)
{
    spin_acquire(&got.lock);
    if (got.saved.n > 0)
        restore_all(); /* what the parent of this process patched */
    index_targets(targets, n);
    if (got.libc_start == 0)
        dl_iterate_phdr(find_libc, (void *)(uintptr_t)&gnu_get_libc_version);
    memset(&got.report, 0, sizeof(got.report));
    got.active = true;
    patch_all();
    *report = got.report;
    spin_release(&got.lock);
}

void got_update(struct got_report *report)
{
    spin_acquire(&got.lock);
    if (got.active)
        patch_all();
    if (report != NULL)
        *report = got.report;
    spin_release(&got.lock);
}

void got_restore(void)
{
    spin_acquire(&got.lock);
    got.active = false;
    if (got.saved.n > 0)
        restore_all();
    spin_release(&got.lock);
}

void got_forget(bool keeps)
{
    got.active = got.active && keeps;
    spin_release(&got.lock);
}
