/* The arenas that this process reads: its own, and those of its children. */
#ifndef DARSHAN_VIEWS_H
#define DARSHAN_VIEWS_H

#include "snapshot.h"

struct view {
    struct arena_view arena;
    int64_t bins_begin[MODULES]; /* when its bins were emptied last */
    char path[PATH_MAX];
};

enum { OWN_VIEW = 0 };

/* Opens the arena of another process. Returns a handle above 0, or -errno. */
int views_open(const char *path);
/* Forgets it, and removes its file where `removes`. */
void views_close(int handle, bool removes);
/* NULL: there is none of that handle. The own view is there while a recording goes on. */
struct view *views_get(int handle);

#endif
