/* Calls on streams, asynchronous ones, and those that begin and end programs; see errno_cases.h. */
#include "errno_cases.h"

teller *tell;

int _IO_getc(FILE *stream);
int _IO_putc(int byte, FILE *stream);
size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *stream);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t n, FILE *stream);
char *__fgets_chk(char *to, size_t size, int room, FILE *stream);
char *__fgets_unlocked_chk(char *to, size_t size, int room, FILE *stream);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list values);
int __printf_chk(int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list values);
int __isoc99_fscanf(FILE *stream, const char *format, ...);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list values);
int __isoc23_fscanf(FILE *stream, const char *format, ...);
int __isoc23_vfscanf(FILE *stream, const char *format, va_list values);
int plain_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int plain_vfscanf(FILE *stream, const char *format, va_list values) __asm__("vfscanf");
WEAK(__isoc23_fscanf) WEAK(__isoc23_vfscanf) WEAK(_IO_getc) WEAK(_IO_putc)

static char buffer[8192];
static FILE *write_only;

#define BOTH(name, good, bad)                                                                      \
    CASE(name, name good);                                                                         \
    CASE(name, name bad)

static void opens(FILE **data, FILE **closed_to)
{
    FILE *stream = NULL;
    int fd = open("data", O_RDWR);
    POINTS(fopen64, stream = fopen64("data", "r+"));
    POINTS(fopen64, fopen64("data", "nonsense"));
    POINTS(freopen64, freopen64("data", "r", stream));
    POINTS(freopen64, freopen64(NULL, "r", stream));
    CASE(fclose, fclose(stream));
    POINTS(freopen64, freopen64("missing/x", "r", fopen64("data", "r")));
    POINTS(fopen, stream = fopen("data", "r"));
    POINTS(freopen, stream = freopen("data", "r", stream));
    POINTS(freopen, freopen("missing/x", "r", stream)); /* closes it too */
    POINTS(fopen, fopen("missing/x", "r"));
    POINTS(fdopen, stream = fdopen(fd, "r+"));
    POINTS(fdopen, fdopen(NO_FD, "r"));
    CASE(fileno, fileno(stream) == fd);
    CASE(fileno_unlocked, fileno_unlocked(stream) == fd);
    FILE *memory = fmemopen(buffer, 100, "w+");
    BOTH(fileno, (memory), (memory));
    CASE(fileno_unlocked, fileno_unlocked(memory));
    fclose(memory);
    close(fd); /* under the stream */
    CASE(fclose, fclose(stream));
    *data = fopen("text", "w+");
    fputs("12 34 56 words\nline two\nline three\n-7 -8 -9\n", *data);
    *closed_to = fopen("text", "r"); /* writing to it fails */
    write_only = fopen("written", "w");
}

static void bytes(FILE *data, FILE *no)
{
    rewind(data);
    CASE(fgetc, fgetc(data));
    CASE(_IO_getc, _IO_getc(data));
    CASE(getc, getc(data));
    CASE(fgetc_unlocked, fgetc_unlocked(data));
    CASE(getc_unlocked, (getc_unlocked)(data));
    CASE(fgetc, fgetc(write_only));
    CASE(_IO_getc, _IO_getc(write_only));
    CASE(getc, getc(write_only));
    CASE(fgetc_unlocked, fgetc_unlocked(write_only));
    CASE(getc_unlocked, (getc_unlocked)(write_only));
    CASE(getw, getw(write_only));
    CASE(getchar, getchar());
    fseek(data, 0, SEEK_END);
    BOTH(fputc, ('x', data), ('x', no));
    BOTH(_IO_putc, ('x', data), ('x', no));
    BOTH(putc, ('x', data), ('x', no));
    BOTH(fputc_unlocked, ('x', data), ('x', no));
    CASE(putc_unlocked, (putc_unlocked)('x', data));
    CASE(putc_unlocked, (putc_unlocked)('x', no));
    CASE(putchar, putchar('x'));
    CASE(puts, puts("a line"));
    BOTH(putw, (1234, data), (1234, no));
    fseek(data, 0, SEEK_END);
    CASE(fgetc, fgetc(data));
    CASE(_IO_getc, _IO_getc(data));
    CASE(getc, getc(data));
    CASE(getw, getw(data));
    rewind(data);
    CASE(getw, getw(data));
}

