/** Single reads and writes below the timeline, in lanes by file or thread. */

import {AnswerBlock, definitionList, figurePlace, putTimeFigure} from './block.js';
import {h, morph} from './dom.js';
import {formatCount, formatExact} from './format.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').LanesAnswer} LanesAnswer */

const SEARCH_WAIT_MS = 250;

/** @param {LanesAnswer} answer */
function summarize({by, lanes, segments}) {
  const names = lanes.total === 1 ? by : `${by}s`;
  const which =
    lanes.shown < lanes.total
      ? `The ${formatExact(lanes.shown)} busiest of ${formatCount(lanes.total)} ${names}`
      : `${formatCount(lanes.total)} ${names}`;
  const how = segments.merged
    ? ', put together where they are close; zoom in to take them apart'
    : '';
  return `${which}: ${formatCount(segments.shown)} reads and writes${how}.`;
}

/**
 * What a lane is, and which lanes.
 * @param {App} app
 */
function createToolbar(app) {
  const select = h(
    'select',
    {id: 'lanes-by'},
    h('option', {value: ''}, 'by file'),
    h('option', {value: 'thread'}, 'by thread')
  );
  select.addEventListener('change', () =>
    app.update({lanes: select.value === 'thread' ? 'thread' : ''})
  );
  const input = h('input', {
    type: 'search',
    id: 'lanes-search',
    placeholder: 'Part of a name',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  let timer = 0;
  input.addEventListener('input', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => app.update({lane: input.value}), SEARCH_WAIT_MS);
  });
  const hint = h('p', {class: 'hint'});
  const element = h(
    'div',
    {class: 'toolbar', hidden: true},
    h('h3', {}, 'Reads and writes one by one'),
    h('div', {class: 'field'}, h('label', {for: 'lanes-by'}, 'Lanes'), select),
    h('div', {class: 'field'}, h('label', {for: 'lanes-search'}, 'Search'), input),
    hint
  );
  return {
    element,
    /** @param {LanesAnswer} answer */
    show(answer) {
      element.hidden = !answer.segments.recorded;
      select.value = app.state().lanes;
      if (document.activeElement !== input) input.value = app.state().lane;
      hint.textContent = summarize(answer);
    },
  };
}

/**
 * The lanes; nothing is shown of them where no single accesses were recorded.
 * @param {App} app
 * @returns {{block: Block, toolbar: HTMLElement}}
 */
export function createLanes(app) {
  const toolbar = createToolbar(app);
  const place = figurePlace('Lanes: single reads and writes over time', 'lanes');
  const below = h('div');
  const block = new AnswerBlock(app, {
    label: 'Reads and writes one by one',
    size: 'size-lanes',
    route: 'lanes',
    parameters: () => ({by: app.state().lanes || 'file', search: app.state().lane}),
    isEmpty: () => false,
    async draw(body, /** @type {LanesAnswer} */ answer, query) {
      if (!place.isConnected) body.append(place, below);
      toolbar.show(answer);
      block.element.hidden = !answer.segments.recorded;
      place.hidden = !answer.figure.data.length;
      morph(below, place.hidden ? null : definitionList(answer.definitions));
      if (place.hidden) return;
      await putTimeFigure(app, place, answer.figure, query);
    },
  });
  return {block, toolbar: toolbar.element};
}
