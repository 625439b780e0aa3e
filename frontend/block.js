/** A part of a view that asks the server one question: loading, answer, emptiness, error. */

import {getJson} from './api.js';
import {createResizer, drawFigure} from './charts.js';
import {h} from './dom.js';

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
  return {title: 'Nothing yet', text, action: 'Check again', run: app.reload};
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
  let [shown, shownSubject, asked, failure] = ['', '', '', ''];
  /** @type {string[]} */
  let notes = [];
  let controller = new AbortController();

  /**
   * @param {'loading' | 'stale' | 'ready' | 'empty' | 'error'} state
   * @param {Message} [message]
   */
  function setState(state, message) {
    element.dataset.state = state;
    element.setAttribute('aria-busy', String(state === 'loading' || state === 'stale'));
    place.replaceChildren(
      ...(message
        ? [
            h('h3', {}, message.title),
            h('p', {}, message.text),
            h('button', {type: 'button', onclick: message.run}, message.action),
          ]
        : [])
    );
  }

  /**
   * @param {Query} query
   * @param {boolean} again also when the question is the same
   */
  async function refresh(query, again) {
    const parameters = spec.parameters?.();
    const subject = subjectOf(query, parameters);
    const question = subject + query.theme;
    if (asked === question || (shown === question && !asked && !again)) return;
    controller.abort();
    controller = new AbortController();
    const {signal} = controller;
    asked = question;
    const isSame = subject === shownSubject;
    if (!isSame) setState(shown ? 'stale' : 'loading');
    try {
      /** @type {T} */
      const answer = await getJson(spec.route, {...query, ...parameters}, signal);
      if (signal.aborted) return;
      const isEmpty = spec.isEmpty(answer);
      notes = isEmpty ? answer.notes.slice(1) : answer.notes; // the first is the message
      if (!isEmpty) await spec.draw(body, answer, query);
      if (signal.aborted) return;
      [shown, shownSubject, failure] = [question, subject, ''];
      if (isEmpty) setState('empty', emptyMessage(answer, query, app));
      else setState('ready');
    } catch (error) {
      if (signal.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      if (isSame) failure = text;
      else {
        [shown, shownSubject, failure, notes] = ['', '', '', []];
        setState('error', {title: 'No answer', text, action: 'Retry', run: app.reload});
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