static void lines(FILE *data, FILE *no)
{
    char *line = NULL;
    size_t room = 0;
    rewind(data);
    POINTS(fgets, fgets(buffer, 100, data));
    POINTS(fgets_unlocked, fgets_unlocked(buffer, 4, data));
    POINTS(__fgets_chk, __fgets_chk(buffer, 100, 4, data));
    POINTS(__fgets_unlocked_chk, __fgets_unlocked_chk(buffer, 100, 4, data));
    CASE(getline, getline(&line, &room, data));
    CASE(getdelim, getdelim(&line, &room, ' ', data));
    CASE(__getdelim, __getdelim(&line, &room, ' ', data));
    CASE(getline, getline(NULL, &room, data));
    CASE(getdelim, getdelim(NULL, &room, ' ', data));
    CASE(__getdelim, __getdelim(&line, NULL, ' ', data));
    POINTS(fgets, fgets(buffer, 100, write_only));
    POINTS(fgets_unlocked, fgets_unlocked(buffer, 100, write_only));
    POINTS(__fgets_chk, __fgets_chk(buffer, 100, 50, write_only));
    POINTS(__fgets_unlocked_chk, __fgets_unlocked_chk(buffer, 100, 50, write_only));
    fseek(data, 0, SEEK_END);
    POINTS(fgets, fgets(buffer, 100, data));
    POINTS(fgets_unlocked, fgets_unlocked(buffer, 100, data));
    POINTS(__fgets_chk, __fgets_chk(buffer, 100, 50, data));
    POINTS(__fgets_unlocked_chk, __fgets_unlocked_chk(buffer, 100, 50, data));
    BOTH(fputs, ("text", data), ("text", no));
    BOTH(fputs_unlocked, ("text", data), ("text", no));
    free(line);
}

static void items(FILE *data, FILE *no)
{
    rewind(data);
    CASE(fread, fread(buffer, 3, 2, data));
    CASE(fread_unlocked, fread_unlocked(buffer, 3, 2, data));
    CASE(__fread_chk, __fread_chk(buffer, 100, 3, 2, data));
    CASE(__fread_unlocked_chk, __fread_unlocked_chk(buffer, 100, 3, 2, data));
    CASE(fread, fread(buffer, 3, 2, write_only));
    CASE(fread_unlocked, fread_unlocked(buffer, 3, 2, write_only));
    CASE(__fread_chk, __fread_chk(buffer, 100, 3, 2, write_only));
    CASE(__fread_unlocked_chk, __fread_unlocked_chk(buffer, 100, 3, 2, write_only));
    fseek(data, 0, SEEK_END);
    BOTH(fwrite, (buffer, 3, 2, data), (buffer, 3, 2, no));
    BOTH(fwrite_unlocked, (buffer, 3, 2, data), (buffer, 3, 2, no));
    CASE(fread, fread(buffer, 3, 2, data));
    CASE(fread_unlocked, fread_unlocked(buffer, 3, 2, data));
    CASE(__fread_chk, __fread_chk(buffer, 100, 3, 2, data));
    CASE(__fread_unlocked_chk, __fread_unlocked_chk(buffer, 100, 3, 2, data));
    CASE(fwrite, fwrite(buffer, 0, 2, data));
}

#define THROUGH_LIST(name)                                                                         \
    static int list_##name(FILE *stream, const char *format, ...)                                  \
    {                                                                                              \
        va_list values;                                                                            \
        va_start(values, format);                                                                  \
        int result = name(stream, format, values);                                                 \
        va_end(values);                                                                            \
        return result;                                                                             \
    }
