/* `tensorboard_plugin_darshan._native`: the only file that knows Python. Arguments, the interpreter
 * lock, errors; arrays travel as bytes and byte arrays, which NumPy reads in place. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "control.h"
#include "hooks.h"
#include "snapshot.h"

/* The exclusions of the recording that goes on; a NULL-terminated list in one allocation. */
static char **kept_excluded, **kept_included;

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
    const char *directory;
    unsigned long long arena_ceiling, segments_max;
    unsigned files_ceiling;
    int extended;
    PyObject *excluded, *included;
    static struct got_report report;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "zKIKpOO:start", &directory, &arena_ceiling, &files_ceiling,
                          &segments_max, &extended, &excluded, &included))
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
    struct recorder_options options = {
        .arena_directory = directory,
        .arena_ceiling = arena_ceiling,
        .files_ceiling = files_ceiling,
        .segments_max = segments_max,
        .extended = extended != 0,
        .excluded = (const char *const *)kept_excluded,
        .included = (const char *const *)kept_included,
    };
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

static bool parse_module(PyObject *argument, enum module *module)
{
    long value = PyLong_AsLong(argument);
    if (value == -1 && PyErr_Occurred())
        return false;
    if (value < 0 || value >= MODULES) {
        PyErr_SetString(PyExc_ValueError, "no such module");
        return false;
    }
    *module = (enum module)value;
    return true;
}

#define BIG_PAGE ((uintptr_t)2 << 20)
#define BIG_ARRAY (4 * BIG_PAGE)

static PyObject *new_array(size_t items, size_t size)
{
    PyObject *array = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(items * size));
    if (array != NULL && items * size >= BIG_ARRAY) {
        /* else the kernel's work for each small page costs more than the copy */
        uintptr_t start = ((uintptr_t)PyByteArray_AsString(array) + BIG_PAGE - 1) & ~(BIG_PAGE - 1);
        uintptr_t end = ((uintptr_t)PyByteArray_AsString(array) + items * size) & ~(BIG_PAGE - 1);
        madvise((void *)start, end - start, MADV_HUGEPAGE);
    }
    return array;
}

static PyObject *shortened(PyObject *bytes, size_t items, size_t size)
{
    if (bytes != NULL && PyByteArray_Resize(bytes, (Py_ssize_t)(items * size)) < 0)
        Py_CLEAR(bytes);
    return bytes;
}

static PyObject *records(PyObject *self, PyObject *arguments)
{
    enum module module;
    PyObject *number;
    int lately;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Op:records", &number, &lately) ||
        !parse_module(number, &module))
        return NULL;
    if (!begin_reading())
        return NULL;
    size_t room = snapshot_count(module, lately), n = 0;
    size_t wide = (size_t)counters_of(module) * sizeof(int64_t);
    size_t fwide = (size_t)fcounters_of(module) * sizeof(double);
    PyObject *indices = new_array(room, sizeof(uint32_t)), *ids = new_array(room, sizeof(uint64_t));
    PyObject *counters = new_array(room, wide), *fcounters = new_array(room, fwide);
    if (indices != NULL && ids != NULL && counters != NULL && fcounters != NULL) {
        struct record_copies out = {
            room, (void *)PyByteArray_AsString(indices), (void *)PyByteArray_AsString(ids),
            (void *)PyByteArray_AsString(counters), (void *)PyByteArray_AsString(fcounters)};
        Py_BEGIN_ALLOW_THREADS
        n = snapshot_copy(module, lately, &out);
        recorder_end_reading();
        Py_END_ALLOW_THREADS
    } else {
        recorder_end_reading();
    }
    return Py_BuildValue("(NNNN)", shortened(indices, n, sizeof(uint32_t)),
                         shortened(ids, n, sizeof(uint64_t)), shortened(counters, n, wide),
                         shortened(fcounters, n, fwide));
}

/* Names of the records at given places, which are uint32 in a bytes-like object. */
static PyObject *names(PyObject *self, PyObject *arguments)
{
    enum module module;
    PyObject *number;
    const char *places;
    Py_ssize_t size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oy#:names", &number, &places, &size) ||
        !parse_module(number, &module) || !begin_reading())
        return NULL;
    size_t n = (size_t)size / sizeof(uint32_t);
    char *names_;
    Py_BEGIN_ALLOW_THREADS
    names_ = snapshot_names(module, (const void *)places, n);
    recorder_end_reading();
    Py_END_ALLOW_THREADS
    if (names_ == NULL && errno == ERANGE)
        PyErr_SetString(PyExc_IndexError, "no record at that place");
    else if (names_ == NULL)
        PyErr_NoMemory();
    PyObject *list = names_ ? PyList_New(0) : NULL;
    for (const char *at = names_; list != NULL && n > 0; n--, at += strlen(at) + 1) {
        PyObject *name = PyBytes_FromString(at);
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    free(names_);
    return list;
}

