/** What the tab shows, and how that stands in the address: `#darshan&p.darshan.run=…`. */

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Stretch} Stretch */

const PREFIX = 'p.darshan.';

/** The narrowest stretch of time that zooming reaches, in seconds. */
const NARROWEST_SECONDS = 0.01;

/** @type {readonly ['overview', 'timeline', 'files', 'access_sizes', 'insights']} */
export const VIEWS = ['overview', 'timeline', 'files', 'access_sizes', 'insights'];

/** @type {State} */
export const DEFAULT_STATE = {
  run: '',
  view: 'overview',
  module: '',
  start: null,
  end: null,
  live: true,
  search: '',
  sort: '-bytes',
  offset: 0,
  lanes: '',
  lane: '',
  by: '',
};

/**
 * @param {string} text
 * @returns {string}
 */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string | undefined} text
 * @returns {number | null} null for what is not a time
 */
function parseSeconds(text) {
  const seconds = text ? Number(text) : NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

/**
 * The state in an address; what is missing or impossible takes its default.
 * @param {string} hash with or without `#`
 * @returns {State}
 */
export function parseHash(hash) {
  /** @type {Record<string, string>} */
  const values = {};
  for (const part of hash.replace(/^#/, '').split('&')) {
    const [key, ...rest] = part.split('=');
    const name = decode(key);
    if (name.startsWith(PREFIX)) values[name.slice(PREFIX.length)] = decode(rest.join('='));
  }
  let start = parseSeconds(values.start);
  let end = parseSeconds(values.end);
  if (end !== null && end <= (start ?? 0)) start = end = null;
  const offset = parseSeconds(values.offset);
  return {
    run: values.run ?? DEFAULT_STATE.run,
    view: VIEWS.find((view) => view === values.view) ?? DEFAULT_STATE.view,
    module: values.module ?? DEFAULT_STATE.module,
    start,
    end,
    live: values.live !== 'off',
    search: values.search ?? DEFAULT_STATE.search,
    sort: values.sort || DEFAULT_STATE.sort,
    offset: offset !== null && Number.isInteger(offset) ? offset : 0,
    lanes: values.lanes === 'thread' ? 'thread' : '',
    lane: values.lane ?? '',
    by: values.by === 'rank' || values.by === 'process' ? values.by : '',
  };
}

/**
 * The address that holds a state; what is not ours in it stays, defaults are left out.
 * @param {string} hash the address so far
 * @param {State} state
 * @returns {string} with `#`
 */
export function formatHash(hash, state) {
  const others = hash
    .replace(/^#/, '')
    .split('&')
    .filter((part) => part && !decode(part.split('=')[0]).startsWith(PREFIX));
  const ours = Object.entries(state)
    .filter(([key, value]) => value !== DEFAULT_STATE[/** @type {keyof State} */ (key)])
    .map(([key, value]) => {
      const text = typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
      return `${PREFIX}${key}=${encodeURIComponent(text)}`;
    });
  return `#${[...others, ...ours].join('&')}`;
}

/**
 * A state without a module that no run has.
 * @param {State} state
 * @param {{modules: string[]}[]} runs
 * @returns {State} `state` itself when there is nothing to change
 */
export function dropUnknownModule(state, runs) {
  const isKnown =
    !state.module || !runs.length || runs.some(({modules}) => modules.includes(state.module));
  return isKnown ? state : {...state, module: DEFAULT_STATE.module};
}

/**
 * Which of TensorBoard's tabs an address shows; empty when it does not say.
 * @param {string} hash
 * @returns {string}
 */
export function activePlugin(hash) {
  const first = hash.replace(/^#/, '').split('&')[0];
  return first.includes('=') ? '' : decode(first);
}

/**
 * A stretch rounded to what the time bins can tell apart, or null for the whole run.
 * @param {number} from seconds
 * @param {number} to seconds
 * @param {number} duration seconds of the whole run
 * @returns {Stretch | null}
 */
export function cutStretch(from, to, duration) {
  const round = (/** @type {number} */ value) => Math.round(value * 1e4) / 1e4;
  const start = round(Math.max(from, 0));
  const end = round(Math.min(to, duration));
  if (end - start < NARROWEST_SECONDS) return null;
  return start === 0 && end >= round(duration) ? null : {start, end};
}

/**
 * Where a step of the timeline's buttons leads.
 * @param {Stretch} stretch what is shown
 * @param {number} duration seconds of the whole run
 * @param {'in' | 'out' | 'earlier' | 'later'} step
 * @returns {Stretch | null} null for the whole run
 */
export function moveStretch(stretch, duration, step) {
  const span = stretch.end - stretch.start;
  const middle = (stretch.start + stretch.end) / 2;
  const width = step === 'in' ? span / 2 : step === 'out' ? span * 2 : span;
  const shift = step === 'earlier' ? -span / 2 : step === 'later' ? span / 2 : 0;
  const widest = Math.min(Math.max(width, NARROWEST_SECONDS), duration);
  const start = Math.min(Math.max(middle + shift - widest / 2, 0), duration - widest);
  return cutStretch(start, start + widest, duration);
}
