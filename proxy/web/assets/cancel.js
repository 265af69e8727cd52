// Sends the transaction by which an order's authority cancels it: made by the gateway, which tries it on the chain first.
import { bytesOf, hexID, isOn, mined, onPress, same, short, switchTo } from './signing.js'
import { choose, wallets } from './wallet.js'

async function transactionFor(order) {
  const answer = await fetch(`/v1.0/dln/order/${order}/cancel-tx`)
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.errorMessage)
  return body
}

async function cancel({ order, family, authority, native, chain }, say) {
  const offered = wallets(family)
  if (offered.length === 0) throw new Error('No wallet for this chain in this browser.')
  const wallet = await (await choose(offered)).connect()
  if (!same(wallet.account, authority)) throw new Error(`Only ${short(authority)} can cancel it; the wallet has ${short(wallet.account)}.`)
  const { to, data, value } = await transactionFor(order)
  if (family === 'solana') return say('Sent; the page shows when it has arrived:', await wallet.send(bytesOf(data)))
  if (!await isOn(wallet, native)) await switchTo(wallet, native, chain)
  const request = { chainId: hexID(native), from: wallet.account, to, data, value: '0x' + BigInt(value).toString(16) }
  const receipt = await mined(wallet, await wallet.request('eth_sendTransaction', request), say)
  say(`Cancelled in block ${Number(receipt.blockNumber)}:`, receipt.transactionHash)
}

onPress('[data-cancel]', cancel)
