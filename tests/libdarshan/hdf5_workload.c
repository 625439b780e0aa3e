/* A small HDF5 program as a library: a data set, written and read in parts. */
#include <hdf5.h>
#include <stdio.h>

enum { ROWS = 16, COLUMNS = 32 };

int run(const char *directory)
{
    char path[4096];
    double values[ROWS][COLUMNS] = {{1.0}};
    hsize_t size[] = {ROWS, COLUMNS}, start[] = {4, 0}, part[] = {8, COLUMNS};
    snprintf(path, sizeof(path), "%s/data.h5", directory);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t set = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    int errors = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0;
    hid_t memory = H5Screate_simple(2, part, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL);
    errors |= H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) < 0;
    H5Fflush(file, H5F_SCOPE_LOCAL);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    return errors | (H5Fclose(file) < 0);
}
