// The ways of somebody who is here for the first time.
import { copied, look, text, visit, want } from './browser.mjs'

const { gateway, hash, swap } = look
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] }

// From a hash in the clipboard to what was delivered in USD, in one paste.
export const fromHash = () => visit(clipboard, async (page) => {
  await page.goto(`${gateway}/`)
  await page.evaluate((text) => navigator.clipboard.writeText(text), hash)
  const began = Date.now()
  await page.getByLabel('Hash, order or swap id').focus()
  await page.keyboard.press('Control+V')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${gateway}/order/${hash}`)
  want((await text(page, '.state')).includes('Delivered'), 'the order is not told as delivered')
  want(/\$[\d,.]+ now/.test(await page.locator('.side').last().innerText()), 'what was delivered has no value in USD')
  console.error(`newcomer, hash to USD: 1 paste, ${Date.now() - began} ms`)
})

// From a swap in words to a transaction in the clipboard.
export const fromWords = () => visit(clipboard, async (page) => {
  let steps = 0
  const step = (act) => { steps++; return act }
  await page.goto(`${gateway}/`)
  const began = Date.now()
  const field = page.getByLabel('Hash, order or swap id')
  await step(field.pressSequentially('0.1 ETH to USDC'))
  await step(field.press('Enter'))
  await page.locator('.venues tr.won').waitFor()
  await step(page.getByLabel(/^Recipient/).fill(swap.account))
  await step(page.getByLabel(/^Recipient/).press('Enter'))
  await page.locator('.snippet summary', { hasText: 'This transaction' }).waitFor()
  await step(page.locator('.snippet summary', { hasText: 'This transaction' }).click())
  await step(page.locator('.snippet[open]').getByRole('button', { name: 'Copy' }).click())
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const tx = JSON.parse(await copied(page))
  want(/^0x[0-9a-fA-F]{40}$/.test(tx.to) && tx.data.length > 10 && tx.value === '100000000000000000', `the copied transaction is ${JSON.stringify(tx).slice(0, 200)}`)
  want(steps === 6, `it takes ${steps} steps`)
  console.error(`newcomer, words to transaction: ${steps} steps, ${Date.now() - began} ms`)
})
