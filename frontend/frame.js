/** What surrounds the views: the bar, the notes, and what stands there when there is no run. */

import {Combobox} from './combobox.js';
import {copyText, h, icon, morph} from './dom.js';
import {UNKNOWN, formatClock, formatDate, formatDuration} from './format.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Run} Run */
/** @typedef {import('./types.js').State} State */

const NOTES_UNFOLDED = 2;

const LIVE = 'Asks for new data every 5 seconds while this tab is shown';
const LIVE_ENDED = `This run has ended, so that nothing new comes of it. ${LIVE}: new runs show up.`;

const SNIPPET = `pip install tensorboard-plugin-darshan

from tensorboard_plugin_darshan import DarshanCallback
model.fit(data, callbacks=[DarshanCallback(log_dir)])`;

/** @param {Run} run */
function describeRun({kind, begin, duration_seconds: duration, processes, live}) {
  const isLog = kind === 'log';
  if (isLog && begin === null) return 'Darshan log, cannot be read';
  return [
    isLog ? `Darshan log, ${processes} ${processes === 1 ? 'process' : 'processes'}` : '',
    formatDate(begin),
    formatDuration(duration),
    live ? 'recording now' : '',
  ]
    .filter((text) => text && text !== UNKNOWN)
    .join(' · ');
}

/** @param {App} app */
function createModuleChoice(app) {
  const select = h(
    'select',
    {id: 'module', 'aria-keyshortcuts': 'm'},
    h('option', {value: ''}, 'All')
  );
  select.addEventListener('change', () => app.update({module: select.value}));
  const element = h('div', {class: 'field'}, h('label', {for: 'module'}, 'Module'), select);
  /**
   * Offers the modules of the run, and the one in the address.
   * @param {State} state
   * @param {Run | undefined} run
   */
  function show({module}, run) {
    const names = new Set([...(run?.modules ?? []), ...(module ? [module] : [])]);
    const shown = [...select.options].slice(1).map(({value}) => value);
    if (shown.join() !== [...names].join()) {
      const options = [...names].map((name) => h('option', {value: name}, name));
      select.replaceChildren(select.options[0], ...options);
    }
    select.value = module;
  }
  return {element, show};
}

/** @param {App} app */
function createChip(app) {
  const text = h('span', {class: 'chip-text'});
  const clear = h(
    'button',
    {
      type: 'button',
      class: 'icon-button',
      'aria-label': 'Clear the time restriction',
      title: 'Show the whole run',
      'aria-keyshortcuts': 'w',
      onclick: () => app.update({start: null, end: null}),
    },
    icon('close')
  );
  const element = h('div', {class: 'chip', role: 'group', 'aria-label': 'Time shown'}, text, clear);
  /**
   * @param {State} state
   * @param {Run | undefined} run
   */
  function show({start, end}, run) {
    const isWhole = start === null && end === null;
    const duration = run?.duration_seconds ?? null;
    const from = start ?? 0;
    const to = end ?? duration ?? from;
    element.classList.toggle('restricted', !isWhole);
    clear.disabled = isWhole;
    text.textContent = isWhole
      ? `Whole run${duration === null ? '' : `, ${formatDuration(duration)}`}`
      : `${formatClock(from, to - from)} – ${formatClock(to, to - from)}`;
  }
  return {element, show};
}

/**
 * @param {App} app
 * @param {() => void} openHelp
 */
function createButtons(app, openHelp) {
  const live = h(
    'button',
    {
      type: 'button',
      role: 'switch',
      class: 'switch',
      'aria-keyshortcuts': 'l',
      title: LIVE,
      onclick: () => app.update({live: !app.state().live}),
    },
    'Live, every 5 s'
  );
  const reload = h(
    'button',
    {
      type: 'button',
      class: 'icon-button',
      'aria-label': 'Reload',
      title: 'Reload now',
      'aria-keyshortcuts': 'r',
      onclick: () => app.reload(),
    },
    icon('reload')
  );
  const help = h(
    'button',
    {
      type: 'button',
      class: 'icon-button',
      'aria-label': 'Help',
      title: 'What the numbers mean',
      'aria-keyshortcuts': '?',
      onclick: openHelp,
    },
    '?'
  );
  return {live, reload, help};
}

