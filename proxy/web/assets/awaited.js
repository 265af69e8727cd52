// Shows what was waited for as soon as it is there, without a new document.
const source = new EventSource(document.getElementById('awaited').dataset.events)

async function become() {
  source.close()
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok || answer.redirected) return location.reload() // it is something else than an order
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.title = fresh.title
  document.querySelector('main').replaceChildren(...fresh.querySelector('main').childNodes)
  for (const script of fresh.querySelectorAll('head script')) await import(script.getAttribute('src'))
  document.getElementById('said').textContent = document.querySelector('#live .state').textContent
}

source.addEventListener('found', become)
source.addEventListener('error', () => {
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000) // there is no stream to be had
})
addEventListener('pagehide', () => source.close())
