// A wallet that swaps through the gateway: ask, compare, approve, sign, send, and check what arrived.
import { type Address, type Hex, createPublicClient, createWalletClient, erc20Abi, http, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";

// What GET /v1.0/chain/transaction answers, as far as a wallet reads it. Amounts are in smallest units, as decimals.
interface Swap {
  tx: { to: Address; data: Hex; value: string };
  tokenIn: { symbol: string; decimals: number; amount: string };
  tokenOut: { symbol: string; decimals: number; amount: string; minAmount: string };
  slippage: number;
  comparedAggregators: { name: string; amount: string; priceDrop: number }[];
}

// Every error has this body, whatever the path.
interface Problem {
  errorId: string;
  errorMessage: string;
  reqId: string;
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`the environment has no ${name}; see examples/README.md`);
  return value;
}

async function askForSwap(query: Record<string, string>): Promise<Swap> {
  const url = new URL("/v1.0/chain/transaction", setting("GATEWAY"));
  url.search = new URLSearchParams(query).toString();
  const response = await fetch(url);
  const body = await response.json();
  if (!response.ok) {
    const { errorId, errorMessage, reqId } = body as Problem;
    throw new Error(`${errorId}: ${errorMessage} (request ${reqId})`);
  }
  return body as Swap;
}

const account = privateKeyToAccount(setting("PRIVATE_KEY") as Hex);
const tokenIn = setting("TOKEN_IN") as Address;
const tokenOut = setting("TOKEN_OUT") as Address;
const amountIn = BigInt(setting("AMOUNT"));

const transport = http(setting("RPC_URL"));
const chain = createPublicClient({ transport, pollingInterval: 200 });
const wallet = createWalletClient({ account, transport });

// A transaction is done when its receipt says so; a reverted one has a receipt as well.
async function done(hash: Hex): Promise<void> {
  const receipt = await chain.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error(`transaction ${hash} reverted`);
}

const balanceOf = (token: Address) =>
  token === zeroAddress
    ? chain.getBalance({ address: account.address })
    : chain.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [account.address] });

const swap = await askForSwap({
  chainId: setting("CHAIN_ID"),
  tokenIn,
  tokenInAmount: amountIn.toString(),
  tokenOut,
  tokenOutRecipient: account.address.toLowerCase(),
  senderAddress: account.address.toLowerCase(),
});
for (const { name, amount, priceDrop } of swap.comparedAggregators) {
  console.log(`${name}: ${amount} ${swap.tokenOut.symbol}, ${priceDrop} % below the best`);
}

// The contract that takes the token is the one that the transaction calls.
if (tokenIn !== zeroAddress) {
  const args = [account.address, swap.tx.to] as const;
  if ((await chain.readContract({ address: tokenIn, abi: erc20Abi, functionName: "allowance", args })) < amountIn) {
    const approval = { address: tokenIn, abi: erc20Abi, functionName: "approve", args: [swap.tx.to, amountIn] } as const;
    await done(await wallet.writeContract({ ...approval, chain: null }));
  }
}

const before = await balanceOf(tokenOut);
const { to, data, value } = swap.tx;
const hash = await wallet.sendTransaction({ to, data, value: BigInt(value), chain: null });
await done(hash);
const received = (await balanceOf(tokenOut)) - before;
console.log(`swapped in ${hash}: received ${received} ${swap.tokenOut.symbol}, at least ${swap.tokenOut.minAmount} were promised`);

// What is received in the coin is less than promised by the fee of the transaction.
if (tokenOut !== zeroAddress && received < BigInt(swap.tokenOut.minAmount)) throw new Error("received less than promised");
