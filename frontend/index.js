/** The tab's entry: TensorBoard calls `render()` in an empty page. */

import {getJson} from './api.js';
import {loadPlotly} from './charts.js';
import {h} from './dom.js';
import {createBar, createNotes, createPageMessage} from './frame.js';
import {createHelp} from './help.js';
import * as host from './host.js';
import {VIEWS, dropUnknownModule} from './state.js';
import {moveTimeline} from './timeline.js';
import {createTabs, createViews} from './views.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').PageMessage} PageMessage */
/** @typedef {import('./types.js').RunsAnswer} RunsAnswer */
/** @typedef {import('./types.js').State} State */

const LIVE_MS = 5000;

/** The tab's state, and what follows from a change of it. @implements {App} */
class Tab {
  /** @type {State} */
  #state = host.readState();
  /** @type {RunsAnswer | null} */
  #answer = null;
  /** Why the list of runs is not up to date, or empty. */
  #failure = '';
  #theme = host.currentTheme();
  #timer = 0;
  /** How often the user, or a server that came back, asked for a reload. */
  #reloads = 0;
  #wasShown = true;
  #announcer = h('div', {class: 'sr-only', role: 'status', 'aria-live': 'polite'});
  #help = createHelp();
  #bar = createBar(this, () => this.#help.showModal());
  #notes = createNotes(this);
  #message = createPageMessage(this);
  #views = createViews(this);
  #tabs = createTabs(this.#views, (view) => this.update({view}));

  state() {
    return this.#state;
  }

  run() {
    return this.#answer?.runs.find(({name}) => name === this.#state.run);
  }

