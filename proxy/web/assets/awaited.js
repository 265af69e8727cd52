// Shows what was waited for as soon as it is there.
const source = new EventSource(document.getElementById('awaited').dataset.events)
source.addEventListener('found', () => {
  source.close()
  location.reload()
})
source.addEventListener('error', () => {
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000) // there is no stream to be had
})
addEventListener('pagehide', () => source.close())
