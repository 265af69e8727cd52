import type * as api from "./api.js";
import { encode } from "./json.js";
import { type CallOptions, type ClientOptions, requestsOf } from "./request.js";
import { watch, type WatchOptions } from "./watch.js";

export type * from "./api.js";
export { fromApiChainId, toApiChainId } from "./chains.js";
export { ConnectionError, CrossgateError, ResponseError, SwapError, TrackingError } from "./errors.js";
export type { CallOptions, ClientOptions } from "./request.js";
export type { WatchOptions } from "./watch.js";

/** An order by its id, or by the transaction that created it; `index` selects one of several. */
export type OrderReference = { orderId: string } | { creationTxHash: string; index?: number };

/** A transaction before it is signed; `request` has parameters that its order is compared with. */
export type TransactionToVerify = api.TransactionToVerify & { request?: Partial<api.CreationQuery> };

export type CrossgateClient = ReturnType<typeof createCrossgateClient>;

/**
 * A client of a gateway. Amounts are bigint in smallest units, addresses and hashes are texts in their chain's form, and
 * chains have their own (EIP-155) numbers.
 */
export function createCrossgateClient(options: ClientOptions) {
  const requests = requestsOf(options);
  const get = <T>(path: string, query: object = {}, { signal }: CallOptions = {}) =>
    requests.json<T>(withQuery(path, query), {}, signal);
  const post = <T>(path: string, body: object, { signal }: CallOptions = {}) =>
    requests.json<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(encode(body)) }, signal);

  return {
    getOrder: (order: OrderReference, call?: CallOptions) => get<api.Order>(pathOf(order), {}, call),
    /** Yields the order now and whenever it changes, and ends after the final state. */
    watchOrder: (order: OrderReference, call: WatchOptions = {}) => watch(requests, pathOf(order), call),
    /** The ids of the orders that a transaction is a step of: their creation, or any later one. */
    getOrderIds: async (transaction: { hash: string }, call?: CallOptions) =>
      (await get<{ orderIds: string[] }>(`/api/Transaction/${part(transaction.hash)}/orderIds`, {}, call)).orderIds,
    getOrders: (filter: api.OrderFilter = {}, call?: CallOptions) => post<api.OrderList>("/api/Orders/filteredList", filter, call),
    /** What takers need to unlock their orders. */
    getOrdersToUnlock: (filter: api.UnlockFilter, call?: CallOptions) =>
      post<api.UnlockList>("/api/Orders/getForUnlockAuthorities", filter, call),
    /** What a taker has delivered and was not paid for yet. */
    getLockedAssets: (locked: { taker: string }, call?: CallOptions) =>
      get<api.LockedChain[]>(`/api/Statistics/${part(locked.taker)}/lockedAssets`, {}, call),

    /** The amounts of an order to another chain, and the contract that takes the input. */
    quoteOrder: (query: api.CreationQuery, call?: CallOptions) => get<api.OrderQuote>("/v1.0/dln/order/quote", query, call),
    /** An order to another chain, with the transaction that creates it where its parties are named. */
    createOrder: (query: api.CreationQuery, call?: CallOptions) => get<api.OrderCreation>("/v1.0/dln/order/create-tx", query, call),
    /** What a transaction would create, of whatever software, and where that differs from a request. */
    verifyCreation: ({ request, ...transaction }: TransactionToVerify, call?: CallOptions) =>
      post<api.Verification>("/v1.0/dln/order/verify", { ...transaction, request: request && encode(request) }, call),
    /** The transaction by which an order's authority cancels it. */
    cancelOrder: ({ orderId }: { orderId: string }, call?: CallOptions) =>
      get<api.CancelTransaction>(`/v1.0/dln/order/${part(orderId)}/cancel-tx`, {}, call),
    /** The transaction by which it takes a delivery that waits for its external call. */
    cancelExternalCall: ({ orderId }: { orderId: string }, call?: CallOptions) =>
      get<api.CancelTransaction>(`/v1.0/dln/order/${part(orderId)}/extcall-cancel-tx`, {}, call),
    /** The transaction that has a taker paid for orders of one pair of chains. */
    unlockOrders: (unlock: { orderIds: string[]; unlockBeneficiary: string }, call?: CallOptions) =>
      get<api.UnlockTransaction>("/v1.0/dln/order/unlock-tx", { ...unlock, orderIds: unlock.orderIds.join(",") }, call),

    /** The best quote for a swap, with the transaction to sign. */
    getSwap: (query: api.SwapQuery, call?: CallOptions) => get<api.Swap>("/v1.0/chain/transaction", query, call),
    /** What each venue quoted, and why one was chosen. */
    explainSwap: (query: api.SwapQuery, call?: CallOptions) => get<api.Explanation>("/v1.0/chain/transaction/explain", query, call),
    /** The best quote, without a transaction. */
    estimateSwap: async (query: api.EstimationQuery, call?: CallOptions) =>
      (await get<{ estimation: api.Estimation }>("/v1.0/chain/estimation", query, call)).estimation,
    /** A swap within a chain that a transaction made. */
    getMadeSwap: ({ chainId, hash, index }: { chainId: number; hash: string; index?: number }, call?: CallOptions) =>
      get<api.SameChainSwap>(`/api/SameChainSwap/${encode({ chainId }).chainId}/tx/${part(hash)}`, { index }, call),

    getChains: async (call?: CallOptions) => (await get<{ chains: api.Chain[] }>("/v1.0/supported-chains-info", {}, call)).chains,
    /** The well-known tokens of a chain, by address. */
    getTokens: async (query: api.TokenQuery, call?: CallOptions) => (await get<api.Tokens>("/v1.0/token-list", query, call)).tokens,
    searchTokens: async (query: api.SearchQuery, call?: CallOptions) =>
      (await get<api.FoundTokens>("/v1.0/token-list/search", query, call)).tokens,

    getDailyStatistics: (query: api.DailyQuery = {}, call?: CallOptions) =>
      get<api.DailyStatistics>("/api/Statistics/getDaily", query, call),
    getAllTimeStatistics: (call?: CallOptions) => get<api.AllTimeStatistics>("/api/Statistics/getAllTime", {}, call),
    getDeliveryTimes: async (query: api.DailyQuery = {}, call?: CallOptions) =>
      (await get<api.DeliveryTimes>("/api/Statistics/getDeliveryTimes", query, call)).deliveryTimes,
    getVenueStatistics: async (query: api.DailyQuery = {}, call?: CallOptions) =>
      (await get<api.Venues>("/api/Statistics/getVenues", query, call)).venues,
  };
}

const part = encodeURIComponent;

const withQuery = (path: string, query: object): string => {
  const text = new URLSearchParams(Object.entries(encode(query)).map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
};

const pathOf = (order: OrderReference): string =>
  "orderId" in order
    ? `/api/Orders/${part(order.orderId)}`
    : withQuery(`/api/Orders/creationTxHash/${part(order.creationTxHash)}`, { index: order.index });
