/** The view Overview: cards, modules, epochs and phases, who recorded. */

import {AnswerBlock, definitionList} from './block.js';
import {h, morph} from './dom.js';
import {
  UNKNOWN,
  formatAllBytes,
  formatBandwidth,
  formatBytes,
  formatClock,
  formatCount,
  formatDate,
  formatDuration,
  formatShare,
  showHidden,
} from './format.js';
import {buildVerdictLine} from './insights.js';
import {buildSparkline} from './sparkline.js';
import {buildFacts} from './facts.js';
import {buildTable} from './table.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Card} Card */
/** @typedef {import('./types.js').ModuleTotals} ModuleTotals */
/** @typedef {import('./types.js').OverviewAnswer} OverviewAnswer */
/** @typedef {import('./types.js').Phase} Phase */

/** @param {Card} card */
function buildCard(card) {
  return h(
    'li',
    {class: 'card', 'data-key': card.name, title: card.definition},
    h('h3', {}, card.title),
    h('p', {class: 'value'}, card.value || UNKNOWN),
    h('p', {class: 'detail'}, card.detail),
    h('p', {class: 'caption'}, card.caption),
    buildSparkline(card.sparkline)
  );
}

/** @param {Phase} phase */
function phaseHint({inside}) {
  const others = inside.length ? ` (all of it, ${inside.join(' and ')} included)` : '';
  return `Show only this stretch of time${others}, in all views`;
}

/** @param {Phase} phase */
function phaseKey({phase, epoch, start}) {
  return `${phase}/${epoch}/${start}`;
}

/** @param {OverviewAnswer} answer */
function buildPhases({phases, duration_seconds: span}) {
  return buildTable({
    caption: 'Epochs and phases',
    rows: phases,
    key: phaseKey,
    columns: [
      {
        title: 'Phase',
        cell: (phase) =>
          h(
            'button',
            {
              type: 'button',
              class: 'link',
              'data-start': phase.start,
              'data-end': phase.end,
              title: phaseHint(phase),
            },
            [phase.phase || 'outside phases', phase.which].filter(Boolean).join(', ')
          ),
      },
      {title: 'Epoch', cell: ({epoch}) => (epoch < 0 ? UNKNOWN : String(epoch + 1)), number: true},
      {title: 'Begin', cell: ({start}) => formatClock(start, span), number: true},
      {title: 'Duration', cell: (phase) => formatDuration(phase.duration_seconds), number: true},
      {
        title: 'Read',
        cell: (phase) => formatBytes(phase.bytes_read),
        full: (phase) => formatAllBytes(phase.bytes_read),
        number: true,
      },
      {
        title: 'Written',
        cell: (phase) => formatBytes(phase.bytes_written),
        full: (phase) => formatAllBytes(phase.bytes_written),
        number: true,
      },
      {title: 'Read rate', cell: (phase) => formatBandwidth(phase.read_bandwidth), number: true},
      {title: 'Write rate', cell: (phase) => formatBandwidth(phase.write_bandwidth), number: true},
      {title: 'Opens', cell: (phase) => formatCount(phase.opens), number: true},
      {title: 'In I/O', cell: (phase) => formatShare(phase.busy_share), number: true},
      {title: 'From cache', cell: (phase) => formatShare(phase.cache_share), number: true},
    ],
  });
}

/** @param {Record<string, ModuleTotals>} modules */
function buildModules(modules) {
  return buildTable({
    caption: 'Modules',
    rows: Object.entries(modules),
    key: ([name]) => name,
    columns: [
      {title: 'Module', cell: ([name]) => name},
      {title: 'Files', cell: ([, totals]) => formatCount(totals.files), number: true},
      {title: 'Opens', cell: ([, totals]) => formatCount(totals.opens), number: true},
      {title: 'Reads', cell: ([, totals]) => formatCount(totals.reads), number: true},
      {title: 'Writes', cell: ([, totals]) => formatCount(totals.writes), number: true},
      {
        title: 'Read',
        cell: ([, totals]) => formatBytes(totals.bytes_read),
        full: ([, totals]) => formatAllBytes(totals.bytes_read),
        number: true,
      },
      {
        title: 'Written',
        cell: ([, totals]) => formatBytes(totals.bytes_written),
        full: ([, totals]) => formatAllBytes(totals.bytes_written),
        number: true,
      },
      {title: 'Reading', cell: ([, totals]) => formatDuration(totals.read_seconds), number: true},
      {title: 'Writing', cell: ([, totals]) => formatDuration(totals.write_seconds), number: true},
      {
        title: 'Metadata',
        cell: ([, totals]) => formatDuration(totals.metadata_seconds),
        number: true,
      },
    ],
  });
}

