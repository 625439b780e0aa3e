import assert from 'node:assert/strict';
import {test} from 'node:test';

import {
  DEFAULT_STATE,
  activePlugin,
  cutStretch,
  dropUnknownModule,
  formatHash,
  moveStretch,
  parseHash,
} from '../../frontend/state.js';

test('parseHash of an empty address gives the defaults', () => {
  for (const hash of ['', '#', '#darshan', '#timeseries&runFilter=x']) {
    assert.deepEqual(parseHash(hash), DEFAULT_STATE);
  }
});

test('parseHash reads every key', () => {
  const hash =
    '#darshan&p.darshan.run=lr%3D0.1%2Cb%26c%2Frank&p.darshan.view=access_sizes' +
    '&p.darshan.module=STDIO&p.darshan.start=1.5&p.darshan.end=20&p.darshan.live=off' +
    '&p.darshan.search=img&p.darshan.sort=path&p.darshan.offset=50&p.darshan.by=rank';
  assert.deepEqual(parseHash(hash), {
    run: 'lr=0.1,b&c/rank',
    view: 'access_sizes',
    module: 'STDIO',
    start: 1.5,
    end: 20,
    live: false,
    search: 'img',
    sort: 'path',
    offset: 50,
    lanes: '',
    lane: '',
    by: 'rank',
  });
});

test('parseHash takes a value with an unescaped equals sign whole', () => {
  assert.equal(parseHash('#darshan&p.darshan.run=lr=0.1').run, 'lr=0.1');
});

test('parseHash takes a broken escape as it is', () => {
  assert.equal(parseHash('#darshan&p.darshan.run=100%').run, '100%');
});

test('parseHash does not take what cannot be', () => {
  const bad = parseHash(
    '#darshan&p.darshan.view=nonsense&p.darshan.start=-1&p.darshan.end=x&p.darshan.offset=1.5'
  );
  assert.deepEqual(bad, DEFAULT_STATE);
});

test('parseHash drops a stretch that ends before it begins', () => {
  const {start, end} = parseHash('#p.darshan.start=9&p.darshan.end=3');
  assert.deepEqual([start, end], [null, null]);
  assert.equal(parseHash('#p.darshan.start=9').start, 9);
});

test('formatHash and parseHash are inverse', () => {
  const state = {
    ...DEFAULT_STATE,
    run: 'a & b=c/d % ü #1',
    view: 'files',
    start: 0.25,
    end: 3,
    live: false,
    search: '.jpg',
  };
  assert.deepEqual(parseHash(formatHash('#darshan', state)), state);
});

test('formatHash leaves out defaults and keeps what is not ours', () => {
  const before = '#darshan&p.darshan.run=old&runFilter=a%20b&p.other.x=1';
  const state = {...DEFAULT_STATE, run: 'new'};
  assert.equal(formatHash(before, state), '#darshan&runFilter=a%20b&p.other.x=1&p.darshan.run=new');
  assert.equal(formatHash('#darshan', DEFAULT_STATE), '#darshan');
});

test('activePlugin is the first part of the address', () => {
  assert.equal(activePlugin('#darshan&p.darshan.run=x'), 'darshan');
  assert.equal(activePlugin('#timeseries'), 'timeseries');
  assert.equal(activePlugin(''), '');
  assert.equal(activePlugin('#p.darshan.run=x'), '');
});

test('cutStretch stays within the run', () => {
  assert.deepEqual(cutStretch(-5, 20, 100), {start: 0, end: 20});
  assert.deepEqual(cutStretch(90, 120, 100), {start: 90, end: 100});
  assert.deepEqual(cutStretch(1.000049, 2.00005, 100), {start: 1, end: 2.0001});
});

test('cutStretch of all, or of nothing, is the whole run', () => {
  assert.equal(cutStretch(-1, 101, 100), null);
  assert.equal(cutStretch(0, 100, 100), null);
  assert.equal(cutStretch(3, 3.001, 100), null);
  assert.equal(cutStretch(120, 130, 100), null);
});

test('moveStretch zooms around the middle', () => {
  assert.deepEqual(moveStretch({start: 40, end: 60}, 100, 'in'), {start: 45, end: 55});
  assert.deepEqual(moveStretch({start: 40, end: 60}, 100, 'out'), {start: 30, end: 70});
  assert.equal(moveStretch({start: 10, end: 80}, 100, 'out'), null);
});

test('moveStretch keeps the width at the ends of the run', () => {
  assert.deepEqual(moveStretch({start: 40, end: 60}, 100, 'later'), {start: 50, end: 70});
  assert.deepEqual(moveStretch({start: 85, end: 95}, 100, 'later'), {start: 90, end: 100});
  assert.deepEqual(moveStretch({start: 4, end: 24}, 100, 'earlier'), {start: 0, end: 20});
  assert.deepEqual(moveStretch({start: 0, end: 20}, 100, 'out'), {start: 0, end: 40});
});

test('dropUnknownModule falls back to all modules', () => {
  const runs = [{modules: ['POSIX', 'STDIO']}, {modules: ['MPI-IO']}];
  const state = (module) => ({...DEFAULT_STATE, module});
  assert.equal(dropUnknownModule(state('NONSENSE'), runs).module, '');
  for (const module of ['', 'STDIO', 'MPI-IO']) {
    const before = state(module);
    assert.equal(dropUnknownModule(before, runs), before);
  }
  assert.equal(dropUnknownModule(state('STDIO'), []).module, 'STDIO');
});
