// Follows an order or a swap by its event stream, and refreshes the page when the record has changed.
import { refresh } from './parts.js'

const live = document.getElementById('live')
const path = live?.dataset.events

async function show() {
  if (!await refresh()) return
  document.getElementById('said').textContent = document.querySelector('#live .state').textContent
}

const compact = (json) => JSON.stringify(JSON.parse(json))

if (path) {
  const source = new EventSource(path)
  for (const kind of ['order', 'swap']) {
    source.addEventListener(kind, ({ data }) => { // the first one mostly repeats the record that the page shows
      if (compact(data) !== compact(document.querySelector('#raw code').textContent)) show()
    })
  }
  source.addEventListener('final', () => {
    source.close()
    show()
  })
  addEventListener('pagehide', () => source.close())
}