/**
 * What a recording leaves out.
 * @param {OverviewAnswer['job']} job
 * @returns {HTMLElement | null}
 */
function buildExclusions(job) {
  const exclusions = /** @type {unknown} */ (job.exclusions);
  if (!Array.isArray(exclusions) || !exclusions.length) return null;
  return h(
    'p',
    {},
    'Not counted: files below ',
    h('span', {class: 'mono'}, showHidden(exclusions.join(' '))),
    '. DarshanCallback(log_dir, exclude=[…]) changes this.'
  );
}

/**
 * Who recorded: host, source, ranks, versions.
 * @param {OverviewAnswer} answer
 */
function buildWho({job, kind, processes, recordings, run}) {
  const named = recordings.map((recording) => recording.hostname ?? UNKNOWN);
  const hosts = [...new Set(named)];
  const ranks = new Set(recordings.map((recording) => recording.rank)).size;
  const calls = job.extended === false ? "Darshan's own calls" : 'all calls';
  const isLog = kind === 'log';
  /** @type {[string, unknown][]} */
  const items = [
    [
      'host',
      !isLog &&
        hosts.slice(0, 3).join(', ') + (hosts.length > 3 ? ` and ${hosts.length - 3} more` : ''),
    ],
    [
      'source',
      [job.source, job.source_version].filter(Boolean).join(' ') + (isLog ? '' : `, ${calls}`),
    ],
    ['logs', isLog && recordings.length > 1 && recordings.length],
    ['job', isLog && job.job_id],
    ['user', isLog && job.uid],
    ['processes', isLog ? processes : recordings.length],
    ['ranks', !isLog && (job.world_size ?? ranks)],
    ['log format', job.format_version],
    ['begun', formatDate(job.begin)],
    ['python', job.python],
    ['keras', [job.keras, job.backend && `on ${job.backend}`].filter(Boolean).join(' ')],
    ['tensorflow', job.tensorflow],
    ['recorded by', job.package_version && `tensorboard-plugin-darshan ${job.package_version}`],
    ['command', Array.isArray(job.command) ? job.command.join(' ') : job.command],
  ];
  return h(
    'footer',
    {class: 'who', 'aria-label': `Who recorded ${run}`},
    h(
      'dl',
      {},
      ...items
        .filter(([, value]) => value)
        .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value))))
    ),
    buildExclusions(job)
  );
}

/** @param {App} app */
export function createOverview(app) {
  const block = new AnswerBlock(app, {
    label: 'Overview',
    size: 'size-overview',
    route: 'overview',
    isEmpty: (/** @type {OverviewAnswer} */ answer) =>
      !answer.range || !Object.keys(answer.modules).length,
    emptyNote: ({job}) => buildExclusions(job),
    draw(body, answer) {
      const sentences = [
        ...answer.cards.map((card) => card.definition && `${card.title}: ${card.definition}`),
        ...Object.values(answer.definitions),
      ].filter(Boolean);
      morph(
        body,
        buildVerdictLine(answer.verdict),
        h('ul', {class: 'cards', 'aria-label': 'Totals'}, ...answer.cards.map(buildCard)),
        answer.phases.length > 0 && buildPhases(answer),
        buildModules(answer.modules),
        ...(answer.tables ?? []).map(buildFacts),
        definitionList(sentences),
        buildWho(answer)
      );
    },
  });
  block.element.addEventListener('click', ({target}) => {
    const button = target instanceof Element ? target.closest('button') : null;
    if (button?.dataset.view === 'insights') app.update({view: 'insights'});
    if (button?.dataset.start === undefined) return;
    app.update({start: Number(button.dataset.start), end: Number(button.dataset.end)});
  });
  return block;
}
