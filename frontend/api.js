/** Questions to the server; whatever goes wrong becomes one sentence. */

/** An answer that did not come; its message is a sentence for the user. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status HTTP status, 0 when nothing answered
   */
  constructor(message, status) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/**
 * The relative URL of a question; what is empty is left out.
 * @param {string} route
 * @param {Record<string, string | number | null | undefined>} [parameters]
 * @returns {string}
 */
export function buildUrl(route, parameters = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `./${route}?${text}` : `./${route}`;
}

/**
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function failureOf(response) {
  const isText = (response.headers.get('content-type') ?? '').startsWith('text/plain');
  const text = isText ? (await response.text()).trim() : '';
  return text || `TensorBoard could not answer (HTTP ${response.status}); its console says why.`;
}

/**
 * @template T
 * @param {string} route
 * @param {Record<string, string | number | null | undefined>} [parameters]
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 * @throws {ApiError} the server did not answer, or with an error
 */
export async function getJson(route, parameters, signal) {
  try {
    const response = await fetch(buildUrl(route, parameters), {signal});
    if (!response.ok) throw new ApiError(await failureOf(response), response.status);
    return await response.json();
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    throw new ApiError('TensorBoard does not answer. Is it still running?', 0);
  }
}
