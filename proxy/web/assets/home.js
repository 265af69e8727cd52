// Keeps the newest orders and what is read up to date, by the page's event stream: one request for as long as somebody
// looks.
import { documentIn, replaceParts } from './parts.js'

const again = 10_000 // ms after which a stream that ended is asked for again, since each costs as much as a list
let source

function follow() {
  if (source || document.hidden) return
  source = new EventSource('/')
  source.addEventListener('page', ({ data }) => replaceParts(documentIn(JSON.parse(data))))
  source.addEventListener('error', () => {
    rest()
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
