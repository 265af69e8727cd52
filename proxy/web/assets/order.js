// Keeps the page of an order or a swap up to date until it is final: on the order's events, and periodically, since a
// swap has none, a gateway need not keep any, and a block that was replaced before it was indexed has none.
import { refresh, whileVisible } from './parts.js'

const live = document.getElementById('live')
const state = () => document.querySelector('#live .state')
let source = null // of events
const isOver = () => state().hasAttribute('data-final')

async function show() {
  const before = state().textContent
  if (await refresh() && state().textContent !== before) document.getElementById('said').textContent = state().textContent
}

if (live && !isOver()) {
  const path = live.dataset.events
  whileVisible(10_000, () => { if (!isOver()) show() })
  if (path) listen(path, 2_000)
  if (path) document.addEventListener('visibilitychange', () => listen(path, 2_000))
}

// A hidden page holds no stream: browsers open six connections to a host, if not by HTTP/2. They reconnect by
// themselves, but not if the answer is not a stream, as from a busy gateway.
function listen(path, pause) {
  source?.close()
  if (document.hidden || isOver()) return
  source = new EventSource(path)
  let due
  const soon = () => { // events that arrive together are shown together
    clearTimeout(due)
    due = setTimeout(async () => {
      await show()
      if (isOver()) source.close()
    }, 200)
  }
  for (const status of ['happened', 'final', 'retracted']) source.addEventListener(status, soon)
  source.addEventListener('open', () => { pause = 2_000 })
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, pause, path, Math.min(2 * pause, 60_000))
  })
}

// Readers need no wallet: the first click loads the script that cancels, which handles a second, synthetic click.
const cancel = document.querySelector('[data-settle] button')
cancel?.addEventListener('click', async () => {
  await import('./settle.js')
  cancel.click()
}, { once: true })
