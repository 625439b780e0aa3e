/* The functions of `_native` that read recordings: this process's and its children's. */
#ifndef DARSHAN_MODULE_READING_H
#define DARSHAN_MODULE_READING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef reading_functions[];

#endif
