/** The view Files: histogram of bandwidth a file, and the table of files by page. */

import {AnswerBlock, definitionList, figurePlace, putFigure} from './block.js';
import {copyText, h, icon, morph} from './dom.js';
import {
  formatBandwidth,
  formatBytes,
  formatCount,
  formatDuration,
  formatAllBytes,
  formatExact,
  shortenPath,
  showHidden,
} from './format.js';
import {buildTable, nextSort} from './table.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').FigureAnswer} FigureAnswer */
/** @typedef {import('./types.js').FileRow} FileRow */
/** @typedef {import('./types.js').FilesAnswer} FilesAnswer */

const PAGE_ROWS = 50;
const SEARCH_WAIT_MS = 250;

/** @param {App} app */
export function createHistogram(app) {
  const place = figurePlace('Files by bandwidth: histogram, one count a file', 'histogram');
  const below = h('div');
  return new AnswerBlock(app, {
    label: 'Bandwidth of files',
    size: 'size-histogram',
    route: 'file_bandwidth',
    isEmpty: (/** @type {FigureAnswer} */ answer) => !answer.figure.data.length,
    async draw(body, answer, query) {
      if (!place.isConnected) body.append(place, below);
      await putFigure(app, place, answer.figure, query);
      morph(below, definitionList(answer.definitions));
    },
  });
}

/** @param {FileRow} row */
function buildPath({path, folded}) {
  const shown = showHidden(path);
  return h(
    'span',
    {class: 'path'},
    h('span', {class: 'mono', title: shown}, shortenPath(shown)),
    folded &&
      h(
        'span',
        {
          class: 'badge',
          title: 'What the files in this directory did while they were not among the busiest',
        },
        'folded'
      ),
    h(
      'button',
      {
        type: 'button',
        class: 'icon-button copy',
        'data-copy': path,
        title: 'Copy the path',
        'aria-label': `Copy ${shown}`,
      },
      icon('copy')
    )
  );
}

/**
 * @param {string} title
 * @param {keyof FileRow & string} field
 * @param {(value: number | null) => string} format
 * @param {string} [hint]
 */
function numberColumn(title, field, format, hint) {
  return {
    title,
    sort: field,
    hint,
    number: true,
    cell: (/** @type {FileRow} */ row) => format(/** @type {number | null} */ (row[field])),
    full: (/** @type {FileRow} */ row) =>
      format === formatBytes ? formatAllBytes(/** @type {number | null} */ (row[field])) : null,
  };
}

const COLUMNS = [
  {title: 'Path', sort: 'path', cell: buildPath},
  {title: 'Module', sort: 'module', cell: (/** @type {FileRow} */ row) => row.module},
  numberColumn('Read', 'bytes_read', formatBytes, 'Bytes read'),
  numberColumn('Written', 'bytes_written', formatBytes, 'Bytes written'),
  numberColumn('Read rate', 'read_bandwidth', formatBandwidth, 'Bytes read ÷ seconds reading'),
  numberColumn('Write rate', 'write_bandwidth', formatBandwidth, 'Bytes written ÷ seconds writing'),
  numberColumn('Opens', 'opens', formatCount),
  numberColumn('Reads', 'reads', formatCount),
  numberColumn('Writes', 'writes', formatCount),
  numberColumn('Metadata', 'metadata_calls', formatCount, 'Calls such as open, stat and seek'),
  numberColumn('Reading', 'read_seconds', formatDuration, 'Time in reads'),
  numberColumn('Writing', 'write_seconds', formatDuration, 'Time in writes'),
  numberColumn('In metadata', 'metadata_seconds', formatDuration, 'Time in metadata calls'),
  numberColumn('Size', 'size_bytes', formatBytes, 'Highest byte touched plus one'),
  numberColumn('Processes', 'processes', formatCount, 'How many processes used the file so far'),
];

/**
 * @param {App} app
 * @returns {{element: HTMLElement, show: () => void}} the search field, which follows the state
 */
function createSearch(app) {
  const input = h('input', {
    type: 'search',
    id: 'file-search',
    placeholder: 'Part of a path',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  let timer = 0;
  input.addEventListener('input', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => app.update({search: input.value, offset: 0}), SEARCH_WAIT_MS);
  });
  return {
    element: h('div', {class: 'field'}, h('label', {for: 'file-search'}, 'Search'), input),
    show() {
      if (document.activeElement !== input) input.value = app.state().search;
    },
  };
}

/**
 * @param {number} offset
 * @param {FilesAnswer} answer
 */
function buildPager(offset, {total, rows}) {
  const last = offset + rows.length;
  const pages = [
    {
      label: 'Previous page',
      icon: /** @type {const} */ ('earlier'),
      to: offset - PAGE_ROWS,
      isOff: offset === 0,
    },
    {label: 'Next page', icon: /** @type {const} */ ('later'), to: last, isOff: last >= total},
  ];
  return h(
    'nav',
    {class: 'pager', 'aria-label': 'Pages of the table'},
    h(
      'span',
      {},
      rows.length
        ? `${formatExact(offset + 1)}–${formatExact(last)} of ${formatExact(total)}`
        : '0 rows'
    ),
    ...pages.map((page) =>
      h(
        'button',
        {
          type: 'button',
          class: 'icon-button',
          'data-offset': Math.max(page.to, 0),
          'aria-label': page.label,
          title: page.label,
          disabled: page.isOff,
        },
        icon(page.icon)
      )
    )
  );
}

/**
 * @param {App} app
 * @param {Element} target
 */
async function answerClick(app, target) {
  const button = target.closest('button');
  if (!button) return;
  const {sort, offset, copy} = button.dataset;
  if (sort) app.update({sort: nextSort(app.state().sort, sort), offset: 0});
  else if (offset) app.update({offset: Number(offset)});
  else if (copy) {
    const done = await copyText(copy);
    app.announce(done ? 'Path copied' : 'The browser did not allow copying');
  }
}

/** @param {App} app */
export function createFiles(app) {
  const search = createSearch(app);
  const pager = h('div');
  const toolbar = h('div', {class: 'toolbar'}, search.element, pager);
  const block = new AnswerBlock(app, {
    label: 'Table of files',
    size: 'size-files',
    route: 'files',
    parameters() {
      const {search: text, sort, offset} = app.state();
      return {search: text, sort, offset, limit: PAGE_ROWS};
    },
    isEmpty: (/** @type {FilesAnswer} */ answer) => !answer.total && !app.state().search,
    draw(body, answer) {
      const {offset, sort, search: text} = app.state();
      search.show();
      // The run has fewer rows than the address says: go to its first page.
      if (!answer.rows.length && answer.total) app.update({offset: 0});
      morph(pager, buildPager(offset, answer));
      morph(
        body,
        answer.rows.length > 0 &&
          buildTable({
            caption: 'Files',
            rows: answer.rows,
            key: (row) => `${row.module}:${row.path}`,
            columns: COLUMNS,
            sort,
            rowClass: (row) => (row.folded ? 'folded' : null),
          }),
        !answer.rows.length && h('p', {class: 'hint'}, `No path contains “${text}”.`)
      );
    },
  });
  for (const element of [pager, block.element]) {
    element.addEventListener('click', ({target}) => {
      if (target instanceof Element) answerClick(app, target);
    });
  }
  return {block, toolbar};
}
