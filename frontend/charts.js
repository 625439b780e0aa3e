/** Draws the server's figures; colours, units and titles are decided there. */

/** @typedef {import('./types.js').Figure} Figure */

/** @type {Promise<PlotlyLibrary> | undefined} */
let library;

/**
 * Loads plotly.js once.
 * @param {string} url
 * @returns {Promise<PlotlyLibrary>}
 */
export function loadPlotly(url) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.onload = () => {
      if (window.Plotly) resolve(window.Plotly);
      else reject(new Error('The plotting library did not load: plotly.js is damaged.'));
    };
    script.onerror = () => {
      library = undefined;
      script.remove();
      reject(new Error('The plotting library did not load. Is TensorBoard still running?'));
    };
    document.head.append(script);
  });
  return library;
}

/** All buttons of a figure: a list of what there is, as plotly.js also has some that share. */
const BUTTONS = ['toImage', 'zoom2d', 'pan2d'];

/**
 * Draws a figure, or changes the one drawn; what the user zoomed or hid stays as long as `revision`
 * is the same.
 * @param {PlotlyLibrary} plotly
 * @param {HTMLElement} element
 * @param {Figure} figure
 * @param {{revision: string, ownReset?: boolean}} options `ownReset`: a double click is the
 *     caller's to answer
 */
export async function drawFigure(plotly, element, figure, {revision, ownReset = false}) {
  const {width, height, ...layout} = figure.layout;
  if (height) element.style.height = `${height}px`;
  const legend = {...layout.legend, uirevision: 'keep'};
  const modebar = {...layout.modebar, uirevision: 'keep', orientation: 'h'};
  await plotly.react(
    element,
    figure.data,
    {...layout, legend, modebar, autosize: true, uirevision: revision},
    {
      displaylogo: false,
      showTips: false, // its notifier about double clicks covers the buttons
      doubleClick: ownReset ? false : 'reset',
      modeBarButtons: [ownReset ? BUTTONS : [...BUTTONS, 'resetScale2d']],
      toImageButtonOptions: {filename: 'darshan', scale: 2},
    }
  );
}

/**
 * Calls back with the stretch of the x axis that the user chose, or null for all of it.
 * @param {HTMLElement} element that a figure was drawn in
 * @param {(stretch: [number, number] | null) => void} onStretch
 */
export function followZoom(element, onStretch) {
  const plot = /** @type {PlotlyElement} */ (element);
  plot.on('plotly_doubleclick', () => onStretch(null));
  plot.on('plotly_relayout', (detail) => {
    const stretch = parseRelayout(detail ?? {});
    if (stretch !== undefined) onStretch(stretch);
  });
}

/**
 * What a relayout event says about the x axes.
 * @param {Record<string, unknown>} detail
 * @returns {[number, number] | null | undefined} null: all of it; undefined: nothing
 */
export function parseRelayout(detail) {
  for (const [key, value] of Object.entries(detail)) {
    const [, axis, part] = /^(xaxis\d*)\.(.*)$/.exec(key) ?? [];
    if (!axis) continue;
    if (part === 'autorange' && value === true) return null;
    const range =
      part === 'range' ? value : [detail[`${axis}.range[0]`], detail[`${axis}.range[1]`]];
    if (!Array.isArray(range)) continue;
    const [from, to] = range.map(Number);
    if (Number.isFinite(from) && Number.isFinite(to)) return [from, to];
  }
  return undefined;
}

/**
 * Keeps figures as wide as their places; those in a hidden view wait until it is shown.
 * @returns {ResizeObserver}
 */
export function createResizer() {
  return new ResizeObserver((entries) => {
    for (const {target, contentRect} of entries) {
      if (contentRect.width > 0 && target.classList.contains('js-plotly-plot')) {
        window.Plotly?.Plots.resize(/** @type {HTMLElement} */ (target));
      }
    }
  });
}
