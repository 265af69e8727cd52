// A wallet that swaps through the gateway: ask, compare, approve, sign, send, and check what arrived.
import { ConnectionError, createCrossgateClient } from "crossgate-client";
import { type Address, BaseError, type Hex, createPublicClient, createWalletClient, erc20Abi, formatUnits, http, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`the environment has no ${name}; make demo writes all of them to examples/wallet/.env`);
  return value;
}

async function swapTokens() {
  const gateway = createCrossgateClient({ url: setting("GATEWAY") });
  const account = privateKeyToAccount(setting("PRIVATE_KEY") as Hex);
  const tokenIn = setting("TOKEN_IN") as Address;
  const tokenOut = setting("TOKEN_OUT") as Address;
  const amountIn = BigInt(setting("AMOUNT"));

  const transport = http(setting("RPC_URL"));
  const chain = createPublicClient({ transport, pollingInterval: 200 });
  const wallet = createWalletClient({ account, transport });

  // A transaction is done once its receipt shows success; a reverted one has a receipt too.
  async function done(hash: Hex): Promise<void> {
    const receipt = await chain.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} reverted`);
  }

  const balanceOf = (token: Address) =>
    token === zeroAddress
      ? chain.getBalance({ address: account.address })
      : chain.readContract({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [account.address] });

  const swap = await gateway.getSwap({
    chainId: Number(setting("CHAIN_ID")),
    tokenIn,
    tokenInAmount: amountIn,
    tokenOut,
    tokenOutRecipient: account.address,
    senderAddress: account.address,
  });
  const { symbol, decimals, minAmount } = swap.tokenOut;
  const written = (amount: bigint) => `${formatUnits(amount, decimals)} ${symbol}`;
  console.log(`${formatUnits(amountIn, swap.tokenIn.decimals)} ${swap.tokenIn.symbol} for`);
  for (const { name, amount, priceDrop } of swap.comparedAggregators) {
    console.log(`  ${written(amount)} at ${name}, ${priceDrop} % below the best`);
  }
  if (!swap.tx) throw new Error("the answer has no transaction");
  const { data, value = 0n } = swap.tx;
  const to = swap.tx.to as Address;

  // The transaction's recipient is the contract that takes the token.
  if (tokenIn !== zeroAddress) {
    const args = [account.address, to] as const;
    const allowed = await chain.readContract({ address: tokenIn, abi: erc20Abi, functionName: "allowance", args });
    // Some tokens, such as USDT on Ethereum, change an allowance only from or to zero.
    const approvals = allowed >= amountIn ? [] : allowed > 0n ? [0n, amountIn] : [amountIn];
    for (const units of approvals) {
      const approval = { address: tokenIn, abi: erc20Abi, functionName: "approve", args: [to, units] } as const;
      await done(await wallet.writeContract({ ...approval, chain: null }));
    }
  }

  const before = await balanceOf(tokenOut);
  const hash = await wallet.sendTransaction({ to, data, value, chain: null });
  await done(hash);
  const received = (await balanceOf(tokenOut)) - before;
  console.log(`swapped in ${hash}: received ${written(received)}, at least ${written(minAmount)} were promised`);

  // The coin received is less than promised by the transaction's fee.
  if (tokenOut !== zeroAddress && received < minAmount) throw new Error("received less than promised");
}

try {
  process.loadEnvFile(new URL("../.env", import.meta.url));
} catch {
  // The environment may contain the settings.
}
try {
  await swapTokens();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  const message = error instanceof BaseError ? error.shortMessage : error.message;
  const isAway = error instanceof ConnectionError;
  console.error(`wallet: ${message}${isAway ? "; make demo in the repository starts a gateway" : ""}`);
  process.exitCode = 1;
}
