/** The views and the tabs that lead to them. */

import {createAccessSizes} from './access_sizes.js';
import {h} from './dom.js';
import {createFiles, createHistogram} from './files.js';
import {createLanes} from './lanes.js';
import {createInsights} from './insights.js';
import {createOverview} from './overview.js';
import {createHeatmap, createPageCache, createProcesses} from './processes.js';
import {createTimeline} from './timeline.js';

/** @typedef {import('./types.js').App} App */
/** @typedef {import('./types.js').View} View */
/** @typedef {import('./types.js').ViewName} ViewName */

/**
 * @param {ViewName} name
 * @param {string} title
 * @param {import('./types.js').Block[]} blocks
 * @param {HTMLElement[]} content
 * @returns {View}
 */
function createView(name, title, blocks, content) {
  const element = h(
    'div',
    {
      role: 'tabpanel',
      id: `view-${name}`,
      'aria-labelledby': `tab-${name}`,
      class: 'view',
      tabindex: 0,
      hidden: true,
    },
    ...content
  );
  return {name, title, element, blocks};
}

/**
 * @param {App} app
 * @returns {View[]}
 */
export function createViews(app) {
  const overview = createOverview(app);
  const processes = createProcesses(app);
  const timeline = createTimeline(app);
  const lanes = createLanes(app);
  const cache = createPageCache(app);
  const heatmap = createHeatmap(app);
  const histogram = createHistogram(app);
  const files = createFiles(app);
  const sizes = createAccessSizes(app);
  const insights = createInsights(app);
  return [
    createView(
      'overview',
      'Overview',
      [overview, processes],
      [overview.element, processes.element]
    ),
    createView(
      'timeline',
      'Timeline',
      [timeline.block, lanes.block, cache, heatmap.block],
      [
        timeline.toolbar,
        timeline.block.element,
        lanes.toolbar,
        lanes.block.element,
        cache.element,
        heatmap.toolbar,
        heatmap.block.element,
      ]
    ),
    createView(
      'files',
      'Files',
      [histogram, files.block],
      [histogram.element, files.toolbar, files.block.element]
    ),
    createView('access_sizes', 'Access sizes', [sizes], [sizes.element]),
    createView('insights', 'Insights', [insights], [insights.element]),
  ];
}

/**
 * @param {View[]} views
 * @param {(name: ViewName) => void} onChoice
 * @returns {{element: HTMLElement, show: (name: ViewName) => void}}
 */
export function createTabs(views, onChoice) {
  const tabs = views.map(({name, title}) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${name}`,
        'aria-controls': `view-${name}`,
        onclick: () => onChoice(name),
      },
      title
    )
  );
  const element = h('div', {role: 'tablist', class: 'tabs', 'aria-label': 'Views'}, ...tabs);
  /** @type {Record<string, (place: number) => number>} */
  const moves = {
    ArrowRight: (place) => (place + 1) % tabs.length,
    ArrowLeft: (place) => (place + tabs.length - 1) % tabs.length,
    Home: () => 0,
    End: () => tabs.length - 1,
  };
  element.addEventListener('keydown', (event) => {
    const place = tabs.findIndex((tab) => tab === document.activeElement);
    const move = moves[event.key];
    if (!move || place < 0) return;
    event.preventDefault();
    tabs[move(place)].focus();
    onChoice(views[move(place)].name);
  });
  return {
    element,
    show(name) {
      views.forEach((view, i) => {
        const isChosen = view.name === name;
        tabs[i].setAttribute('aria-selected', String(isChosen));
        tabs[i].tabIndex = isChosen ? 0 : -1;
        view.element.hidden = !isChosen;
      });
    },
  };
}
