// Calls and transactions of EVM chains and TRON through a connected wallet.
export const short = (text) => `${text.slice(0, 6)}…${text.slice(-4)}`
export const same = (a, b) => a === b || (a?.startsWith('0x') && a.toLowerCase() === b?.toLowerCase())
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

// The data of a call whose arguments take a word each: hex texts and bigints.
const word = (value) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')
export const calling = (selector, ...values) => selector + values.map(word).join('')

export const bytesOf = (hex) => Uint8Array.from(hex.slice(2).match(/../g), (byte) => parseInt(byte, 16))

// A chain's id in hex, and whether a wallet is on it.
export const hexID = (native) => '0x' + Number(native).toString(16)
export const isOn = async (wallet, native) => Number(await wallet.request('eth_chainId')) === Number(native)

export async function switchTo(wallet, native, name) {
  await wallet.request('wallet_switchEthereumChain', { chainId: hexID(native) }).catch((error) => { // EIP-3326
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

// The receipt of a transaction that succeeded.
export async function mined(wallet, hash, say) {
  say('Sent, waiting for its block:', hash)
  for (;;) {
    const receipt = await wallet.request('eth_getTransactionReceipt', hash).catch(() => null) // it was sent all the same
    if (receipt && Number(receipt.status) !== 1) throw Object.assign(new Error('The transaction failed on the chain:'), { hash })
    if (receipt) return receipt
    await pause(1500)
  }
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