  plotly() {
    return loadPlotly(this.#answer?.plotly ?? 'plotly.min.js');
  }

  /** @param {Partial<State>} patch */
  update(patch) {
    const next = {...this.#state, ...patch};
    if (next.run !== this.#state.run) {
      const isThere = this.#answer?.runs
        .find(({name}) => name === next.run)
        ?.modules.includes(next.module);
      const module = isThere ? next.module : '';
      Object.assign(next, {start: null, end: null, search: '', lane: '', module});
    }
    const isOther = ['run', 'module', 'start', 'end', 'search'].some(
      (key) =>
        next[/** @type {keyof State} */ (key)] !== this.#state[/** @type {keyof State} */ (key)]
    );
    if (isOther) next.offset = 0;
    this.#state = next;
    this.#show();
    this.#schedule();
  }

  /** @param {string} sentence */
  announce(sentence) {
    this.#announcer.textContent = sentence;
  }

  async reload() {
    this.#reloads += 1;
    await this.#poll();
    this.#schedule();
  }

  noted() {
    const view = this.#views.find(({name}) => name === this.#state.view);
    const blocks = view?.blocks ?? [];
    // Before the first answer the failure stands in the place of the views.
    const failures = [this.#answer && this.#failure, ...blocks.map((block) => block.failure())];
    this.#notes.show(
      [
        ...(this.run()?.notes ?? []),
        ...(this.run() ? (this.#answer?.notes ?? []) : []),
        ...blocks.flatMap((block) => block.notes()),
      ],
      failures.find(Boolean) ?? ''
    );
  }

  async start() {
    document.body.append(
      h(
        'header',
        {},
        h('h1', {class: 'sr-only'}, 'Darshan'),
        this.#bar.element,
        this.#tabs.element,
        this.#notes.element
      ),
      h('main', {}, this.#message.element, ...this.#views.map(({element}) => element)),
      this.#help,
      this.#announcer
    );
    document.addEventListener('keydown', (event) => this.#answerKey(event));
    this.#show();
    host.followTheme((theme) => {
      document.documentElement.dataset.theme = this.#theme = theme;
      this.#show();
    });
    host.followAddress(() => this.#followAddress());
    host.followReloads(() => this.#poll());
    await this.reload();
  }

  /** @returns {PageMessage | null} what to say instead of the views */
  #pageMessage() {
    const answer = this.#answer;
    if (!answer) {
      if (!this.#failure) return null;
      const sentences = [this.#failure];
      return {title: 'No answer', sentences, action: 'Retry', act: 'reload'};
    }
    if (!answer.runs.length) {
      return {
        title: 'No recordings yet',
        sentences: answer.notes,
        snippet: true,
        action: 'Check again',
        act: 'reload',
      };
    }
    if (this.run()) return null;
    const sentences = [`There is no run called “${this.#state.run}” in this log directory.`];
    return {title: 'No such run', sentences, action: 'Show the newest run', act: 'newest'};
  }

  /** Puts the state into the page and the address; the view asks what it does not know yet. */
  #show() {
    const runs = this.#answer?.runs ?? [];
    if (!this.#state.run && runs.length) this.#state = {...this.#state, run: runs[0].name};
    this.#state = dropUnknownModule(this.#state, runs);
    if (host.isShown()) host.writeState(this.#state);
    const message = this.#pageMessage();
    this.#bar.show(this.#state, runs, this.run());
    this.#tabs.show(this.#state.view);
    this.#message.show(message);
    for (const view of this.#views) {
      const isChosen = view.name === this.#state.view;
      if (message) view.element.hidden = true;
      else if (isChosen && this.run()) {
        const {run, module, start, end} = this.#state;
        const query = {run, module, start, end, theme: this.#theme};
        const version = JSON.stringify([this.#reloads, this.run()]);
        for (const block of view.blocks) block.refresh(query, version);
      }
    }
    this.noted();
  }

  async #askRuns() {
    try {
      this.#answer = await getJson('runs');
      if (this.#failure) this.#reloads += 1;
      this.#failure = '';
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
    }
  }

  /** Asks whether there is anything new, and shows it. */
  async #poll() {
    await this.#askRuns();
    this.#show();
  }

  #schedule() {
    window.clearTimeout(this.#timer);
    if (!this.#state.live || !host.isShown()) return;
    this.#timer = window.setTimeout(async () => {
      await this.#poll();
      this.#schedule();
    }, LIVE_MS);
  }

  async #followAddress() {
    const isShown = host.isShown();
    const isBack = isShown && !this.#wasShown;
    this.#wasShown = isShown;
    const next = host.readState();
    if (isShown && JSON.stringify(next) !== JSON.stringify(this.#state)) {
      this.#state = next;
      this.#show();
    }
    if (isBack && this.#state.live) await this.#poll();
    this.#schedule();
  }

  /** @param {KeyboardEvent} event */
  #answerKey(event) {
    const {target, key} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || this.#help.open) return;
    if (target instanceof Element && target.closest('input, select, textarea')) return;
    const view = VIEWS[Number(key) - 1];
    /** @type {Record<string, () => void>} */
    const actions = {
      u: () => document.getElementById('run')?.focus(),
      m: () => document.getElementById('module')?.focus(),
      w: () => this.update({start: null, end: null}),
      l: () => this.update({live: !this.#state.live}),
      '[': () => moveTimeline(this, 'earlier'),
      ']': () => moveTimeline(this, 'later'),
      '+': () => moveTimeline(this, 'in'),
      '-': () => moveTimeline(this, 'out'),
      r: () => this.reload(),
      '?': () => this.#help.showModal(),
    };
    if (view) this.update({view});
    else if (actions[key]) actions[key]();
    else return;
    event.preventDefault();
  }
}

/**
 * Builds the tab.
 * @returns {Promise<void>} done when the runs are known
 */
export async function render() {
  document.documentElement.lang = 'en';
  document.title = 'Darshan';
  host.adoptFonts();
  const style = h('link', {rel: 'stylesheet', href: 'style.css'});
  await new Promise((resolve) => {
    style.onload = style.onerror = resolve;
    document.head.append(style);
  });
  await new Tab().start();
}
