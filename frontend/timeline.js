/** The view Timeline: one figure; its visible stretch of time restricts all views. */

import {AnswerBlock, definitionList, figurePlace, putFigure, putTimeFigure} from './block.js';
import {h, icon, morph} from './dom.js';
import {moveStretch} from './state.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').TimelineAnswer} TimelineAnswer */

/** @typedef {'earlier' | 'later' | 'in' | 'out'} Step */

/** @type {[Step, string, string][]} */
const STEPS = [
  ['earlier', 'Earlier', '['],
  ['later', 'Later', ']'],
  ['in', 'Zoom in', '+'],
  ['out', 'Zoom out', '-'],
];

/**
 * Shows another stretch of time.
 * @param {App} app
 * @param {Step} step
 */
export function moveTimeline(app, step) {
  const {start, end} = app.state();
  const duration = app.run()?.duration_seconds;
  if (!duration) return;
  const shown = {start: start ?? 0, end: Math.min(end ?? duration, duration)};
  const next = moveStretch(shown, duration, step);
  app.update({start: next?.start ?? null, end: next?.end ?? null});
}

/** @param {App} app */
function createButtons(app) {
  return STEPS.map(([step, name, key]) =>
    h(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        title: name,
        'aria-label': name,
        'aria-keyshortcuts': key,
        onclick: () => moveTimeline(app, step),
      },
      icon(step)
    )
  );
}

/** @param {App} app */
export function createTimeline(app) {
  const place = figurePlace('Timeline: bandwidth, calls and calls in flight over time', 'timeline');
  const ranks = figurePlace('Ranks over time: bandwidth of each rank', 'ranks');
  const below = h('div');
  const block = new AnswerBlock(app, {
    label: 'Timeline',
    size: 'size-timeline',
    route: 'timeline',
    isEmpty: (/** @type {TimelineAnswer} */ answer) => !answer.figure.data.length,
    async draw(body, answer, query) {
      if (!place.isConnected) body.append(place, ranks, below);
      await putTimeFigure(app, place, answer.figure, query);
      ranks.hidden = !answer.rank_figure.data.length;
      if (!ranks.hidden) await putFigure(app, ranks, answer.rank_figure, query);
      morph(below, definitionList(answer.definitions));
    },
  });
  const toolbar = h(
    'div',
    {class: 'toolbar', role: 'toolbar', 'aria-label': 'Stretch of time'},
    h(
      'p',
      {class: 'hint'},
      'Drag across the figure to restrict all views to a stretch of time; double click for the whole run.'
    ),
    ...createButtons(app)
  );
  return {block, toolbar};
}
