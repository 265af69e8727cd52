// Signs and sends the transaction that the page shows, step by step: connect, switch the chain, approve, and swap or
// create an order. What is signed is what is shown, except a permit; an old quote is refreshed first.
import { answerAt, bytesOf, calling, hexOf, inWords, isOn, landed, mined, pause, same, sayer, short, switchTo } from './signing.js'
import { choose, onWallets, wallets } from './wallet.js'

const quoteLife = 30_000
const field = (id) => document.getElementById(id)

let wallet = null // the connected one
let family = ''
let working = false

const formFamily = () => field('chainId').selectedOptions[0]?.dataset.family
const takeFamily = () => field('dstChainId').selectedOptions[0]?.dataset.family ?? formFamily()
// The form as it is now; a trade's section has it as it was compared.
const asked = () => String(new URLSearchParams(new FormData(document.querySelector('[data-swap]'))))
const isConnected = (to) => wallet?.account && family === to

// The next step of a trade: either the label of its button and the action, or the reason why there is none.
async function stepOf(trade) {
  const { tx, tokenIn } = trade
  let permit = null
  if (!isConnected(trade.family)) return connectStep(trade.family, tx.data ? ' The transaction below can be signed elsewhere.' : '')
  if (!same(wallet.account, trade.sender)) return { label: `Compare for ${short(wallet.account)}`, says: `The transaction is for ${short(trade.sender)}.`, act: fillAccount }
  if (trade.section.asked !== asked()) return { label: 'Compare again', says: 'The form was changed after this comparison.', act: compareAgain }
  if (trade.family !== 'solana') {
    if (!await isOn(wallet, trade.native)) {
      return { label: `Switch to ${trade.chain}`, says: 'The wallet is on another chain.', act: () => switchTo(wallet, trade.native, trade.chain) }
    }
    if (!trade.isPermitted && /[1-9a-f]/i.test(wallet.hex(tokenIn.address).slice(2))) { // the coin has the zero address and needs no approval
      const allowed = BigInt(await wallet.request('eth_call', { to: tokenIn.address, data: calling(allowance, wallet.hex(wallet.account), wallet.hex(tx.to)) }, 'latest'))
      if (allowed < BigInt(tokenIn.amount)) {
        const isOffered = trade.creation && trade.family === 'evm' && !unpermitted.has(tokenIn.address)
        permit = isOffered && await import('./permit.js').then(({ permitOf }) => permitOf(wallet, trade)).catch(() => null)
        if (!permit) return approveStep(trade, allowed)
      }
    }
  }
  if (!tx.data && !permit) return { label: 'Compare again', says: `Approved. The transaction needs a balance of ${trade.amount}.`, act: compareAgain }
  if (Date.now() - trade.section.shownAt > quoteLife) return { label: 'Compare again', says: 'This quote is older than half a minute.', act: compareAgain }
  if (!permit) return { label: trade.verb, says: `${wallet.name} will ask for your signature.`, act: (say) => send(trade, say) }
  return {
    label: trade.verb, says: `${wallet.name} will ask for two signatures: one lets ${short(tx.to)} take exactly ${trade.amount}, the other sends the transaction.`,
    act: async (say) => {
      await usePermit(trade, permit)
      return send(trade, say)
    },
  }
}

const unpermitted = new Set() // tokens whose permit failed or was rejected, to be approved instead

// Requests the transaction again, with the amounts shown and a permit, which the gateway simulates.
async function usePermit(trade, sign) {
  const { tokenIn, answer } = trade
  try {
    const url = new URL(trade.creation, location)
    url.searchParams.set('srcChainTokenInAmount', tokenIn.amount)
    url.searchParams.set('dstChainTokenOutAmount', answer.estimation.dstChainTokenOut.amount)
    url.searchParams.set('srcChainTokenInSenderPermit', await sign())
    const made = await answerAt(url)
    Object.assign(trade, { answer: made, tx: made.tx, isPermitted: true })
  } catch (error) {
    unpermitted.add(tokenIn.address)
    throw error
  }
}

