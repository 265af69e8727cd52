// Keeps the page as it is at the moment while somebody looks at it, until they pause that. Screen readers hear of a
// change between well and not well, not of every number.
import { refresh } from './parts.js'

const every = 5000 // ms
const pause = document.querySelector('[data-pause]')
const said = document.getElementById('said')
const state = () => document.querySelector('#summary .state').textContent.trim()
let isPaused = false
let heard = state()

async function look() {
  if (isPaused || document.hidden) return
  const answered = await refresh().catch(() => false)
  const now = answered ? state() : 'The gateway does not answer'
  if (now !== heard) said.textContent = heard = now
  document.body.classList.toggle('away', !answered)
}

pause.hidden = false
pause.addEventListener('click', () => {
  isPaused = !isPaused
  pause.setAttribute('aria-pressed', isPaused)
  if (!isPaused) look()
})
setInterval(look, every)
