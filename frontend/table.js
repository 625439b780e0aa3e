/** Tables: numbers at the right in tabular figures, headers that sort. */

import {h} from './dom.js';

/** @typedef {import('./dom.js').Child} Child */

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: T) => Child} cell
 * @property {boolean} [number]
 * @property {string} [sort] its name for the server; makes the header a button
 * @property {string} [hint] what the column means
 * @property {(row: T) => string | null} [full] the cell's whole value, on hover
 */

/**
 * @template T
 * @param {Column<T>} column
 * @param {string} sort the order shown: a column's name, with `-` before it for largest first
 */
function buildHeader(column, sort) {
  const {title, number, hint} = column;
  const isSorted = column.sort !== undefined && sort.replace(/^-/, '') === column.sort;
  const direction = sort.startsWith('-') ? 'descending' : 'ascending';
  return h(
    'th',
    {
      scope: 'col',
      class: number ? 'number' : null,
      title: hint,
      'aria-sort': column.sort ? (isSorted ? direction : 'none') : null,
    },
    column.sort ? h('button', {type: 'button', 'data-sort': column.sort}, title) : title
  );
}

/**
 * @template T
 * @param {object} table
 * @param {string} table.caption
 * @param {T[]} table.rows
 * @param {(row: T) => string} table.key tells rows apart when they change
 * @param {Column<T>[]} table.columns the first names the row
 * @param {string} [table.sort] the order shown
 * @param {(row: T) => string | null} [table.rowClass]
 * @returns {HTMLElement} a table that scrolls sideways where it does not fit
 */
export function buildTable({caption, rows, key, columns, sort = '', rowClass}) {
  const body = rows.map((row) =>
    h(
      'tr',
      {'data-key': key(row), class: rowClass?.(row)},
      ...columns.map((column, i) =>
        h(
          i === 0 ? 'th' : 'td',
          {
            scope: i === 0 ? 'row' : null,
            class: column.number ? 'number' : null,
            title: column.full?.(row),
          },
          column.cell(row)
        )
      )
    )
  );
  return h(
    'div',
    {
      class: 'table-scroll',
      'data-key': `table ${caption}`,
      tabindex: 0,
      role: 'region',
      'aria-label': caption,
    },
    h(
      'table',
      {},
      h('caption', {}, caption),
      h('thead', {}, h('tr', {}, ...columns.map((column) => buildHeader(column, sort)))),
      h('tbody', {}, ...body)
    )
  );
}

/**
 * The order after a click on a column's header: numbers largest first, names from A, then the
 * other way round.
 * @param {string} sort the order so far
 * @param {string} column
 * @returns {string}
 */
export function nextSort(sort, column) {
  const first = column === 'path' || column === 'module' ? column : `-${column}`;
  const other = first === column ? `-${column}` : column;
  return sort === first ? other : first;
}
