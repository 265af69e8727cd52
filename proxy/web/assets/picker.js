// Turns token fields into comboboxes (ARIA 1.2): what is typed is searched for on the chosen chain, and arrow keys,
// Enter and Escape work as in any list.
const chainOf = (part) => document.getElementById(part.dataset.picker).value || document.getElementById('chainId').value

function logo(token, chain) {
  const frame = document.createElement('span')
  frame.className = 'logo'
  frame.setAttribute('aria-hidden', 'true')
  const initial = document.createElement('span')
  initial.textContent = (token.symbol || '?').slice(0, 1).toUpperCase()
  frame.append(initial)
  const image = new Image(32, 32)
  Object.assign(image, { src: `/logo/${chain}/${token.address}`, alt: '', loading: 'lazy' })
  image.dataset.initial = initial.textContent
  frame.append(image)
  return frame
}

// Searches the listed tokens of a chain; null if the gateway does not answer.
async function search(chainId, query) {
  const answer = await fetch(`/v1.0/token-list/search?${new URLSearchParams({ chainId, query })}`)
  return answer.ok ? (await answer.json()).tokens : null
}

// A token is named by its symbol if no other has it, which only a search for the symbol tells, otherwise by its address.
export async function nameOf(token, chainId) {
  const found = await search(chainId, token.symbol)
  return found?.filter((each) => each.symbol.toLowerCase() === token.symbol.toLowerCase()).length === 1 ? token.symbol : token.address
}

function picker(part) {
  const field = part.querySelector('input')
  const list = document.createElement('ul')
  let found = []
  let at = -1
  let turn = 0
  field.removeAttribute('list')
  list.id = field.id + '-list'
  list.className = 'options'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', part.querySelector('label').textContent)
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': list.id, 'aria-autocomplete': 'list' })) {
    field.setAttribute(name, value)
  }
  field.after(list)

  function show(open) {
    list.hidden = !open
    field.setAttribute('aria-expanded', String(open))
    if (!open) mark(-1)
  }

  function mark(next) {
    list.children[at]?.setAttribute('aria-selected', 'false')
    at = next
    const option = list.children[at]
    if (!option) return field.removeAttribute('aria-activedescendant')
    option.setAttribute('aria-selected', 'true')
    field.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }

  async function choose(token) {
    field.value = field.title = token.address
    part.querySelector('[data-chosen]')?.remove()
    show(false)
    field.dispatchEvent(new Event('change'))
    const name = await nameOf(token, chainOf(part))
    if (field.value === token.address) field.value = name
  }

  function optionOf(token, index) {
    const option = document.createElement('li')
    const name = document.createElement('span')
    const more = document.createElement('span')
    const address = document.createElement('span')
    option.id = `${list.id}-${index}`
    option.className = 'what'
    option.setAttribute('role', 'option')
    option.setAttribute('aria-selected', 'false')
    name.textContent = token.symbol
    more.className = 'quiet'
    address.className = 'mono'
    address.textContent = `${token.address.slice(0, 8)}…${token.address.slice(-6)}`
    more.append(`${token.name} `, address)
    option.append(logo(token, chainOf(part)), name, more)
    option.addEventListener('pointerdown', (event) => {
      event.preventDefault() // keeps the focus in the field
      choose(token)
    })
    return option
  }

  async function look() {
    const mine = ++turn
    part.querySelector('[data-chosen]')?.remove()
    const text = field.value.trim()
    if (!text) return show(false)
    const tokens = await search(chainOf(part), text)
    if (!tokens || mine !== turn) return // outdated by further typing
    found = tokens.slice(0, 8)
    list.replaceChildren(...found.map(optionOf))
    at = -1
    show(found.length > 0)
  }

  field.addEventListener('input', look)
  field.addEventListener('blur', () => show(false))
  field.addEventListener('keydown', (event) => {
    const open = !list.hidden
    const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (steps) {
      event.preventDefault()
      if (open) mark((at + steps + found.length) % found.length)
      else look()
    } else if (open && event.key === 'Escape') {
      event.preventDefault()
      show(false)
    } else if (open && event.key === 'Enter' && at >= 0) {
      event.preventDefault()
      choose(found[at])
    }
  })
}

export function mountPickers() {
  document.querySelectorAll('[data-picker]').forEach(picker)
}
