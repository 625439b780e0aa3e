/** A list to choose from with a field that searches it (ARIA combobox). */

import {h, icon} from './dom.js';

/**
 * @typedef {object} Choice
 * @property {string} name
 * @property {string} detail
 */

/**
 * The choices whose name contains every word searched for, whatever its case.
 * @template {Choice} C
 * @param {C[]} choices
 * @param {string} search
 * @returns {C[]}
 */
export function filterChoices(choices, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({name}) => words.every((word) => name.toLowerCase().includes(word)));
}

/**
 * @param {string} label
 * @param {(name: string) => void} onChoice
 * @returns {{element: HTMLElement, show: (choices: Choice[], chosen: string) => void}}
 */
export function createCombobox(label, onChoice) {
  const id = `choice-${label.toLowerCase()}`;
  const list = h('ul', {role: 'listbox', id: `${id}-list`, 'aria-label': label, hidden: true});
  const input = h('input', {
    id,
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': `${id}-list`,
    'aria-expanded': 'false',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  /** @type {Choice[]} */
  let choices = [];
  /** @type {Choice[]} */
  let found = [];
  let chosen = '';
  let active = -1;

  function mark() {
    [...list.children].forEach((option, i) => {
      option.setAttribute('aria-selected', String(i === active));
      if (i === active) option.scrollIntoView({block: 'nearest'});
    });
    if (found[active]) input.setAttribute('aria-activedescendant', `${id}-${active}`);
    else input.removeAttribute('aria-activedescendant');
  }

  /** @param {string} search */
  function open(search) {
    found = filterChoices(choices, search);
    active = Math.max(
      found.findIndex(({name}) => name === chosen),
      search && found.length ? 0 : -1
    );
    list.replaceChildren(
      ...found.map(({name, detail}, i) =>
        h(
          'li',
          {role: 'option', id: `${id}-${i}`, 'data-name': name, title: name},
          h('span', {class: 'option-name'}, name),
          h('span', {class: 'option-detail'}, detail)
        )
      ),
      ...(found.length
        ? []
        : [h('li', {class: 'option-none'}, `No ${label.toLowerCase()} is called so`)])
    );
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    mark();
  }

  function close() {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
    input.value = chosen;
  }

  /** @param {string} name */
  function choose(name) {
    const isNew = name !== chosen;
    chosen = name;
    close();
    if (isNew) onChoice(name);
  }

  /** @param {KeyboardEvent} event */
  function answerKey(event) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step) {
      if (list.hidden) open('');
      else if (found.length) active = (active + step + found.length) % found.length;
      mark();
    } else if (event.key === 'Enter' && !list.hidden && found[active]) choose(found[active].name);
    else if (event.key === 'Escape' && !list.hidden) close();
    else return;
    event.preventDefault();
  }

  input.addEventListener('keydown', answerKey);
  input.addEventListener('input', () => open(input.value));
  input.addEventListener('click', () => (list.hidden ? open('') : undefined));
  input.addEventListener('focus', () => input.select());
  input.addEventListener('blur', close);
  list.addEventListener('mousedown', (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener('click', ({target}) => {
    const name = target instanceof Element ? target.closest('li')?.dataset.name : undefined;
    if (name !== undefined) choose(name);
  });
  const element = h(
    'div',
    {class: 'field combobox'},
    h('label', {for: id}, label),
    h('div', {class: 'combobox-field'}, input, icon('down'), list)
  );
  return {
    element,
    show(nextChoices, nextChosen) {
      [choices, chosen] = [nextChoices, nextChosen];
      if (list.hidden && input.value !== chosen) input.value = chosen;
      input.title = chosen;
    },
  };
}
