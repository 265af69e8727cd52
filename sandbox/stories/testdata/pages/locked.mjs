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

// What waits, and for how long.
export const ages = () => visit({}, async (page) => {
  await page.goto(`${gateway}/locked/${taker}`)
  want(await page.locator('table.ages tbody tr').count() === await page.locator('details.locked').count(), 'not every token has a row of ages')
  want(/^All/.test(await text(page, 'table.ages tfoot')), 'ages are not added up')
  want(!(await text(page, 'main')).includes('$0.00'), 'something unknown is worth nothing')
})
