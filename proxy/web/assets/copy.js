// Buttons that copy the command before them; hidden without scripts.
for (const button of document.querySelectorAll('[data-copy]')) {
  const text = button.previousElementSibling
  if (!navigator.clipboard) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.textContent)
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
}
