// Whether a page may be what it was although the server does not send it now.
export const isBusy = ({ status }) => status === 429 || status >= 500

// Replaces the elements with data-part by those of a fresh copy of this page. Resolves to whether the server responded.
// If there is no such page any more, as of an order in a block that a chain has replaced, what is there instead is loaded.
export async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok && !isBusy(answer)) location.reload()
  if (!answer.ok) return false
  replaceParts(await documentOf(answer))
  return true
}

export const documentOf = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')

// A focused link or button keeps the focus, and unfolded elements with an id stay unfolded.
export function replaceParts(fresh) {
  for (const part of document.querySelectorAll('[data-part]')) {
    const instead = fresh.getElementById(part.id)
    if (!instead) continue
    const held = part.contains(document.activeElement) ? targetOf(document.activeElement) : null
    const unfolded = [...part.querySelectorAll('details[id][open]')].map((each) => each.id)
    part.replaceChildren(...instead.childNodes)
    for (const id of unfolded) document.getElementById(id)?.setAttribute('open', '')
    if (held) part.querySelector(held)?.focus()
  }
}

function targetOf(element) {
  const name = ['href', 'formaction'].find((each) => element.hasAttribute(each))
  return name && `[${name}="${CSS.escape(element.getAttribute(name))}"]`
}

// Calls look every so many milliseconds while the page is visible, and when it becomes so.
export function whileVisible(every, look) {
  const lookIfVisible = () => { if (!document.hidden) look() }
  setInterval(lookIfVisible, every)
  document.addEventListener('visibilitychange', lookIfVisible)
}
