// Compares without loading a new document: shows each venue's answer as it arrives, and then replaces the page by the
// one with the result.
import { showButtons } from './copy.js'
import { mountPickers } from './picker.js'
import { mountTrade } from './trade.js'

const asked = (url) => url.split('#')[0]
let shown = asked(location.href) // the URL that the page shows

function busy(form) {
  const button = form.querySelector('button')
  form.setAttribute('aria-busy', 'true')
  button.disabled = true
  button.textContent = 'Comparing…'
  document.getElementById('said').textContent = 'Asking the venues.'
  const heard = document.createElement('ul')
  heard.className = 'plain heard'
  document.getElementById('result').replaceChildren(heard)
  return heard
}

function lineOf({ venue, says, took }) {
  const line = document.createElement('li')
  for (const [name, text] of [['strong', venue], ['span', says], ['span', took]]) {
    const part = document.createElement(name)
    part.textContent = text
    line.append(part)
  }
  line.lastChild.className = 'quiet'
  return line
}

function show({ path, page }) {
  const fresh = new DOMParser().parseFromString(page, 'text/html')
  document.querySelector('main').replaceChildren(...fresh.querySelector('main').childNodes)
  showButtons()
  history.pushState(null, '', path)
  document.title = fresh.title
  shown = asked(location.href)
  mount()
  document.getElementById('said').textContent = document.querySelector('.fault, .notice, .best .label')?.parentElement.innerText ?? ''
  const faulty = document.querySelector('[aria-invalid]')
  const result = document.getElementById('result')
  if (faulty) faulty.focus()
  else if (document.activeElement === document.body) result.focus({ preventScroll: true }) // what had it was replaced
  if (!faulty && result.getBoundingClientRect().top > innerHeight / 2) result.scrollIntoView() // on a phone the result is below the form
}

function mount() {
  mountPickers()
  mountTrade()
  for (const form of document.querySelectorAll('[data-swap]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const heard = busy(form)
      const source = new EventSource(`/swap?${new URLSearchParams(new FormData(form))}`)
      source.addEventListener('quote', ({ data }) => heard.append(lineOf(JSON.parse(data))))
      source.addEventListener('page', ({ data }) => {
        source.close()
        show(JSON.parse(data))
      })
      source.addEventListener('error', () => { // there is no stream; the page itself says why
        source.close()
        form.submit()
      })
    })
  }
}

mount()

// Going back to an earlier comparison repeats it, even if the visitor did so before this script ran; links within the
// page do not.
addEventListener('popstate', () => { if (asked(location.href) !== shown) location.reload() })
const [loaded] = performance.getEntriesByType('navigation')
if (asked(loaded.name) !== shown) location.reload()
