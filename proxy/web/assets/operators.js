// Refreshes the status page while it is visible and not paused. Screen readers announce changes of the overall state,
// not every number. Commands are sent without leaving the page, so that the token is typed only once.
import { documentOf, refresh, replaceParts, whileVisible } from './parts.js'

const every = 5000 // ms
const pause = document.querySelector('[data-pause]')
const said = document.getElementById('said')
const state = () => document.querySelector('#summary .state').textContent.trim()
let isPaused = false
let heard = state()

async function look() {
  if (isPaused) return
  const answered = await refresh().catch(() => false)
  const now = answered ? state() : 'Gateway not responding'
  if (now !== heard) said.textContent = heard = now
  document.body.classList.toggle('away', !answered)
}

pause.hidden = false
pause.addEventListener('click', () => {
  isPaused = !isPaused
  pause.setAttribute('aria-pressed', isPaused)
  if (!isPaused) look()
})
whileVisible(every, look)

document.getElementById('operate')?.addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const path = event.submitter?.getAttribute('formaction') ?? form.getAttribute('action')
  const notice = document.getElementById('notice')
  try {
    const answer = await fetch(path, { method: 'POST', headers: { Accept: 'text/html' }, body: new URLSearchParams(new FormData(form)) })
    const fresh = await documentOf(answer)
    replaceParts(fresh)
    notice.replaceChildren(...fresh.getElementById('notice').childNodes)
  } catch {
    notice.textContent = 'Gateway not responding'
  }
})
