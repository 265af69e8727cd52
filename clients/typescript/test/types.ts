// Compiles as long as each line below a directive does not.
import { type CrossgateClient, SwapError, TrackingError } from "crossgate-client";

export async function wrong(client: CrossgateClient, error: unknown) {
  const order = await client.getOrder({ orderId: "0x00" });
  // @ts-expect-error: the member is takeOfferWithMetadata
  order.takeOffer;
  // @ts-expect-error: amounts are bigint
  order.giveOfferWithMetadata.amount.stringValue;
  // @ts-expect-error: an order that is not fulfilled has no such event
  order.fulfilledDstEventMetadata.blockNumber;
  // @ts-expect-error: no such state
  order.state === "Completed";
  // @ts-expect-error: an order has one name
  await client.getOrder({ hash: "0x00" });
  // @ts-expect-error: a recipient is required
  await client.getSwap({ chainId: 1, tokenIn: "0x00", tokenInAmount: 1n, tokenOut: "0x00" });
  // @ts-expect-error: the member is dstChainTokenOut
  await client.createOrder({ srcChainId: 1, srcChainTokenIn: "0x00", srcChainTokenInAmount: 1n, dstChainId: 10, tokenOut: "0x00" });
  // @ts-expect-error: amounts are not numbers
  await client.estimateSwap({ chainId: 1, tokenIn: "0x00", tokenInAmount: 1, tokenOut: "0x00" });
  // @ts-expect-error: the member is orderStates
  await client.getOrders({ states: ["Created"] });
  const swap = await client.getSwap({ chainId: 1, tokenIn: "0x00", tokenInAmount: "max", tokenOut: "0x00", tokenOutRecipient: "0x00" });
  // @ts-expect-error: an estimate for Solana without a sender has no transaction
  swap.tx.data;
  // @ts-expect-error: no class has it
  if (error instanceof TrackingError && error.code) return error;
  return error instanceof SwapError && error.errorId === "NO_ROUTE" ? error : undefined;
}
