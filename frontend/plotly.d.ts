/** The few calls of plotly.js that the tab makes. */

interface PlotlyElement extends HTMLDivElement {
  on(event: string, handler: (detail: Record<string, unknown> | null) => void): void;
}

interface PlotlyLibrary {
  react(element: HTMLElement, data: object[], layout: object, config: object): Promise<unknown>;
  purge(element: HTMLElement): void;
  Plots: {resize(element: HTMLElement): Promise<unknown>};
}

interface Window {
  Plotly?: PlotlyLibrary;
}
