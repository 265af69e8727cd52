// Chromium, what to look at in it, and how the walks say what is wrong.
import { chromium } from 'playwright-core'

// look has the gateway's addresses, orders and where pictures go: see pages_test.go.
export const look = JSON.parse(process.argv[2])
const { gateway, admin, sandbox } = look

export const wrong = (text) => console.log(text)
export const want = (is, text) => { if (!is) wrong(text) }

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
export const close = () => browser.close()

// visit makes a page in a window of its own, whose every complaint and every call elsewhere is told.
export async function visit(options, walk) {
  const context = await browser.newContext(options)
  await context.route((url) => url.origin !== gateway && url.origin !== admin, (route) => {
    wrong(`${route.request().frame().url()} calls ${route.request().url()}`)
    return route.abort()
  })
  context.on('console', (message) => {
    const at = message.page().url()
    const of = message.location().url
    const isOwnStatus = of === at && /status of [45]\d\d/.test(message.text()) // a page that says what is wrong
    const isBusy = of.includes('/api/Orders/') && /status of 50[23]/.test(message.text()) // the page asks for events again
    if (message.type() === 'error' && !isOwnStatus && !isBusy) wrong(`${at}: console: ${of}: ${message.text()}`)
  })
  context.on('weberror', (error) => wrong(`${error.page().url()}: ${error.error()}`))
  context.setDefaultTimeout(15_000)
  await context.addInitScript(() => { // https://www.w3.org/TR/largest-contentful-paint and https://wicg.github.io/layout-instability
    window.largestPaint = window.layoutShift = 0
    window.moved = [] // the elements that a layout shift is of
    const each = (type, see) => new PerformanceObserver((list) => list.getEntries().forEach(see)).observe({ type, buffered: true })
    each('largest-contentful-paint', (entry) => { window.largestPaint = entry.startTime })
    each('layout-shift', (entry) => {
      if (entry.hadRecentInput) return
      window.layoutShift += entry.value
      window.moved.push(...entry.sources.map(({ node, previousRect: was, currentRect: is }) =>
        `${node?.nodeName} ${(node?.className ?? node?.data ?? '')} from ${was.x},${was.y} ${was.width}x${was.height} to ${is.x},${is.y} ${is.width}x${is.height}`))
    })
  })
  const page = await context.newPage()
  try {
    await walk(page, context)
  } catch (error) {
    wrong(`${page.url()}: ${error.message}`)
  }
  await context.close()
}

export const text = (page, selector) => page.locator(selector).first().innerText()

// copied is what is in the clipboard.
export const copied = (page) => page.evaluate(() => navigator.clipboard.readText())

// move has the sandbox do something to orders.
export async function move(call, body) {
  const answer = await fetch(`${sandbox}/sandbox/${call}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${call}: ${await answer.text()}`)
  return answer.json()
}

// create makes an order that nobody has delivered yet.
export const create = () => move('create', {
  chainId: 8453, takeChainId: 100000014, giveToken: 'USDC', giveAmount: '250', takeToken: 'USDC', takeAmount: '249',
})
