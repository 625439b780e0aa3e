/* A small MPI-IO program as a library: each process writes and reads its part of one file, and a file
 * of its own. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 4096, BLOCKS = 32 };

int begin(void)
{
    return MPI_Init(NULL, NULL);
}

int end(void)
{
    return MPI_Finalize();
}

int number(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int use(MPI_Comm processes, const char *path, int rank)
{
    char block[BLOCK];
    MPI_File file;
    int errors = MPI_File_open(processes, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    memset(block, rank, sizeof(block));
    for (int i = 0; errors == 0 && i < BLOCKS; i++) {
        MPI_Offset at = ((MPI_Offset)i * 2 + rank) * BLOCK;
        errors |= MPI_File_write_at(file, at, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
        errors |= MPI_File_read_at_all(file, at, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    return errors | MPI_File_close(&file);
}

int run(const char *directory)
{
    char path[4096];
    int rank = number();
    snprintf(path, sizeof(path), "%s/shared", directory);
    int errors = use(MPI_COMM_WORLD, path, rank);
    snprintf(path, sizeof(path), "%s/own%d", directory, rank);
    for (int i = 0; i < 2; i++) /* collective calls, each on a file of its own */
        errors |= use(MPI_COMM_SELF, path, rank);
    return errors;
}
