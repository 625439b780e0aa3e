/** Small lines that show a course without axes. */

import {svg} from './dom.js';

const WIDTH = 120;
const HEIGHT = 28;

/**
 * A line from zero at the bottom to the largest value at the top.
 * @param {(number | null)[]} values null counts as 0
 * @param {number} width
 * @param {number} height
 * @returns {string} an SVG path; empty without two values
 */
export function sparkPath(values, width, height) {
  if (values.length < 2) return '';
  const top = Math.max(...values.map((value) => value ?? 0)) || 1;
  const points = values.map((value, i) => {
    const x = (i / (values.length - 1)) * width;
    const y = height - ((value ?? 0) / top) * height;
    return `${Number(x.toFixed(1))} ${Number(y.toFixed(1))}`;
  });
  return `M${points.join('L')}`;
}

/**
 * @param {(number | null)[]} values
 * @returns {SVGElement} also without values, so that its place is kept
 */
export function buildSparkline(values) {
  const line = sparkPath(values, WIDTH, HEIGHT - 1);
  return svg(
    'svg',
    {
      class: 'spark',
      viewBox: `0 -1 ${WIDTH} ${HEIGHT + 1}`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    },
    line && svg('path', {class: 'area', d: `${line}V${HEIGHT}H0Z`}),
    line && svg('path', {class: 'line', d: line})
  );
}
