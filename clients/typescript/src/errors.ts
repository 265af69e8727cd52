import type { SwapErrorId, TrackingErrorId } from "./api.js";

/** What every error of this package is. */
export class CrossgateError extends Error {
  override name = "CrossgateError";
}

/** No answer: the gateway cannot be reached, or took longer than `timeout`. */
export class ConnectionError extends CrossgateError {
  override name = "ConnectionError";
}

/** An error that the gateway, or a balancer in front of it, answered. */
export class ResponseError<ErrorId extends string = string> extends CrossgateError {
  override name = "ResponseError";
  constructor(
    message: string,
    /** The HTTP status. */
    readonly status: number,
    /** For programs; empty if the answer was not the API's. */
    readonly errorId: ErrorId | (string & {}),
    /** The HTTP status on paths of the tracking API, an error number on those of the swap API. */
    readonly errorCode: number,
    /** Identifies the request in the gateway's log. */
    readonly requestId: string,
    /** Milliseconds after which the request is worth repeating, if the gateway said so. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** An error of the tracking API, whose paths begin with /api. */
export class TrackingError extends ResponseError<TrackingErrorId> {
  override name = "TrackingError";
}

/** An error of the swap API, whose paths begin with /v1.0. */
export class SwapError extends ResponseError<SwapErrorId> {
  override name = "SwapError";
}

export async function errorOf(path: string, response: Response): Promise<ResponseError> {
  const is = path.startsWith("/v1.0") ? SwapError : TrackingError;
  const text = await response.text();
  const retryAfter = milliseconds(response.headers.get("Retry-After"));
  try {
    const { errorId, errorCode, errorMessage, reqId } = JSON.parse(text);
    return new is(`${errorId}: ${errorMessage} (request ${reqId})`, response.status, errorId, errorCode, reqId, retryAfter);
  } catch {
    const requestId = response.headers.get("X-Request-Id") ?? "";
    return new is(`${path}: status ${response.status} without an error of the API`, response.status, "", response.status, requestId, retryAfter);
  }
}

/** Retry-After is in seconds, or a date. */
function milliseconds(retryAfter: string | null): number | undefined {
  if (!retryAfter) return undefined;
  const seconds = Number(retryAfter);
  const wait = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
