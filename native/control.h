/* Starts and stops a recording together with its hooks. */
#ifndef DARSHAN_CONTROL_H
#define DARSHAN_CONTROL_H

#include "got.h"
#include "recorder.h"

/* Return 0 or -errno; -EALREADY where a recording goes on. */
int control_start(const struct recorder_options *options, struct got_report *report);
void control_stop(void);
/* Patches what was loaded meanwhile, if anything, and tells what has been redirected so far. */
void control_update(struct got_report *report);

#endif
