/** Tables that the server describes whole: titles, units and rows. */

import {
  UNKNOWN,
  formatBytes,
  formatCount,
  formatDuration,
  formatExact,
  showHidden,
} from './format.js';
import {buildTable} from './table.js';

/** @typedef {import('./types.js').FactTable} FactTable */
/** @typedef {import('./types.js').FactColumn} FactColumn */

/** Rows shown of a table. */
const MAX_ROWS = 200;

/**
 * A value as people read it.
 * @param {string | number | null | undefined} value
 * @param {FactColumn['unit']} unit
 * @returns {string}
 */
export function formatFact(value, unit) {
  if (value === null || value === undefined) return UNKNOWN;
  if (typeof value === 'string') return showHidden(value);
  if (unit === 'bytes') return formatBytes(value);
  return unit === 'seconds' ? formatDuration(value) : formatCount(value);
}

/**
 * @param {FactTable} table
 * @returns {HTMLElement}
 */
export function buildFacts({title, columns, rows}) {
  const more = rows.length > MAX_ROWS ? `, the first ${MAX_ROWS} of ${rows.length}` : '';
  return buildTable({
    caption: title + more,
    rows: rows.slice(0, MAX_ROWS),
    key: (row) => row.join('\n'),
    columns: columns.map((column, i) => ({
      title: column.title,
      number: column.unit !== 'text',
      cell: (/** @type {FactTable['rows'][number]} */ row) => formatFact(row[i], column.unit),
      full: (/** @type {FactTable['rows'][number]} */ row) => {
        const value = row[i];
        if (typeof value !== 'number') return value;
        return column.unit === 'seconds' ? `${value} s` : formatExact(value);
      },
    })),
  });
}
