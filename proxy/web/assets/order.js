// Follows an order or a swap by its event stream, and refreshes the page when the record has changed.
import { refresh } from './parts.js'

const live = document.getElementById('live')
const path = live?.dataset.events

async function show() {
  if (!await refresh()) return
  document.getElementById('said').textContent = document.querySelector('#live .state').textContent
}

if (path) {
  const source = new EventSource(path)
  let shown = false // the first event repeats what the page shows
  for (const kind of ['order', 'swap']) {
    source.addEventListener(kind, () => {
      if (shown) show()
      shown = true
    })
  }
  source.addEventListener('final', () => {
    source.close()
    show()
  })
  addEventListener('pagehide', () => source.close())
}
