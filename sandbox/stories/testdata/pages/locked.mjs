// What is locked for a taker.
import { look, text, visit, want } from './browser.mjs'

const { gateway, taker } = look

export const pages = { locked: `/locked/${taker}` }

export const content = () => visit({}, async (page) => {
  await page.goto(`${gateway}/locked?taker=${taker}`)
  want(page.url() === `${gateway}/locked/${taker}`, 'the form of a taker does not lead to him')
  want(/longest wait \d/.test(await text(page, 'details.locked')), 'the page does not say for how long something waits')
  want(await page.locator('.usd', { hasText: /^no price$/ }).count() === 1, 'a token without a price is not marked')
  want(!(await text(page, 'main')).includes('$0.00'), 'a token without a price is worth nothing')
  await page.locator('details.locked a').first().click()
  await page.locator('.timeline li.next').waitFor()
})
