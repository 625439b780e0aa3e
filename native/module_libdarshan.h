/* The functions of `_native` that read a real libdarshan. */
#ifndef DARSHAN_MODULE_LIBDARSHAN_H
#define DARSHAN_MODULE_LIBDARSHAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef libdarshan_functions[];

#endif
