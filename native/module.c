/* `tensorboard_plugin_darshan._native`: begins and ends recordings. This file and module_reading.c are
 * the only ones that know Python: arguments, the interpreter lock, errors. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "control.h"
#include "hooks.h"
#include "snapshot.h"
#include "module_reading.h"

/* The exclusions of the recording that goes on; a NULL-terminated list in one allocation. */
static char **kept_excluded, **kept_included;
static char *kept_directory;

static char **copy_strings(PyObject *list)
{
    Py_ssize_t n = PySequence_Size(list);
    if (n < 0)
        return NULL;
    char **copies = PyMem_Calloc((size_t)n + 1, sizeof(*copies));
    for (Py_ssize_t i = 0; copies != NULL && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i);
        char *text = item ? PyBytes_AsString(item) : NULL;
        copies[i] = text ? strdup(text) : NULL;
        Py_XDECREF(item);
        if (copies[i] == NULL) {
            while (i > 0)
                free(copies[--i]);
            PyMem_Free(copies);
            return PyErr_Occurred() ? NULL : (char **)PyErr_NoMemory();
        }
    }
    return copies;
}

static void free_strings(char **strings)
{
    for (char **text = strings; text != NULL && *text != NULL; text++)
        free(*text);
    PyMem_Free(strings);
}

/* NOTE: between this and `recorder_end_reading` no Python code may run: another thread may hold a
 * lock there and wait for the reading to end. */
static bool begin_reading(void)
{
    if (recorder_begin_reading())
        return true;
    PyErr_SetString(PyExc_RuntimeError, "nothing is being recorded in this process");
    return false;
}

static PyObject *report_as_dict(const struct got_report *report)
{
    PyObject *skips = PyList_New(0);
    for (uint32_t i = 0; skips != NULL && i < report->n_skips && i < GOT_SKIPS_MAX; i++) {
        const struct got_skip *skip = &report->skips[i];
        PyObject *item = Py_BuildValue("(yyy)", skip->object, skip->name, skip->reason);
        if (item == NULL || PyList_Append(skips, item) < 0)
            Py_CLEAR(skips);
        Py_XDECREF(item);
    }
    if (skips == NULL)
        return NULL;
    return Py_BuildValue("{sIsIsIsN}", "objects", report->objects, "slots", report->slots,
                         "skipped", report->n_skips, "skips", skips);
}

static PyObject *start(PyObject *self, PyObject *arguments)
{
    const char *directory, *session;
    unsigned long long arena_ceiling, segments_max;
    unsigned files_ceiling;
    int extended, leads, children;
    long long begin;
    double begin_wall;
    PyObject *excluded, *included;
    static struct got_report report;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "zKIKpOOsppLd:start", &directory, &arena_ceiling,
                          &files_ceiling, &segments_max, &extended, &excluded, &included, &session,
                          &leads, &children, &begin, &begin_wall))
        return NULL;
    if (atomic_load(&recorder.serial) != 0) {
        PyErr_SetString(PyExc_RuntimeError, "a recording goes on in this process already");
        return NULL;
    }
    free_strings(kept_excluded);
    free_strings(kept_included);
    kept_included = NULL;
    if ((kept_excluded = copy_strings(excluded)) == NULL ||
        (kept_included = copy_strings(included)) == NULL)
        return NULL;
    free(kept_directory);
    kept_directory = directory ? strdup(directory) : NULL;
    struct recorder_options options = {
        .leads = leads != 0,
        .children = children != 0,
        .begin = begin,
        .begin_wall = begin_wall,
        .arena_directory = kept_directory,
        .arena_ceiling = arena_ceiling,
        .files_ceiling = files_ceiling,
        .segments_max = segments_max,
        .extended = extended != 0,
        .excluded = (const char *const *)kept_excluded,
        .included = (const char *const *)kept_included,
    };
    strncpy(options.session, session, sizeof(options.session) - 1);
    int error = control_start(&options, &report);
    if (error != 0) {
        errno = -error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return report_as_dict(&report);
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    Py_BEGIN_ALLOW_THREADS
    control_stop();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *is_active(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(atomic_load(&recorder.serial) != 0);
}

static PyObject *now(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyFloat_FromDouble((double)recorder_now() / 1e9);
}

static PyObject *mute(PyObject *self, PyObject *muted)
{
    (void)self;
    int wanted = PyObject_IsTrue(muted);
    if (wanted < 0)
        return NULL;
    bool was = thread_flags & MUTED;
    thread_flags = wanted ? thread_flags | MUTED : thread_flags & ~(unsigned)MUTED;
    return PyBool_FromLong(was);
}

/* This process writes its own recording: its parent does not count it. */
static PyObject *claim(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!begin_reading())
        return NULL;
    arena_head_of(recorder.arena.base)->own_writer = 1;
    recorder_end_reading();
    Py_RETURN_NONE;
}

static PyObject *status(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!begin_reading())
        return NULL;
    char arena[sizeof(recorder.arena.path)];
    struct recorder_options options = recorder.options;
    memcpy(arena, recorder.arena.path, sizeof(arena));
    double begin = recorder.begin_wall;
    long long begin_monotonic = atomic_load(&recorder.begin);
    unsigned long long dropped = atomic_load(&recorder.shared->segments.dropped);
    unsigned long long used = arena_used(&recorder.arena);
    recorder_end_reading();
    return Py_BuildValue("{sdsLsKsKsssssNsNsN}", "begin", begin, "begin_monotonic", begin_monotonic,
                         "segments_dropped", dropped, "arena_bytes", used, "arena", arena, "session",
                         options.session, "leads", PyBool_FromLong(options.leads), "children",
                         PyBool_FromLong(options.children), "extended",
                         PyBool_FromLong(options.extended));
}

static PyObject *redirected(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    static struct got_report report;
    if (!begin_reading())
        return NULL;
    control_update(&report);
    recorder_end_reading();
    return report_as_dict(&report);
}

static PyObject *hook_names(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n_hooks; i++) {
        const char *kind = hooks[i].list == DARSHAN    ? "darshan"
                           : hooks[i].list == EXTENDED ? "extended"
                                                       : "bookkeeping";
        PyObject *item = Py_BuildValue("(ss)", hooks[i].name, kind);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"start", start, METH_VARARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {"is_active", is_active, METH_NOARGS, NULL},
    {"now", now, METH_NOARGS, NULL},
    {"mute", mute, METH_O, NULL},
    {"claim", claim, METH_NOARGS, NULL},
    {"status", status, METH_NOARGS, NULL},
    {"redirected", redirected, METH_NOARGS, NULL},
    {"hook_names", hook_names, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int fill_module(PyObject *module)
{
    if (PyModule_AddFunctions(module, reading_functions) < 0)
        return -1;
    PyObject *excluded = PyList_New(0), *included = PyList_New(0);
    for (const char *const *path = darshan_excluded; *path; path++)
        PyList_Append(excluded, PyBytes_FromString(*path));
    for (const char *const *path = darshan_included; *path; path++)
        PyList_Append(included, PyBytes_FromString(*path));
    if (PyModule_AddObject(module, "DARSHAN_EXCLUDED", excluded) < 0 ||
        PyModule_AddObject(module, "DARSHAN_INCLUDED", included) < 0)
        return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
