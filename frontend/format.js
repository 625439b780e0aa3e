/**
 * Numbers and paths as text: three significant digits, a unit, `–` for what is not known; the same
 * rules as dashboard/format.py.
 */

/** What stands for a number that is not known. */
export const UNKNOWN = '–';

/** Between a number and its unit; keeps them on one line. */
const GAP = '\u00a0';

/** Control characters, those that set the direction of text, and half characters. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** @type {Record<string, string>} */
const SHORT_ESCAPES = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const COUNT_UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/**
 * Three significant digits without trailing zeros; whole numbers from 100 on.
 * @param {number} value
 * @returns {string}
 */
function threeDigits(value) {
  return Math.abs(value) >= 99.95 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/**
 * @param {number} value
 * @param {number} base
 * @param {string[]} units
 * @returns {string}
 */
function scaled(value, base, units) {
  let place = 0;
  let rest = value;
  while (place < units.length - 1 && Math.abs(rest) >= 999.5) {
    rest /= base;
    place += 1;
  }
  return threeDigits(rest) + (units[place] && GAP + units[place]);
}

/**
 * @param {number | null | undefined} value
 * @returns {value is number}
 */
function isKnown(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

/**
 * Bytes in IEC units, e.g. `11.6 GiB`.
 * @param {number | null | undefined} bytes
 * @returns {string}
 */
export function formatBytes(bytes) {
  return isKnown(bytes) ? scaled(bytes, 1024, BYTE_UNITS) : UNKNOWN;
}

/**
 * Bandwidth in IEC units, e.g. `194 MiB/s`.
 * @param {number | null | undefined} bytesPerSecond
 * @returns {string}
 */
export function formatBandwidth(bytesPerSecond) {
  return isKnown(bytesPerSecond) ? `${formatBytes(bytesPerSecond)}/s` : UNKNOWN;
}

/**
 * A count, e.g. `28.8 k`.
 * @param {number | null | undefined} count
 * @returns {string}
 */
export function formatCount(count) {
  return isKnown(count) ? scaled(count, 1000, COUNT_UNITS) : UNKNOWN;
}

/**
 * A count with all its digits in groups, e.g. `28 800`.
 * @param {number} count
 * @returns {string}
 */
export function formatExact(count) {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, GAP);
}

/**
 * A share of one in per cent, e.g. `99.7 %`.
 * @param {number | null | undefined} share
 * @returns {string}
 */
export function formatShare(share) {
  return isKnown(share) ? threeDigits(share * 100) + GAP + '%' : UNKNOWN;
}

/**
 * A length of time, e.g. `1.2 ms`, `12.4 s`, `3.5 min`, `2.25 h`.
 * @param {number | null | undefined} seconds
 * @returns {string}
 */
export function formatDuration(seconds) {
  if (!isKnown(seconds)) return UNKNOWN;
  if (seconds >= 3600) return threeDigits(seconds / 3600) + GAP + 'h';
  if (seconds >= 300) return threeDigits(seconds / 60) + GAP + 'min';
  if (seconds >= 0.9995 || seconds === 0) return threeDigits(seconds) + GAP + 's';
  if (seconds >= 0.9995e-3) return threeDigits(seconds * 1e3) + GAP + 'ms';
  if (seconds >= 0.9995e-6) return threeDigits(seconds * 1e6) + GAP + 'µs';
  return threeDigits(seconds * 1e9) + GAP + 'ns';
}

/**
 * A point on the run's time axis as a clock, e.g. `01:23` or `1:02:03`; with decimals when the
 * span shown is short.
 * @param {number} seconds since the run's begin
 * @param {number} span seconds shown, says how fine to be
 * @returns {string}
 */
export function formatClock(seconds, span) {
  const digits = span >= 20 ? 0 : span >= 2 ? 1 : span >= 0.2 ? 2 : 3;
  const unit = 10 ** digits;
  const units = Math.round(Math.max(seconds, 0) * unit);
  const whole = Math.floor(units / unit);
  const pad = (/** @type {number} */ part) => String(part).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const fraction = digits ? `.${String(units % unit).padStart(digits, '0')}` : '';
  return `${hours ? `${hours}:` : ''}${pad(minutes)}:${pad(whole % 60)}${fraction}`;
}

/**
 * A path that keeps both ends, e.g. `/scratch/…/img_00042.jpg`.
 * @param {string} path
 * @param {number} [most] characters that fit
 * @returns {string} `path` itself when it fits
 */
export function shortenPath(path, most = 48) {
  if (path.length <= most) return path;
  const folder = path.endsWith('/');
  const parts = (folder ? path.slice(0, -1) : path).split('/');
  const name = parts[parts.length - 1] + (folder ? '/' : '');
  // The first folder, and from the end as many as fit.
  const head = parts.slice(0, path.startsWith('/') ? 2 : 1).join('/');
  if (parts.length > 3 && head.length + name.length + 3 <= most) {
    let tail = name;
    for (let i = parts.length - 2; i > 1; i -= 1) {
      const longer = `${parts[i]}/${tail}`;
      if (head.length + longer.length + 3 > most) break;
      tail = longer;
    }
    return `${head}/…/${tail}`;
  }
  const end = Math.ceil((most - 1) * 0.6);
  return `${path.slice(0, most - 1 - end)}…${path.slice(path.length - end)}`;
}

/**
 * When a run began, in the reader's own time, e.g. `2 Dec 2025, 14:03`.
 * @param {number | null | undefined} seconds since 1970 (UTC)
 * @returns {string}
 */
export function formatDate(seconds) {
  if (!isKnown(seconds)) return UNKNOWN;
  return new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'short'}).format(
    seconds * 1000
  );
}

/**
 * All bytes of a size, e.g. `1 536 bytes`.
 * @param {number | null | undefined} bytes
 * @returns {string | null} null where it is not known
 */
export function formatAllBytes(bytes) {
  return isKnown(bytes) ? `${formatExact(bytes)}${GAP}bytes` : null;
}

/**
 * A file's name with what nobody sees, or what turns text around, as escapes: `\\n`, `\\u202e`.
 * @param {string} name
 * @returns {string}
 */
export function showHidden(name) {
  return name.replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    return SHORT_ESCAPES[character] ?? `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
