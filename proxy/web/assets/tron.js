// Adapts a TRON wallet to the interface of EVM wallets. Its provider (TIP-1193) only signs: reads and sends go through
// the gateway, since the node of its tronWeb is another host, and transactions are built here, since a node could build
// another one than the page shows.
import { answerAt } from './signing.js'

async function node(method, ...params) {
  const { result, error } = await answerAt('/wallet/tron', { method: 'POST', body: JSON.stringify({ method, params }) })
  if (error) throw Object.assign(new Error(error), { isRefused: true })
  return result
}

// Fields of protocol buffers in hex (https://github.com/tronprotocol/protocol, core/Tron.proto, smart_contract.proto).
const byte = (value) => value.toString(16).padStart(2, '0')
const varint = (value) => value < 128n ? byte(value) : byte(value & 127n | 128n) + varint(value >> 7n)
const bytes = (field, hex) => varint(BigInt(field << 3 | 2)) + varint(BigInt(hex.length / 2)) + hex
const number = (field, value) => value ? varint(BigInt(field << 3)) + varint(BigInt(value)) : ''
const hexOf = (buffer) => [...new Uint8Array(buffer)].map(byte).join('')
const typeURL = 'type.googleapis.com/protocol.TriggerSmartContract'
const life = 5 * 60_000 // ms after the newest block, in which to sign

// The transaction of a call, in the form that wallets sign.
async function transactionOf({ owner, contract, value, data, feeLimit }) {
  if (!crypto.subtle) throw new Error('TRON wallets sign only on HTTPS pages.')
  const block = await node('eth_getBlockByNumber', 'latest', false)
  const raw = {
    contract: [{
      type: 'TriggerSmartContract',
      parameter: { type_url: typeURL, value: { owner_address: owner, contract_address: contract, data, ...(value > 0 && { call_value: value }) } },
    }],
    ref_block_bytes: block.number.slice(2).padStart(4, '0').slice(-4), ref_block_hash: block.hash.slice(18, 34),
    expiration: Number(block.timestamp) * 1000 + life, timestamp: Date.now(), fee_limit: feeLimit,
  }
  const call = bytes(1, owner) + bytes(2, contract) + number(3, value) + bytes(4, data)
  const hex = bytes(1, raw.ref_block_bytes) + bytes(4, raw.ref_block_hash) + number(8, raw.expiration) +
    bytes(11, number(1, 31) + bytes(2, bytes(1, hexOf(new TextEncoder().encode(typeURL))) + bytes(2, call))) + // ContractType 31
    number(14, raw.timestamp) + number(18, raw.fee_limit)
  const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from(hex.match(/../g), (each) => parseInt(each, 16)))
  return { visible: false, txID: hexOf(digest), raw_data: raw, raw_data_hex: hex }
}

async function send(provider, { from, to, data, value, gas, gasPrice }) {
  const [energy, price] = gas ? [gas, gasPrice] : await Promise.all([node('eth_estimateGas', { from, to, data, value }), node('eth_gasPrice')])
  const spare = gas ? 10n : 13n // tenths; a contract's energy varies with its use
  const transaction = await transactionOf({
    owner: '41' + from.slice(2), contract: '41' + to.slice(2), value: Number(value), data: data.slice(2), feeLimit: Number(BigInt(energy) * BigInt(price) * spare / 10n),
  })
  const signed = await provider.tronWeb.trx.sign(transaction).catch((error) => {
    const text = error.message ?? String(error)
    throw Object.assign(new Error(text), { code: /declin|reject|cancel/i.test(text) ? 4001 : error.code })
  })
  return node('broadcasttransaction', signed).catch((error) => {
    if (error.isRefused) throw error
    return signed.txID // it may have arrived, as its receipt will tell
  })
}

export function callsOf(provider) {
  const hex = (address) => '0x' + provider.tronWeb.address.toHex(address).slice(2).toLowerCase()
  const called = ({ from, to, data, value = '0x0', gas, gasPrice }) => ({ from: from && hex(from), to: hex(to), data, value, gas, gasPrice })
  const request = async (method, ...params) => {
    switch (method) {
      case 'eth_sendTransaction': return send(provider, called(params[0]))
      case 'eth_call': return node(method, called(params[0]), 'latest')
      case 'eth_getTransactionReceipt': return node(method, '0x' + params[0])
      case 'eth_getTransactionByHash': return null // without a nonce, it cannot be replaced
    }
    return provider.request({ method, params })
  }
  return { request, hex, life: life + 60_000 }
}
