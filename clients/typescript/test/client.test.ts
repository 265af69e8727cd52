// Against a gateway in front of a sandbox: sandbox/stories starts both, and names them in the environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ConnectionError,
  type CrossgateClient,
  createCrossgateClient,
  fromApiChainId,
  type OrderState,
  SwapError,
  toApiChainId,
  TrackingError,
} from "crossgate-client";

const setting = (name: string): string => process.env[name] ?? assert.fail(`the environment has no ${name}`);
const url = setting("GATEWAY");
const client = createCrossgateClient({ url });
const coin = "0x0000000000000000000000000000000000000000";
const unknown = `0x${"ab".repeat(32)}`;

async function control(path: string, body?: object) {
  const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await fetch(new URL(`/sandbox/${path}`, setting("SANDBOX")), init);
  if (!response.ok) assert.fail(await response.text());
  return response.json() as any;
}

const world = await control("world");
const create = () =>
  control("create", { chainId: 1, takeChainId: 137, giveToken: "USDC", giveAmount: "100", takeToken: "DAI", takeAmount: "99.5" });

test("an order has bigint amounts, texts and the chains' own numbers", async () => {
  const { creationTxHash, orderId } = await create();
  const order = await client.getOrder({ creationTxHash });
  const raw = await (await fetch(new URL(`/api/Orders/${orderId}`, url))).text();
  assert.equal(order.orderId, orderId);
  assert.equal(order.takeOfferWithMetadata.amount, 99_500_000_000_000_000_000n);
  assert.equal(order.takeOfferWithMetadata.chainId, 137);
  assert.equal(order.createdSrcEventMetadata?.transactionHash, creationTxHash);
  assert.equal(order.taker, null);
  assert.equal(order.makerOrderNonce, BigInt(raw.match(/"makerOrderNonce":(\d+)/)![1]!));
  assert.deepEqual(await client.getOrder({ orderId }), order);
  assert.deepEqual(await client.getOrderIds({ hash: creationTxHash }), [orderId]);
});

test("a list has the orders of its filter", async () => {
  const [{ orderId }] = world.orders;
  const { orders, totalCount } = await client.getOrders({ filter: orderId });
  const order = await client.getOrder({ orderId });
  assert.deepEqual([totalCount, orders.map((each) => each.giveOfferWithMetadata)], [1, [order.giveOfferWithMetadata]]);
});

test("chains have their own numbers in queries, filters and answers", async () => {
  for (const [native, api] of [[1, 1], [100, 100000002], [728126428, 100000026], [7565164, 7565164], [146, 100000014]] as const) {
    assert.deepEqual([toApiChainId(native), toApiChainId(api), fromApiChainId(api)], [api, api, native]);
  }
  for (const { chainId, originalChainId } of await client.getChains()) {
    if (chainId !== 7565164) assert.equal(chainId, originalChainId);
  }
  const tron = 728126428;
  const { orders } = await client.getOrders({ giveChainIds: [tron] });
  assert.ok(orders.length > 0);
  for (const order of orders) assert.equal(order.giveOfferWithMetadata.chainId, tron);
  const usdt = (await client.searchTokens({ query: "USDT", chainId: tron }))[0];
  assert.equal(usdt?.chainId, tron);
});

test("what is locked for a taker, and what is to unlock", async () => {
  const [taker] = world.takers;
  const locked = await client.getLockedAssets({ taker: taker.address });
  const { orders } = await client.getOrdersToUnlock({ unlockAuthorities: taker.address, take: 100 });
  const ids = locked.flatMap((chain) => chain.lockedTokens.flatMap((token) => token.dstChainsLockedAmounts.flatMap((to) => to.ordersToUnlock)));
  assert.ok(ids.length > 0);
  const amounts = new Map(orders.map((order) => [order.orderId, order.finalGiveAmount]));
  for (const id of ids) assert.equal(typeof amounts.get(id), "bigint");
});

test("a swap has bigint amounts, and its explanation the same winner", async () => {
  const usdc = world.tokens.find((token: any) => token.chainId === 1 && token.symbol === "USDC");
  const query = { chainId: 1, tokenIn: coin, tokenInAmount: 10n ** 17n, tokenOut: usdc.address, slippage: 0.5 };
  const recipient = world.accounts[0].address;
  const swap = await client.getSwap({ ...query, tokenOutRecipient: recipient, senderAddress: recipient });
  assert.equal(swap.tx?.value, 10n ** 17n);
  assert.ok(swap.tokenOut.minAmount > 0n && swap.tokenOut.minAmount < swap.tokenOut.amount);
  assert.equal(swap.comparedAggregators[0]?.priceDrop, 0);
  const estimation = await client.estimateSwap(query);
  assert.equal(estimation.costsDetails[0]?.chain, 1);
  const { aggregators } = await client.explainSwap({ ...query, tokenOutRecipient: recipient });
  assert.equal(aggregators.find((each) => each.verdict === "won")?.name, swap.comparedAggregators[0]?.name);
});

