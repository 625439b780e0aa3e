#include "views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NOTE: only ever used under Python's lock for views, by one reader. */
static struct view own;
static struct view **others;
static int n_others;

int views_open(const char *path)
{
    int place = 0;
    while (place < n_others && others[place] != NULL)
        place++;
    if (place == n_others) {
        struct view **grown = realloc(others, (size_t)(n_others + 1) * sizeof(*others));
        if (grown == NULL)
            return -ENOMEM;
        others = grown;
        others[n_others++] = NULL;
    }
    struct view *view = calloc(1, sizeof(*view));
    if (view == NULL)
        return -ENOMEM;
    int error = arena_view_open(&view->arena, path);
    if (error != 0) {
        free(view);
        return error;
    }
    strncpy(view->path, path, sizeof(view->path) - 1);
    others[place] = view;
    return place + 1;
}

void views_close(int handle, bool removes)
{
    struct view *view = handle != OWN_VIEW ? views_get(handle) : NULL;
    if (view == NULL)
        return;
    if (removes)
        unlink(view->path);
    arena_view_close(&view->arena);
    free(view);
    others[handle - 1] = NULL;
}

struct view *views_get(int handle)
{
    static uint32_t serial;
    if (handle != OWN_VIEW)
        return handle > 0 && handle <= n_others ? others[handle - 1] : NULL;
    uint32_t now = atomic_load(&recorder.serial);
    if (now != serial)
        memset(own.bins_begin, 0, sizeof(own.bins_begin));
    serial = now;
    own.arena = snapshot_own();
    return now != 0 ? &own : NULL;
}
