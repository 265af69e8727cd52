// Follows an order by the events of its own path, and takes over the parts of the page that they change.
import { refresh } from './parts.js'

const live = document.getElementById('live')
const path = live?.dataset.events

async function show() {
  if (!await refresh()) return
  document.getElementById('said').textContent = document.querySelector('#live .state').textContent
}

if (path) {
  const source = new EventSource(path)
  let shown = false // the first event is what the page shows already
  source.addEventListener('order', () => {
    if (shown) show()
    shown = true
  })
  source.addEventListener('final', () => {
    source.close()
    show()
  })
  addEventListener('pagehide', () => source.close())
}
