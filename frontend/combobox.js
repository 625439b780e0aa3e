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

/** A field with a list below it; one of the choices is always chosen. */
export class Combobox {
  #list = h('ul', {role: 'listbox', hidden: true});
  #input = h('input', {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  /** @type {Choice[]} */
  #choices = [];
  /** @type {Choice[]} what the search leaves */
  #found = [];
  #search = '';
  #chosen = '';
  /** Which of the found ones Enter takes, or -1. */
  #active = -1;

  /**
   * @param {string} id of the field
   * @param {string} label
   * @param {(name: string) => void} onChoice
   */
  constructor(id, label, onChoice) {
    this.label = label;
    this.onChoice = onChoice;
    this.#input.id = id;
    this.#list.id = `${id}-list`;
    this.#list.setAttribute('aria-label', label);
    this.#input.setAttribute('aria-controls', this.#list.id);
    this.element = h(
      'div',
      {class: 'field combobox'},
      h('label', {for: id}, label),
      h('div', {class: 'combobox-field'}, this.#input, icon('down'), this.#list)
    );
    this.#listen();
  }

  /**
   * @param {Choice[]} choices
   * @param {string} chosen
   */
  show(choices, chosen) {
    const isSame =
      choices.length === this.#choices.length &&
      choices.every(({name}, i) => name === this.#choices[i].name);
    [this.#choices, this.#chosen] = [choices, chosen];
    if (!this.#list.hidden && !isSame) this.#open(this.#search);
    if (this.#list.hidden && this.#input.value !== chosen) this.#input.value = chosen;
    this.#input.title = chosen;
  }

  #listen() {
    const [input, list] = [this.#input, this.#list];
    input.addEventListener('keydown', (event) => this.#answerKey(event));
    input.addEventListener('input', () => this.#open(input.value));
    input.addEventListener('click', () => list.hidden && this.#open(''));
    input.addEventListener('focus', () => input.select());
    input.addEventListener('blur', () => this.#close());
    list.addEventListener('mousedown', (event) => event.preventDefault()); // keeps the focus
    list.addEventListener('click', ({target}) => {
      const name = target instanceof Element ? target.closest('li')?.dataset.name : undefined;
      if (name !== undefined) this.#choose(name);
    });
  }

  /** @param {string} search */
  #open(search) {
    this.#search = search;
    this.#found = filterChoices(this.#choices, search);
    const chosen = this.#found.findIndex(({name}) => name === this.#chosen);
    this.#active = chosen < 0 && search && this.#found.length ? 0 : chosen;
    const options = this.#found.map(({name, detail}, i) =>
      h(
        'li',
        {role: 'option', id: `${this.#list.id}-${i}`, 'data-name': name, title: name},
        h('span', {class: 'option-name'}, name),
        h('span', {class: 'option-detail'}, detail)
      )
    );
    const none = `No ${this.label.toLowerCase()} is called so`;
    if (!options.length) options.push(h('li', {class: 'option-none'}, none));
    this.#list.replaceChildren(...options);
    this.#list.hidden = false;
    this.#input.setAttribute('aria-expanded', 'true');
    this.#mark();
  }

  /** Shows which option Enter takes. */
  #mark() {
    [...this.#list.children].forEach((option, i) => {
      option.setAttribute('aria-selected', String(i === this.#active));
      if (i === this.#active) option.scrollIntoView({block: 'nearest'});
    });
    const id = this.#found[this.#active] ? `${this.#list.id}-${this.#active}` : '';
    this.#input.setAttribute('aria-activedescendant', id);
  }

  #close() {
    this.#list.hidden = true;
    this.#input.setAttribute('aria-expanded', 'false');
    this.#input.removeAttribute('aria-activedescendant');
    this.#input.value = this.#chosen;
  }

  /** @param {string} name */
  #choose(name) {
    const isNew = name !== this.#chosen;
    this.#chosen = name;
    this.#close();
    if (isNew) this.onChoice(name);
  }

  /** @param {KeyboardEvent} event */
  #answerKey(event) {
    const {key} = event;
    const [isOpen, found] = [!this.#list.hidden, this.#found];
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (step && !isOpen) this.#open('');
    else if (step) {
      const next = this.#active < 0 && step < 0 ? -1 : this.#active + step;
      this.#active = found.length ? (next + found.length) % found.length : -1;
      this.#mark();
    } else if (key === 'Enter' && isOpen && found[this.#active]) {
      this.#choose(found[this.#active].name);
    } else if (key === 'Escape' && isOpen) this.#close();
    else return;
    event.preventDefault();
  }
}
