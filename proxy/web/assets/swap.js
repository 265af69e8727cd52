// Lists the tokens of the selected chain.
const form = document.querySelector('[data-swap]')
const tokens = document.getElementById('tokens')

async function offer(chain) {
  const answer = await fetch(`/v1.0/token-list?chainId=${encodeURIComponent(chain)}`)
  if (!answer.ok) return
  const list = Object.values((await answer.json()).tokens)
  tokens.replaceChildren(...list.map((token) => {
    const option = document.createElement('option')
    option.value = token.address
    option.textContent = token.symbol
    return option
  }))
}

form.elements.chainId.addEventListener('change', (event) => offer(event.target.value))
