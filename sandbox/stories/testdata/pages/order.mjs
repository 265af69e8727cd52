// The page of an order.
import { create, look, move, text, visit, want } from './browser.mjs'

const { gateway, hash, several } = look

export const pages = { form: '/order', order: `/order/${hash}`, several: `/order/${several}` }

// An order that is over says everything about itself.
export const content = () => visit({}, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  want((await text(page, '.state')).includes('Delivered and paid'), 'the order is not told as delivered')
  want(await page.locator('.timeline li.done').count() === 4, 'the order has not four steps behind it')
  want(await page.locator('.sides .logo img').count() === 2, 'the tokens have no logos')
  want((await text(page, '.took')).match(/^delivered in .*, paid after another /), 'it is not told how long the order took')
  want(/\$[\d,.]+ now/.test(await text(page, '.sides')), 'it is not told what the amounts are worth')
  for (let tries = 0; tries < 600 && !/when created|no price at the time/.test(await text(page, '.sides')); tries++) { // until it is counted
    await page.waitForTimeout(100)
    await page.reload()
  }
  want(/\$[\d,.]+ when created/.test(await text(page, '.sides')) || /no price at the time/.test(await text(page, '.sides')), 'it is not told what the amounts were worth')
  await page.getByText('Sources', { exact: true }).click()
  want(/read twice|read once|reported by one endpoint only/.test(await text(page, '.proof table')), 'it is not told what the fields were read by')
  want(/% of the amount paid/.test(await text(page, '.facts')) && / for .*, 1 .* for /.test(await text(page, '.facts')), 'fee and rate are not in words')
  want(!await page.locator('#raw').isVisible(), 'the answer is not folded up')
  await page.getByText('As JSON').click()
  want((await text(page, '#raw')).includes('"state": "ClaimedUnlock"'), 'the answer is not below the order')
  want(/^[\d.]+ ETH, \$[\d,.]+ when created/m.test(await text(page, '.facts')), 'it is not shown what the maker paid in all')
  want(await page.locator('.facts a[href^="/address/0x"]').count() === 2, 'maker and receiver do not lead to the pages of their addresses')
  await page.getByRole('link', { name: 'assets locked for the taker' }).click()
  await page.waitForURL(/\/locked\/0x/)
})

export const withoutScripts = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  want(await page.locator('.timeline li.done').count() === 4, 'without scripts the order has not four steps')
})

// On a phone nothing has to be scrolled sideways, also unfolded, and each time of the timeline is on one line.
export const narrow = () => visit({ viewport: { width: 390, height: 844 } }, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  for (const folded of await page.locator('summary').all()) await folded.click()
  const wide = await page.evaluate(() => [...document.querySelectorAll('main *:not(.sr)')].filter((each) => each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX !== 'visible' && each.clientWidth > 1).map((each) => each.outerHTML.slice(0, 80)))
  want(wide.length === 0, `has to be scrolled sideways: ${wide.join(' | ')}`)
  for (const width of [390, 800, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    const lines = await page.locator('.timeline .when').evaluateAll((all) => all.map((each) => each.getClientRects()[0].height / parseFloat(getComputedStyle(each).lineHeight)))
    want(Math.max(...lines) < 1.5, `times of the timeline take ${lines} lines, ${width} pixels wide`)
  }
})

// The rings of the timeline, full and empty, are on its line.
export const rings = () => visit({}, async (page) => {
  const { creationTxHash } = await create()
  await page.goto(`${gateway}/order/${creationTxHash}`)
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
export const copies = () => visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.goto(`${gateway}/order/${hash}`)
  for (const button of await page.locator('.split .facts button.copy').all()) {
    await button.click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    want(copied === await button.evaluate((b) => b.parentElement.querySelector('.mono').textContent), `${copied} was copied instead of what stands there`)
  }
  want(await page.locator('.split .facts button.copy').count() >= 4 && await page.locator('.timeline button.copy').count() === 8, 'not every id has a button')
  await page.getByText('As JSON').click()
  await page.locator('details .command button').click()
  const { state } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))
  want(state === 'ClaimedUnlock', 'the copied answer is not the order')
})

