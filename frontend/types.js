/**
 * Shapes of what the server answers (dashboard/http_api.md) and of what the modules here hand to
 * each other. Only types: nothing here runs.
 *
 * @typedef {'overview' | 'timeline' | 'files' | 'access_sizes' | 'insights'} ViewName
 * @typedef {'light' | 'dark'} Theme
 * @typedef {'' | 'rank' | 'process'} By
 *
 * @typedef {object} Stretch seconds since the run's begin
 * @property {number} start
 * @property {number} end
 *
 * @typedef {object} State what the address holds
 * @property {string} run
 * @property {ViewName} view
 * @property {string} module empty for all
 * @property {number | null} start seconds since the run's begin
 * @property {number | null} end
 * @property {boolean} live
 * @property {string} search
 * @property {string} sort
 * @property {number} offset
 * @property {'' | 'thread'} lanes what makes a lane, empty for a file
 * @property {string} lane part of the lanes' names
 * @property {By} by rows of the figure below the timeline, empty for none
 *
 * @typedef {object} Run
 * @property {string} name
 * @property {string} kind
 * @property {number | null} begin seconds since 1970
 * @property {number | null} end
 * @property {number | null} duration_seconds
 * @property {boolean} live
 * @property {number} recordings
 * @property {string | null} source
 * @property {string[]} hostnames
 * @property {string[]} modules
 * @property {number | null} processes
 * @property {string[]} notes
 *
 * @typedef {object} RunsAnswer
 * @property {Run[]} runs
 * @property {string[]} notes
 * @property {string} plotly
 * @property {string} version
 *
 * @typedef {object} AnswerHead what every answer about a run begins with
 * @property {string} run
 * @property {Stretch | null} range
 * @property {Stretch | null} counted
 * @property {string[]} notes
 *
 * @typedef {object} Figure
 * @property {object[]} data
 * @property {Record<string, any>} layout
 *
 * @typedef {object} Card
 * @property {string} name
 * @property {string} title
 * @property {string} value
 * @property {string} detail
 * @property {string} caption
 * @property {string} definition
 * @property {(number | null)[]} sparkline
 *
 * @typedef {object} ModuleTotals
 * @property {number} bytes_read
 * @property {number} bytes_written
 * @property {number} reads
 * @property {number} writes
 * @property {number} opens
 * @property {number} files
 * @property {number} read_seconds
 * @property {number} write_seconds
 * @property {number} metadata_seconds
 *
 * @typedef {object} Phase
 * @property {string} phase
 * @property {number} epoch from 0, -1 for none
 * @property {string} which recording or training it is of, empty for the first
 * @property {string[]} inside other phases between its start and end
 * @property {number} start
 * @property {number} end
 * @property {number} duration_seconds
 * @property {number} bytes_read
 * @property {number} bytes_written
 * @property {number | null} read_bandwidth
 * @property {number | null} write_bandwidth
 * @property {number} reads
 * @property {number} writes
 * @property {number} opens
 * @property {number} metadata_calls
 * @property {number} busy_seconds
 * @property {number | null} busy_share
 * @property {number | null} cache_share
 *
 * @typedef {object} Recording
 * @property {string} name
 * @property {number | null} rank
 * @property {string | null} hostname
 * @property {number | null} pid
 * @property {number | null} begin
 * @property {number | null} end
 * @property {boolean} finished
 * @property {number} windows
 *
 * @typedef {{title: string, unit: 'text' | 'count' | 'bytes' | 'seconds'}} FactColumn
 *
 * @typedef {object} FactTable a table that the server describes whole
 * @property {string} name
 * @property {string} title
 * @property {FactColumn[]} columns
 * @property {(string | number | null)[][]} rows
 *
 * @typedef {object} VerdictLine
 * @property {'waiting' | 'maybe' | 'not_waiting' | 'unknown'} state
 * @property {string} grade
 * @property {string} sentence
 * @property {string | null} finding
 * @property {number} findings
 *
 * @typedef {object} OverviewParts
 * @property {VerdictLine} verdict
 * @property {string} kind `recording` or `log`
 * @property {number} [processes] of a log
 * @property {FactTable[]} [tables] of a log
 * @property {number} duration_seconds
 * @property {number} counted_seconds
 * @property {Record<string, ModuleTotals>} modules
 * @property {number | null} busy_seconds
 * @property {Card[]} cards
 * @property {Phase[]} phases
 * @property {{share: number | null, cache_share: number | null, definition: string}} seen
 * @property {Record<string, any>} job
 * @property {Recording[]} recordings
 * @property {Record<string, string>} definitions
 * @typedef {AnswerHead & OverviewParts} OverviewAnswer
 *
 * @typedef {object} FigureParts
 * @property {Figure} figure
 * @property {string[]} definitions
 * @typedef {AnswerHead & FigureParts} FigureAnswer
 * @typedef {FigureAnswer & {rank_figure: Figure}} TimelineAnswer
 *
 * @typedef {object} LanesParts
 * @property {string} by
 * @property {{shown: number, total: number}} lanes
 * @property {{recorded: number, dropped: number, shown: number, bars: number, merged: boolean}} segments
 * @typedef {FigureAnswer & LanesParts} LanesAnswer
 *
 * @typedef {object} CommonSize
 * @property {string} module
 * @property {number} size_bytes
 * @property {number} count
 * @property {number | null} share
 *
 * @typedef {object} AccessSizesParts
 * @property {Figure} pattern_figure
 * @property {{label: string, counter: string, reads: number, writes: number}[]} sizes
 * @property {CommonSize[]} common_sizes
 * @typedef {FigureAnswer & AccessSizesParts} AccessSizesAnswer
 *
 * @typedef {object} FileRow
 * @property {string} path
 * @property {string} module
 * @property {boolean} folded
 * @property {number} opens
 * @property {number} reads
 * @property {number} writes
 * @property {number} metadata_calls
 * @property {number} bytes
 * @property {number} bytes_read
 * @property {number} bytes_written
 * @property {number} read_seconds
 * @property {number} write_seconds
 * @property {number} metadata_seconds
 * @property {number} size_bytes
 * @property {number | null} processes
 * @property {number | null} read_bandwidth
 * @property {number | null} write_bandwidth
 *
 * @typedef {AnswerHead & {total: number, rows: FileRow[]}} FilesAnswer
 *
 * @typedef {object} Process
 * @property {string} rank
 * @property {string | null} hostname
 * @property {number} pid
 * @property {'main' | 'worker'} kind
 * @property {string} state
 * @property {number} start
 * @property {number} end
 * @property {number} bytes_read
 * @property {number} bytes_written
 * @property {number} calls
 * @property {number} call_seconds
 *
 * @typedef {object} ProcessesParts
 * @property {{main: number, workers: number, ranks: number, ended_badly: number}} counts
 * @property {Process[]} processes
 * @property {{rank: string, call_seconds: number}[]} ranks
 * @property {string | null} slowest
 * @property {string | null} fastest
 * @typedef {FigureAnswer & ProcessesParts} ProcessesAnswer
 *
 * @typedef {object} Query what a question to the server is about
 * @property {string} run
 * @property {string} module
 * @property {number | null} start
 * @property {number | null} end
 * @property {Theme} theme
 *
 * @typedef {object} App what the views may ask of the frame
 * @property {() => State} state
 * @property {() => Run | undefined} run the run shown
 * @property {() => Promise<PlotlyLibrary>} plotly
 * @property {(patch: Partial<State>) => void} update
 * @property {(sentence: string) => void} announce says a sentence to screen readers
 * @property {() => void} reload asks the server again
 * @property {() => void} noted an answer with notes or an error came
 *
 * @typedef {object} Block a part of a view with one question to the server
 * @property {HTMLElement} element
 * @property {(query: Query, version: string) => Promise<void>} refresh asks, unless the same was
 *     asked of the same version of the data
 * @property {() => string[]} notes
 * @property {() => string} failure why the data shown could not be renewed, or empty
 *
 * @typedef {object} PageMessage what stands in the place of all views
 * @property {string} title
 * @property {string[]} sentences
 * @property {boolean} [snippet] with how to record
 * @property {string} action the button's name
 * @property {'reload' | 'newest'} act
 *
 * @typedef {object} View
 * @property {ViewName} name
 * @property {string} title
 * @property {HTMLElement} element
 * @property {Block[]} blocks
 */

export {};
