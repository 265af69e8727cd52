// Buttons that copy what data-copy has, or else the text before them; out of sight without scripts.
const isIdle = (button) => button.dataset.done === undefined

// Shows the buttons of a page, or of what has taken the place of its content.
export function showButtons() {
  if (navigator.clipboard) for (const button of document.querySelectorAll('[data-copy][hidden]')) button.hidden = false
}

showButtons()
if (navigator.clipboard) {
  document.documentElement.classList.add('copies')
  document.addEventListener('click', async (event) => { // parts of the page are replaced: no button has a listener of its own
    const button = event.target.closest('[data-copy]')
    if (!button || !isIdle(button)) return
    await navigator.clipboard.writeText(button.dataset.copy || button.previousElementSibling.textContent)
    const label = button.classList.contains('copy') ? null : button.textContent
    button.dataset.done = ''
    if (label) button.textContent = 'Copied'
    setTimeout(() => {
      delete button.dataset.done
      if (label) button.textContent = label
    }, 2000)
  })
}
