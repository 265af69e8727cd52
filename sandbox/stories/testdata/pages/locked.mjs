// What is locked for a taker.
import { look, text, visit, want } from './browser.mjs'

const { gateway, taker } = look

export const pages = { locked: `/locked/${taker}` }

export const content = () => visit({}, async (page) => {
  await page.goto(`${gateway}/locked?taker=${taker}`)
  want(page.url() === `${gateway}/locked/${taker}`, 'the form of a taker does not lead to him')
  want(/longest wait \d/.test(await text(page, 'details.locked')), 'it is not told for how long something waits')
  want(await page.locator('.usd', { hasText: /^no price$/ }).count() === 1, 'it is not told of which token no price is known')
  await page.locator('details.locked a').first().click()
  await page.locator('.timeline li.next').waitFor()
})

// What waits, for how long, and what one message unlocks, whose ids can be copied.
export const batches = () => visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.goto(`${gateway}/locked/${taker}`)
  want(await page.locator('table.ages tbody tr').count() === await page.locator('details.locked').count(), 'not every token has a row of ages')
  want(/^All/.test(await text(page, 'table.ages tfoot')), 'ages are not added up')
  want(/\s\d+\s+(no price|\$[\d,.]+)\s+\d/.test(await text(page, 'section:has(#batches) tbody')), 'it is not told what can be unlocked together')
  await page.locator('section:has(#batches) summary').first().click()
  await page.locator('section:has(#batches) details').first().getByRole('button', { name: 'Copy', exact: true }).click()
  const ids = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')
  want(ids.every((id) => /^0x[0-9a-f]{64}$/.test(id)), `the ids of a batch are ${ids}`)
  want(!(await text(page, 'main')).includes('$0.00'), 'something unknown is worth nothing')
})
