/* Calls through addresses that were kept, in three ways. */
#include <dlfcn.h>
#include <unistd.h>

typedef ssize_t (*reader)(int, void *, size_t);

static char buffer[4096];
static reader in_data = read; /* filled in by the loader */
static reader kept, found;

void keep(void)
{
    reader volatile address = read; /* from the GOT */
    kept = address;
}

void find(void)
{
    found = (reader)dlsym(RTLD_DEFAULT, "read");
}

long read_in_data(int fd, long size) { return in_data(fd, buffer, (size_t)size); }
long read_kept(int fd, long size) { return kept(fd, buffer, (size_t)size); }
long read_found(int fd, long size) { return found(fd, buffer, (size_t)size); }
