// Writes src/api.ts from proxy/openapi.yaml and chain/chains.yaml: the types of what the client takes and returns, the
// names of members that are amounts, and the chains' numbers. With --check it compares instead.
import { readFile, writeFile } from "node:fs/promises";
import { load } from "js-yaml";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const at = (path) => new URL(path, import.meta.url);
const yaml = async (path) => load(await readFile(at(path), "utf8"));
const document = await yaml("../../proxy/openapi.yaml");
const { chains } = await yaml("../../chain/chains.yaml");
const { schemas, parameters, responses } = document.components;

const bigint = { type: "integer", format: "bigint" };
const hex = { type: "string", format: "hex" };
const described = ({ description }, type) => (description ? { ...type, description } : type);
const isChain = (member) => /chainId$/i.test(member) || member === "chain";
const lastOf = (reference) => reference?.split("/").at(-1);

// Queries as the client takes them, and the error ids of each dialect.
const queries = { swap: "SwapQuery", createOrder: "CreationQuery", estimation: "EstimationQuery", tokenList: "TokenQuery", searchTokens: "SearchQuery", dailyStatistics: "DailyQuery" };
const chainId = { type: "integer", description: "The chain's own (EIP-155) number; Solana's is 7565164." };
const amountIn = { oneOf: [bigint, { enum: ["max", "auto"] }] };
const amountOut = { oneOf: [bigint, { enum: ["auto"] }] };
const rewritten = {
  chainId,
  srcChainId: chainId,
  dstChainId: chainId,
  tokenInAmount: amountIn,
  srcChainTokenInAmount: amountIn,
  tokenOutAmount: amountOut,
  dstChainTokenOutAmount: amountOut,
  slippage: { oneOf: [{ type: "number" }, { enum: ["auto"] }] },
};
const errorIds = { api: new Set(), "v1.0": new Set() };
for (const [path, methods] of Object.entries(document.paths)) {
  for (const operation of Object.values(methods)) {
    for (const { $ref } of Object.values(operation.responses)) {
      const problem = responses[lastOf($ref)]?.content["application/json"].schema.allOf?.[1].properties.errorId ?? {};
      for (const id of problem.enum ?? (problem.const ? [problem.const] : [])) errorIds[path.split("/")[1]]?.add(id);
    }
    if (!queries[operation.operationId]) continue;
    const query = { type: "object", required: [], properties: {} };
    for (const { $ref, ...given } of operation.parameters) {
      const { name, in: where, required, description, schema } = $ref ? parameters[lastOf($ref)] : given;
      if (where !== "query" || name === "bundle") continue;
      const { default: _, ...type } = rewritten[name] ?? (schema.enum?.includes("true") ? { type: "boolean" } : schema);
      query.properties[name] = { description, ...(type.$ref ? schemas[lastOf(type.$ref)] : type) };
      if (required) query.required.push(name);
    }
    schemas[queries[operation.operationId]] = query;
  }
}

delete schemas.OrderCreation.properties.walletSendCalls; // which wallets take as it is
delete schemas.TransactionToVerify.properties.request; // the client's own type has it
schemas.TakerMarginLeft.properties.amount = bigint; // that can be negative
schemas.TransactionToVerify.properties.value = described(schemas.TransactionToVerify.properties.value, bigint);

// Members named after a chain's id hold the chain's own number, and amounts are bigint.
const found = { amounts: [], texts: [] };
for (const [name, schema] of Object.entries(schemas)) {
  for (const [member, is] of Object.entries((name !== "BigNumber" && schema.properties) || {})) {
    if (isChain(member) && is.type !== "null") schema.properties[member] = described(is, { type: "integer" });
    else if ([is, ...(is.oneOf ?? [])].some(({ $ref }) => lastOf($ref) === "Decimal")) found.amounts.push([name, member]);
    else if (is.type === "string") found.texts.push([name, member]);
  }
}
for (const schema of [schemas.Order, schemas.OrderLite]) schema.properties.makerOrderNonce = bigint;
schemas.ExpectedOrder.properties.makerOrderNonce = { oneOf: [{ type: "null" }, bigint] };
schemas.CreationRefusal.properties.errors.items.properties.arguments.additionalProperties = { oneOf: [{ type: "string" }, bigint] };
schemas.OrderPlan.properties.salt = bigint;
for (const name of ["BigNumber", "Decimal"]) schemas[name] = described(schemas[name], bigint);
for (const name of ["Hash", "TransactionHash"]) schemas[name] = { type: "string" };
for (const name of ["Address", "HashOrNulls"]) schemas[name] = { type: ["string", "null"] };
for (const name of ["Hex", "HashText"]) schemas[name] = described(schemas[name], hex);

// What the client's own types refer to, and what that refers to.
const wanted = new Set([...Object.values(queries), "Order", "OrderFilter", "OrderList", "OrderQuote", "OrderCreation",
  "TransactionToVerify", "Verification", "CancelTransaction", "UnlockTransaction", "UnlockFilter", "UnlockList", "LockedChain", "Swap",
  "Estimation", "Explanation", "Chain", "Tokens", "FoundTokens", "SameChainSwap", "DailyStatistics", "AllTimeStatistics", "DeliveryTimes", "Venues"]);
for (const name of wanted) for (const [, next] of JSON.stringify(schemas[name]).matchAll(/schemas\/(\w+)"/g)) wanted.add(next);

const [amounts, texts] = [found.amounts, found.texts].map((list) => new Set(list.filter(([name]) => wanted.has(name)).map(([, member]) => member)));
const both = [...amounts].filter((member) => texts.has(member));
if (both.length > 0) throw new Error(`amounts in one schema and texts in another: ${both}`);

const needed = Object.fromEntries(Object.entries(schemas).filter(([name]) => wanted.has(name)));
const types = await openapiTS({ openapi: document.openapi, info: document.info, paths: {}, components: { schemas: needed } }, {
  silent: true,
  defaultNonNullable: false,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  exportType: true,
  transform(schema) {
    if (schema.format === "bigint") return ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
    if (schema.format === "hex") return ts.factory.createTypeReferenceNode("`0x${string}`");
  },
});

const union = (ids) => [...ids].sort().map((id) => `\n  | ${JSON.stringify(id)}`).join("");
const renumbered = chains.filter((chain) => chain.native && chain.native !== chain.id);
const text = `// Generated by npm run generate from the API's document and its table of chains.
${astToString(types)
  .replaceAll(/^(?: {4})+/gm, (spaces) => "  ".repeat(spaces.length / 4))
  .replaceAll(/^(  \w+: never;|export type \S+ = Record<string, never>;)\n/gm, "")
  .replaceAll("components['schemas']", "components[\"schemas\"]")}
export type TrackingErrorId =${union(errorIds.api)};

export type SwapErrorId =${union(errorIds["v1.0"])};

/** Members that the API writes as decimals. */
export const amounts: ReadonlySet<string> = new Set(${JSON.stringify([...amounts].sort(), null, 2)});

/** Chains that the API numbers otherwise than EIP-155: their own number, and the API's. */
export const renumbered: readonly (readonly [native: number, api: number])[] = [
${renumbered.map((chain) => `  [${chain.native}, ${chain.id}], // ${chain.name}`).join("\n")}
];
`;
const target = at("src/api.ts");
if (!process.argv.includes("--check")) await writeFile(target, text);
else if ((await readFile(target, "utf8")) !== text) throw new Error("src/api.ts is out of date: npm run generate in clients/typescript");
