import assert from 'node:assert/strict';
import {test} from 'node:test';

import * as format from '../../frontend/format.js';

const plain = (text) => text.replaceAll('\u00a0', ' ');

/** Checks a function on pairs of value and text. */
function check(name, call, cases) {
  for (const [value, text] of cases) {
    test(`${name} of ${value} is ${text}`, () => assert.equal(plain(call(value)), text));
  }
}

check('formatBytes', format.formatBytes, [
  [0, '0 B'],
  [1, '1 B'],
  [999, '999 B'],
  [1000, '0.977 KiB'],
  [1536, '1.5 KiB'],
  [88211, '86.1 KiB'],
  [1023 * 1024 + 1000, '1 MiB'],
  [12455405568, '11.6 GiB'],
  [2 ** 60, '1 EiB'],
  [2 ** 70, '1024 EiB'],
  [null, '–'],
  [undefined, '–'],
  [NaN, '–'],
  [Infinity, '–'],
]);

check('formatBandwidth', format.formatBandwidth, [
  [0, '0 B/s'],
  [0.5, '0.5 B/s'],
  [203423744, '194 MiB/s'],
  [null, '–'],
]);

check('formatCount', format.formatCount, [
  [0, '0'],
  [7, '7'],
  [999, '999'],
  [999.6, '1 k'],
  [28800, '28.8 k'],
  [1234567, '1.23 M'],
  [null, '–'],
]);

check('formatExact', format.formatExact, [
  [0, '0'],
  [999, '999'],
  [1000, '1 000'],
  [12455405568, '12 455 405 568'],
]);

check('formatShare', format.formatShare, [
  [0, '0 %'],
  [0.00123456, '0.123 %'],
  [0.997, '99.7 %'],
  [0.9999, '100 %'],
  [1, '100 %'],
  [null, '–'],
]);

check('formatDuration', format.formatDuration, [
  [0, '0 s'],
  [4e-9, '4 ns'],
  [1.234e-5, '12.3 µs'],
  [0.00120001, '1.2 ms'],
  [0.9996, '1 s'],
  [12.44, '12.4 s'],
  [122.4, '122 s'],
  [754, '12.6 min'],
  [8100, '2.25 h'],
  [null, '–'],
]);

test('formatClock is as fine as the span needs', () => {
  assert.equal(format.formatClock(0, 60), '00:00');
  assert.equal(format.formatClock(83.4, 60), '01:23');
  assert.equal(format.formatClock(3723, 4000), '1:02:03');
  assert.equal(format.formatClock(83.44, 10), '01:23.4');
  assert.equal(format.formatClock(83.444, 1), '01:23.44');
  assert.equal(format.formatClock(83.4444, 0.1), '01:23.444');
});

test('formatClock carries when it rounds', () => {
  assert.equal(format.formatClock(59.96, 10), '01:00.0');
  assert.equal(format.formatClock(3599.7, 60), '1:00:00');
});

test('formatDate of an unknown time is a dash', () => {
  assert.equal(format.formatDate(null), '–');
  assert.match(format.formatDate(1764590400), /2025/);
});

test('shortenPath leaves alone what fits', () => {
  assert.equal(format.shortenPath('/data/img_00042.jpg'), '/data/img_00042.jpg');
});

test('shortenPath keeps the first folder and the name', () => {
  const path = '/scratch/project/user/datasets/imagenet/train/n01440764/img_00042.jpg';
  assert.equal(format.shortenPath(path, 26), '/scratch/…/img_00042.jpg');
});

test('shortenPath keeps as many folders at the end as fit', () => {
  const path = '/scratch/project/user/datasets/imagenet/train/n01440764/img_00042.jpg';
  assert.equal(format.shortenPath(path, 44), '/scratch/…/train/n01440764/img_00042.jpg');
});

test('shortenPath of a directory keeps its slash', () => {
  const path = '/scratch/project/user/datasets/imagenet/train/n01440764/';
  assert.equal(format.shortenPath(path, 30), '/scratch/…/train/n01440764/');
});

test('shortenPath cuts a long name in the middle', () => {
  const short = format.shortenPath(`/a/b/c/${'x'.repeat(80)}.jpg`, 40);
  assert.equal(short.length, 40);
  assert.ok(short.startsWith('/a/b/c/'));
  assert.ok(short.endsWith('x.jpg'));
});

test('shortenPath never gives more than fits', () => {
  for (const path of [
    '/a'.repeat(60),
    `/${'y'.repeat(100)}/z`,
    `${'w'.repeat(100)}`,
    'r/'.repeat(70),
  ]) {
    for (const most of [10, 20, 48]) {
      assert.ok(format.shortenPath(path, most).length <= most, `${path} ${most}`);
    }
  }
});

test('formatAllBytes gives every digit', () => {
  assert.equal(plain(format.formatAllBytes(1536)), '1 536 bytes');
  assert.equal(format.formatAllBytes(null), null);
});

test('showHidden makes control and direction characters visible', () => {
  assert.equal(format.showHidden('/a/\u202egpj.exe'), '/a/\\u202egpj.exe');
  assert.equal(format.showHidden('a\nb\tc\u0007\u200b\ud800'), 'a\\nb\\tc\\u0007\\u200b\\ud800');
  for (const name of ['/data/ü/日本/ש.jpg', 'emoji 😀.png', 'a b']) {
    assert.equal(format.showHidden(name), name);
  }
});
