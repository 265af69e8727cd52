// Volume, delivery times and venues.
import { look, text, visit, want } from './browser.mjs'

const { gateway, swap } = look

export const pages = { statistics: '/statistics' }

// counted asks for other days each time, since answers are kept for a minute, until the answer has what is wanted.
async function counted(path, has) {
  for (let back = 2; back <= 360; back++) {
    const from = new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)
    const answer = await fetch(`${gateway}/api/Statistics/${path}?dateFrom=${from}`)
    if (answer.ok && has(await answer.json())) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${path} does not count the world`)
}

// A swap that was compared is in the statistics, the orders of the world are, and everything is there without scripts.
export const figures = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(gateway + swap.path)
  await counted('getVenues', ({ venues }) => venues.some((each) => each.wonCount > 0))
  await counted('getDeliveryTimes', ({ deliveryTimes }) => deliveryTimes.length > 0)
  await page.goto(`${gateway}/`)
  want(/\$[\d,.]+ in [\d,]+ orders/.test(await text(page, 'section:has(#month)')), 'the start page has no volume')
  want(await page.locator('section:has(#month) tbody tr').count() === 3, 'the start page has not three pairs of chains')
  await page.getByRole('link', { name: 'Statistics' }).click()
  await page.waitForURL(`${gateway}/statistics`)
  want(await page.locator('.plot rect.value').count() === 30, 'the plot has not a column for each of 30 days')
  want(/\$[\d,.]+ in [\d,]+ orders/.test(await text(page, '.headline')), 'it is not told how much went')
  want(await page.locator('section:has(#pairs) tbody tr').count() >= 3, 'fewer than three pairs of chains have orders')
  want(/second|minute/.test(await text(page, 'section:has(#pairs) table')), 'it is not told how long deliveries took')
  want(/ %/.test(await text(page, 'section:has(#venues) table')), 'it is not told which venues win')
  await page.getByText('Volume by day as a table').click()
  want(await page.locator('section:has(#volume) tbody tr').count() === 30, 'the table has not 30 days')
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL(/days=7$/)
  want(await page.locator('.plot rect.value').count() === 7, 'the plot of a week has not seven columns')
})
