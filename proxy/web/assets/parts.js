// Replaces the elements with data-part by those of a fresh copy of this page; resolves to whether the server responded.
export async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return false
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-part]')) {
    const instead = fresh.getElementById(part.id)
    if (instead) part.replaceChildren(...instead.childNodes)
  }
  return true
}
