// The field that takes whatever is in the clipboard.
import { create, look, text, visit, want } from './browser.mjs'

const { gateway, hash, taker } = look

export const pages = { search: '/search?query=usdc', nothing: '/search?query=nothing+of+this+name' }

// It leads where each thing belongs, with scripts and without.
export async function leads() {
  const { orderId } = await create()
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async (page) => {
      const search = async (query) => {
        await page.goto(`${gateway}/`)
        await page.getByRole('searchbox').or(page.getByLabel('Hash, order or swap id')).fill(query)
        await page.getByRole('button', { name: 'Search' }).click()
      }
      for (const [query, path] of [
        [` ${hash} `, `/order/${hash}`], [orderId, `/order/${orderId}`], [taker, `/locked/${taker}`], ['8453', '/swap?chainId=8453'],
      ]) {
        await search(query)
        await page.waitForURL(gateway + path)
      }
      await search('usdc')
      want(await page.locator('.found a', { hasText: /^USDC on / }).count() >= 4, 'a search for USDC does not find it on each chain')
      await search('nothing of this name')
      want((await text(page, 'main')).includes('No match'), 'a search that finds nothing does not say so')
    })
  }
}
