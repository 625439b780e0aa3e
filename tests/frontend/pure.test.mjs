import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';

import {ApiError, buildUrl, getJson} from '../../frontend/api.js';
import {parseRelayout} from '../../frontend/charts.js';
import {filterChoices} from '../../frontend/combobox.js';
import {sparkPath} from '../../frontend/sparkline.js';
import {nextSort} from '../../frontend/table.js';

const realFetch = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = realFetch;
});

test('buildUrl is relative, escapes, and leaves out what is empty', () => {
  const url = buildUrl('files', {run: 'a&b=c', start: 0, end: null, module: '', limit: 50});
  assert.equal(url, './files?run=a%26b%3Dc&start=0&limit=50');
  assert.equal(buildUrl('runs'), './runs');
});

test('getJson throws the sentence of the server', async () => {
  globalThis.fetch = async () =>
    new Response('There is no run called x.\n', {
      status: 404,
      headers: {'content-type': 'text/plain; charset=utf-8'},
    });
  await assert.rejects(getJson('overview'), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.message, 'There is no run called x.');
    assert.equal(error.status, 404);
    return true;
  });
});

test('getJson shows no HTML of a broken server', async () => {
  globalThis.fetch = async () =>
    new Response('<h1>Oops</h1>', {status: 500, headers: {'content-type': 'text/html'}});
  await assert.rejects(getJson('overview'), /^ApiError: TensorBoard could not answer \(HTTP 500\)/);
});

test('getJson says when nothing answers', async () => {
  globalThis.fetch = async () => {
    throw new TypeError('fetch failed');
  };
  await assert.rejects(
    getJson('runs'),
    (error) => error.status === 0 && /running/.test(error.message)
  );
});

test('getJson lets an abandoned question end as it did', async () => {
  const controller = new AbortController();
  globalThis.fetch = async () => {
    controller.abort();
    throw new DOMException('aborted', 'AbortError');
  };
  await assert.rejects(getJson('runs', {}, controller.signal), {name: 'AbortError'});
});

test('parseRelayout reads every form of an x range', () => {
  assert.deepEqual(parseRelayout({'xaxis.range[0]': 1, 'xaxis.range[1]': 2}), [1, 2]);
  assert.deepEqual(parseRelayout({'xaxis3.range': [3, 4]}), [3, 4]);
  assert.equal(parseRelayout({'xaxis.autorange': true}), null);
});

test('parseRelayout passes over what is not about x', () => {
  for (const detail of [
    {},
    {autosize: true},
    {'yaxis.range[0]': 1, 'yaxis.range[1]': 2},
    {dragmode: 'pan'},
    {'xaxis.showspikes': false},
    {'xaxis.range': ['a', 'b']},
  ]) {
    assert.equal(parseRelayout(detail), undefined);
  }
});

test('filterChoices wants every word, whatever its case', () => {
  const choices = ['resnet/lr=0.1', 'ResNet/lr=0.2', 'vit'].map((name) => ({name, detail: ''}));
  const names = (search) => filterChoices(choices, search).map(({name}) => name);
  assert.deepEqual(names('RESNET 0.2'), ['ResNet/lr=0.2']);
  assert.deepEqual(names('  '), ['resnet/lr=0.1', 'ResNet/lr=0.2', 'vit']);
  assert.deepEqual(names('nothing'), []);
});

test('nextSort turns the order round on a second click', () => {
  assert.equal(nextSort('-bytes', 'opens'), '-opens');
  assert.equal(nextSort('-opens', 'opens'), 'opens');
  assert.equal(nextSort('opens', 'opens'), '-opens');
  assert.equal(nextSort('-bytes', 'path'), 'path');
  assert.equal(nextSort('path', 'path'), '-path');
});

test('sparkPath spans its box from zero to the largest value', () => {
  assert.equal(sparkPath([0, 2, 1], 100, 20), 'M0 20L50 0L100 10');
  assert.equal(sparkPath([0, null, 0], 100, 20), 'M0 20L50 20L100 20');
  assert.equal(sparkPath([5], 100, 20), '');
});