static int checked_vfprintf(FILE *stream, const char *format, va_list values)
{
    return __vfprintf_chk(stream, 1, format, values);
}
static int to_standard(FILE *stream, const char *format, va_list values)
{
    return stream ? vprintf(format, values) : __vprintf_chk(1, format, values);
}
THROUGH_LIST(vfprintf)
THROUGH_LIST(checked_vfprintf)
THROUGH_LIST(to_standard)
THROUGH_LIST(__isoc99_vfscanf)
THROUGH_LIST(__isoc23_vfscanf)
THROUGH_LIST(plain_vfscanf)

static void formats(FILE *data, FILE *no)
{
    int a, b;
    fseek(data, 0, SEEK_END);
    BOTH(fprintf, (data, "%d %s", 5, "x"), (no, "%d %s", 5, "x"));
    CASE(vfprintf, list_vfprintf(data, "%d", 5));
    CASE(vfprintf, list_vfprintf(no, "%d", 5));
    BOTH(__fprintf_chk, (data, 1, "%d", 5), (no, 1, "%d", 5));
    CASE(__vfprintf_chk, list_checked_vfprintf(data, "%d", 5));
    CASE(__vfprintf_chk, list_checked_vfprintf(no, "%d", 5));
    CASE(printf, printf("%d\n", 5));
    CASE(vprintf, list_to_standard(data, "%d\n", 5));
    CASE(__printf_chk, __printf_chk(1, "%d\n", 5));
    CASE(__vprintf_chk, list_to_standard(NULL, "%d\n", 5));
    rewind(data);
    CASE(__isoc99_fscanf, __isoc99_fscanf(data, "%d", &a));
    CASE(__isoc99_vfscanf, list___isoc99_vfscanf(data, "%d %d", &a, &b));
    CASE(__isoc99_fscanf, __isoc99_fscanf(data, "%d", &a)); /* there is none */
    rewind(data);
    CASE(plain_fscanf, plain_fscanf(data, "%d", &a));
    CASE(plain_vfscanf, list_plain_vfscanf(data, "%d %d", &a, &b));
    rewind(data);
    CASE(__isoc23_fscanf, __isoc23_fscanf(data, "%d", &a));
    CASE(__isoc23_vfscanf, list___isoc23_vfscanf(data, "%d %d", &a, &b));
    CASE(__isoc99_fscanf, __isoc99_fscanf(write_only, "%d", &a));
    CASE(__isoc99_vfscanf, list___isoc99_vfscanf(write_only, "%d", &a));
    CASE(plain_fscanf, plain_fscanf(write_only, "%d", &a));
    CASE(plain_vfscanf, list_plain_vfscanf(write_only, "%d", &a));
    fseek(data, 0, SEEK_END);
    CASE(__isoc99_fscanf, __isoc99_fscanf(data, "%d", &a));
    CASE(__isoc99_vfscanf, list___isoc99_vfscanf(data, "%d", &a));
    CASE(plain_fscanf, plain_fscanf(data, "%d", &a));
}

static void positions(FILE *data, FILE *no)
{
    fpos_t mark;
    FILE *pipe_end = popen("true", "r"); /* cannot be positioned */
    fgetpos(data, &mark);
    BOTH(fflush, (data), (no));
    CASE(fflush, fflush(NULL));
    BOTH(fflush_unlocked, (data), (no));
    FILE *full = fopen("/dev/full", "w");
    fputs("x", full);
    CASE(fflush_unlocked, fflush_unlocked(full));
    BOTH(fseek, (data, 5, SEEK_SET), (data, -5, SEEK_SET));
    BOTH(fseeko, (data, 5, SEEK_SET), (data, 5, 77));
    BOTH(fseeko64, (data, 5, SEEK_SET), (pipe_end, 5, SEEK_SET));
    BOTH(fsetpos, (data, &mark), (pipe_end, &mark));
    BOTH(fsetpos64, (data, (void *)&mark), (pipe_end, (void *)&mark));
    CASE(rewind, (rewind(data), 0));
    CASE(rewind, (rewind(pipe_end), 0));
    pclose(pipe_end);
    fputs("x", full);
    CASE(fflush, fflush(full));
    fputs("x", full);
    CASE(fclose, fclose(full));
}

