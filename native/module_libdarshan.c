/* See module_libdarshan.h. Addresses travel as whole numbers: what lies there is Python's to know. */
#include "module_libdarshan.h"

#include <string.h>

#include "libdarshan.h"
#include "libdarshan_events.h"

enum { REGIONS_MAX = 64, OWN_RECORDS_MAX = 256, PROCESSES_MAX = 4096 };

static PyObject *find(PyObject *self, PyObject *arguments)
{
    const char *path, *reason;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "z:libdarshan_find", &path))
        return NULL;
    if (darshan_find(path, &reason) == DARSHAN_ABSENT)
        return Py_BuildValue("{sOszsN}", "found", Py_False, "reason", reason, "mpi_runs",
                             PyBool_FromLong(darshan_mpi_runs()));
    const struct darshan_library *library = darshan_library();
    return Py_BuildValue("{sOsysNsNsNsNsNsd}", "found", Py_True, "path", library->path,
                         "was_loaded", PyBool_FromLong(library->was_loaded), "has_core",
                         PyBool_FromLong(library->has_core), "has_mpi",
                         PyBool_FromLong(library->has_mpi), "active",
                         PyBool_FromLong(darshan_is_active()), "mpi_runs",
                         PyBool_FromLong(darshan_mpi_runs()), "time_zero", darshan_time_zero());
}

static PyObject *begin(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    Py_BEGIN_ALLOW_THREADS
    darshan_begin();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *log_addresses(PyObject *self, PyObject *unused)
{
    struct darshan_log log;
    (void)self, (void)unused;
    if (!darshan_get_log(&log))
        Py_RETURN_NONE;
    return Py_BuildValue("(KKKKKK)", (unsigned long long)(uintptr_t)log.core,
                         (unsigned long long)(uintptr_t)log.header,
                         (unsigned long long)(uintptr_t)log.job,
                         (unsigned long long)(uintptr_t)log.exe,
                         (unsigned long long)(uintptr_t)log.names,
                         (unsigned long long)(uintptr_t)log.modules);
}

/* None: the library ended; an empty list: what is there is not what `used` says. */
static PyObject *regions(PyObject *self, PyObject *arguments)
{
    unsigned long long core, used;
    int n;
    bool fits;
    struct darshan_region found[REGIONS_MAX];
    (void)self;
    if (!PyArg_ParseTuple(arguments, "KiK:libdarshan_regions", &core, &n, &used))
        return NULL;
    struct darshan_log log = {.core = (void *)(uintptr_t)core};
    if (n < 0 || n > REGIONS_MAX || !darshan_get_regions(&log, found, (size_t)n, used, &fits))
        Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int i = 0; fits && list != NULL && i < n; i++) {
        PyObject *item = Py_BuildValue("(KKK)", (unsigned long long)(uintptr_t)found[i].start,
                                       (unsigned long long)(uintptr_t)found[i].end,
                                       (unsigned long long)found[i].left);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *names_size(PyObject *self, PyObject *arguments)
{
    unsigned long long core;
    size_t size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "K:libdarshan_names_size", &core))
        return NULL;
    struct darshan_log log = {.core = (void *)(uintptr_t)core};
    if (!darshan_get_names_size(&log, &size))
        Py_RETURN_NONE;
    return PyLong_FromSize_t(size);
}

static PyObject *copy(PyObject *self, PyObject *arguments)
{
    unsigned long long core, from;
    Py_ssize_t size, record_size;
    int frees;
    bool is_whole;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "KKnnp:libdarshan_copy", &core, &from, &size, &record_size,
                          &frees))
        return NULL;
    if (size < 0 || record_size <= 0) {
        PyErr_SetString(PyExc_ValueError, "sizes must be positive");
        return NULL;
    }
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, size);
    char *to = bytes ? PyByteArray_AsString(bytes) : NULL;
    if (to == NULL)
        return NULL;
    struct darshan_log log = {.core = (void *)(uintptr_t)core};
    Py_BEGIN_ALLOW_THREADS
    is_whole = darshan_copy(&log, (const char *)(uintptr_t)from, (size_t)size, (size_t)record_size,
                            frees != 0, to);
    Py_END_ALLOW_THREADS
    if (is_whole)
        return bytes;
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

static PyObject *redirected_as_dict(const struct got_report *report)
{
    return Py_BuildValue("{sIsIsI}", "objects", report->objects, "slots", report->slots, "skipped",
                         report->n_skips);
}