// An order moves while somebody looks.
export const moves = () => visit({}, async (page) => {
  const { creationTxHash, orderId } = await create()
  await page.goto(`${gateway}/order/${creationTxHash}`)
  want((await text(page, '.state')).startsWith('Waiting for a taker'), 'a new order is not shown as waiting')
  want((await text(page, '.took')).includes('Waiting for'), 'the page does not say how long the order has waited')
  await page.evaluate(() => { window.sameDocument = true })
  await page.getByText('Sources', { exact: true }).click()
  for (const [call, body, state] of [
    ['fulfil', { orderId }, 'Fulfilled'],
    ['unlock', { orderIds: [orderId] }, 'SentUnlock'],
    ['claim', { orderId }, 'ClaimedUnlock'],
  ]) {
    await move(call, body)
    await page.locator('.state .mono', { hasText: new RegExp(`^${state}$`) }).waitFor()
    want((await text(page, '#said')).includes(state), `screen readers are not told of ${state}`)
  }
  want(await page.evaluate(() => window.sameDocument), 'the page was loaded again')
  want(await page.locator('.proof table').first().isVisible(), 'what was unfolded has folded up')
  want(await page.locator('.proof table').first().locator('tbody tr').count() === 4, 'it is not told where each of four steps was read')
  await page.getByText('As JSON').click()
  want((await text(page, '#raw')).includes('"state": "ClaimedUnlock"'), 'the answer below the order stayed behind')
})

// An order that moves before the page listens is not missed, also where the gateway was too busy to tell at first.
export const movesMeanwhile = () => visit({}, async (page) => {
  const { creationTxHash, orderId } = await create()
  let listen
  let isBusy = true
  const moved = new Promise((resolve) => { listen = resolve })
  await page.route((url) => url.pathname.startsWith('/api/Orders/'), async (route) => {
    await moved
    if (isBusy) {
      isBusy = false
      return route.fulfill({ status: 503 })
    }
    await route.continue()
  })
  await page.goto(`${gateway}/order/${creationTxHash}`)
  await move('fulfil', { orderId })
  while ((await (await fetch(`${gateway}/api/Orders/${orderId}`)).json()).state !== 'Fulfilled') await page.waitForTimeout(100)
  listen()
  await page.locator('.state .mono', { hasText: 'Fulfilled' }).waitFor()
})

// A page in a hidden tab leaves the browser's few connections to others, and catches up once it is shown.
export const hidden = () => visit({}, async (page) => {
  const { creationTxHash, orderId } = await create()
  await page.addInitScript(() => {
    window.streams = []
    window.EventSource = class extends EventSource { constructor(url) { super(url); window.streams.push(this) } }
    Object.defineProperty(document, 'hidden', { get: () => window.isHidden ?? false })
  })
  const turn = (isHidden) => page.evaluate((now) => { window.isHidden = now; document.dispatchEvent(new Event('visibilitychange')) }, isHidden)
  await page.goto(`${gateway}/order/${creationTxHash}`)
  await page.waitForFunction(() => window.streams.length > 0)
  await turn(true)
  want(await page.evaluate(() => window.streams.every((each) => each.readyState === EventSource.CLOSED)), 'a hidden page holds a stream')
  await move('fulfil', { orderId })
  while ((await (await fetch(`${gateway}/api/Orders/${orderId}`)).json()).state !== 'Fulfilled') await page.waitForTimeout(100)
  await turn(false)
  await page.locator('.state .mono', { hasText: 'Fulfilled' }).waitFor()
})

// An order that its chain has taken back is not shown as it was, even if no event says so, as of a block that was not
// indexed yet.
export const retracted = () => visit({}, async (page) => {
  const { creationTxHash } = await create()
  await page.addInitScript(() => { window.EventSource = class extends EventTarget { close() {} } })
  await page.goto(`${gateway}/order/${creationTxHash}`)
  await page.locator('.state', { hasText: 'Waiting for a taker' }).waitFor()
  await move('reorg', { chainId: 8453, depth: 3 })
  await page.locator('.state', { hasText: 'Not there yet' }).waitFor()
})

// A transaction with several orders leads to each.
export const others = () => visit({}, async (page) => {
  await page.goto(`${gateway}/order/${several}`)
  await page.locator('.others a', { hasText: '1' }).click()
  await page.waitForURL(/index=1$/)
  want((await page.locator('.others a[aria-current]').innerText()) === '1', 'the second order of a transaction is not marked')
})
