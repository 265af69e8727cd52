// The start page.
import { create, look, text, visit, want } from './browser.mjs'

const { gateway, hash } = look

export const pages = { home: '/' }

// With the keyboard alone: from the first page to an order.
export const byKeyboard = () => visit({}, async (page) => {
  await page.goto(gateway + '/')
  await page.keyboard.press('Tab')
  want(await page.evaluate(() => document.activeElement.className) === 'skip', 'the first thing that Tab reaches does not skip the menu')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type(hash)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${gateway}/order/${hash}`)
})

// What the start page shows, with scripts and without.
export async function content() {
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async (page) => {
      await page.goto(`${gateway}/`)
      want(await page.locator('#recent-part tbody tr').count() === 12, 'the start page has not the twelve newest orders and swaps')
      want(/the first order|\d{4}, \d\d:\d\d UTC/.test(await text(page, '#chain-rows')), 'the start page does not say since when orders are known')
      want(/Crossgate \S+/.test(await text(page, 'footer')), 'the footer has no version')
      await page.locator('.examples a').first().click()
      await page.waitForURL(/\/order\/0x/)
    })
  }
}

// New orders show by themselves, and who is reading the page with the keyboard stays where they are.
export const live = () => visit({}, async (page) => {
  await page.goto(`${gateway}/`)
  await page.evaluate(() => { window.sameDocument = true })
  const held = page.locator('#recent-part a').nth(1)
  const href = await held.getAttribute('href')
  await held.focus()
  const { orderId } = await create()
  await page.locator(`#recent-part a[href="/order/${orderId}"]`).waitFor()
  want(await page.evaluate(() => window.sameDocument), 'the start page was loaded again')
  want(await page.evaluate(() => document.activeElement.getAttribute('href')) === href, 'the link that was in focus has lost it')
})