function connectStep(of, otherwise = '') {
  const offered = wallets(of)
  if (offered.length === 0) return { says: `No wallet for this chain in this browser.${otherwise}` }
  return { label: offered.length === 1 ? `Connect ${offered[0].name}` : 'Connect a wallet', act: () => connect(of) }
}

async function connect(of) {
  const chosen = await choose(wallets(of))
  const connected = await chosen.connect()
  connected.onAccount((account) => {
    connected.account = account
    if (wallet !== connected || working) return // a step under way continues
    account ? fillAccount() : mountTrade()
  })
  wallet = connected
  family = of
  fillAccount()
}

// Fills in the wallet's account, and compares again if there was a comparison.
function fillAccount() {
  const recipient = field('tokenOutRecipient')
  if (takeFamily() === family && (!recipient.value || recipient.value === field('senderAddress').value)) recipient.value = wallet.account
  field('senderAddress').value = wallet.account
  if (document.querySelector('.best')) return compareAgain()
  mountTrade()
}

const compareAgain = () => document.querySelector('[data-swap]').requestSubmit()

const allowance = '0xdd62ed3e' // allowance(address,address)
const approve = '0x095ea7b3' // approve(address,uint256)

// Some tokens reject changing one non-zero allowance to another: then it is set to zero first.
async function approveStep({ tx, tokenIn, amount, native }, allowed) {
  const approval = (units) => ({ chainId: hexOf(native), from: wallet.account, to: tokenIn.address, data: calling(approve, wallet.hex(tx.to), units) })
  const isRefused = allowed > 0n && await wallet.request('eth_call', approval(BigInt(tokenIn.amount)), 'latest').then(() => false, () => true)
  return {
    label: isRefused ? 'Reset the allowance' : `Approve ${amount}`,
    says: `The contract ${short(tx.to)} may then take ${isRefused ? 'nothing' : `exactly ${amount}`} from your account.`,
    act: async (say) => {
      await mined(wallet, native, await wallet.request('eth_sendTransaction', approval(isRefused ? 0n : BigInt(tokenIn.amount))), say)
    },
  }
}

async function send(trade, say) {
  const { tx } = trade
  if (trade.family === 'solana') return sendOnSolana(trade, say)
  const fees = tx.gasLimit ? { gas: hexOf(tx.gasLimit), gasPrice: hexOf(tx.gasPrice) } : {} // set if the whole balance is paid
  const sent = await wallet.request('eth_sendTransaction', { from: trade.sender, to: tx.to, data: tx.data, value: hexOf(tx.value), chainId: hexOf(trade.native), ...fees })
  spend(trade)
  const { blockNumber, hash } = await mined(wallet, trade.native, sent, say)
  if (trade.answer.orderId) return location.assign(orderOf(trade, hash))
  say(`Swapped in block ${Number(blockNumber)}:`, hash)
  for (let tries = 0; trade.record && tries < 40; tries++) {
    const { ok } = await fetch(`/api/SameChainSwap${trade.record.slice('/swap'.length)}${hash}`).catch(() => ({}))
    if (ok) return location.assign(trade.record + hash)
    await pause(1500)
  }
}

// The page that waits for the order: by its id, or by its transaction if the id depends on who sends that for the wallet.
function orderOf({ answer }, hash) {
  const isForeign = answer.warnings?.some(({ code }) => code === 'MAKER_IS_TRANSACTION_SENDER')
  return `/order/${isForeign ? hash : answer.orderId}`
}

// A sent transaction is not offered again, whatever its outcome: the quote counts as old.
function spend({ section }) {
  section.shownAt = 0
}

async function sendOnSolana(trade, say) {
  const isOrder = trade.answer.orderId
  const balance = () => balanceOf(trade.id, trade.answer.tokenOut.address, trade.recipient).then(({ units }) => BigInt(units))
  const before = isOrder ? 0n : await balance()
  const hash = await wallet.send(bytesOf(trade.tx.data))
  spend(trade)
  say('Sent, waiting for confirmation:', hash)
  await landed(hash, isOrder ? null : () => balance().then((after) => after > before, () => false))
  if (isOrder) return location.assign(orderOf(trade, hash))
  say('Swapped:', hash)
}

