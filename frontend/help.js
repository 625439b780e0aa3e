/** The help dialog: what the words and numbers mean, and the keys. */

import {h, icon} from './dom.js';

/** @type {[string, string][]} */
const DEFINITIONS = [
  [
    'Recording and window',
    'A recording is what one process did from the callback’s begin to its end. It is cut into windows: the difference of all counters between two instants, a few seconds apart and at the ends of phases. Time bins are finer than windows; counters, files and distributions are known by the window, so a stretch of time counts every window it touches as a whole.',
  ],
  [
    'Bandwidth of a file',
    'Bytes read (or written) ÷ the seconds that reads (or writes) of that file took. The histogram has one count a file, over all files; a file without bytes or without time in a direction has none there.',
  ],
  [
    'Bandwidth over time',
    'Bytes that reads (or writes) returned in a stretch of time ÷ its length. It includes the time in which nothing was read.',
  ],
  [
    'Calls in flight',
    'The time that all threads together spent in I/O calls ÷ the length of the stretch: 2 means that on average two threads were waiting for I/O.',
  ],
  ['In I/O', 'The share of time in which at least one call was in flight.'],
  [
    'Access sizes',
    'Reads and writes sorted into Darshan’s ten ranges by the bytes that a call moved, from 0–100 B to more than 1 GiB. Consecutive: begins where the access before ended. Sequential: begins behind it. Other: goes back.',
  ],
  [
    'Seen, and from cache',
    'Seen: bytes that the recorder counted ÷ rchar + wchar of the process and its children; the kernel also counts files left out, pipes and sockets. From cache: the share of bytes read that the kernel did not fetch from a device; – where fewer than 1 MiB were read.',
  ],
  [
    'POSIX and STDIO',
    'Darshan’s modules. POSIX: open, read, write, stat and their kin. STDIO: fopen, fread, fwrite and their kin.',
  ],
];

/** @type {[string, string][]} */
const KEYS = [
  ['1 – 4', 'choose a view'],
  ['← → Home End', 'move between the tabs'],
  ['u', 'go to the run'],
  ['m', 'go to the module'],
  ['[ ] + −', 'earlier, later, zoom in, zoom out'],
  ['w', 'show the whole run'],
  ['l', 'live on or off'],
  ['r', 'reload now'],
  ['?', 'this help'],
  ['Esc', 'close what is open'],
];

/** @returns {HTMLDialogElement} */
export function createHelp() {
  const close = h(
    'button',
    {type: 'button', class: 'icon-button', 'aria-label': 'Close', title: 'Close'},
    icon('close')
  );
  const dialog = h(
    'dialog',
    {class: 'help', 'aria-labelledby': 'help-title'},
    h('header', {}, h('h2', {id: 'help-title'}, 'What the numbers mean'), close),
    h(
      'div',
      {class: 'help-text', tabindex: 0},
      h('dl', {}, ...DEFINITIONS.flatMap(([word, text]) => [h('dt', {}, word), h('dd', {}, text)])),
      h('h3', {}, 'Keys'),
      h(
        'dl',
        {class: 'keys'},
        ...KEYS.flatMap(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])
      )
    )
  );
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
  return dialog;
}
