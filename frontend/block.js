/** A part of a view that asks the server one question: loading, answer, emptiness, error. */

import {getJson} from './api.js';
import {createResizer, drawFigure, followZoom} from './charts.js';
import {h, morph} from './dom.js';
import {cutStretch} from './state.js';

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
 * @property {(answer: T) => HTMLElement | null} [emptyNote] what stands below an emptiness
 */

/**
 * @typedef {object} Message
 * @property {string} title
 * @property {string} text
 * @property {HTMLElement | null} [below]
 * @property {string} action
 * @property {() => void} run
 */

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
 * One question, its answer on the page, and what stands there until it comes or when it fails.
 * @template {AnswerHead} T
 * @implements {Block}
 */
export class AnswerBlock {
  #body = h('div', {class: 'block-body'});
  #place = h('div', {class: 'message', role: 'status'});
  /** @type {Message | undefined} */
  #message;
  /** @type {string[]} */
  #notes = [];
  #failure = '';
  /** The subject of what stands in the body. */
  #drawn = '';
  /** The subject asked last. */
  #tried = '';
  /** The question under way, or empty. */
  #asked = '';
  /** The question asked last, and of which version of the data. */
  #answered = '';
  #controller = new AbortController();

  /**
   * @param {App} app
   * @param {BlockSpec<T>} spec
   */
  constructor(app, spec) {
    this.app = app;
    this.spec = spec;
    this.element = h(
      'section',
      {class: `block ${spec.size}`, 'aria-label': spec.label, 'data-state': 'loading'},
      this.#body,
      this.#place
    );
    this.#place.addEventListener('click', ({target}) => {
      if (target instanceof HTMLButtonElement) this.#message?.run();
    });
  }

  notes() {
    return this.#notes;
  }

  failure() {
    return this.#failure;
  }

  /**
   * @param {Query} query
   * @param {string} version changes when there may be new data
   */
  async refresh(query, version) {
    const parameters = this.spec.parameters?.();
    const subject = subjectOf(query, parameters);
    const question = subject + query.theme;
    // One under way is not asked again, however slow the server and frequent the data.
    if (this.#asked ? this.#asked === question : this.#answered === question + version) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    const {signal} = this.#controller;
    this.#wait(subject);
    this.#asked = question;
    this.#answered = question + version;
    try {
      /** @type {T} */
      const answer = await getJson(this.spec.route, {...query, ...parameters}, signal);
      const isEmpty = this.spec.isEmpty(answer);
      if (!isEmpty) await this.spec.draw(this.#body, answer, query);
      if (signal.aborted) return;
      this.#accept(answer, query, subject, isEmpty);
    } catch (error) {
      if (signal.aborted) return;
      this.#refuse(error instanceof Error ? error.message : String(error), subject);
    }
    this.#asked = '';
    this.app.noted();
  }

  /** @param {string} subject */
  #wait(subject) {
    const {state} = this.element.dataset;
    if (subject !== this.#tried) {
      this.#setState(state === 'ready' || state === 'stale' ? 'stale' : 'loading');
    } else if (this.#message) this.element.setAttribute('aria-busy', 'true');
    this.#tried = subject;
  }

  /**
   * @param {T} answer
   * @param {Query} query
   * @param {string} subject
   * @param {boolean} isEmpty
   */
  #accept(answer, query, subject, isEmpty) {
    this.#drawn = subject;
    this.#failure = '';
    this.#notes = isEmpty ? answer.notes.slice(1) : answer.notes; // the first is the message
    if (isEmpty) {
      const below = this.spec.emptyNote?.(answer);
      this.#setState('empty', {...emptyMessage(answer, query, this.app), below});
    } else this.#setState('ready');
  }

  /**
   * @param {string} text
   * @param {string} subject
   */
  #refuse(text, subject) {
    if (this.#drawn === subject) {
      this.#failure = text;
      return;
    }
    [this.#drawn, this.#failure, this.#notes] = ['', '', []];
    const run = () => this.app.reload();
    this.#setState('error', {title: 'No answer', text, action: 'Retry', run});
  }

  /**
   * @param {'loading' | 'stale' | 'ready' | 'empty' | 'error'} state
   * @param {Message} [message]
   */
  #setState(state, message) {
    this.element.dataset.state = state;
    this.element.setAttribute('aria-busy', String(state === 'loading' || state === 'stale'));
    this.#message = message;
    morph(
      this.#place,
      message && h('h3', {}, message.title),
      message && h('p', {}, message.text),
      message?.below,
      message && h('button', {type: 'button'}, message.action)
    );
  }
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

/** @type {WeakSet<HTMLElement>} */
const followed = new WeakSet();

/**
 * Draws a figure over the run's time, whose zoom restricts all views.
 * @param {App} app
 * @param {HTMLElement} place
 * @param {Figure} figure
 * @param {Query} query
 */
export async function putTimeFigure(app, place, figure, query) {
  await putFigure(app, place, figure, query, true);
  if (followed.has(place)) return;
  followed.add(place);
  followZoom(place, (range) => {
    const duration = app.run()?.duration_seconds ?? Infinity;
    const stretch = range && cutStretch(range[0], range[1], duration);
    app.update({start: stretch?.start ?? null, end: stretch?.end ?? null});
  });
}