/**
 * @param {App} app
 * @param {() => void} openHelp
 */
export function createBar(app, openHelp) {
  const runs = new Combobox('run', 'Run', (name) => app.update({run: name}));
  const status = h('span', {class: 'status'});
  const module = createModuleChoice(app);
  const chip = createChip(app);
  const {live, reload, help} = createButtons(app, openHelp);
  const element = h(
    'div',
    {class: 'bar'},
    runs.element,
    status,
    module.element,
    chip.element,
    h('div', {class: 'bar-end'}, live, reload, help)
  );
  /**
   * @param {State} state
   * @param {Run[]} known
   * @param {Run | undefined} run
   */
  function show(state, known, run) {
    runs.show(
      known.map((one) => ({name: one.name, detail: describeRun(one)})),
      state.run
    );
    status.textContent = run?.live ? 'recording' : '';
    module.show(state, run);
    chip.show(state, run);
    live.setAttribute('aria-checked', String(state.live));
    const hasEnded = run !== undefined && !run.live;
    live.textContent = hasEnded ? 'Live, run ended' : 'Live, every 5 s';
    live.classList.toggle('ended', hasEnded);
    live.title = hasEnded ? LIVE_ENDED : LIVE;
  }
  return {element, show};
}

/**
 * @param {App} app
 * @returns {{element: HTMLElement, show: (notes: string[], failure: string) => void}}
 */
export function createNotes(app) {
  const element = h('div', {class: 'notes', role: 'status', 'aria-label': 'Notes'});
  let isUnfolded = false;
  /** @type {[string[], string]} */
  let shown = [[], ''];

  /**
   * @param {string[]} notes
   * @param {string} failure
   */
  function show(notes, failure) {
    shown = [notes, failure];
    const unique = [...new Set(notes)];
    const more = unique.length - NOTES_UNFOLDED;
    morph(
      element,
      failure &&
        h(
          'p',
          {class: 'note failure', 'data-key': 'failure'},
          `Not up to date: ${failure} `,
          h('button', {type: 'button', class: 'link', 'data-act': 'retry'}, 'Retry')
        ),
      ...unique
        .slice(0, isUnfolded ? undefined : NOTES_UNFOLDED)
        .map((note) => h('p', {class: 'note', 'data-key': note}, note)),
      more > 0 &&
        h(
          'button',
          {
            type: 'button',
            class: 'link',
            'data-act': 'fold',
            'data-key': 'more',
            'aria-expanded': String(isUnfolded),
          },
          isUnfolded ? 'Fewer notes' : `${more} more ${more === 1 ? 'note' : 'notes'}`
        )
    );
  }

  element.addEventListener('click', ({target}) => {
    const act = target instanceof HTMLElement ? target.dataset.act : undefined;
    if (act === 'retry') app.reload();
    if (act !== 'fold') return;
    isUnfolded = !isUnfolded;
    show(...shown);
  });
  return {element, show};
}

/**
 * What stands in the place of the views.
 * @param {App} app
 * @returns {{element: HTMLElement, show: (message: import('./types.js').PageMessage | null) => void}}
 */
export function createPageMessage(app) {
  const element = h('div', {class: 'page-message', role: 'status', hidden: true});
  element.addEventListener('click', ({target}) => {
    const act = target instanceof HTMLElement ? target.dataset.act : undefined;
    if (act === 'reload') app.reload();
    if (act === 'newest') app.update({run: ''});
    if (act === 'copy') {
      copyText(SNIPPET).then((done) =>
        app.announce(done ? 'Copied' : 'The browser did not allow copying')
      );
    }
  });
  return {
    element,
    show(message) {
      element.hidden = message === null;
      if (!message) return;
      morph(
        element,
        h('h2', {}, message.title),
        ...message.sentences.map((sentence) => h('p', {}, sentence)),
        message.snippet && h('pre', {}, h('code', {}, SNIPPET)),
        h(
          'p',
          {class: 'actions'},
          h('button', {type: 'button', 'data-act': message.act}, message.action),
          message.snippet && h('button', {type: 'button', 'data-act': 'copy'}, 'Copy')
        )
      );
    },
  };
}
