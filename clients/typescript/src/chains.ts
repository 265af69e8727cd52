import { renumbered } from "./api.js";

const toApi = new Map(renumbered);
const toNative = new Map(renumbered.map(([native, api]) => [api, native]));

/**
 * The API's number of a chain, from the chain's own (EIP-155): 100000002 from Gnosis's 100. Where the two are the same, as on
 * Ethereum and for Solana's 7565164, and for a number that is the API's already, it is the number given.
 */
export const toApiChainId = (id: number): number => toApi.get(id) ?? id;

/** The chain's own number, from the API's: TRON's 728126428 from 100000026. */
export const fromApiChainId = (id: number): number => toNative.get(id) ?? id;
