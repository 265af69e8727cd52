// Follows an order by the events of its own path, and takes over the parts of the page that they change.
const live = document.getElementById('live')
const path = live?.dataset.events

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-part]')) {
    const instead = fresh.getElementById(part.id)
    if (instead) part.replaceChildren(...instead.childNodes)
  }
  document.getElementById('said').textContent = document.querySelector('#live .state').textContent
}

if (path) {
  const source = new EventSource(path)
  let shown = false // the first event is what the page shows already
  source.addEventListener('order', () => {
    if (shown) refresh()
    shown = true
  })
  source.addEventListener('final', () => {
    source.close()
    refresh()
  })
  addEventListener('pagehide', () => source.close())
}