static PyObject *totals(PyObject *self, PyObject *number)
{
    enum module module;
    struct totals found;
    (void)self;
    if (!parse_module(number, &module) || !begin_reading())
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    snapshot_totals(module, &found);
    recorder_end_reading();
    Py_END_ALLOW_THREADS
    Py_ssize_t wide = counters_of(module) * (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t fwide = fcounters_of(module) * (Py_ssize_t)sizeof(double);
    return Py_BuildValue("(Iy#y#y#y#y#y#)", found.records, found.sums, wide, found.maxima, wide,
                         found.fsums, fwide, found.fmaxima, fwide, found.fminima, fwide,
                         found.common_sizes, (Py_ssize_t)sizeof(found.common_sizes));
}

/* Empties the time bins: width in nanoseconds, first place, rows of BIN_COLUMNS, busy time. */
static PyObject *drain_bins(PyObject *self, PyObject *number)
{
    enum module module;
    (void)self;
    if (!parse_module(number, &module) || !begin_reading())
        return NULL;
    struct bins *bins = PyMem_Calloc(1, sizeof(*bins));
    double *idle = PyMem_Calloc(BINS_MAX, sizeof(*idle));
    PyObject *result = NULL;
    if (bins != NULL && idle != NULL) {
        Py_BEGIN_ALLOW_THREADS
        recorder_drain_bins(module, bins, idle);
        recorder_end_reading();
        Py_END_ALLOW_THREADS
        Py_ssize_t used = bins->used;
        result = Py_BuildValue("(LLy#y#)", (long long)bins->width, (long long)bins->first,
                               bins->values, used * (Py_ssize_t)sizeof(*bins->values), idle,
                               used * (Py_ssize_t)sizeof(*idle));
    } else {
        recorder_end_reading();
        PyErr_NoMemory();
    }
    PyMem_Free(bins);
    PyMem_Free(idle);
    return result;
}

static PyObject *drain_segments(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!begin_reading())
        return NULL;
    struct segment_chunk *chunks = recorder_drain_segments();
    Py_ssize_t size = 0;
    for (const struct segment_chunk *chunk = chunks; chunk != NULL; chunk = chunk->next)
        size += chunk->n * (Py_ssize_t)sizeof(*chunk->segments);
    PyObject *all = PyBytes_FromStringAndSize(NULL, size);
    char *end = all ? PyBytes_AsString(all) : NULL;
    for (const struct segment_chunk *chunk = chunks; end && chunk; chunk = chunk->next)
        end = mempcpy(end, chunk->segments, chunk->n * sizeof(*chunk->segments));
    segments_recycle(&recorder.segments, chunks);
    recorder_end_reading();
    return all;
}

static PyObject *status(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (!begin_reading())
        return NULL;
    char arena[sizeof(recorder.arena.path)];
    memcpy(arena, recorder.arena.path, sizeof(arena));
    double begin = recorder.begin_wall;
    unsigned refused = atomic_load(&recorder.table.refused);
    unsigned mappings = atomic_load(&recorder.mappings), rings = atomic_load(&recorder.rings);
    unsigned long long dropped = atomic_load(&recorder.segments.dropped);
    unsigned long long used = arena_used(&recorder.arena);
    recorder_end_reading();
    return Py_BuildValue("{sdsIsIsIsKsKss}", "begin", begin, "refused", refused, "mappings",
                         mappings, "rings", rings, "segments_dropped", dropped, "arena_bytes", used,
                         "arena", arena);
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
    {"records", records, METH_VARARGS, NULL},
    {"names", names, METH_VARARGS, NULL},
    {"totals", totals, METH_O, NULL},
    {"drain_bins", drain_bins, METH_O, NULL},
    {"drain_segments", drain_segments, METH_NOARGS, NULL},
    {"status", status, METH_NOARGS, NULL},
    {"redirected", redirected, METH_NOARGS, NULL},
    {"hook_names", hook_names, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int add_constants(PyObject *module)
{
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
    {Py_mod_exec, (void *)add_constants},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
