import { amounts } from "./api.js";
import { fromApiChainId, toApiChainId } from "./chains.js";

// These can exceed the precision of a number, and answers have them in no other encoding.
const nonce = /("(?:makerOrderNonce|salt)":\s*)(\d+)/g;

/** Reads an answer: amounts as bigint, addresses and hashes as texts, chains by their own number. */
export const decode = (text: string) => JSON.parse(text.replace(nonce, '$1"$2"'), revive);

function revive(name: string, value: unknown): unknown {
  const isChain = name === "chain" || (/chainId$/i.test(name) && name !== "originalChainId");
  if (typeof value === "object" && value !== null && "stringValue" in value) {
    if (isChain) return fromApiChainId(Number(value.stringValue));
    return "bigIntegerValue" in value ? BigInt(value.stringValue as string) : value.stringValue;
  }
  if (isChain && value !== null) return fromApiChainId(Number(value));
  const isNumber = name === "makerOrderNonce" || name === "salt" || amounts.has(name);
  if (typeof value === "string" && isNumber) return BigInt(value);
  return value;
}

/** Writes a query or a body as the API takes it. */
export function encode(given: object): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    if (/chainId$/i.test(name)) written[name] = toApiChainId(value);
    else if (/chainIds$/i.test(name)) written[name] = value.map(toApiChainId);
    else written[name] = typeof value === "bigint" ? value.toString() : value;
  }
  return written;
}
