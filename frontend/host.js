/** What surrounds the tab: TensorBoard's page, its theme, its address, its reloads. */

import {activePlugin, formatHash, parseHash} from './state.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Theme} Theme */

const PLUGIN_NAME = 'darshan';

/** @returns {Theme} */
export function currentTheme() {
  return window.parent.document.body.classList.contains('dark-mode') ? 'dark' : 'light';
}

/**
 * Calls back at once and whenever TensorBoard's theme changes.
 * @param {(theme: Theme) => void} onTheme
 */
export function followTheme(onTheme) {
  let theme = currentTheme();
  onTheme(theme);
  new MutationObserver(() => {
    if (currentTheme() !== theme) onTheme((theme = currentTheme()));
  }).observe(window.parent.document.body, {attributeFilter: ['class']});
}

/** @returns {State} */
export function readState() {
  return parseHash(window.parent.location.hash);
}

/**
 * Puts the state into the address without a new step in the browser's history.
 * @param {State} state
 */
export function writeState(state) {
  const {location} = window.parent;
  const hash = formatHash(location.hash, state);
  // A whole URL: a bare hash would be taken relative to this frame's base.
  if (hash !== (location.hash || '#')) location.replace(location.href.split('#')[0] + hash);
}

/**
 * Whether somebody can see the tab: TensorBoard keeps it laid out behind its other tabs.
 * @returns {boolean}
 */
export function isShown() {
  const frame = window.frameElement;
  if (document.hidden || frame?.checkVisibility?.({visibilityProperty: true}) === false) {
    return false;
  }
  return ['', PLUGIN_NAME].includes(activePlugin(window.parent.location.hash));
}

/**
 * Calls back when the address changes or the browser's tab is shown or hidden.
 * @param {() => void} onChange
 */
export function followAddress(onChange) {
  window.parent.addEventListener('hashchange', onChange);
  window.addEventListener('pagehide', () => {
    window.parent.removeEventListener('hashchange', onChange);
  });
  document.addEventListener('visibilitychange', onChange);
}

/**
 * Calls back when TensorBoard has read its data again.
 * @param {() => void} onReload
 */
export function followReloads(onReload) {
  if (window.parent === window) return;
  const {port1, port2} = new MessageChannel();
  port1.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (message.isReply) return;
    port1.postMessage(JSON.stringify({...message, payload: null, error: null, isReply: true}));
    if (message.type === 'experimental.DataReloaded') onReload();
  };
  window.parent.postMessage('experimental.bootstrap', '*', [port2]);
}

/** Makes the fonts that TensorBoard serves available here. */
export function adoptFonts() {
  const parent = window.parent.document;
  const rules = [];
  for (const sheet of parent.styleSheets) {
    if (sheet.href && new URL(sheet.href).origin !== window.location.origin) continue;
    for (const rule of sheet.cssRules) {
      if (rule.constructor.name !== 'CSSFontFaceRule' || !/Roboto/.test(rule.cssText)) continue;
      rules.push(
        rule.cssText.replace(/url\("?\/?([^")]+)"?\)/g, (whole, path) =>
          path.startsWith('data:') ? whole : `url("${new URL(path, parent.baseURI)}")`
        )
      );
    }
  }
  const style = document.createElement('style');
  style.textContent = rules.join('\n');
  document.head.append(style);
}
