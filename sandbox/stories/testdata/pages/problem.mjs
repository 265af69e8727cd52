// What a browser gets instead of a page that cannot be had.
import { look, text, visit, want } from './browser.mjs'

const { gateway, hash } = look

export const pages = { problem: '/ordre/0x12' }

// What was mistyped is in the search field to be corrected, and the title says what kind of error it is.
export const corrects = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${gateway}/order/${hash.slice(0, -1)}`)
  want((await text(page, 'h1')) === 'The request cannot be answered', `a hash that is too short is titled ${await text(page, 'h1')}`)
  const field = page.getByLabel('Hash, order or swap id')
  want(await field.inputValue() === hash.slice(0, -1), 'what was asked is not in the search field')
  await field.fill(hash)
  await field.press('Enter')
  await page.waitForURL(`${gateway}/order/${hash}`)
  await page.goto(gateway + pages.problem)
  want((await text(page, 'h1')) === 'Not found' && (await page.title()) === 'Not found · Crossgate', 'a path that nothing has is not told as such')
})
