// Lists of orders, and of swaps within a chain: their filters are those of the API, and links turn their pages.
import { look, move, text, visit, want } from './browser.mjs'

const { gateway, swap } = look

const usdc = new URLSearchParams(swap.path.split('?')[1]).get('tokenOut')

export const pages = {
  orders: '/orders', swaps: '/orders?mode=SameChain', token: `/token/1/${usdc}`, address: `/address/${look.taker}`,
}

// From a search to a token's page, and to all that was given of it, of an amount; what is listed is what is downloaded.
export const tokens = () => visit({}, async (page) => {
  await page.goto(`${gateway}/search?query=usdc`)
  await page.locator('.found li', { hasText: 'USDC on Ethereum' }).getByRole('link', { name: 'its orders' }).click()
  await page.waitForURL(`${gateway}${pages.token}`)
  want((await text(page, 'h1')) === 'USDC on Ethereum', 'the page of a token does not name it')
  await page.getByRole('link', { name: /^All / }).first().click()
  await page.getByLabel('Given from').fill('100.5')
  await page.getByLabel('Sort by').selectOption('Oldest')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/giveFrom=100.5/)
  const rows = await page.locator('table.stacked tbody tr td:nth-child(2)').allInnerTexts()
  want(rows.length > 2 && rows.every((row) => /^[\d,.]+ USDC on Ethereum$/.test(row)), `given are ${rows}`)
  const downloads = page.waitForEvent('download')
  await page.getByRole('link', { name: 'CSV' }).click()
  const chunks = []
  for await (const chunk of await (await downloads).createReadStream()) chunks.push(chunk)
  const lines = Buffer.concat(chunks).toString().trim().split('\n')
  want(lines.length === rows.length + 1, `${lines.length} lines are downloaded of ${rows.length} rows`)
})

export async function filters() {
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async (page) => {
      await page.goto(`${gateway}/`)
      await page.getByRole('link', { name: 'All orders' }).click()
      const ids = () => page.locator('table.stacked tbody tr td:first-child').allInnerTexts()
      const first = await ids()
      want(first.length === 25, `the list has ${first.length} rows`)
      await page.getByRole('link', { name: 'Older' }).click()
      await page.waitForURL(/skip=25/)
      want(!(await ids()).some((id) => first.includes(id)), 'the next page has rows of the first one')
      await page.getByRole('link', { name: 'Newer' }).click()
      await page.waitForURL(`${gateway}/orders`)
      await page.getByLabel('State').selectOption('ClaimedUnlock')
      await page.getByLabel('From chain').selectOption('1')
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.waitForURL(/state=ClaimedUnlock/)
      const states = await page.locator('td .dot').allInnerTexts()
      want(states.length > 0 && states.every((state) => state === 'paid'), `the filter lets through ${states}`)
      await page.getByLabel('Maker').fill('0x12')
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.locator('#maker-fault').waitFor()
      want((await text(page, '#maker-fault')).startsWith('The maker must be an address'), 'a wrong address is not told beside its field')
    })
  }
}

// On a phone the filters are folded until one is set; where there is room they are not.
export async function folds() {
  await visit({ viewport: { width: 390, height: 844 } }, async (page) => {
    await page.goto(`${gateway}/orders`)
    const field = page.getByLabel('State')
    want(!await field.isVisible(), 'the filters of a phone are not folded')
    await page.getByText('Filter', { exact: true }).first().click()
    await field.selectOption('ClaimedUnlock')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/state=ClaimedUnlock/)
    want(await field.isVisible(), 'a filter that is set is folded')
    await page.getByRole('link', { name: 'Clear the filter' }).click()
    await page.waitForURL(`${gateway}/orders`)
    want(!await field.isVisible(), 'after it was cleared the filter is not folded')
  })
  await visit({ viewport: { width: 1280, height: 900 } }, async (page) => {
    await page.goto(`${gateway}/orders`)
    want(await page.getByLabel('State').isVisible(), 'the filters of a wide window are folded')
  })
}

// A swap that was made is in its list, which leads to its page.
export const swaps = () => visit({}, async (page) => {
  await move('swap', { chainId: 8453, amount: '0.01', recipient: swap.account })
  await page.goto(`${gateway}/orders`)
  await page.getByRole('link', { name: 'Swaps within a chain' }).click()
  want((await text(page, 'h1')) === 'Swaps within a chain', 'the other tab is not that of swaps')
  await page.getByLabel('Chain', { exact: true }).selectOption('8453')
  const row = page.locator('tbody tr', { hasText: /0\.01 ETH on Base.*USDC on Base\s*swapped/ })
  for (let looks = 0; looks < 500 && await row.count() === 0; looks++) { // the index follows the chain
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/from=8453/)
  }
  await row.first().getByRole('link').click()
  await page.waitForURL(/\/swap\/0x/)
  want(/\$[\d.]+ now/.test(await page.locator('.side').last().innerText()), 'what a swap brought has no value in USD')
  want(/1 ETH for [\d,.]+ USDC/.test(await text(page, '.facts')), 'a swap that was made has no rate')
  pages.made = new URL(page.url()).pathname
})
