// Calls and transactions of EVM chains and TRON through a connected wallet.
export const short = (text) => `${text.slice(0, 6)}…${text.slice(-4)}`
export const same = (a, b) => a === b || (a?.startsWith('0x') && a.toLowerCase() === b?.toLowerCase())
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// The data of a call whose arguments, hex texts and bigints, take one word each.
const word = (value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')
export const calling = (selector, ...values) => selector + values.map(word).join('')

export const bytesOf = (hex) => Uint8Array.from(hex.slice(2).match(/../g), (byte) => parseInt(byte, 16))

// hexOf formats an integer in hex; isOn reports whether a wallet is on a chain.
export const hexOf = (whole) => '0x' + BigInt(whole).toString(16)
export const isOn = async (wallet, native) => Number(await wallet.request('eth_chainId')) === Number(native)

export async function switchTo(wallet, native, name) {
  await wallet.request('wallet_switchEthereumChain', { chainId: hexOf(native) }).catch((error) => { // EIP-3326
    throw error?.code === 4902 ? new Error(`The wallet does not know ${name}: add the chain there, then try again.`) : error
  })
}

// Fetches an answer of the API. An error's isRefused tells that nothing was done.
export async function answerAt(url, options) {
  const answer = await fetch(url, options)
  const body = await answer.json().catch(() => ({})) // a load balancer answers otherwise
  if (answer.ok) return body
  const why = body.errorMessage ?? `The gateway answered with status ${answer.status}. Try again later.`
  throw Object.assign(new Error(why), { isRefused: answer.status < 500 })
}

// The receipt and hash of a successful transaction, or of the replacement that the wallet sent for a higher fee.
export async function mined(wallet, native, hash, say) {
  const began = Date.now()
  const ask = (method, ...params) => wallet.request(method, ...params).catch(() => undefined) // the transaction was sent all the same
  const isHere = () => isOn(wallet, native).catch(() => false) // the account has other nonces on other chains
  const fails = (why) => { throw Object.assign(new Error(why), { hash }) }
  say('Sent, waiting for confirmation:', hash)
  for (let sent = null, before = 0; ; await pause(1500)) {
    const receipt = await ask('eth_getTransactionReceipt', hash)
    if (receipt && Number(receipt.status) !== 1) fails('The transaction failed on chain:')
    if (receipt) return { ...receipt, hash }
    if (receipt === null && Date.now() - began > wallet.life) fails('The transaction was not included in time and has expired:')
    sent ??= await ask('eth_getTransactionByHash', hash)
    const newest = sent && await isHere() && Number(await ask('eth_blockNumber'))
    if (!newest) continue
    const isUsed = async (block) => {
      const next = await ask('eth_getTransactionCount', sent.from, hexOf(block))
      return next && Number(next) > Number(sent.nonce)
    }
    const used = await isUsed(newest)
    if (used === false) before = newest
    if (!used) continue
    const other = await firstOf(sent, before, newest, isUsed, ask)
    if (!other || other.hash === hash || !await isHere()) continue // its receipt will come
    hash = other.hash
    if (['to', 'input', 'value'].some((each) => other[each] !== sent[each])) fails('Another transaction of the account replaced this one:')
    say('The wallet sent it again, waiting for confirmation:', hash)
  }
}

// The transaction whose nonce was unused at one block and is used at a later one.
async function firstOf({ from, nonce }, before, used, isUsed, ask) {
  while (used - before > 1) {
    const middle = Math.floor((before + used) / 2)
    await isUsed(middle) ? used = middle : before = middle
  }
  const block = await ask('eth_getBlockByNumber', hexOf(used), true)
  return block?.transactions.find((each) => same(each.from, from) && Number(each.nonce) === Number(nonce))
}

// Resolves once a transaction on Solana has created an order or, if a balance is to increase, has increased that.
// Wallets do not report outcomes; the gateway reports what is on the chain.
export async function landed(hash, isIncreased) {
  const fails = (why) => { throw Object.assign(new Error(why), { hash }) }
  for (let seen = 0, missed = 0; seen < 15;) {
    await pause(1500)
    if (await isIncreased?.()) return
    const { orderId, errorId } = await fetch(`/api/Orders/creationTxHash/${hash}`).then((answer) => answer.json()).catch(() => ({}))
    if (errorId === 'TRANSACTION_WITHOUT_ORDER') seen++ // it is on the chain
    if (orderId) return
    if (errorId === 'TRANSACTION_NOT_FOUND' && ++missed > 80) fails('The transaction has not appeared for two minutes and has probably expired:')
  }
  fails(`The transaction is on chain, but ${isIncreased ? 'the balance has not increased' : 'has not created the order'}:`)
}

// Wallets reject with an error, a text or nothing.
export const inWords = (error) => ({
  message: error?.code === 4001 ? 'Cancelled in the wallet.' : error?.message ?? error ?? 'The wallet refused.', hash: error?.hash,
})

// Writes to a status line, and links a transaction to the explorer if there is one.
export const sayer = (status, explorer) => (text, hash) => {
  status.textContent = text
  if (!hash) return
  const link = document.createElement(explorer ? 'a' : 'span')
  link.className = 'mono'
  if (explorer) Object.assign(link, { href: explorer + hash, rel: 'noreferrer' })
  link.textContent = hash
  status.append(' ', link)
}
