/** The view Insights: whether the training waits for input, and what to change. */

import {AnswerBlock, figurePlace, putFigure} from './block.js';
import {copyText, h, icon, morph} from './dom.js';
import {formatShare} from './format.js';

/** @typedef {import('./types.js').AnswerHead} AnswerHead */
/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Figure} Figure */

/**
 * @typedef {object} Verdict
 * @property {'waiting' | 'maybe' | 'not_waiting' | 'unknown'} state
 * @property {string} grade
 * @property {string} kind
 * @property {string} sureness
 * @property {number | null} share
 * @property {string} sentence
 * @property {string[]} evidence
 *
 * @typedef {object} Threshold
 * @property {string} name
 * @property {number} value
 * @property {string} unit
 * @property {string} source
 *
 * @typedef {object} Finding
 * @property {string} code
 * @property {'high' | 'medium' | 'low' | 'info'} severity
 * @property {string} title
 * @property {string[]} evidence
 * @property {Threshold[]} thresholds
 * @property {string[]} files
 * @property {string} advice
 * @property {Record<string, string>} snippets
 * @property {string} docs
 *
 * @typedef {object} InsightsParts
 * @property {Verdict} verdict
 * @property {Finding[]} findings
 * @property {Finding[]} observations
 * @property {{figure: Figure, sentence: string, command: string}} staging
 * @typedef {AnswerHead & InsightsParts} InsightsAnswer
 */

/** What goes before a verdict: its meaning must not hang on colour alone. */
const SIGNS = {waiting: '⚠', maybe: '?', not_waiting: '✓', unknown: '–'};
const SEVERITIES = {high: 'High', medium: 'Medium', low: 'Low', info: 'Info'};

/** @param {Verdict} verdict */
function buildVerdict({state, kind, sureness, share, sentence, evidence}) {
  const facts = [
    kind === 'none' ? 'no verdict' : kind,
    kind === 'none' ? '' : `sureness: ${sureness}`,
    share === null ? '' : `${kind === 'measured' ? '' : 'at most '}${formatShare(share)}`,
  ];
  return h(
    'section',
    {class: 'verdict', 'data-state': state, 'data-key': 'verdict', 'aria-label': 'Verdict'},
    h('h2', {}, h('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[state]), ' ', sentence),
    h('p', {class: 'hint'}, facts.filter(Boolean).join(' · ')),
    h('ul', {class: 'evidence'}, ...evidence.map((line) => h('li', {}, line)))
  );
}

/** @param {Threshold} threshold */
function buildThreshold({name, value, unit, source}) {
  return h('li', {}, h('code', {}, name), ` ${value.toLocaleString('en')} ${unit}: ${source}`);
}

/** @param {[string, string]} snippet */
function buildSnippet([framework, code]) {
  return h(
    'div',
    {class: 'code', 'data-key': framework},
    h('div', {class: 'code-head'}, framework, copyButton(framework)),
    h('pre', {tabindex: 0, 'aria-label': `Snippet for ${framework}`}, code)
  );
}

/** @param {string} framework */
function copyButton(framework) {
  const label = `Copy the snippet for ${framework}`;
  return h(
    'button',
    {type: 'button', class: 'icon-button', 'data-copy': '', 'aria-label': label, title: label},
    icon('copy')
  );
}

/** @param {Finding} finding */
function buildFinding(finding) {
  const {code, severity, title, evidence, thresholds, files, advice, snippets, docs} = finding;
  return h(
    'li',
    {class: 'finding', 'data-key': code, 'data-severity': severity},
    h(
      'h3',
      {},
      h('span', {class: 'severity'}, SEVERITIES[severity]),
      ' ',
      title,
      ' ',
      h('code', {class: 'finding-code'}, code)
    ),
    h('ul', {class: 'evidence'}, ...evidence.map((line) => h('li', {}, line))),
    h('p', {class: 'advice'}, advice),
    ...Object.entries(snippets).map(buildSnippet),
    h(
      'details',
      {},
      h('summary', {}, files.length ? 'Files and limits' : 'Limits'),
      files.length > 0 &&
        h('ul', {class: 'mono'}, ...files.map((path) => h('li', {title: path}, path))),
      h('ul', {}, ...thresholds.map(buildThreshold)),
      h('p', {class: 'hint'}, 'Explained in ', h('code', {}, docs), ' of the package.')
    )
  );
}

/**
 * @param {string} title
 * @param {string} empty what to say without any
 * @param {Finding[]} findings
 */
function buildFindings(title, empty, findings) {
  return h(
    'section',
    {'data-key': title, 'aria-label': title},
    h('h2', {}, title),
    findings.length
      ? h('ol', {class: 'findings'}, ...findings.map(buildFinding))
      : h('p', {class: 'hint'}, empty)
  );
}

/** @param {App} app */
export function createInsights(app) {
  const above = h('div');
  const gain = figurePlace('Seconds saved over bytes copied', 'staging');
  const words = h('div');
  const staging = h('section', {'aria-label': 'Staging'}, h('h2', {}, 'Staging'), words, gain);
  const block = new AnswerBlock(app, {
    label: 'Insights',
    size: 'size-insights',
    route: 'insights',
    isEmpty: (/** @type {InsightsAnswer} */ answer) => !answer.range,
    async draw(body, {verdict, findings, observations, staging: found}, query) {
      if (!above.isConnected) body.append(above, staging);
      staging.hidden = !found.figure.data.length;
      morph(
        above,
        buildVerdict(verdict),
        buildFindings('What to change', 'No rule found anything worth changing.', findings),
        observations.length > 0 &&
          buildFindings('Also seen, but not what holds this training up', '', observations)
      );
      if (staging.hidden) return;
      morph(words, h('p', {}, found.sentence), buildSnippet(['shell', found.command]));
      await putFigure(app, gain, found.figure, query);
    },
  });
  block.element.addEventListener('click', async ({target}) => {
    const button = target instanceof Element ? target.closest('button[data-copy]') : null;
    const code = button?.closest('.code')?.querySelector('pre')?.textContent;
    if (code && (await copyText(code))) app.announce('Copied');
  });
  return block;
}

/**
 * The line on top of the overview.
 * @param {{state: keyof typeof SIGNS, sentence: string, finding: string | null}} verdict
 */
export function buildVerdictLine({state, sentence, finding}) {
  return h(
    'p',
    {class: 'verdict-line', 'data-state': state, 'data-key': 'verdict'},
    h('span', {class: 'sign', 'aria-hidden': 'true'}, SIGNS[state]),
    h('span', {}, finding ? `${sentence} ${finding}.` : sentence),
    h('button', {type: 'button', class: 'link', 'data-view': 'insights'}, 'Insights →')
  );
}
