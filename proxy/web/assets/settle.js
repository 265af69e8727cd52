// Sends the transaction that cancels an order or pays for deliveries. The gateway builds it and simulates it first.
import { answerAt, bytesOf, hexOf, inWords, isOn, mined, same, sayer, short, switchTo } from './signing.js'
import { choose, wallets } from './wallet.js'

async function settle({ url, family, sender, native, chain, done }, say, field) {
  if (field && !field.reportValidity()) throw new Error('Enter the address to be paid first.')
  const offered = wallets(family)
  if (offered.length === 0) throw new Error('No wallet for this chain in this browser.')
  const wallet = await (await choose(offered)).connect()
  const { hex = (address) => address } = wallet
  if (!same(hex(wallet.account), hex(sender))) throw new Error(`Only ${short(sender)} can send it; the wallet has ${short(wallet.account)}.`)
  const { to, data, value } = await answerAt(url + encodeURIComponent(field?.value.trim() ?? ''))
  if (family === 'solana') return say('Sent; the page of the order shows when it arrives:', await wallet.send(bytesOf(data)))
  if (!await isOn(wallet, native)) await switchTo(wallet, native, chain)
  const request = { chainId: hexOf(native), from: wallet.account, to, data, value: hexOf(value) }
  const { blockNumber, hash } = await mined(wallet, native, await wallet.request('eth_sendTransaction', request), say)
  say(`${done} in block ${Number(blockNumber)}:`, hash)
}

// After a failure the button is enabled again.
for (const part of document.querySelectorAll('[data-settle]')) {
  const [button, status, field] = ['button', '[role=status]', 'input'].map((each) => part.querySelector(each))
  const say = sayer(status, part.dataset.explorer)
  button.addEventListener('click', async () => {
    button.disabled = true
    await settle(part.dataset, say, field).catch((error) => {
      button.disabled = false
      const { message, hash } = inWords(error)
      say(message, hash)
    })
  })
}