test("an order to another chain has bigint amounts, and transactions that create, cancel and unlock", async () => {
  const [{ address }] = world.accounts;
  const query = { srcChainId: 1, srcChainTokenIn: coin, srcChainTokenInAmount: 10n ** 17n, dstChainId: 146, dstChainTokenOut: coin };
  const quote = await client.quoteOrder(query);
  assert.ok(quote.tx.allowanceValue === 10n ** 17n && quote.estimation.dstChainTokenOut.amount! > 0n);
  assert.equal(quote.estimation.dstChainTokenOut.chainId, 146);
  assert.ok(quote.takerMargin.amount > 0n && quote.takerMargin.bps > 3);
  const parties = { dstChainTokenOutRecipient: address, srcChainOrderAuthorityAddress: address, dstChainOrderAuthorityAddress: address };
  const made = await client.createOrder({ ...query, ...parties, senderAddress: address, prependOperatingExpenses: true });
  assert.ok(made.tx!.value === made.estimation.srcChainTokenIn.amount + made.fixFee && typeof made.order.salt === "bigint");
  assert.match(made.orderId!, /^0x[0-9a-f]{64}$/);
  const { to, data, value } = made.tx!;
  const verified = await client.verifyCreation({ chainId: 1, from: address, to: to!, value, data: data!, request: { ...query, dstChainId: 137, srcChainTokenInAmount: 1n } });
  const [order] = verified.orders;
  assert.deepEqual([verified.verdict, order?.orderId, order?.value, order?.makerOrderNonce, order?.takeChainId], ["Creates", made.orderId, value, made.order.salt, query.dstChainId]);
  assert.deepEqual(verified.differences.map(({ parameter }) => parameter), ["dstChainId", "srcChainTokenInAmount"]);
  const waiting = world.orders.find((order: any) => order.state === "Created");
  const { takeOfferWithMetadata } = await client.getOrder(waiting);
  const cancel = await client.cancelOrder(waiting);
  assert.deepEqual([typeof cancel.value, cancel.chainId], ["bigint", takeOfferWithMetadata.chainId]);
  await assert.rejects(client.cancelExternalCall(waiting), (error) => error instanceof SwapError && error.errorId === "NO_EXTERNALCALL_ATTACHED");
  const [taker] = world.takers;
  const unpaid = (await client.getOrders({ orderStates: ["Fulfilled"], fulfiller: taker.address, takeChainIds: [137] })).orders[0]!;
  const unlock = await client.unlockOrders({ orderIds: [unpaid.orderId], unlockBeneficiary: taker.address });
  assert.deepEqual([typeof unlock.value, unlock.chainId], ["bigint", 137]);
});

test("every other call is answered", async () => {
  const tokens = await client.getTokens({ chainId: 1 });
  assert.equal(tokens[coin]?.isNative, true);
  assert.ok((await client.getAllTimeStatistics()).createdOrdersCount > 0);
  assert.ok((await client.getDailyStatistics()).dailyData.length > 0);
  assert.ok(Array.isArray(await client.getDeliveryTimes()));
  assert.ok(Array.isArray(await client.getVenueStatistics()));
  const { transactionHash } = await control("swap", { chainId: 1, amount: "0.5", recipient: world.accounts[0].address });
  const swap = await client.getMadeSwap({ chainId: 1, hash: transactionHash });
  assert.equal(swap.tokenIn.amount, 5n * 10n ** 17n);
});

test("errors are of the API's dialects", async () => {
  await assert.rejects(client.getOrder({ orderId: "0x00" }), (error) => {
    assert.ok(error instanceof TrackingError);
    assert.deepEqual([error.status, error.errorCode, error.errorId], [400, 400, "MALFORMED_ORDER_ID"]);
    return /^[0-9a-f]{32}$/.test(error.requestId);
  });
  await assert.rejects(client.getTokens({ chainId: 12345678 }), (error) => {
    assert.ok(error instanceof SwapError);
    return error.status === 400 && error.errorId === "INVALID_QUERY_PARAMETERS" && error.errorCode === 2;
  });
  const nowhere = createCrossgateClient({ url: "http://user:secret@127.0.0.1:1/", retryCount: 1, retryDelay: 1 });
  await assert.rejects(nowhere.getChains(), (error) => error instanceof ConnectionError && !String(error).includes("secret"));
});

