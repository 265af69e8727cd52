// Keeps the newest orders and what is read up to date, by the page's event stream: one request for as long as somebody
// looks.
import { documentIn, replaceParts } from './parts.js'

const again = 30_000 // ms after which a stream that was refused is asked for again
let source

function follow() {
  if (source || document.hidden) return
  source = new EventSource('/')
  source.addEventListener('page', ({ data }) => replaceParts(documentIn(JSON.parse(data))))
  source.addEventListener('error', () => {
    if (source?.readyState !== EventSource.CLOSED) return // the browser asks again by itself
    source = undefined
    setTimeout(follow, again)
  })
}

function rest() {
  source?.close()
  source = undefined
}

document.addEventListener('visibilitychange', () => document.hidden ? rest() : follow())
addEventListener('pagehide', rest)
addEventListener('pageshow', follow)
