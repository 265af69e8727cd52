// Polls for the awaited order, more often in the first minute, and reloads once the page has changed.
import { documentOf, isBusy } from './parts.js'

const opened = Date.now()

async function look() {
  const answer = document.hidden ? null : await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null)
  const fresh = answer && !isBusy(answer) && await documentOf(answer).catch(() => null)
  if (fresh && fresh.title !== document.title) return location.reload()
  setTimeout(look, Date.now() - opened < 60_000 ? 2_000 : 10_000)
}

setTimeout(look, 2_000)
