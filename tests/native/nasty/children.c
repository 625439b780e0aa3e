/* Children that share their parent's memory. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child opens and closes descriptors and fails to become another program. */
long vfork_in_vain(int close_this)
{
    char *const arguments[] = {"nothing", 0};
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
        close(close_this);
        int fd = open("/tmp", O_RDONLY);
        dup2(fd, close_this);
        if (write(close_this, "x", 1) < 0)
            close(fd);
        execv("/nothing/there", arguments);
        _exit(7);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

/* Closes where no wrapper sees it. */
long close_unseen(int fd)
{
    return syscall(SYS_close, fd);
}
