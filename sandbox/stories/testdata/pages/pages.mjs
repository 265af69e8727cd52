// Walks through the pages of a running gateway in Chromium. The first argument is what to look at, as JSON; what is
// wrong comes out a line each, and nothing else does.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import { swapPages, walkSwaps } from './swap.mjs'

const { gateway, admin, sandbox, screens, created, foreseen, hash, several, taker, swap, shots } = JSON.parse(process.argv[2])
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><circle cx=".5" cy=".5" r=".5" fill="#2775ca"/></svg>'

const wrong = (text) => console.log(text)
const want = (is, text) => { if (!is) wrong(text) }

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })

// visit makes a page in a window of its own, whose every complaint and every call elsewhere is told.
async function visit(options, walk) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await context.route((url) => url.origin !== gateway && url.origin !== admin, (route) => {
    if (route.request().resourceType() === 'image') return route.fulfill({ contentType: 'image/svg+xml', body: logo })
    wrong(`${page.url()} calls ${route.request().url()}`)
    return route.abort()
  })
  page.on('console', (message) => {
    const isOwnStatus = message.location().url === page.url() && /status of 4\d\d/.test(message.text()) // a page that says what is wrong
    if (message.type() === 'error' && !isOwnStatus) wrong(`${page.url()}: console: ${message.text()}`)
  })
  page.on('pageerror', (error) => wrong(`${page.url()}: ${error}`))
  page.setDefaultTimeout(15_000)
  try {
    await walk(page, context)
  } catch (error) {
    wrong(`${page.url()}: ${error.message}`)
  }
  await context.close()
}

// create makes an order that nobody has delivered yet.
async function create() {
  const order = { chainId: 8453, takeChainId: 100000014, giveToken: 'USDC', giveAmount: '250', takeToken: 'USDC', takeAmount: '249' }
  const answer = await fetch(`${sandbox}/sandbox/create`, { method: 'POST', body: JSON.stringify(order) })
  if (!answer.ok) throw new Error(`create: ${await answer.text()}`)
  return answer.json()
}

const text = (page, selector) => page.locator(selector).first().innerText()

