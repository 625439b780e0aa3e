/* See module_reading.h. Arrays travel as bytes and byte arrays, which NumPy reads in place. */
#include "module_reading.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "views.h"

/* Begins to read a view, which with its module Python knows as numbers.
 *
 * NOTE: between this and `end_reading` no Python code may run: another thread may hold a lock there
 * and wait for the reading to end. */
static struct view *begin_reading(int handle, int module)
{
    if (module < 0 || module >= MODULES) {
        PyErr_SetString(PyExc_ValueError, "no such module");
        return NULL;
    }
    if (handle == OWN_VIEW && !recorder_begin_reading()) {
        PyErr_SetString(PyExc_RuntimeError, "nothing is being recorded in this process");
        return NULL;
    }
    struct view *view = views_get(handle);
    if (view == NULL)
        PyErr_SetString(PyExc_RuntimeError, "that process is not being read");
    return view;
}

static void end_reading(int handle)
{
    if (handle == OWN_VIEW)
        recorder_end_reading();
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
    int handle, number, lately;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iip:records", &handle, &number, &lately))
        return NULL;
    struct view *view = begin_reading(handle, number);
    if (view == NULL)
        return NULL;
    enum module module = (enum module)number;
    /* of all records, nearly all show: counting them first would cost as much as the copy */
    size_t room = lately ? snapshot_count(&view->arena, module, lately)
                         : snapshot_slots(&view->arena, module);
    size_t n = 0;
    size_t wide = (size_t)counters_of(module) * sizeof(int64_t);
    size_t fwide = (size_t)fcounters_of(module) * sizeof(double);
    PyObject *indices = new_array(room, sizeof(uint32_t)), *ids = new_array(room, sizeof(uint64_t));
    PyObject *counters = new_array(room, wide), *fcounters = new_array(room, fwide);
    if (indices != NULL && ids != NULL && counters != NULL && fcounters != NULL) {
        struct record_copies out = {
            room, (void *)PyByteArray_AsString(indices), (void *)PyByteArray_AsString(ids),
            (void *)PyByteArray_AsString(counters), (void *)PyByteArray_AsString(fcounters)};
        Py_BEGIN_ALLOW_THREADS
        n = snapshot_copy(&view->arena, module, lately, &out);
        end_reading(handle);
        Py_END_ALLOW_THREADS
    } else {
        end_reading(handle);
    }
    return Py_BuildValue("(NNNN)", shortened(indices, n, sizeof(uint32_t)),
                         shortened(ids, n, sizeof(uint64_t)), shortened(counters, n, wide),
                         shortened(fcounters, n, fwide));
}

