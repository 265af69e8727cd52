// What is said of a transaction that was sent, by wallets and a gateway whose answers are given, without waiting.
import { landed, mined } from '../assets/signing.js'
import { callsOf } from '../assets/tron.js'

let now = 0
Date.now = () => now
globalThis.setTimeout = (resume, ms) => { if ((now += ms) < 3_600_000) queueMicrotask(resume) } // else it waits for good
const minutes = () => now / 60_000

async function outcomeOf(sending) {
  now = 0
  return sending().then((receipt) => `${receipt.hash} in block ${receipt.blockNumber}`, (error) => `${error.message} ${error.hash}`)
}

// An EVM wallet, on another chain from the first to the third minute if it wanders, where the account's seventh transaction
// is another one. On its own, that is the same one for a higher fee if faster, though how many it sent is unknown at first.
const onEVM = ({ wanders, faster }) => () => {
  const isAway = () => wanders && minutes() > 1 && minutes() < 3
  const ours = { hash: '0xours', from: '0xme', nonce: '0x7', to: '0xswap', input: '0x', value: '0x0' }
  const answers = {
    eth_chainId: () => isAway() ? '0x89' : '0x1',
    eth_getTransactionReceipt: (hash) => hash === (faster ? '0xother' : '0xours') && minutes() > 4 ? { status: '0x1', blockNumber: '0x14' } : null,
    eth_getTransactionByHash: () => ours,
    eth_blockNumber: () => isAway() ? '0x1e' : faster && minutes() > 2 ? '0x18' : '0x10',
    eth_getTransactionCount: (_, block) => {
      if (faster && minutes() > 2 && minutes() < 3) throw new Error('busy')
      return isAway() && Number(block) > 20 || faster && Number(block) >= 20 ? '0x8' : '0x7'
    },
    eth_getBlockByNumber: (block) => ({ transactions: block === (faster ? '0x14' : '0x15') ? [{ ...ours, hash: '0xother', ...(!faster && { to: '0xelse' }) }] : [] }),
  }
  return mined({ request: async (method, ...params) => answers[method](...params) }, 1, '0xours', () => {})
}

// A TRON wallet whose broadcast is answered by status; no receipt can be read before the given minute.
const onTRON = ({ status = 200, error, unread = 0, included = 1 }) => async () => {
  globalThis.fetch = async (_, { body }) => {
    const { method } = JSON.parse(body)
    const result = {
      eth_getBlockByNumber: { number: '0x10', hash: '0x' + '00'.repeat(32), timestamp: '0x0' }, broadcasttransaction: 'ab',
      eth_getTransactionReceipt: minutes() > included ? { status: '0x1', blockNumber: '0x14' } : null,
    }[method]
    const isCut = method === 'broadcasttransaction' && status !== 200 || method === 'eth_getTransactionReceipt' && minutes() < unread
    if (isCut) return new Response(status === 502 ? '<html>' : '{"errorMessage":"the upstream is silent"}', { status: status === 200 ? 503 : status })
    return new Response(JSON.stringify(method === 'broadcasttransaction' && error ? { error } : { result }))
  }
  const tronWeb = { address: { toHex: (address) => '41' + address.slice(2) }, trx: { sign: async (transaction) => ({ ...transaction, txID: 'ab' }) } }
  const wallet = callsOf({ tronWeb, request: async () => '0x2b6653dc' })
  const account = '0x' + '01'.repeat(20)
  const hash = await wallet.request('eth_sendTransaction', { from: account, to: account, data: '0x', gas: '0x1', gasPrice: '0x1' })
  return mined(wallet, 728126428, hash, () => {})
}

// A transaction on Solana about which the gateway knows nothing before one minute, and that is on the chain from another on.
const onSolana = ({ silent = 0, included = 99, creates, increases }) => async () => {
  globalThis.fetch = async () => {
    if (minutes() < silent) return new Response('{"errorId":"CHAIN_UNREACHABLE"}', { status: 503 })
    if (minutes() < included) return new Response('{"errorId":"TRANSACTION_NOT_FOUND"}', { status: 404 })
    return new Response(creates ? '{"orderId":{}}' : '{"errorId":"TRANSACTION_WITHOUT_ORDER"}')
  }
  await landed('sig', increases === undefined ? null : async () => minutes() > increases)
  return { hash: 'sig', blockNumber: Math.ceil(minutes()) }
}

for (const [name, sending, want] of [
  ['the wallet is on another chain for a while', onEVM({ wanders: true }), '0xours in block 0x14'],
  ['the wallet sends it again', onEVM({ faster: true }), '0xother in block 0x14'],
  ['TRON includes it', onTRON({}), 'ab in block 0x14'],
  ['TRON never includes it', onTRON({ included: 99 }), 'The transaction was not included in time and has expired: ab'],
  ['TRON refuses it', onTRON({ error: 'TRON refuses it' }), 'TRON refuses it undefined'],
  ['the quota is used up', onTRON({ status: 429 }), 'the upstream is silent undefined'],
  ['the broadcast is not answered', onTRON({ status: 504 }), 'ab in block 0x14'],
  ['a balancer answers the broadcast', onTRON({ status: 502 }), 'ab in block 0x14'],
  ['no receipt can be read for long', onTRON({ unread: 9, included: 5 }), 'ab in block 0x14'],
  ['Solana never includes it', onSolana({ increases: 99 }), 'The transaction has not appeared for two minutes and has probably expired: sig'],
  ['no node of Solana answers for long', onSolana({ silent: 5, included: 6, increases: 5.9 }), 'sig in block 6'],
  ['a swap is not searched for', onSolana({ increases: 0.5 }), 'sig in block 1'],
  ['Solana includes the order', onSolana({ included: 1, creates: true }), 'sig in block 1'],
  ['the order fails', onSolana({ included: 1 }), 'The transaction is on chain, but has not created the order: sig'],
  ['the swap fails', onSolana({ included: 1, increases: 99 }), 'The transaction is on chain, but the balance has not increased: sig'],
]) {
  const got = await outcomeOf(sending)
  if (got !== want) console.log(`${name}: ${got}, want ${want}`)
}