// With the keyboard alone: from the first page to an order.
await visit({}, async (page) => {
  await page.goto(gateway + '/')
  await page.keyboard.press('Tab')
  want(await page.evaluate(() => document.activeElement.className) === 'skip', 'the first thing that Tab reaches does not skip the menu')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.type(hash)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${gateway}/order/${hash}`)
  want((await text(page, '.state')).includes('delivered and paid'), 'the order is not told as delivered')
  want(await page.locator('.timeline li.done').count() === 4, 'the order has not four steps behind it')
  want(await page.locator('.sides .logo img').count() === 2, 'the tokens have no logos')
  want((await text(page, '.took')).match(/^delivered in .*, paid after another /), 'it is not told how long the order took')
  want(/\$[\d,.]+ now/.test(await text(page, '.sides')), 'it is not told what the amounts are worth')
  want(/% of what the maker paid/.test(await text(page, '.facts')) && / for .*, 1 .* for /.test(await text(page, '.facts')), 'fee and rate are not in words')
  want(!await page.locator('#raw').isVisible(), 'the answer is not folded up')
  await page.getByText('As JSON').click()
  want((await text(page, '#raw')).includes('"state": "ClaimedUnlock"'), 'the answer is not below the order')
  await page.getByRole('link', { name: 'what is locked for the taker' }).click()
  await page.waitForURL(/\/locked\/0x/)
})

// The rings of the timeline, full and empty, are on its line.
await visit({}, async (page) => {
  await page.goto(`${gateway}/order/${created.hash}`)
  want(await page.locator('.timeline li.ahead').count() === 2, 'a new order has not two steps far ahead')
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    const off = await page.evaluate(() => Math.max(...[...document.querySelectorAll('.timeline li:not(:last-child)')].map((li) => {
      const [ring, line] = ['::before', '::after'].map((part) => {
        const style = getComputedStyle(li, part)
        const border = style.boxSizing === 'content-box' ? 2 * parseFloat(style.borderLeftWidth) : 0 // which width leaves out
        return parseFloat(style.left) + (parseFloat(style.width) + border) / 2
      })
      return Math.abs(ring - line)
    })))
    want(off < 1, `rings of the timeline are ${off} pixels off its line, ${width} pixels wide`)
  }
})

// Every id and address can be copied, also after the part with it was replaced.
await visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  for (const button of await page.locator('.facts button.copy').all()) {
    await button.click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    want(copied === await button.evaluate((b) => b.parentElement.querySelector('.mono').textContent), `${copied} was copied instead of what stands there`)
  }
  want(await page.locator('.facts button.copy').count() >= 4 && await page.locator('.timeline button.copy').count() === 8, 'not every id has a button')
  await page.getByText('As JSON').click()
  await page.locator('details .command button').click()
  const { state } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
  want(state === 'ClaimedUnlock', 'the copied answer is not the order')
})

// One field takes whatever is in the clipboard, with scripts and without.
for (const javaScriptEnabled of [true, false]) {
  await visit({ javaScriptEnabled }, async (page) => {
    const search = async (text) => {
      await page.goto(`${gateway}/`)
      await page.getByRole('searchbox').or(page.getByLabel('Hash, order or swap id')).fill(text)
      await page.getByRole('button', { name: 'Search' }).click()
    }
    for (const [what, path] of [
      [` ${hash} `, `/order/${hash}`], [created.id, `/order/${created.id}`], [taker, `/locked/${taker}`], ['8453', '/swap?chainId=8453'],
    ]) {
      await search(what)
      await page.waitForURL(gateway + path)
    }
    await search('usdc')
    want(await page.locator('.found a', { hasText: /^USDC on / }).count() >= 4, 'a search for USDC does not find it on each chain')
    await search('nothing of this name')
    want((await text(page, 'main')).includes('Nothing is called so'), 'a search that finds nothing does not say so')
    await page.goto(`${gateway}/`)
    want(await page.locator('#recent-part tbody tr').count() === 12, 'the start page has not the twelve newest orders and swaps')
    want(/Crossgate \S+/.test(await text(page, 'footer')), 'the footer has no version')
    await page.locator('.examples a').first().click()
    await page.waitForURL(/\/order\/0x/)
  })
}

// The start page shows a new order by itself, and who is reading it with the keyboard stays where they are.
await visit({}, async (page) => {
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

// Pages that were opened by hash and by id before there was an order become the order within a second of its creation,
// and without scripts they ask again.
await visit({}, async (byHash, context) => {
  const byID = await context.newPage()
  for (const [page, key] of [[byHash, foreseen.hash], [byID, foreseen.id]]) {
    await page.goto(`${gateway}/order/${key}`)
    want((await text(page, '.state')).startsWith('TRANSACTION_NOT_FOUND'), 'an order that is not there is not told as such')
    want((await text(page, 'main')).includes(key), 'the page does not say what was asked for')
    want(await page.locator('table tbody tr').count() >= 6, 'the page does not say which chains were searched')
    await page.evaluate(() => { // when the order is there, by the clock of this machine
      new MutationObserver(() => { if (document.querySelector('.timeline')) window.became ??= Date.now() })
        .observe(document.body, { childList: true, subtree: true })
    })
  }
  const plain = await browser.newContext({ javaScriptEnabled: false })
  const unscripted = await plain.newPage()
  await unscripted.goto(`${gateway}/order/${foreseen.id}`)
  const sent = await fetch(foreseen.rpc, {
    method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [foreseen.raw] }),
  })
  const at = Date.now()
  want((await sent.json()).result === foreseen.hash, 'the order was not created')
  for (const page of [byHash, byID, unscripted]) {
    await page.locator('.state', { hasText: 'waiting for a taker' }).waitFor()
    if (page === unscripted) continue
    const took = await page.evaluate(() => window.became) - at
    console.error(`${page.url()} became the order ${took} ms after its creation`)
    want(took <= 1000, `the page of a new order took ${took} ms to become it`)
  }
  await plain.close()
  const delivered = await fetch(`${sandbox}/sandbox/fulfil`, { method: 'POST', body: JSON.stringify({ orderId: foreseen.id }) })
  want(delivered.ok, 'the new order cannot be delivered')
  await byHash.locator('.state strong', { hasText: /^Fulfilled$/ }).waitFor()
})

// An order moves while somebody looks.
await visit({}, async (page) => {
  await page.goto(`${gateway}/order/${created.hash}`)
  want((await text(page, '.state')).startsWith('Created'), 'a new order is not told as created')
  await page.evaluate(() => { window.sameDocument = true })
  const move = (call, body) => fetch(`${sandbox}/sandbox/${call}`, { method: 'POST', body: JSON.stringify(body) })
  for (const [call, body, state] of [
    ['fulfil', { orderId: created.id }, 'Fulfilled'],
    ['unlock', { orderIds: [created.id] }, 'SentUnlock'],
    ['claim', { orderId: created.id }, 'ClaimedUnlock'],
  ]) {
    const answer = await move(call, body)
    if (!answer.ok) throw new Error(`${call}: ${await answer.text()}`)
    await page.locator('.state strong', { hasText: new RegExp(`^${state}$`) }).waitFor()
    want((await text(page, '#said')).includes(state), `screen readers are not told of ${state}`)
  }
  want(await page.evaluate(() => window.sameDocument), 'the page was loaded again')
  await page.getByText('As JSON').click()
  want((await text(page, '#raw')).includes('"state": "ClaimedUnlock"'), 'the answer below the order stayed behind')
})

await visit({}, async (page) => {
  await page.goto(`${gateway}/order/${several}`)
  await page.locator('.others a', { hasText: '1' }).click()
  await page.waitForURL(/index=1$/)
  want((await page.locator('.others a[aria-current]').innerText()) === '1', 'the second order of a transaction is not marked')
})

await walkSwaps({ visit, want, text, gateway, hash, swap })

await visit({}, async (page) => {
  await page.goto(`${gateway}/locked?taker=${taker}`)
  want(page.url() === `${gateway}/locked/${taker}`, 'the form of a taker does not lead to him')
  want(/longest wait \d/.test(await text(page, 'details.locked')), 'it is not told for how long something waits')
  want(await page.locator('.usd', { hasText: /^no price$/ }).count() === 1, 'it is not told of which token no price is known')
  await page.locator('details.locked a').first().click()
  await page.locator('.timeline li.next').waitFor()
})

await visit({}, async (page) => {
  await page.goto(`${gateway}/docs/`)
  await page.locator('.opblock').nth(14).waitFor()
})

// Operators see how everything is, and that it is kept up to date until they pause it.
await visit({}, async (page) => {
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

// Without scripts the first view of everything is there.
await visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  want(await page.locator('.timeline li.done').count() === 4, 'without scripts the order has not four steps')
})

// Every page in both themes and at a phone's width, as docs/screens has them: nothing wider than the window, nothing that axe objects to, which
// judges colours and structure and so need not see the narrow ones.
const looks = [
  ['light', { colorScheme: 'light', viewport: { width: 1280, height: 900 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
]
const pages = {
  home: '/', search: '/search?query=usdc', nothing: '/search?query=nothing+of+this+name', problem: '/ordre/0x12', form: '/order', order: `/order/${hash}`, awaited: `/order/0x${'ab'.repeat(32)}`, several: `/order/${several}`, locked: `/locked/${taker}`, ...swapPages(swap), docs: '/docs/', operators: `${admin}/`,
}
for (const [look, options] of looks) {
  await visit(options, async (page) => {
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(new URL(path, gateway).href)
      if (name === 'docs') await page.locator('.opblock').first().waitFor()
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      want(over <= 0 || name === 'docs', `${name} (${look}) is ${over} pixels too wide`)
      const weight = await page.evaluate(() => performance.getEntries().reduce((sum, each) => sum + (each.encodedBodySize ?? 0), 0))
      want(weight < 150_000 || name === 'docs', `${name} (${look}) and all that it loads are ${weight} bytes`)
      const screen = { path: `${screens}/${name}-${look}.jpg`, type: 'jpeg', quality: 50, caret: 'hide', animations: 'disabled' }
      if (name !== 'docs') await page.screenshot(screen) // what is seen without scrolling
      if (shots) await page.screenshot({ path: `${shots}/${name}-${look}.png`, fullPage: name !== 'docs' })
      if (name === 'docs' || options.isMobile) continue // Swagger UI is not ours
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => axe.run())
      for (const each of violations) wrong(`${name} (${look}): ${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)
    }
  })
}

await browser.close()