test("a gateway may be below a path of its host", async () => {
  const asked: string[] = [];
  const relay: typeof fetch = (target) => {
    asked.push(String(target));
    return fetch(new URL("/v1.0/supported-chains-info", url));
  };
  await createCrossgateClient({ url: "https://host.example/gateway/", fetch: relay }).getChains();
  assert.deepEqual(asked, ["https://host.example/gateway/v1.0/supported-chains-info"]);
});

test("a request beyond the quota is repeated after Retry-After", async () => {
  const statuses: number[] = [];
  const limited = createCrossgateClient({ url: setting("LIMITED"), onFetchResponse: ({ status }) => statuses.push(status) });
  for (let asked = 0; asked < 20 && !statuses.includes(429); asked++) await limited.getChains();
  assert.deepEqual(statuses.slice(-2), [429, 200]);
  const impatient = createCrossgateClient({ url: setting("LIMITED"), maxRetryAfter: 0 });
  const refused = async () => {
    for (let asked = 0; asked < 20; asked++) await impatient.getChains();
  };
  await assert.rejects(refused(), (error) => error instanceof SwapError && error.status === 429 && error.retryAfter! >= 1000);
});

test("a call ends with its signal", async () => {
  const reason = new Error("enough");
  await assert.rejects(client.getChains({ signal: AbortSignal.abort(reason) }), reason);
  const watching = new AbortController();
  const { creationTxHash } = await create();
  await assert.rejects(async () => {
    for await (const _ of client.watchOrder({ creationTxHash }, { signal: watching.signal })) watching.abort(reason);
  }, reason);
});

/** Follows an order through its life by controls, and returns the states seen. */
async function follow(client: CrossgateClient) {
  const { creationTxHash, orderId } = await create();
  const seen: OrderState[] = [];
  const next: Partial<Record<OrderState, () => Promise<unknown>>> = {
    Created: () => control("fulfil", { orderId }),
    Fulfilled: () => control("unlock", { orderIds: [orderId] }),
    SentUnlock: () => control("claim", { orderId }),
  };
  for await (const { state } of client.watchOrder({ creationTxHash })) {
    if (state === seen.at(-1)) continue;
    seen.push(state);
    await next[state]?.();
  }
  return seen;
}
const life = ["Created", "Fulfilled", "SentUnlock", "ClaimedUnlock"];

test("an order is watched until its final state", async () => assert.deepEqual(await follow(client), life));

test("a stream that breaks goes on where it was", async () => {
  let streams = 0, records = 0;
  const breaking: typeof fetch = async (target, { headers, ...init } = {}) => {
    const asks = new Headers(headers);
    if (!asks.has("Accept") && ++records === 2) return new Response("", { status: 503, headers: { "Retry-After": "1" } });
    if (streams === 2 && asks.has("Last-Event-ID")) asks.set("Last-Event-ID", "9007199254740991"); // of another gateway
    const response = await fetch(target, { ...init, headers: asks });
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream") || ++streams > 2) return response;
    let events = 0;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, to) {
        to.enqueue(chunk);
        if (new TextDecoder().decode(chunk).includes("event: happened") && ++events === 1) to.error(new TypeError("terminated"));
      },
    });
    return new Response(response.body!.pipeThrough(cut), response);
  };
  assert.deepEqual(await follow(createCrossgateClient({ url, fetch: breaking, maxRetryAfter: 0 })), life);
  assert.ok(streams > 1, `it broke ${streams} times`);
});

test("a creation that is not found is asked for again, no longer than patience", async () => {
  let asked = 0;
  const counting = createCrossgateClient({ url, onFetchResponse: () => asked++ });
  const watching = counting.watchOrder({ creationTxHash: unknown }, { patience: 500 });
  await assert.rejects(watching.next(), (error) => error instanceof TrackingError && error.errorId === "TRANSACTION_NOT_FOUND");
  assert.equal(asked, 2);
  const busy = async () => (asked++, new Response("", { status: 503, headers: { "Retry-After": "90" } }));
  const refused = createCrossgateClient({ url, fetch: busy }).watchOrder({ creationTxHash: unknown }, { patience: 500 });
  await assert.rejects(refused.next(), (error) => error instanceof TrackingError && error.retryAfter === 90_000);
  assert.equal(asked, 3);
});