#define SUBMITS(submit, give_back, aiocb)                                                          \
    do {                                                                                           \
        struct aiocb request = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = 10};            \
        CASE(submit, submit(&request));                                                            \
        const struct aiocb *const list[] = {&request};                                             \
        while (aio_suspend((const void *)list, 1, NULL) != 0)                                      \
            ;                                                                                      \
        CASE(give_back, give_back(&request));                                                      \
        request.aio_nbytes = 10;                                                                   \
        request.aio_reqprio = -1;                                                                  \
        CASE(submit, submit(&request));                                                            \
    } while (0)

static void asynchronous(void)
{
    int fd = open("text", O_RDWR);
    SUBMITS(aio_read, aio_return, aiocb);
    SUBMITS(aio_read64, aio_return64, aiocb64);
    SUBMITS(aio_write, aio_return, aiocb);
    SUBMITS(aio_write64, aio_return64, aiocb64);
    struct aiocb one = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = 5,
                        .aio_lio_opcode = LIO_READ};
    struct aiocb *list[] = {&one};
    BOTH(lio_listio, (LIO_WAIT, list, 1, NULL), (77, list, 1, NULL));
    CASE(aio_return, aio_return(&one));
    struct aiocb64 wide = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = 5,
                           .aio_lio_opcode = LIO_READ};
    struct aiocb64 *wide_list[] = {&wide};
    BOTH(lio_listio64, (LIO_WAIT, wide_list, 1, NULL), (77, wide_list, 1, NULL));
    CASE(aio_return64, aio_return64(&wide));
    close(fd);
}

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static pid_t spawned;

static pid_t forked(void (*ends)(int))
{
    pid_t child = fork();
    if (child == 0)
        ends(7);
    return child;
}

static pid_t vforked(void)
{
    pid_t child = vfork();
    if (child == 0)
        _exit(3);
    return child;
}

static void programs(void)
{
    char *const arguments[] = {"true", NULL}, *const variables[] = {"A=b", NULL};
    char missing[] = "/nothing/there";
    BOTH(posix_spawn, (&spawned, "/bin/true", NULL, NULL, arguments, variables),
         (&spawned, missing, NULL, NULL, arguments, variables));
    CASE(posix_spawn, status_of(spawned));
    BOTH(posix_spawnp, (&spawned, "true", NULL, NULL, arguments, variables),
         (&spawned, missing, NULL, NULL, arguments, variables));
    CASE(posix_spawnp, status_of(spawned));
    CASE(execv, execv(missing, arguments));
    CASE(execve, execve(missing, arguments, variables));
    CASE(execvp, execvp(missing, arguments));
    CASE(execvpe, execvpe(missing, arguments, variables));
    CASE(_exit, status_of(forked(_exit)));
    CASE(_Exit, status_of(forked(_Exit)));
    CASE(vfork, status_of(vforked()));
}

static void libraries(void)
{
    void *library = NULL;
    POINTS(dlopen, library = dlopen("libm.so.6", RTLD_NOW));
    POINTS(dlopen, dlopen("/nothing/there.so", RTLD_NOW));
    POINTS(dlsym, dlsym(library, "cos"));
    POINTS(dlsym, dlsym(library, "no_such_symbol"));
    POINTS(dlvsym, dlvsym(library, "cos", "GLIBC_2.2.5"));
    POINTS(dlvsym, dlvsym(library, "cos", "GLIBC_77"));
    POINTS(dlmopen, dlmopen(LM_ID_BASE, "libm.so.6", RTLD_NOW));
    POINTS(dlmopen, dlmopen(LM_ID_BASE, "/nothing/there.so", RTLD_NOW));
}

void run_streams(teller *teller)
{
    FILE *data, *no;
    tell = teller;
    opens(&data, &no);
    bytes(data, no);
    lines(data, no);
    items(data, no);
    formats(data, no);
    positions(data, no);
    fclose(data);
    fclose(no);
    fclose(write_only);
    asynchronous();
    programs();
    libraries();
    fflush(stdout);
}
