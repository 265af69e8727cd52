// What is locked for a taker.
import { look, text, visit, want } from './browser.mjs'
import { inject, injectTRON } from './wallets.mjs'

const { gateway, taker, takerOnSolana } = look

export const pages = { locked: `/locked/${taker}` }

export const content = () => visit({}, async (page) => {
  await page.goto(`${gateway}/locked?taker=${taker}`)
  want(page.url() === `${gateway}/locked/${taker}`, 'the form of a taker does not lead to him')
  want(/longest wait \d/.test(await text(page, 'details.locked')), 'the page does not say for how long something waits')
  want(await page.locator('.usd', { hasText: /^no price$/ }).count() === 1, 'a token without a price is not marked')
  want(!(await text(page, 'main')).includes('$0.00'), 'a token without a price is worth nothing')
  const list = await fetch(gateway + await page.getByRole('link', { name: 'as CSV' }).getAttribute('href'))
  want(/^id,type,state/.test(await list.text()), `the list of waiting orders is ${list.status} ${list.headers.get('content-type')}`)
  await page.locator('details.locked a').first().click()
  await page.locator('.timeline li.next').waitFor()
})

// A taker's wallet sends the message that pays, and the order is seen as such; another's wallet cannot.
export const unlocks = async () => {
  await visit({}, async (page) => {
    await inject(page)
    await page.goto(`${gateway}/locked/${taker}`)
    const part = page.locator('[data-settle]:not(:has(input))').first()
    await part.getByRole('button', { name: /^Unlock \d+ orders?$/ }).click()
    await part.getByText(/^Only 0x.* can send it/).waitFor()
  })
  for (const [which, says] of [
    [':not([data-orders*=" "])', /^The unlock message was sent in block \d+/], // one order
    ['[data-orders*=" "]', /^The unlock message was sent in block \d+/], // a batch
    ['[data-family=tron]', /^The unlock message was sent in block \d+/],
    ['[data-family=solana]', /^Sent; the page of the order shows when it arrives/],
  ]) {
    await visit({}, async (page) => {
      await inject(page, { account: taker, solana: takerOnSolana })
      await injectTRON(page, { key: look.wallet.tron.takerKey })
      const isOnSolana = which.includes('solana')
      await page.goto(`${gateway}/locked/${isOnSolana ? takerOnSolana : taker}`)
      const isPaidElsewhere = isOnSolana || which.includes('tron')
      const part = page.locator(`[data-settle]${which}${isPaidElsewhere ? '' : ':not(:has(input))'}`).first()
      const orders = (await part.getAttribute('data-orders')).split(' ')
      const button = part.getByRole('button', { name: `Unlock ${orders.length} order` })
      if (isPaidElsewhere) {
        await button.click()
        await part.getByText('Enter the address to be paid first.').waitFor()
        await part.getByRole('textbox', { name: /^Address on .* that is paid$/ }).fill(taker)
      }
      await button.click()
      await part.getByText(says).waitFor()
      if (look.shots) await page.screenshot({ path: `${look.shots}/unlocked-${which.match(/solana|tron/) ?? orders.length}.png`, fullPage: true })
      for (const order of orders) {
        await page.goto(`${gateway}/order/${order}`)
        await page.locator('.state .mono', { hasText: 'SentUnlock' }).waitFor()
      }
    })
  }
  console.error('unlock, locked assets to SentUnlock: 1 step; where the paid address must be said: 2 steps')
}
