// The comparison of a swap.
import { look, text, visit, want } from './browser.mjs'

const { gateway, swap } = look

export const pages = { swap: swap.path }

// A swap is compared, and its command copied.
export const compares = () => visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.goto(`${gateway}/swap`)
  want(await page.locator('#tokens option').count() > 0, 'no tokens are offered')
  await page.locator('#chainId').selectOption('137')
  await page.waitForFunction((coin) => [...document.querySelectorAll('#tokens option')].some((o) => o.textContent === coin), 'POL')
  await page.locator('#chainId').selectOption(swap.chainId)
  await page.getByLabel('From token').fill(swap.tokenIn)
  await page.getByLabel('To token').fill(swap.tokenOut)
  await page.getByLabel('Amount in whole tokens').fill('0.1')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.locator('.bars li.won').waitFor()
  want(await page.locator('.bars li').count() >= 8, 'fewer than eight venues are compared')
  want((await page.locator('.bars li').first().getAttribute('class')) === 'won', 'the chosen venue is not the first')
  want(/lifi\s+not asked\s+others have quoted/.test(await text(page, 'section:has(#passed) table')), 'who was left out is not told')
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  const asked = await fetch(command.match(/^curl '(.*)'$/)[1])
  want(asked.ok && (await asked.json()).estimation, `the copied command answers ${asked.status}`)
})

export const withoutScripts = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(gateway + swap.path)
  want(await page.locator('.bars li').count() >= 8, 'without scripts nothing is compared')
})
