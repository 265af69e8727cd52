// The operators' status page.
import { look, text, visit, want } from './browser.mjs'

const { admin } = look

export const pages = { operators: `${admin}/` }

// Operators see how everything is, and that it is kept up to date until they pause it.
export const content = () => visit({}, async (page) => {
  await page.goto(`${admin}/`)
  want((await text(page, '.state')).includes('Healthy'), `operators read: ${await text(page, '.state')}`)
  want(await page.locator('#chain-rows tr').count() >= 5, 'operators do not see the chains')
  want(await page.locator('#endpoint-rows .dot.good').count() >= 5, 'operators do not see the endpoints')
  want(await page.locator('#venue-rows tr').count() >= 8, 'operators do not see the venues')
  const asOf = await page.locator('#as-of').innerText()
  await page.waitForFunction((before) => document.getElementById('as-of').innerText !== before, asOf)
  await page.getByRole('button', { name: 'Pause' }).click()
  want((await page.locator('[data-pause]').getAttribute('aria-pressed')) === 'true', 'the page does not say that it is paused')
})
