// From a wallet to a swap that was mined: in a browser with wallets that sign with the sandbox's accounts.
import { judge } from './appearance.mjs'
import { look, text, visit, want } from './browser.mjs'
import { inject, injectTRON } from './wallets.mjs'

const { gateway, wallet } = look

export const pages = { swap: look.swap.path }

// press waits for the step that a trade is at, and does it.
async function press(page, name) {
  await page.locator('.trade').getByRole('button', { name }).click()
  if (look.shots) await page.screenshot({ path: `${look.shots}/trade-${String(name).replace(/\W+/g, '-')}.png`, fullPage: true })
}

// The coin into a token: from words to the record of the swap, with every step counted.
export const coinIn = () => visit({}, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page, { refuse: 'eth_sendTransaction' })
  await page.goto(`${gateway}/`)
  const line = page.getByLabel('Hash, order or swap id').first()
  await step(line.fill('0.1 ETH to USDC'))
  await step(line.press('Enter'))
  await page.locator('.venues tr.won').waitFor()
  await judge(page, 'swap with a wallet to connect')
  await step(page.locator('[data-wallet] button', { hasText: 'Connect Sandbox wallet' }).click())
  await step(press(page, 'Switch to Ethereum'))
  await page.locator('[data-balance]', { hasText: /You have [\d,.]+ ETH/ }).waitFor()
  await press(page, 'Swap')
  await page.getByText('Cancelled in the wallet.').waitFor()
  await judge(page, 'swap that was cancelled in the wallet')
  const amount = page.getByLabel('Amount in whole tokens')
  await amount.fill('0.2')
  await press(page, 'Swap')
  await page.getByText('The form was changed after this comparison.').waitFor()
  await amount.fill('0.1')
  await press(page, 'Compare again')
  await step(press(page, 'Swap'))
  await page.waitForURL(/\/swap\/1\/tx\/0x[0-9a-f]{64}$/)
  want((await text(page, '.side >> nth=0')).includes('0.1 ETH') && /29\d\.\d+ USDC/.test(await text(page, '.side >> nth=1')), 'the record is of another swap')
  want(steps === 5, `a swap of the coin takes ${steps} steps`)
  console.error(`swap of the coin, words to record: ${steps} steps`)
})

// A token in, by window.ethereum alone: the exact amount is approved by a button of its own, and max is all that is there.
export const tokenIn = () => visit({ viewport: { width: 390, height: 844 } }, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page, { announced: false })
  await page.goto(`${gateway}/swap?chainId=1&tokenIn=USDC&amount=100&tokenOut=ETH`)
  await page.locator('.venues tr.won').waitFor()
  await step(page.getByText('Change the swap').click())
  await step(page.getByRole('button', { name: 'Connect Browser wallet' }).click())
  await step(press(page, 'Switch to Ethereum'))
  await step(press(page, 'Approve 100 USDC'))
  await step(press(page, 'Swap'))
  await page.waitForURL(/\/swap\/1\/tx\/0x[0-9a-f]{64}$/)
  want((await text(page, '.side >> nth=0')).includes('100 USDC'), 'the record is of another swap')
  console.error(`swap of a token, form to record: ${steps} steps`)
  await page.goto(`${gateway}/swap?chainId=1&tokenIn=USDC&amount=5&tokenOut=ETH`)
  await page.getByText('Change the swap').click()
  await page.getByRole('button', { name: 'Connect Browser wallet' }).click()
  await page.locator('.trade').getByRole('button', { name: 'Switch to Ethereum' }).waitFor()
  await page.getByText('Change the swap').click()
  await page.getByRole('button', { name: 'max' }).click()
  want(await page.getByLabel('Amount in whole tokens').inputValue() === 'max', 'max is not in the field')
  await page.getByRole('button', { name: 'Reverse' }).click()
  want(await page.locator('#tokenIn').inputValue() === 'ETH' && await page.locator('#tokenOut').inputValue() === 'USDC', 'the tokens are not reversed')
})