/* Names of the records at given places, which are uint32 in a bytes-like object. */
static PyObject *names(PyObject *self, PyObject *arguments)
{
    int handle, number;
    const char *places;
    Py_ssize_t size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iiy#:names", &handle, &number, &places, &size))
        return NULL;
    struct view *view = begin_reading(handle, number);
    if (view == NULL)
        return NULL;
    size_t n = (size_t)size / sizeof(uint32_t);
    char *joined;
    Py_BEGIN_ALLOW_THREADS
    joined = snapshot_names(&view->arena, (enum module)number, (const void *)places, n);
    end_reading(handle);
    Py_END_ALLOW_THREADS
    if (joined == NULL && errno == ERANGE)
        PyErr_SetString(PyExc_IndexError, "no record at that place");
    else if (joined == NULL)
        PyErr_NoMemory();
    PyObject *list = joined ? PyList_New(0) : NULL;
    for (const char *at = joined; list != NULL && n > 0; n--, at += strlen(at) + 1) {
        PyObject *name = PyBytes_FromString(at);
        if (name == NULL || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    free(joined);
    return list;
}

static PyObject *totals(PyObject *self, PyObject *arguments)
{
    int handle, number;
    struct totals found;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ii:totals", &handle, &number))
        return NULL;
    struct view *view = begin_reading(handle, number);
    if (view == NULL)
        return NULL;
    enum module module = (enum module)number;
    Py_BEGIN_ALLOW_THREADS
    snapshot_totals(&view->arena, module, &found);
    end_reading(handle);
    Py_END_ALLOW_THREADS
    Py_ssize_t wide = counters_of(module) * (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t fwide = fcounters_of(module) * (Py_ssize_t)sizeof(double);
    return Py_BuildValue("(Iy#y#y#y#y#y#)", found.records, found.sums, wide, found.maxima, wide,
                         found.fsums, fwide, found.fmaxima, fwide, found.fminima, fwide,
                         found.common_sizes, (Py_ssize_t)sizeof(found.common_sizes));
}

/* Empties the time bins: width in nanoseconds, first place, rows of BIN_COLUMNS, idle shares. */
static PyObject *drain_bins(PyObject *self, PyObject *arguments)
{
    int handle, number;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ii:drain_bins", &handle, &number))
        return NULL;
    struct view *view = begin_reading(handle, number);
    if (view == NULL)
        return NULL;
    struct bins *bins = PyMem_Calloc(1, sizeof(*bins));
    double *idle = PyMem_Calloc(BINS_MAX, sizeof(*idle));
    PyObject *result = NULL;
    if (bins != NULL && idle != NULL) {
        if (handle == OWN_VIEW)
            clock_tie_anew();
        int64_t now = recorder_now();
        Py_BEGIN_ALLOW_THREADS
        snapshot_drain_bins(&view->arena, (enum module)number, view->bins_begin[number], now, bins,
                            idle);
        view->bins_begin[number] = now;
        end_reading(handle);
        Py_END_ALLOW_THREADS
        Py_ssize_t used = bins->used;
        result = Py_BuildValue("(LLy#y#)", (long long)bins->width, (long long)bins->first,
                               bins->values, used * (Py_ssize_t)sizeof(*bins->values), idle,
                               used * (Py_ssize_t)sizeof(*idle));
    } else {
        end_reading(handle);
        PyErr_NoMemory();
    }
    PyMem_Free(bins);
    PyMem_Free(idle);
    return result;
}

/* Takes the traced accesses: their bytes, and how many found no room since the recording began. */
static PyObject *drain_segments(PyObject *self, PyObject *arguments)
{
    int handle;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "i:drain_segments", &handle))
        return NULL;
    struct view *view = begin_reading(handle, 0);
    if (view == NULL)
        return NULL;
    size_t n;
    uint64_t dropped;
    struct segment *segments;
    Py_BEGIN_ALLOW_THREADS
    segments = snapshot_drain_segments(&view->arena, &n, &dropped);
    end_reading(handle);
    Py_END_ALLOW_THREADS
    PyObject *result = Py_BuildValue("(y#K)", segments ? (const char *)segments : "",
                                     (Py_ssize_t)(n * sizeof(*segments)),
                                     (unsigned long long)dropped);
    free(segments);
    return result;
}

/* Views of other processes' arenas. */
static PyObject *open_view(PyObject *self, PyObject *arguments)
{
    const char *path;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "s:open_view", &path))
        return NULL;
    int handle = views_open(path);
    if (handle < 0) {
        errno = -handle;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return PyLong_FromLong(handle);
}

static PyObject *close_view(PyObject *self, PyObject *arguments)
{
    int handle, removes;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ip:close_view", &handle, &removes))
        return NULL;
    views_close(handle, removes);
    Py_RETURN_NONE;
}

static PyObject *view_facts(PyObject *self, PyObject *arguments)
{
    int handle;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "i:view_facts", &handle))
        return NULL;
    struct view *view = begin_reading(handle, 0);
    if (view == NULL)
        return NULL;
    const struct arena_head head = *arena_head_of(view->arena.base);
    struct shared *shared = shared_of(view->arena.base);
    bool alive = arena_view_is_alive(&view->arena);
    unsigned refused = atomic_load(&shared->refused), mappings = atomic_load(&shared->mappings);
    unsigned rings = atomic_load(&shared->rings), programs = atomic_load(&shared->programs);
    char program_names[PROGRAMS][PROGRAM_NAME];
    memcpy(program_names, shared->program_names, sizeof(program_names));
    end_reading(handle);
    PyObject *started = PyList_New(0);
    for (unsigned i = 0; started != NULL && i < programs && i < PROGRAMS; i++) {
        program_names[i][PROGRAM_NAME - 1] = '\0';
        PyObject *name = PyBytes_FromString(program_names[i]);
        if (name == NULL || PyList_Append(started, name) < 0)
            Py_CLEAR(started);
        Py_XDECREF(name);
    }
    if (started == NULL)
        return NULL;
    return Py_BuildValue("{sLsLsNsNsIsisIsIsIsIsN}", "pid", (long long)head.pid, "parent",
                         (long long)head.parent, "alive", PyBool_FromLong(alive), "own_writer",
                         PyBool_FromLong(head.own_writer != 0), "ended", head.ended, "exit_status",
                         head.exit_status, "refused", refused, "mappings", mappings, "rings", rings,
                         "programs", programs, "program_names", started);
}

PyMethodDef reading_functions[] = {
    {"records", records, METH_VARARGS, NULL},
    {"names", names, METH_VARARGS, NULL},
    {"totals", totals, METH_VARARGS, NULL},
    {"drain_bins", drain_bins, METH_VARARGS, NULL},
    {"drain_segments", drain_segments, METH_VARARGS, NULL},
    {"open_view", open_view, METH_VARARGS, NULL},
    {"close_view", close_view, METH_VARARGS, NULL},
    {"view_facts", view_facts, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
