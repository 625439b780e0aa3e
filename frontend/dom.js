/** Builds elements, and changes those on the page into new ones without touching what stays. */

/** @typedef {string | number | boolean | null | undefined | EventListener} Attribute */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @param {Element} element
 * @param {Record<string, Attribute>} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  for (const child of children) {
    if (child || child === '') element.append(child);
  }
}

/**
 * An HTML element; strings become text, never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, Attribute>} [attributes] `true` sets an empty one, null and false none;
 *     a function listens to the event after `on`
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

const ICONS = {
  close: 'M5 5 19 19 M19 5 5 19',
  copy: 'M9 9h11v11H9z M15 9V4H4v11h5',
  reload: 'M19.5 12a7.5 7.5 0 1 1-2.2-5.3 M19.5 3v4.7h-4.7',
  down: 'M6 9.5l6 6 6-6',
  earlier: 'M15 5l-7 7 7 7',
  later: 'M9 5l7 7-7 7',
  in: 'M12 5v14 M5 12h14',
  out: 'M5 12h14',
};

/**
 * A line drawing for a button; the button carries the name.
 * @param {keyof typeof ICONS} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const path = svg('path', {d: ICONS[name]});
  return svg('svg', {class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true'}, path);
}

/**
 * @param {Node} node
 * @returns {string | null}
 */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute('data-key') : null;
}

/**
 * @param {Node} from
 * @param {Node} to
 */
function isSameKind(from, to) {
  return from.nodeName === to.nodeName && keyOf(from) === keyOf(to);
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function morphAttributes(from, to) {
  for (const {name} of [...from.attributes]) {
    if (!to.hasAttribute(name) && !(name === 'open' && from.nodeName === 'DETAILS')) {
      from.removeAttribute(name);
    }
  }
  for (const {name, value} of [...to.attributes]) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

/**
 * @param {Node} from
 * @param {Node} to
 */
function morphNode(from, to) {
  if (from instanceof Element && to instanceof Element) {
    morphAttributes(from, to);
    morphChildren(from, to);
  } else if (from.nodeValue !== to.nodeValue) {
    from.nodeValue = to.nodeValue;
  }
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function morphChildren(from, to) {
  const wanted = new Set([...to.childNodes].map(keyOf));
  /** @type {Map<string, Node>} */
  const kept = new Map();
  for (const child of [...from.childNodes]) {
    const key = keyOf(child);
    if (key === null) continue;
    if (wanted.has(key)) kept.set(key, child);
    else child.remove();
  }
  let cursor = from.firstChild;
  for (const next of [...to.childNodes]) {
    const key = keyOf(next);
    const match = key !== null ? kept.get(key) : cursor;
    if (!match || !isSameKind(match, next)) {
      from.insertBefore(next, cursor);
      continue;
    }
    if (match === cursor) cursor = cursor.nextSibling;
    else from.insertBefore(match, cursor);
    morphNode(match, next);
  }
  while (cursor) {
    const rest = cursor.nextSibling;
    cursor.remove();
    cursor = rest;
  }
}

/**
 * Makes the children of `element` equal to those given. What is already so stays the same node, so
 * that focus, selection, scroll position and opened details stay too; `data-key` tells rows apart.
 * Listeners of new elements are lost where an old one stays: listen on `element`.
 * @param {Element} element
 * @param {...Child} children
 */
export function morph(element, ...children) {
  const focused = document.activeElement;
  const next = h('div', {}, ...children);
  morphChildren(element, next);
  // A row that moved lost the focus on the way.
  if (focused instanceof HTMLElement && focused !== document.activeElement) {
    if (element.contains(focused)) focused.focus({preventScroll: true});
  }
}

/**
 * Copies a text; also where the page has no secure context.
 * @param {string} text
 * @returns {Promise<boolean>} whether it worked
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = h('textarea', {class: 'sr-only', 'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({preventScroll: true});
    return done;
  }
}