// A transaction that the wallet sends again for a higher fee is followed, and one is given up that another took the place of.
export async function replaced() {
  for (const [instead, then] of [
    ['faster', (page) => page.waitForURL(/\/swap\/1\/tx\/0x[0-9a-f]{64}$/)],
    ['nothing', async (page) => {
      await page.getByText(/Another transaction of the account replaced this one: 0x[0-9a-f]{64}/).waitFor()
      await press(page, 'Compare again')
    }],
  ]) {
    await visit({}, async (page) => {
      await inject(page, { instead })
      await page.goto(`${gateway}/swap?chainId=1&tokenIn=ETH&amount=0.3&tokenOut=USDC`)
      await page.getByRole('button', { name: 'Connect Sandbox wallet' }).first().click()
      await press(page, 'Switch to Ethereum')
      await press(page, 'Swap')
      await then(page)
    })
  }
}

// To another chain: the form's answer is an order, which the wallet creates, whose page follows, and which it cancels.
export const across = () => visit({}, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page)
  await page.goto(`${gateway}/swap?chainId=1&dstChainId=137&tokenIn=ETH&amount=0.2&tokenOut=USDC`)
  await page.locator('.best').waitFor()
  await judge(page, 'order between chains, before it is created')
  await step(page.getByRole('button', { name: 'Connect Sandbox wallet' }).first().click())
  await step(press(page, 'Switch to Ethereum'))
  await step(press(page, 'Create the order'))
  await page.waitForURL(/\/order\/0x[0-9a-f]{64}$/)
  await page.locator('.side').first().waitFor()
  const sides = await page.locator('.side').allInnerTexts()
  want(sides[0].includes('Ethereum') && /Polygon[^]*USDC/.test(sides[1]), `the page is of another order: ${sides}`)
  console.error(`order between chains, form to its page: ${steps} steps`)
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.locator('[data-settle]', { hasText: /Cancelled in block \d+: 0x[0-9a-f]{64}/ }).waitFor()
  await page.locator('.state', { hasText: 'SentOrderCancel' }).waitFor()
  await judge(page, 'order that its authority cancelled')
})

// On Solana the wallet signs and sends, and the gateway says when it has arrived.
export const onSolana = () => visit({}, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page)
  await page.goto(`${gateway}/swap?chainId=7565164&tokenIn=SOL&amount=0.25&tokenOut=${wallet.usdcOnSolana}`)
  await page.locator('.venues tr.won').waitFor()
  await page.clock.install()
  await step(page.getByRole('button', { name: 'Connect Sandbox wallet' }).first().click())
  await page.locator('[data-balance]', { hasText: /You have [\d,.]+ SOL/ }).waitFor()
  await step(press(page, 'Swap'))
  const outcome = page.locator('.trade', { hasText: /Swapped: [1-9A-HJ-NP-Za-km-z]{80,90}/ })
  await outcome.waitFor()
  await page.clock.fastForward('00:40')
  want(await outcome.count() === 1, 'the outcome gives way to the age of the quote')
  if (look.shots) await page.screenshot({ path: `${look.shots}/trade-done-on-Solana.png`, fullPage: true })
  console.error(`swap on Solana, comparison to swapped: ${steps} steps`)
})

