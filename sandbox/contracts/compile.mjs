// Compiles the sandbox's contracts with the pinned solc and writes one artifact for each of them.
// Usage: npm ci && node compile.mjs
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const here = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(here).filter((name) => name.endsWith(".sol")).sort();
const sources = Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(here, name), "utf8") }]));

// contracts_test.go computes the same hash: a source that changed without its artifact fails there.
const hash = createHash("sha256");
for (const name of names) hash.update(`${name}\n${sources[name].content}\n`);
const sourceHash = hash.digest("hex");

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources,
      settings: {
        evmVersion: "paris",
        viaIR: true,
        optimizer: { enabled: true, runs: 200 },
        metadata: { bytecodeHash: "none", appendCBOR: false },
        outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "storageLayout"] } },
      },
    }),
  ),
);
for (const message of output.errors ?? []) console.error(message.formattedMessage);
if (output.errors?.some((message) => message.severity === "error")) process.exit(1);

const artifacts = join(here, "artifacts");
rmSync(artifacts, { recursive: true, force: true });
mkdirSync(artifacts);
for (const file of names) {
  for (const [name, contract] of Object.entries(output.contracts[file] ?? {})) {
    const runtime = contract.evm.deployedBytecode.object;
    // Interfaces, libraries of internal functions and abstract contracts are no artifacts.
    if (runtime.length < 200) continue;
    const { storage: variables, types } = contract.storageLayout;
    const storage = Object.fromEntries(
      variables.map(({ label, slot, offset, type }) => [
        label,
        { slot: Number(slot), offset, size: Number(types[type].numberOfBytes) },
      ]),
    );
    const artifact = { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}`, runtime: `0x${runtime}`, storage, sourceHash };
    writeFileSync(join(artifacts, `${name}.json`), `${JSON.stringify(artifact)}\n`);
    console.log(`${name}: ${runtime.length / 2} bytes`);
  }
}
