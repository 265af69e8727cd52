import type { Order } from "./api.js";
import { ResponseError } from "./errors.js";
import { decode } from "./json.js";
import { type CallOptions, isPassing, type Requests, sleep } from "./request.js";

export interface WatchOptions extends CallOptions {
  /** Milliseconds to wait for an order that is not found yet, or a gateway that does not answer; default 60,000. */
  patience?: number;
}

const silence = 45_000; // milliseconds: three of the comments that the gateway sends while nothing happens
const pause = 1_000; // milliseconds before it connects again, unless Retry-After is longer

/** Yields an order's record now and whenever it changes, and returns after the final one. */
export async function* watch(requests: Requests, path: string, options: WatchOptions): AsyncGenerator<Order, void, void> {
  const { patience = 60_000, signal } = options;
  let seen = ""; // the last record
  let last = ""; // id of the last event
  for (let heard = Date.now(); ; ) {
    const ended = new AbortController();
    let isOpen = false;
    let asked = 0; // milliseconds of Retry-After
    try {
      const either = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
      const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
      const body = await requests.ask(path, { headers }, async ({ body }) => body!, either);
      for await (const event of eventsOf(body)) {
        if (event.id) last = event.id;
        const record = event.isNews ? await requests.ask(path, {}, (response) => response.text(), either) : seen;
        isOpen = true;
        if (record === seen) continue;
        seen = record;
        const order: Order = decode(record);
        yield order;
        if (order.state === "ClaimedUnlock" || order.state === "ClaimedOrderCancel") return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ResponseError) asked = error.retryAfter ?? 0;
      if (!isAwaited(error) || (isOpen ? asked > patience : Date.now() - heard + asked >= patience)) throw error;
    } finally {
      ended.abort();
    }
    if (isOpen) heard = Date.now();
    else last = ""; // it may be what the gateway refuses
    await sleep(Math.max(pause, asked), signal);
  }
}

const awaited = ["TRANSACTION_NOT_FOUND", "UNKNOWN_ORDER", "CURSOR_EXPIRED", "CURSOR_UNKNOWN"];
const isAwaited = (error: unknown): boolean =>
  error instanceof TypeError || // the stream broke
  isPassing(error) || (error instanceof ResponseError && awaited.includes(error.errorId));

interface ServerSentEvent {
  isNews: boolean; // something happened, or may have before the stream was open
  id: string;
}

/** Reads events until the stream ends, or is silent for too long. That it is open is the first one. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  yield { isNews: true, id: "" };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const timer = setTimeout(() => void reader.cancel(), silence);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) yield parse(block);
  }
}

function parse(block: string): ServerSentEvent {
  return { isNews: /^event: /m.test(block), id: /^id: (.*)$/m.exec(block)?.[1] ?? "" };
}
