// The page of an order that is not there yet.
import { look, move, text, visit, want } from './browser.mjs'

const { gateway, foreseen } = look

export const pages = { awaited: `/order/0x${'ab'.repeat(32)}` }

// Pages that were opened by hash and by id before there was an order become the order within seconds of its creation,
// with scripts and without.
export const becomes = () => visit({}, async (byHash, context) => {
  const byID = await context.newPage()
  for (const [page, key] of [[byHash, foreseen.hash], [byID, foreseen.id]]) {
    await page.goto(`${gateway}/order/${key}`)
    want((await text(page, '.state')).startsWith('Not there yet'), 'an order that is not there is not told as such')
    want((await text(page, 'main')).includes(key), 'the page does not say what was asked for')
    want(await page.locator('table tbody tr').count() >= 6, 'the page does not say which chains were searched')
  }
  await visit({ javaScriptEnabled: false }, async (unscripted) => {
    await unscripted.goto(`${gateway}/order/${foreseen.id}`)
    await send()
    for (const page of [byHash, byID, unscripted]) {
      await page.locator('.state', { hasText: 'Waiting for a taker' }).waitFor()
    }
  })
  await move('fulfil', { orderId: foreseen.id })
  await byHash.locator('.state .mono', { hasText: /^Fulfilled$/ }).waitFor()
})

// send creates the order.
async function send() {
  const sent = await fetch(foreseen.rpc, {
    method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [foreseen.raw] }),
  })
  want((await sent.json()).result === foreseen.hash, 'the order was not created')
}
