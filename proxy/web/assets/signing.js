// Calls and transactions of EVM chains and TRON through a connected wallet.
export const short = (text) => `${text.slice(0, 6)}…${text.slice(-4)}`
export const same = (a, b) => a === b || (a?.startsWith('0x') && a.toLowerCase() === b?.toLowerCase())
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// The data of a call whose arguments take a word each: hex texts and bigints.
const word = (value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')
export const calling = (selector, ...values) => selector + values.map(word).join('')

export const bytesOf = (hex) => Uint8Array.from(hex.slice(2).match(/../g), (byte) => parseInt(byte, 16))

// A whole number in hex, and whether a wallet is on a chain.
export const hexOf = (whole) => '0x' + BigInt(whole).toString(16)
export const isOn = async (wallet, native) => Number(await wallet.request('eth_chainId')) === Number(native)

export async function switchTo(wallet, native, name) {
  await wallet.request('wallet_switchEthereumChain', { chainId: hexOf(native) }).catch((error) => { // EIP-3326
    throw error.code === 4902 ? new Error(`The wallet does not know ${name}: add the chain there, then try again.`) : error
  })
}

// What the API answers.
export async function answerAt(url) {
  const answer = await fetch(url)
  const body = await answer.json().catch(() => ({})) // a balancer's is another
  if (!answer.ok) throw new Error(body.errorMessage ?? `The gateway answered with status ${answer.status}. Try again later.`)
  return body
}

// The receipt of a transaction that succeeded, with its hash: that of the same for a higher fee, where the wallet sent it so.
export async function mined(wallet, hash, say) {
  const began = Date.now()
  const ask = (method, ...params) => wallet.request(method, ...params).catch(() => null) // it was sent all the same
  const fails = (why) => { throw Object.assign(new Error(why), { hash }) }
  say('Sent, waiting for confirmation:', hash)
  for (let sent = null, before = 0; ; await pause(1500)) {
    const receipt = await ask('eth_getTransactionReceipt', hash)
    if (receipt && Number(receipt.status) !== 1) fails('The transaction failed on chain:')
    if (receipt) return { ...receipt, hash }
    if (Date.now() - began > wallet.life) fails('The transaction was not included in time and has expired:')
    sent ??= await ask('eth_getTransactionByHash', hash)
    const newest = sent && Number(await ask('eth_blockNumber'))
    if (!newest) continue
    const isUsed = async (block) => Number(await ask('eth_getTransactionCount', sent.from, hexOf(block))) > Number(sent.nonce)
    if (!await isUsed(newest)) {
      before = newest
      continue
    }
    const other = await firstOf(sent, before, newest, isUsed, ask)
    if (!other || other.hash === hash) continue // its receipt comes
    hash = other.hash
    if (['to', 'input', 'value'].some((each) => other[each] !== sent[each])) fails('Another transaction of the account replaced this one:')
    say('The wallet sent it again, waiting for confirmation:', hash)
  }
}

// The transaction with a nonce that was not used in one block and is in a later one.
async function firstOf({ from, nonce }, before, used, isUsed, ask) {
  while (used - before > 1) {
    const middle = Math.floor((before + used) / 2)
    await isUsed(middle) ? used = middle : before = middle
  }
  const block = await ask('eth_getBlockByNumber', hexOf(used), true)
  return block?.transactions.find((each) => same(each.from, from) && Number(each.nonce) === Number(nonce))
}

export const inWords = (error) => error.code === 4001 ? new Error('Cancelled in the wallet.') : error

// Writes into a status line, with a transaction that leads to an explorer where there is one.
export const sayer = (status, explorer) => (text, hash) => {
  status.textContent = text
  if (!hash) return
  const link = document.createElement(explorer ? 'a' : 'span')
  link.className = 'mono'
  if (explorer) Object.assign(link, { href: explorer + hash, rel: 'noreferrer' })
  link.textContent = hash
  status.append(' ', link)
}
