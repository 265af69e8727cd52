// Swaps: the form, what a comparison says, and what is wrong with either.
import { judge } from './appearance.mjs'
import { copied, look, text, visit, want } from './browser.mjs'

const { gateway, swap } = look
const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] }
const asked = `/swap?chainId=1&tokenIn=usd&amount=-1&tokenOut=${swap.tokenOut}`

export const pages = { swap: swap.path, asked }

// Tokens are found by typing, with the keyboard alone; each venue is shown as it answers.
export const compares = () => visit(clipboard, async (page) => {
  await page.goto(`${gateway}/swap`)
  await page.getByLabel('Chain', { exact: true }).selectOption(swap.chainId)
  const give = page.getByRole('combobox', { name: 'You pay with' })
  await give.fill('ether')
  await page.getByRole('option', { name: /^ETH/ }).first().waitFor()
  await judge(page, 'swap with tokens to choose from')
  await give.press('ArrowDown')
  want(await give.getAttribute('aria-activedescendant') === 'tokenIn-list-0', 'the chosen option is not told')
  await give.press('Enter')
  await page.waitForFunction(() => document.getElementById('tokenIn').value === 'ETH')
  await give.press('Tab')
  await page.keyboard.type('0.1')
  const take = page.getByRole('combobox', { name: 'You get' })
  await take.fill('USD C')
  await page.getByRole('option', { name: /USD Coin/ }).click()
  await page.waitForFunction(() => document.getElementById('tokenOut').value === 'USDC')
  await take.fill('zz')
  await page.getByRole('listbox', { name: 'You get' }).waitFor({ state: 'hidden' })
  await take.fill('usdc')
  await take.press('Escape')
  await page.evaluate(() => {
    window.sameDocument = true
    window.heard = new Set()
    new MutationObserver(() => {
      for (const line of document.querySelectorAll('.heard li')) window.heard.add(line.textContent)
      window.wasBusy ||= document.querySelector('[aria-busy] button')?.textContent === 'Comparing…'
    }).observe(document.body, { childList: true, subtree: true })
  })
  await take.press('Enter')
  await page.locator('.venues tr.won').waitFor()
  const [busy, heard] = await page.evaluate(() => [window.wasBusy, [...window.heard]])
  want(await page.evaluate(() => window.sameDocument), 'the comparison loaded another document')
  want(busy, 'the page does not say that it compares')
  want(heard.filter((line) => /\d USDC\d+ ms$/.test(line)).length >= 4, `too few venues are shown as they answer: ${heard.join(', ')}`)
  want(page.url().includes('tokenIn=ETH') && page.url().includes('amount=0.1'), `${page.url()} does not lead here again`)
  want((await text(page, '#said')).includes('buys'), 'screen readers are not told of the result')
  want((await page.title()).startsWith('0.1 ETH to USDC on Ethereum'), `the title is ${await page.title()}`)
  want(await page.evaluate(() => document.activeElement.id) === 'result', 'the keyboard does not go on at the result')
  await page.getByLabel('Amount in whole tokens').fill('0.2')
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.locator('.best .label', { hasText: '0.2 ETH' }).waitFor()
  await page.goBack()
  await page.locator('.best .label', { hasText: '0.1 ETH' }).waitFor()
})

// What a swap comes to: figures that stand below each other, the chosen venue first, each refusal once.
export const tells = () => visit(clipboard, async (page) => {
  await page.goto(gateway + swap.path)
  const rows = page.locator('.venues tbody tr')
  want(await rows.count() >= 8, 'fewer than eight venues are compared')
  want(await rows.first().getAttribute('class') === 'won', 'the chosen venue is not the first')
  const edges = await page.locator('.venues tbody td:nth-child(2)').evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().right)))
  want(new Set(edges).size === 1, `amounts end at ${edges}`)
  const gaps = await rows.evaluateAll((all) => all.map((row) => {
    const amount = (cell) => Number(cell.querySelector('data').value.replaceAll(',', ''))
    const [rail, value] = [...row.querySelectorAll('rect')].map((each) => each.getBoundingClientRect().width)
    const [least, most] = [Math.min(...all.map(amount)), Math.max(...all.map(amount))]
    return Math.abs(value / rail - (amount(row) - least) / (most - least))
  }))
  want(Math.max(...gaps) < 0.01, `bars are wrong by ${gaps}`)
  const facts = await text(page, '.best .facts')
  for (const fact of [/Rate\s+1 ETH for [\d,.]+ USDC, 1 USDC for/, /Price impact\s+\S/, /Minimum received\s+[\d,.]+ USDC/, /Network fee\s+(under )?\$[\d.]+, [\d.]+ ETH/, /Route\s+\w/]) {
    want(fact.test(facts), `the terms lack ${fact}: ${facts}`)
  }
  const refusals = await page.locator('.refusals li').allInnerTexts()
  const reasons = refusals.map((line) => line.split('\n')[0].replace(/^\d+ venues? /, ''))
  want(reasons.length > 0 && new Set(reasons).size === reasons.length, `a reason is told twice: ${reasons.join(' | ')}`)
  await page.locator('.snippet').first().getByRole('button', { name: 'Copy' }).click()
  const command = (await copied(page)).match(/^curl '(.*)'$/)
  const asked = await fetch(command[1])
  want(asked.ok && (await asked.json()).tx.data.startsWith('0x'), `the copied command answers ${asked.status}`)
})

// On a phone the result comes first, also without scripts, and the form is one touch away.
export async function onPhones() {
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled, viewport: { width: 390, height: 844 } }, async (page) => {
      await page.goto(`${gateway}/swap?tokenIn=ETH&amount=0.1&tokenOut=USDC`)
      const { y } = await page.locator('.best .big').boundingBox()
      want(y < 844, `the result is ${y} pixels below the top`)
      const field = page.getByLabel(/^Recipient/)
      want(!await field.isVisible(), 'the form is not folded above its result')
      const again = []
      page.on('request', (request) => { if (request.isNavigationRequest()) again.push(request.url()) })
      await page.getByRole('link', { name: 'a recipient' }).click()
      await field.fill(swap.account)
      want(again.length === 0, `a link within the page asks for ${again}`)
      await field.press('Enter')
      await page.locator('.snippet').first().waitFor()
    })
  }
}

// What is wrong with a field is told beside it, with what may have been meant.
export const refuses = () => visit({}, async (page) => {
  await page.goto(gateway + asked)
  want((await text(page, '#tokenIn-fault')).includes('No listed token on Ethereum is called "usd"'), 'a symbol that nothing has is not told as such')
  want((await text(page, '#amount-fault')) === 'The amount must be above zero.', 'an amount below zero is not told as such')
  want(await page.locator('#tokenIn').getAttribute('aria-invalid') === 'true', 'the field is not marked')
  await page.locator('.choices a', { hasText: 'USDC' }).first().click()
  want(await page.locator('#tokenIn').inputValue() === 'USDC', 'the choice is not in the field')
})

// Without scripts the form leads to the same comparison.
export const withoutScripts = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${gateway}/swap?tokenIn=ETH&amount=0.1&tokenOut=USDC`)
  want(await page.locator('.venues tbody tr').count() >= 8, 'without scripts nothing is compared')
})
