/** The view Access sizes: reads and writes by size, the pattern, the most common sizes. */

import {AnswerBlock, definitionList, figurePlace, putFigure} from './block.js';
import {h, morph} from './dom.js';
import {formatBytes, formatCount, formatExact, formatShare} from './format.js';
import {buildTable} from './table.js';

/** @typedef {import('./types.js').AccessSizesAnswer} AccessSizesAnswer */
/** @typedef {import('./types.js').App} App */

/** @param {AccessSizesAnswer['common_sizes']} sizes */
function buildCommonSizes(sizes) {
  return buildTable({
    caption: 'Most common sizes',
    rows: sizes,
    key: ({module, size_bytes: size}) => `${module}:${size}`,
    columns: [
      {
        title: 'Size',
        number: true,
        cell: (row) => formatBytes(row.size_bytes),
        full: (row) => `${formatExact(row.size_bytes)} bytes`,
      },
      {title: 'Module', cell: (row) => row.module},
      {title: 'Accesses', number: true, cell: (row) => formatCount(row.count)},
      {title: 'Share', number: true, cell: (row) => formatShare(row.share)},
    ],
  });
}

/** @param {AccessSizesAnswer['sizes']} sizes */
function buildRanges(sizes) {
  return buildTable({
    caption: 'Size ranges',
    rows: sizes,
    key: (row) => row.counter,
    columns: [
      {title: 'Range', number: true, cell: (row) => row.label},
      {title: 'Reads', number: true, cell: (row) => formatCount(row.reads)},
      {title: 'Writes', number: true, cell: (row) => formatCount(row.writes)},
    ],
  });
}

/** @param {App} app */
export function createAccessSizes(app) {
  const sizes = figurePlace('Reads and writes by size', 'sizes');
  const pattern = figurePlace('Order of accesses within files', 'pattern');
  const tables = h('div', {class: 'columns'});
  const below = h('div');
  return new AnswerBlock(app, {
    label: 'Access sizes',
    size: 'size-access',
    route: 'access_sizes',
    isEmpty: (/** @type {AccessSizesAnswer} */ answer) => !answer.figure.data.length,
    async draw(body, answer, query) {
      if (!sizes.isConnected) body.append(sizes, pattern, tables, below);
      await Promise.all([
        putFigure(app, sizes, answer.figure, query),
        putFigure(app, pattern, answer.pattern_figure, query),
      ]);
      morph(tables, buildCommonSizes(answer.common_sizes), buildRanges(answer.sizes));
      morph(below, definitionList(answer.definitions));
    },
  });
}
