/* A library that needs another one, which lies where only its own search path leads. */
long read_file(const char *path);

long read_through_dependency(const char *path)
{
    return read_file(path);
}
