/** Who took part: processes and ranks in the Overview, and rows over time in the Timeline. */

import {AnswerBlock, definitionList, figurePlace, putFigure, putTimeFigure} from './block.js';
import {h, morph} from './dom.js';
import {UNKNOWN, formatBytes, formatClock, formatCount, formatDuration} from './format.js';
import {buildTable} from './table.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').FigureAnswer} FigureAnswer */
/** @typedef {import('./types.js').Process} Process */
/** @typedef {import('./types.js').ProcessesAnswer} ProcessesAnswer */

/** Rows of the table of processes before the rest is folded. */
const OPEN_ROWS = 8;

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
function plural(n, one, many = `${one}s`) {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

/** @param {ProcessesAnswer} answer */
function buildSummary({counts, slowest, fastest, ranks}) {
  const parts = [plural(counts.main, 'main process', 'main processes')];
  if (counts.workers) parts.push(plural(counts.workers, 'worker'));
  const inRanks = counts.ranks > 1 ? `, in ${plural(counts.ranks, 'rank')}` : '';
  const time = (/** @type {string} */ name) => {
    const rank = ranks.find(({rank}) => rank === name);
    return formatDuration(rank ? rank.call_seconds : null);
  };
  return h(
    'p',
    {class: 'hint', 'data-key': 'summary'},
    `${parts.join(' and ')}${inRanks}. `,
    counts.ended_badly > 0 &&
      h(
        'strong',
        {class: 'bad'},
        `${plural(counts.ended_badly, 'process', 'processes')} ended badly (killed, crashed or failed). `
      ),
    slowest !== null &&
      fastest !== null &&
      `Slowest rank ${slowest} (${time(slowest)} in calls), fastest rank ${fastest} (${time(fastest)}).`
  );
}

/**
 * @param {Process[]} rows
 * @param {ProcessesAnswer} answer
 * @param {string} caption
 */
function buildProcesses(rows, {counts, processes, range}, caption) {
  const span = range ? range.end - range.start : 0;
  const hosts = new Set(processes.map(({hostname}) => hostname)).size;
  /** @type {import('./table.js').Column<Process>[]} */
  const columns = [
    {title: 'Process', cell: ({kind, pid}) => `${kind} ${pid}`},
    ...(counts.ranks > 1 ? [{title: 'Rank', cell: (/** @type {Process} */ {rank}) => rank}] : []),
    ...(hosts > 1
      ? [{title: 'Host', cell: (/** @type {Process} */ {hostname}) => hostname ?? UNKNOWN}]
      : []),
    {
      title: 'State',
      cell: ({state}) => h('span', {class: state === 'ended badly' ? 'bad' : null}, state),
    },
    {title: 'From', cell: ({start}) => formatClock(start, span), number: true},
    {title: 'To', cell: ({end}) => formatClock(end, span), number: true},
    {title: 'Read', cell: (row) => formatBytes(row.bytes_read), number: true},
    {title: 'Written', cell: (row) => formatBytes(row.bytes_written), number: true},
    {title: 'Calls', cell: (row) => formatCount(row.calls), number: true},
    {title: 'In calls', cell: (row) => formatDuration(row.call_seconds), number: true},
  ];
  return buildTable({
    caption,
    rows,
    key: ({rank, pid, start}) => `${rank}/${pid}/${start}`,
    columns,
  });
}

/**
 * The table of processes: some that ended badly, then the busiest; the rest folded when there are
 * many.
 * @param {ProcessesAnswer} answer
 */
function buildTables(answer) {
  const {processes, counts} = answer;
  const bad = processes.filter(({state}) => state === 'ended badly').slice(0, OPEN_ROWS / 2);
  const rows = [...bad, ...processes.filter((process) => !bad.includes(process))];
  const first = rows.slice(0, OPEN_ROWS);
  const rest = rows.slice(OPEN_ROWS);
  const total = counts.main + counts.workers;
  const left = total > processes.length ? `, the ${processes.length} busiest` : '';
  return [
    buildProcesses(
      first,
      answer,
      rest.length ? 'Busiest processes, and those that ended badly' : 'Processes'
    ),
    rest.length > 0 &&
      h(
        'details',
        {class: 'definitions', 'data-key': 'more processes'},
        h('summary', {}, `${formatCount(total)} processes in all${left}`),
        buildProcesses(rest, answer, 'Other processes')
      ),
  ];
}

/** @param {App} app */
export function createProcesses(app) {
  const place = figurePlace('Ranks: bytes and time in calls', 'ranks');
  const body = h('div');
  return new AnswerBlock(app, {
    label: 'Processes',
    size: 'size-processes',
    route: 'processes',
    isEmpty: () => false,
    async draw(element, /** @type {ProcessesAnswer} */ answer, query) {
      if (!body.isConnected) element.append(body, place);
      const isKnown = answer.processes.length > 0;
      morph(
        body,
        isKnown && buildSummary(answer),
        ...(isKnown ? buildTables(answer) : []),
        isKnown && definitionList(answer.definitions)
      );
      place.hidden = !answer.figure.data.length;
      if (!place.hidden) await putFigure(app, place, answer.figure, query);
    },
  });
}

/**
 * A figure over time below the timeline, whose zoom restricts all views as the timeline's does.
 * @param {App} app
 * @param {{label: string, size: string, route: string, parameters?: () => Record<string, string>}} spec
 */
function createBelow(app, spec) {
  const place = figurePlace(spec.label, spec.size);
  const below = h('div');
  return new AnswerBlock(app, {
    ...spec,
    size: `size-${spec.size}`,
    isEmpty: () => false,
    async draw(body, /** @type {FigureAnswer} */ answer, query) {
      if (!place.isConnected) body.append(place, below);
      place.hidden = !answer.figure.data.length;
      morph(below, place.hidden ? null : definitionList(answer.definitions));
      if (place.hidden) return;
      await putTimeFigure(app, place, answer.figure, query);
    },
  });
}

/** @param {App} app */
export function createPageCache(app) {
  return createBelow(app, {
    label: 'Page cache: share of bytes read from it over time',
    size: 'cache',
    route: 'page_cache',
  });
}

/**
 * Ranks or processes over time, when asked for.
 * @param {App} app
 * @returns {{block: Block, toolbar: HTMLElement}}
 */
export function createHeatmap(app) {
  const inner = createBelow(app, {
    label: 'Rows over time: bytes per second of each rank or process',
    size: 'heatmap',
    route: 'heatmap',
    parameters: () => ({by: app.state().by}),
  });
  const select = h(
    'select',
    {id: 'by'},
    h('option', {value: ''}, 'all together'),
    h('option', {value: 'rank'}, 'by rank'),
    h('option', {value: 'process'}, 'by process')
  );
  select.addEventListener('change', () => {
    const by = ['rank', 'process'].find((name) => name === select.value) ?? '';
    app.update({by: /** @type {import('./types.js').By} */ (by)});
  });
  const toolbar = h(
    'div',
    {class: 'toolbar'},
    h('p', {class: 'hint'}, 'Bytes over time, one row each'),
    h('div', {class: 'field'}, h('label', {for: 'by'}, 'Show'), select)
  );
  const isAsked = () => app.state().by !== '' && app.run()?.kind !== 'log';
  return {
    toolbar,
    block: {
      element: inner.element,
      notes: () => (isAsked() ? inner.notes() : []),
      failure: () => (isAsked() ? inner.failure() : ''),
      async refresh(query, version) {
        select.value = app.state().by;
        toolbar.hidden = app.run()?.kind === 'log';
        inner.element.hidden = !isAsked();
        if (isAsked()) await inner.refresh(query, version);
      },
    },
  };
}
