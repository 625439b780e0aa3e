/* A library that loads another one itself and calls into it. */
#include <dlfcn.h>
#include <stddef.h>

static void *loaded;

/* Its name may be found only beside this library, by its own $ORIGIN. */
const char *load(const char *name, int mode)
{
    loaded = dlopen(name, mode);
    return loaded ? NULL : dlerror();
}

long call(const char *path)
{
    long (*read_file)(const char *) = (long (*)(const char *))dlsym(loaded, "read_file");
    return read_file ? read_file(path) : -1;
}

long unload(void)
{
    return dlclose(loaded);
}
