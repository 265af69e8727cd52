import { ConnectionError, CrossgateError, errorOf, ResponseError } from "./errors.js";
import { decode } from "./json.js";

export interface ClientOptions {
  /** Where the gateway, or the hosted service, answers. */
  url: string;
  /** Header fields of every request, such as an API key. */
  headers?: Record<string, string>;
  /** How often a request is repeated that was not answered, or answered with 429, 502, 503 or 504; default 3. */
  retryCount?: number;
  /** Milliseconds before the first repetition, and twice as many before each next; Retry-After counts instead; default 150. */
  retryDelay?: number;
  /** The longest Retry-After, in milliseconds, to wait for; default 30,000. */
  maxRetryAfter?: number;
  /** Milliseconds for one answer; default 10,000. */
  timeout?: number;
  /** Sees every answer, such as what Index-Basis says of a list, or X-Unsimulated of a swap. */
  onFetchResponse?: (response: Response) => void;
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, which then fails with the signal's reason. */
  signal?: AbortSignal;
}

export type Requests = ReturnType<typeof requestsOf>;

export function requestsOf(options: ClientOptions) {
  const { retryCount = 3, retryDelay = 150, maxRetryAfter = 30_000, timeout = 10_000 } = options;
  const send = options.fetch ?? fetch;

  async function once<T>(path: string, init: RequestInit, read: (response: Response) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeout} ms`)), timeout);
    const url = new URL(options.url.replace(/\/+$/, "") + path); // the gateway may be below a path
    try {
      const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
      const response = await send(url, { ...init, headers: { ...options.headers, ...init.headers }, signal: either });
      options.onFetchResponse?.(response);
      if (!response.ok) throw await errorOf(path, response);
      return await read(response);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CrossgateError) throw error;
      throw new ConnectionError(`${url.origin} does not answer`, { cause: late.signal.reason ?? error });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    /** Asks until there is an answer, and reads it; `timeout` is for both. */
    async ask<T>(path: string, init: RequestInit, read: (response: Response) => Promise<T>, signal?: AbortSignal): Promise<T> {
      for (let repeated = 0; ; repeated++) {
        try {
          return await once(path, init, read, signal);
        } catch (error) {
          const wait = (error instanceof ResponseError && error.retryAfter) || retryDelay * 2 ** repeated;
          if (!isPassing(error) || repeated >= retryCount || wait > maxRetryAfter) throw error;
          await sleep(wait, signal);
        }
      }
    },
    json<T>(path: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
      return this.ask(path, init, async (response) => readJSON(await response.text(), path), signal);
    },
  };
}

/** isPassing reports whether the same request may succeed later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof ResponseError && [429, 502, 503, 504].includes(error.status));

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", end, { once: true });
  });
}

function readJSON(text: string, path: string) {
  try {
    return decode(text);
  } catch (cause) {
    throw new CrossgateError(`the answer of ${path} is not the API's`, { cause });
  }
}
