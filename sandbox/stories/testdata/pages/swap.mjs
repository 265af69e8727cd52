// Walks through the pages of swaps and lists, and the ways of somebody who is here for the first time.

// swapPages are the paths of these pages, by the names of their screens.
export const swapPages = (swap) => ({
  swap: swap.path,
  asked: `/swap?chainId=1&tokenIn=usd&amount=-1&tokenOut=${swap.tokenOut}`,
  orders: '/orders',
  swaps: '/orders?mode=SameChain',
})

export async function walkSwaps({ visit, want, text, gateway, hash, swap }) {
  const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] }
  const copied = (page) => page.evaluate(() => navigator.clipboard.readText())

  // Tokens are found by typing, with the keyboard alone; each venue is shown as it answers.
  await visit(clipboard, async (page) => {
    await page.goto(`${gateway}/swap`)
    await page.getByLabel('Chain', { exact: true }).selectOption(swap.chainId)
    const give = page.getByRole('combobox', { name: 'You pay with' })
    await give.fill('ether')
    await page.getByRole('option', { name: /^ETH/ }).first().waitFor()
    await give.press('ArrowDown')
    want(await give.getAttribute('aria-activedescendant') === 'tokenIn-list-0', 'the chosen option is not told')
    await give.press('Enter')
    want(await give.inputValue() === 'ETH', `${await give.inputValue()} was chosen instead of ETH`)
    await give.press('Tab')
    await page.keyboard.type('0.1')
    const take = page.getByRole('combobox', { name: 'You get' })
    await take.fill('USD C')
    await page.getByRole('option', { name: /USD Coin/ }).click()
    want(await take.inputValue() === 'USDC', `${await take.inputValue()} was chosen instead of USDC`)
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
    await page.getByLabel('Amount in whole tokens').fill('0.2')
    await page.getByRole('button', { name: 'Compare' }).last().click()
    await page.locator('.best .label', { hasText: '0.2 ETH' }).waitFor()
    await page.goBack()
    await page.locator('.best .label', { hasText: '0.1 ETH' }).waitFor()
  })

  // What a swap comes to: figures that stand below each other, the chosen venue first, each refusal once.
  await visit(clipboard, async (page) => {
    await page.goto(gateway + swap.path)
    const rows = page.locator('.venues tbody tr')
    want(await rows.count() >= 8, 'fewer than eight venues are compared')
    want(await rows.first().getAttribute('class') === 'won', 'the chosen venue is not the first')
    const edges = await page.locator('.venues tbody td:nth-child(2)').evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().right)))
    want(new Set(edges).size === 1, `amounts end at ${edges}`)
    const gaps = await rows.evaluateAll((all) => all.map((row) => {
      const amount = (cell) => Number(cell.querySelector('data').value.replaceAll(',', ''))
      const [rail, value] = [...row.querySelectorAll('rect')].map((each) => each.getBoundingClientRect().width)
      return Math.abs(value / rail - amount(row) / Math.max(...all.map(amount)))
    }))
    want(Math.max(...gaps) < 0.01, `bars are wrong by ${gaps}`)
    const facts = await text(page, '.best .facts')
    for (const fact of [/Rate\s+1 ETH for [\d,.]+ USDC, 1 USDC for/, /Price impact\s+\S/, /Minimum received\s+[\d,.]+ USDC/, /Network fee\s+\$[\d.]+, [\d.]+ ETH/, /Route\s+\w/]) {
      want(fact.test(facts), `the terms lack ${fact}: ${facts}`)
    }
    const refusals = await page.locator('.refusals li').allInnerTexts()
    const reasons = refusals.map((line) => line.split('\n')[0].replace(/^\d+ venues? /, ''))
    want(reasons.length > 0 && new Set(reasons).size === reasons.length, `a reason is told twice: ${reasons.join(' | ')}`)
    await page.locator('.snippet').first().getByRole('button', { name: 'Copy' }).click()
    const command = (await copied(page)).match(/^curl '(.*)'$/)
    const asked = await fetch(command[1])
    want(asked.ok && (await asked.json()).tx.data.startsWith('0x'), `the copied command answers ${asked.status}`)
    for (const name of ['ethers', 'viem']) {
      await page.locator('.snippet summary', { hasText: name }).click()
      await page.locator('.snippet[open]').getByRole('button', { name: 'Copy' }).click()
      const code = await copied(page)
      want(code.includes(command[1]) && code.includes('sendTransaction'), `what is copied for ${name} is ${code}`)
    }
  })

  // What is wrong with a field is told beside it, with what may have been meant.
  await visit({}, async (page) => {
    await page.goto(gateway + swapPages(swap).asked)
    want((await text(page, '#tokenIn-fault')).includes('No listed token on Ethereum is called "usd"'), 'a symbol that nothing has is not told as such')
    want((await text(page, '#amount-fault')) === 'The amount must be above zero.', 'an amount below zero is not told as such')
    want(await page.locator('#tokenIn').getAttribute('aria-invalid') === 'true', 'the field is not marked')
    await page.locator('.choices a', { hasText: 'USDC' }).first().click()
    want(await page.locator('#tokenIn').inputValue() === 'USDC', 'the choice is not in the field')
    await page.goto(`${gateway}/swap?words=0.1+ETH+to+USDC+on+Atlantis`)
    want((await text(page, '#words-fault')).includes('There is no chain “Atlantis”'), 'a chain that is not there is not told as such')
  })

  // Somebody who is new: from a hash in the clipboard to what was delivered in USD, in one paste.
  await visit(clipboard, async (page) => {
    await page.goto(`${gateway}/`)
    await page.evaluate((text) => navigator.clipboard.writeText(text), hash)
    const began = Date.now()
    await page.getByLabel('Hash, order or swap id').focus()
    await page.keyboard.press('Control+V')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${gateway}/order/${hash}`)
    want((await text(page, '.state')).includes('delivered'), 'the order is not told as delivered')
    want(/\$[\d,.]+ now/.test(await page.locator('.side').last().innerText()), 'what was delivered has no value in USD')
    console.error(`newcomer, hash to USD: 1 paste, ${Date.now() - began} ms`)
  })

  // And from a swap in words to a transaction in the clipboard.
  await visit(clipboard, async (page) => {
    let steps = 0
    const step = (act) => { steps++; return act }
    await page.goto(`${gateway}/`)
    const began = Date.now()
    const field = page.getByLabel('Hash, order or swap id')
    await step(field.pressSequentially('0.1 ETH to USDC'))
    await step(field.press('Enter'))
    await page.locator('.venues tr.won').waitFor()
    await step(page.getByLabel('Your address').fill(swap.account))
    await step(page.getByLabel('Your address').press('Enter'))
    await page.locator('.snippet summary', { hasText: 'The transaction of this answer' }).waitFor()
    await step(page.locator('.snippet summary', { hasText: 'The transaction of this answer' }).click())
    await step(page.locator('.snippet[open]').getByRole('button', { name: 'Copy' }).click())
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const tx = JSON.parse(await copied(page))
    want(/^0x[0-9a-fA-F]{40}$/.test(tx.to) && tx.data.length > 10 && tx.value === '100000000000000000', `the copied transaction is ${JSON.stringify(tx).slice(0, 200)}`)
    want(steps === 6, `it takes ${steps} steps`)
    console.error(`newcomer, words to transaction: ${steps} steps, ${Date.now() - began} ms`)
  })

  // Lists have the filters of the API, and are turned by links.
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
      await page.getByRole('link', { name: 'Swaps within a chain' }).click()
      want((await text(page, 'h1')) === 'Swaps within a chain', 'the other tab is not that of swaps')
      if (javaScriptEnabled) return
      await page.goto(`${gateway}/search?query=0.1+ETH+to+USDC`)
      want(page.url().startsWith(`${gateway}/swap?`), 'a search for a swap in words does not lead to it')
      want(await page.locator('.venues tbody tr').count() >= 8, 'without scripts nothing is compared')
    })
  }
}
