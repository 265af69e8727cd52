// Sends the message that pays a taker for deliveries: the fee is read from the chain, and the transaction is tried there
// before the wallet is asked to sign it.
import { calling, hexID, isOn, mined, onPress, same, short, switchTo } from './signing.js'
import { choose, onWallets, wallets } from './wallet.js'

let wallet = null

const messageFee = '0x35087f0a' // globalFixedNativeFee() of the gate
const unlock = '0xb41100b3' // sendEvmUnlock(bytes32,address,uint256): order, beneficiary, reward for the claim
const unlockBatch = '0x5b5a646e' // sendBatchEvmUnlock(bytes32[],address,uint256)

const dataOf = (orders, beneficiary) => orders.length === 1
  ? calling(unlock, orders[0], beneficiary, 0n)
  : calling(unlockBatch, 96n, beneficiary, 0n, BigInt(orders.length), ...orders)

async function send({ taker, native, chain, destination, gate, orders }, say) {
  wallet ??= await (await choose(wallets('evm'))).connect()
  if (!same(wallet.account, taker)) {
    const other = wallet.account
    wallet = null
    throw new Error(`Only ${short(taker)} can send it; the wallet has ${short(other)}.`)
  }
  if (!await isOn(wallet, native)) await switchTo(wallet, native, chain)
  const value = await wallet.request('eth_call', { to: gate, data: messageFee }, 'latest')
  const transaction = { chainId: hexID(native), from: wallet.account, to: destination, data: dataOf(orders.split(' '), wallet.account), value: '0x' + BigInt(value).toString(16) }
  await wallet.request('eth_call', transaction, 'latest').catch((error) => { throw new Error(`It would fail, so it was not sent: ${error.message}`) })
  const receipt = await mined(wallet, await wallet.request('eth_sendTransaction', transaction), say)
  say(`The unlock message was sent in block ${Number(receipt.blockNumber)}:`, receipt.transactionHash)
}

onPress('[data-unlock]', send)

function enable() {
  for (const button of document.querySelectorAll('[data-unlock] button')) button.disabled = wallets('evm').length === 0
}
onWallets(enable)
enable()
