// Buttons that copy the value of data-copy, or else the text before them. They are hidden without scripts.
const isIdle = (button) => button.dataset.done === undefined

// Shows the buttons of a page, also after its content was replaced.
export function showButtons() {
  if (navigator.clipboard) for (const button of document.querySelectorAll('[data-copy][hidden]')) button.hidden = false
}

showButtons()
if (navigator.clipboard) {
  document.documentElement.classList.add('copies')
  document.addEventListener('click', async (event) => { // delegated, since parts of the page are replaced
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
