#include "hooks.h"

#include <dlfcn.h>

const struct hook hooks[] = {
#define HOOK(list, result, name, parameters)                                                       \
    {#name, list, (void *)hook_##name, (void **)&real.name},
    HOOK_LIST(HOOK)
#undef HOOK
};
const size_t n_hooks = sizeof(hooks) / sizeof(*hooks);

/* The version that glibc began with on each machine: names that exist for old programs only. */
#if defined(__x86_64__)
static const char oldest_version[] = "GLIBC_2.2.5";
#else
static const char oldest_version[] = "GLIBC_2.17";
#endif

/* Calls of a library that may be loaded and unloaded: asked for anew each time. */
static void resolve_rings(void)
{
    void *liburing = dlopen("liburing.so.2", RTLD_LAZY | RTLD_NOLOAD);
    void *scope = liburing != NULL ? liburing : RTLD_DEFAULT;
    *(void **)&real.io_uring_queue_init = dlsym(scope, "io_uring_queue_init");
    *(void **)&real.io_uring_queue_init_params = dlsym(scope, "io_uring_queue_init_params");
    if (liburing != NULL)
        dlclose(liburing); /* whoever calls it keeps it loaded */
}

bool hooks_resolve(void)
{
    resolve_rings();
    for (size_t i = 0; i < n_hooks; i++) {
        if (*hooks[i].real != NULL)
            continue;
        *hooks[i].real = dlsym(RTLD_DEFAULT, hooks[i].name);
        if (*hooks[i].real == NULL)
            *hooks[i].real = dlvsym(RTLD_DEFAULT, hooks[i].name, oldest_version);
    }
    return real.open != NULL && real.read != NULL && real.vfprintf != NULL && real.fopen != NULL;
}