async function balanceOf(chainId, tokenIn, owner) {
  const answer = await fetch(`/swap/balance?${new URLSearchParams({ chainId, tokenIn, owner })}`)
  if (!answer.ok) throw new Error('The balance cannot be read at the moment.')
  return answer.json()
}

// Shows the next step, and the outcome of the last one.
async function show(trade, after) {
  const { section } = trade
  const [button, status] = [section.querySelector('button'), section.querySelector('[role=status]')]
  const say = sayer(status, trade.explorer)
  const step = await stepOf(trade).catch((error) => ({ says: inWords(error).message }))
  button.textContent = step.label ?? trade.verb
  button.disabled = !step.act
  if (after) say(after.message, after.hash)
  else say(step.says ?? '')
  if (step.label === trade.verb) setTimeout(() => { if (section.isConnected && !working && section.shownAt) show(trade) }, section.shownAt + quoteLife + 1 - Date.now())
  button.onclick = async () => {
    working = true
    button.disabled = true
    let failed
    try {
      const { label } = await stepOf(trade) // changes with the wallet's account or chain
      if (label !== step.label) {
        working = false
        return show(trade)
      }
      await step.act(say)
    } catch (error) {
      failed = inWords(error)
    }
    working = false
    if (step.label === trade.verb && !failed) button.textContent = 'Sent'
    else if (section.isConnected) await show(trade, failed)
  }
}

// The trade that the page shows, read from its elements; null if there is none.
function shownTrade() {
  const section = document.querySelector('[data-trade]')
  if (!section) return null
  const answer = JSON.parse(document.querySelector('[data-answer]').textContent)
  section.shownAt ??= Date.now() // by the browser's clock only
  section.asked ??= asked()
  const { tx = { to: section.dataset.spender }, tokenIn = answer.estimation.srcChainTokenIn } = answer // before an approval there is no transaction
  return { section, answer, tx, tokenIn, ...section.dataset, amount: document.querySelector('.best .label').dataset.amount }
}

async function showBalance(of) {
  const line = document.querySelector('[data-balance]')
  line.replaceChildren()
  const token = field('tokenIn').value
  if (!isConnected(of) || !token) return
  const says = await balanceOf(field('chainId').value, token, wallet.account).then(({ text }) => `You have ${text} `, ({ message }) => message)
  const most = document.createElement('button')
  Object.assign(most, { type: 'button', className: 'plain', textContent: 'max' })
  most.addEventListener('click', () => { field('amount').value = 'max' })
  line.replaceChildren(says, most)
}

function mountWallet(of) {
  const part = document.querySelector('[data-wallet]')
  const [button, says] = part.children
  const step = isConnected(of) ? { label: `${wallet.name} ${short(wallet.account)}` } : connectStep(of)
  button.textContent = step.label ?? 'No wallet found'
  button.disabled = !step.act
  button.onclick = () => connect(of).catch((error) => { says.textContent = inWords(error).message })
}

export function mountTrade() {
  const of = formFamily()
  mountWallet(of)
  showBalance(of)
  field('chainId').onchange = () => { mountWallet(formFamily()); showBalance(formFamily()) }
  field('tokenIn').onchange = () => showBalance(formFamily())
  document.querySelector('[data-reverse]').onclick = () => {
    for (const [one, other] of [['tokenIn', 'tokenOut'], ...(field('dstChainId').value ? [['chainId', 'dstChainId']] : [])]) {
      [field(one).value, field(other).value] = [field(other).value, field(one).value]
    }
    for (const chosen of document.querySelectorAll('[data-chosen]')) chosen.remove()
    showBalance(formFamily())
  }
  const trade = shownTrade()
  if (trade) show(trade)
}

onWallets(() => { if (!working) mountTrade() })
