/** A part of a view that asks the server one question: loading, answer, emptiness, error. */

import {getJson} from './api.js';
import {createResizer, drawFigure} from './charts.js';
import {h, morph} from './dom.js';

/** @typedef {import('./types.js').AnswerHead} AnswerHead */
/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').Figure} Figure */
/** @typedef {import('./types.js').Query} Query */

/**
 * @template {AnswerHead} T
 * @typedef {object} BlockSpec
 * @property {string} label what stands here, for screen readers
 * @property {string} size a class that reserves the height
 * @property {string} route
 * @property {() => Record<string, string | number>} [parameters] besides the common ones
 * @property {(body: HTMLElement, answer: T, query: Query) => Promise<void> | void} draw
 * @property {(answer: T) => boolean} isEmpty
 */

/** @typedef {{title: string, text: string, action: string, run: () => void}} Message */

/**
 * What an answer without data says, and the way out of it.
 * @param {AnswerHead} answer
 * @param {Query} query
 * @param {App} app
 * @returns {Message}
 */
function emptyMessage(answer, query, app) {
  const text = answer.notes[0] ?? 'Nothing was recorded here.';
  if (query.start !== null || query.end !== null) {
    return {
      title: 'Nothing in this stretch of time',
      text,
      action: 'Show the whole run',
      run: () => app.update({start: null, end: null}),
    };
  }
  if (query.module) {
    return {
      title: `Nothing from ${query.module}`,
      text,
      action: 'Show all modules',
      run: () => app.update({module: ''}),
    };
  }
  return {title: 'Nothing yet', text, action: 'Check again', run: () => app.reload()};
}

/**
 * @param {Query} query
 * @param {object} [parameters]
 * @returns {string} the same for questions that differ in colours only
 */
function subjectOf({run, module, start, end}, parameters = {}) {
  return JSON.stringify({run, module, start, end, ...parameters});
}

/**
 * @template {AnswerHead} T
 * @param {App} app
 * @param {BlockSpec<T>} spec
 * @returns {Block}
 */
export function createBlock(app, spec) {
  const body = h('div', {class: 'block-body'});
  const place = h('div', {class: 'message', role: 'status'});
  const element = h(
    'section',
    {class: `block ${spec.size}`, 'aria-label': spec.label, 'data-state': 'loading'},
    body,
    place
  );
  let drawn = ''; // the subject of what stands in the body
  let tried = ''; // the subject asked last
  let asked = ''; // the question under way
  let answered = ''; // the question asked last, and of which data
  let failure = '';
  /** @type {string[]} */
  let notes = [];
  let controller = new AbortController();

  /** @type {Message | undefined} */
  let message;
  place.addEventListener('click', ({target}) => {
    if (target instanceof HTMLButtonElement) message?.run();
  });

  /**
   * @param {'loading' | 'stale' | 'ready' | 'empty' | 'error'} state
   * @param {Message} [nextMessage]
   */
  function setState(state, nextMessage) {
    element.dataset.state = state;
    element.setAttribute('aria-busy', String(state === 'loading' || state === 'stale'));
    message = nextMessage;
    morph(
      place,
      message && h('h3', {}, message.title),
      message && h('p', {}, message.text),
      message && h('button', {type: 'button'}, message.action)
    );
  }

  /**
   * @param {Query} query
   * @param {string} version changes when there may be new data
   */
  async function refresh(query, version) {
    const parameters = spec.parameters?.();
    const subject = subjectOf(query, parameters);
    const question = subject + query.theme;
    // One under way is not asked again, however slow the server and frequent the data.
    if (asked === question || (!asked && answered === question + version)) return;
    controller.abort();
    controller = new AbortController();
    const {signal} = controller;
    const state = element.dataset.state;
    if (subject !== tried) setState(state === 'ready' || state === 'stale' ? 'stale' : 'loading');
    else if (message) element.setAttribute('aria-busy', 'true');
    [tried, asked, answered] = [subject, question, question + version];
    try {
      /** @type {T} */
      const answer = await getJson(spec.route, {...query, ...parameters}, signal);
      const isEmpty = spec.isEmpty(answer);
      if (!isEmpty) await spec.draw(body, answer, query);
      if (signal.aborted) return;
      [drawn, failure] = [subject, ''];
      notes = isEmpty ? answer.notes.slice(1) : answer.notes; // the first is the message
      setState(isEmpty ? 'empty' : 'ready', isEmpty ? emptyMessage(answer, query, app) : undefined);
    } catch (error) {
      if (signal.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      if (drawn === subject) failure = text;
      else {
        [drawn, failure, notes] = ['', '', []];
        setState('error', {title: 'No answer', text, action: 'Retry', run: () => app.reload()});
      }
    }
    asked = '';
    app.noted();
  }

  return {element, refresh, notes: () => notes, failure: () => failure};
}

/**
 * How the numbers of a block are defined, folded.
 * @param {string[]} sentences
 * @returns {HTMLElement | null}
 */
export function definitionList(sentences) {
  if (!sentences.length) return null;
  return h(
    'details',
    {class: 'definitions'},
    h('summary', {}, 'How this is counted'),
    h('ul', {}, ...sentences.map((sentence) => h('li', {}, sentence)))
  );
}

const resizer = createResizer();

/**
 * The place of a figure.
 * @param {string} label
 * @param {string} size a class that gives it its height
 * @returns {HTMLElement}
 */
export function figurePlace(label, size) {
  const place = h('div', {class: `figure ${size}`, role: 'group', 'aria-label': label});
  resizer.observe(place);
  return place;
}

/**
 * @param {App} app
 * @param {HTMLElement} place
 * @param {Figure} figure
 * @param {Query} query
 * @param {boolean} [ownReset] a double click is the caller's to answer
 */
export async function putFigure(app, place, figure, query, ownReset) {
  const revision = subjectOf(query);
  await drawFigure(await app.plotly(), place, figure, {revision, ownReset});
}