// On TRON the wallet signs what the page made: a swap of the coin, an order from a token that is approved first, and
// the cancellation of an order to there.
export const onTRON = () => visit({}, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page)
  await injectTRON(page)
  await page.goto(`${gateway}/swap?chainId=100000026&tokenIn=TRX&amount=20&tokenOut=USDT`)
  await page.locator('.venues tr.won').waitFor()
  await step(page.getByRole('button', { name: 'Connect Sandbox wallet' }).first().click())
  await step(press(page, 'Switch to TRON'))
  await page.locator('[data-balance]', { hasText: /You have [\d,.]+ TRX/ }).waitFor()
  await step(press(page, 'Swap'))
  await page.locator('.trade', { hasText: /Swapped in block \d+: [0-9a-f]{64}/ }).waitFor()
  console.error(`swap on TRON, comparison to swapped: ${steps} steps`)
  steps = 0
  await page.goto(`${gateway}/swap?chainId=100000026&dstChainId=137&tokenIn=USDT&amount=30&tokenOut=USDC&tokenOutRecipient=${wallet.evm}&senderAddress=${wallet.tron.address}`)
  await page.locator('.best').waitFor()
  await judge(page, 'order from TRON, before its token is approved')
  await step(page.locator('.trade').getByRole('button', { name: 'Connect Sandbox wallet' }).click())
  await step(press(page, 'Switch to TRON'))
  await step(press(page, 'Approve 30 USDT'))
  await step(press(page, 'Compare again'))
  await step(press(page, 'Create the order'))
  await page.waitForURL(/\/order\/0x[0-9a-f]{64}$/)
  await page.locator('.side').first().waitFor()
  want((await text(page, '.side >> nth=0')).includes('TRON'), 'the page is of another order')
  console.error(`order from TRON, form to its page: ${steps} steps`)
})

// One that TRON has not taken within its life never will be.
export const expires = () => visit({}, async (page) => {
  await injectTRON(page)
  await page.route('**/wallet/tron', (route) => {
    const { method, params } = route.request().postDataJSON()
    return method === 'broadcasttransaction' ? route.fulfill({ json: { result: params[0].txID } }) : route.fallback()
  })
  await page.goto(`${gateway}/swap?chainId=100000026&tokenIn=TRX&amount=20&tokenOut=USDT`)
  await page.getByRole('button', { name: 'Connect Sandbox wallet' }).first().click()
  await press(page, 'Switch to TRON')
  await page.clock.install()
  await press(page, 'Swap')
  await page.getByText(/Sent, waiting for confirmation: [0-9a-f]{64}/).waitFor()
  await page.clock.fastForward('07:00')
  await page.getByText(/has expired: [0-9a-f]{64}/).waitFor()
  await press(page, 'Compare again')
})

// A token with permits needs no approval, unless the person refuses to sign one; the order is cancelled on TRON.
export const cancelsOnTRON = () => visit({ viewport: { width: 390, height: 844 } }, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await inject(page, { refuse: 'eth_signTypedData_v4' })
  await injectTRON(page, { announced: false })
  await page.goto(`${gateway}/swap?chainId=137&dstChainId=100000026&tokenIn=USDC&amount=40&tokenOut=USDT&tokenOutRecipient=${wallet.tron.address}&senderAddress=${wallet.evm}`)
  await page.locator('.best').waitFor()
  await step(page.locator('.trade').getByRole('button', { name: 'Connect Sandbox wallet' }).click())
  await press(page, 'Create the order')
  await page.getByText('Cancelled in the wallet.').waitFor()
  await page.locator('.trade').getByRole('button', { name: 'Approve 40 USDC' }).waitFor()
  await page.reload()
  await page.locator('.trade').getByRole('button', { name: 'Connect Sandbox wallet' }).click()
  await step(press(page, 'Create the order'))
  await page.waitForURL(/\/order\/0x[0-9a-f]{64}$/)
  await page.locator('.side').first().waitFor()
  want(steps === 2, `an order of a token with permits takes ${steps} steps`)
  console.error(`order of a token with permits, form to its page: ${steps} steps`)
  await page.getByRole('button', { name: 'Cancel the order' }).click()
  await page.locator('[data-settle]', { hasText: /Cancelled in block \d+: [0-9a-f]{64}/ }).waitFor()
  await page.locator('.state', { hasText: 'SentOrderCancel' }).waitFor()
})

// Without a wallet the page says so, and all that it offers otherwise is there.
export const withoutWallet = () => visit({}, async (page) => {
  await page.goto(gateway + look.swap.path)
  await page.locator('.trade', { hasText: 'No wallet for this chain in this browser' }).waitFor()
  want(await page.locator('.snippet').count() === 3, 'the transaction cannot be copied')
})