static PyObject *redirect(PyObject *self, PyObject *unused)
{
    static struct got_report report;
    (void)self, (void)unused;
    darshan_redirect(&report);
    return redirected_as_dict(&report);
}

static PyObject *redirect_new(PyObject *self, PyObject *unused)
{
    static struct got_report report;
    (void)self, (void)unused;
    darshan_redirect_new(&report);
    return redirected_as_dict(&report);
}

static PyObject *put_back(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    darshan_put_back();
    Py_RETURN_NONE;
}

static PyObject *watch(PyObject *self, PyObject *arguments)
{
    double library_zero, begin_wall;
    unsigned long long segments_max;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ddK:libdarshan_watch", &library_zero, &begin_wall,
                          &segments_max))
        return NULL;
    unsigned redirected = darshan_watch(library_zero, begin_wall, segments_max);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n_event_calls; i++) {
        PyObject *name =
            redirected & 1u << i ? PyUnicode_FromString(event_call_names[i]) : NULL;
        if (name != NULL && PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *unwatch(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    events_end();
    Py_RETURN_NONE;
}

static PyObject *now(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyFloat_FromDouble((double)events_now() / 1e9);
}

static PyObject *drain_bins(PyObject *self, PyObject *arguments)
{
    int module;
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "i:libdarshan_drain_bins", &module))
        return NULL;
    if (module < 0 || module >= EVENT_MODULES) {
        PyErr_SetString(PyExc_ValueError, "no such module");
        return NULL;
    }
    struct bins *bins = PyMem_Malloc(sizeof(*bins));
    double *idle = PyMem_Malloc(BINS_MAX * sizeof(*idle));
    if (bins != NULL && idle != NULL) {
        Py_BEGIN_ALLOW_THREADS
        events_drain_bins((enum event_module)module, bins, idle);
        Py_END_ALLOW_THREADS
        Py_ssize_t used = bins->used;
        result = Py_BuildValue("(LLy#y#)", (long long)bins->width, (long long)bins->first,
                               bins->values, used * (Py_ssize_t)sizeof(*bins->values), idle,
                               used * (Py_ssize_t)sizeof(*idle));
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free(bins);
    PyMem_Free(idle);
    return result;
}

static PyObject *take_segments(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    size_t room = events_segments_waiting(), n = 0, size = sizeof(struct event_segment);
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(room * size));
    struct event_segment *to = bytes ? (void *)PyByteArray_AsString(bytes) : NULL;
    if (to == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    n = events_take_segments(to, room);
    Py_END_ALLOW_THREADS
    if (PyByteArray_Resize(bytes, (Py_ssize_t)(n * size)) < 0)
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *event_facts(PyObject *self, PyObject *unused)
{
    static pid_t processes[PROCESSES_MAX];
    uint64_t own[OWN_RECORDS_MAX];
    (void)self, (void)unused;
    size_t n_own = events_own_records(own, OWN_RECORDS_MAX);
    size_t n_forked = events_forked(processes, PROCESSES_MAX);
    size_t known = n_forked < PROCESSES_MAX ? n_forked : PROCESSES_MAX;
    return Py_BuildValue("{sKsy#sKsy#}", "segments_dropped",
                         (unsigned long long)events_segments_dropped(), "own", own,
                         (Py_ssize_t)(n_own * sizeof(*own)), "forked",
                         (unsigned long long)n_forked, "processes", processes,
                         (Py_ssize_t)(known * sizeof(*processes)));
}

PyMethodDef libdarshan_functions[] = {
    {"libdarshan_find", find, METH_VARARGS, NULL},
    {"libdarshan_begin", begin, METH_NOARGS, NULL},
    {"libdarshan_log", log_addresses, METH_NOARGS, NULL},
    {"libdarshan_regions", regions, METH_VARARGS, NULL},
    {"libdarshan_names_size", names_size, METH_VARARGS, NULL},
    {"libdarshan_copy", copy, METH_VARARGS, NULL},
    {"libdarshan_redirect", redirect, METH_NOARGS, NULL},
    {"libdarshan_redirect_new", redirect_new, METH_NOARGS, NULL},
    {"libdarshan_put_back", put_back, METH_NOARGS, NULL},
    {"libdarshan_watch", watch, METH_VARARGS, NULL},
    {"libdarshan_unwatch", unwatch, METH_NOARGS, NULL},
    {"libdarshan_now", now, METH_NOARGS, NULL},
    {"libdarshan_drain_bins", drain_bins, METH_VARARGS, NULL},
    {"libdarshan_take_segments", take_segments, METH_NOARGS, NULL},
    {"libdarshan_event_facts", event_facts, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
