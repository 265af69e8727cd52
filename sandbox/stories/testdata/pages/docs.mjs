// The reference of the API.
import { look, text, visit, want } from './browser.mjs'

const { gateway } = look

export const pages = { docs: '/docs/' }

// Its examples ask this gateway, which may not have what they name.
export const examples = () => visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
  await page.goto(`${gateway}/docs/`)
  want(await page.locator('article.operation').count() >= 25, 'the reference has fewer than 25 operations')
  // The three questions ask about what there is.
  const questions = page.locator('section', { has: page.locator('#questions') })
  const asked = await questions.getByRole('link', { name: 'Try it' }).all()
  want(asked.length === 3, `the reference begins with ${asked.length} questions`)
  for (const link of asked.slice(0, 2)) {
    const path = await link.getAttribute('href')
    const { status } = await fetch(gateway + path)
    want(status === 200, `the question ${path} answers ${status}`)
  }
  const byCreation = page.locator('article', { has: page.locator('#orderByCreation') })
  await byCreation.getByRole('button', { name: 'Copy' }).click()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  const answer = await fetch(command.match(/^curl '(.*)'$/)?.[1] ?? gateway)
  want(answer.status < 500 && (await answer.text()).includes('rder'), `the copied command answers ${answer.status}: ${command}`)
  for (const link of await page.getByRole('link', { name: 'Try it' }).all()) {
    const path = await link.getAttribute('href')
    const { status } = await fetch(gateway + path)
    want(status < 500, `the example ${path} answers ${status}`)
  }
  for (const command of await page.locator('.command code', { hasText: ' -d ' }).allTextContents()) {
    const [, url, type, body] = command.match(/^curl '([^']*)' \\\n  -H 'Content-Type: ([^']*)' \\\n  -d '([^']*)'$/) ?? []
    const { status } = await fetch(url ?? gateway, { method: 'POST', headers: { 'Content-Type': type }, body })
    want(status < 500, `the example ${command} answers ${status}`)
  }
})

// What has two spellings is there once, and the link to either leads to it.
export const spellings = () => visit({}, async (page) => {
  await page.goto(`${gateway}/docs/#lockedAssetsSpelledRight`)
  const operation = page.locator('article', { has: page.locator('#lockedAssets') })
  want((await operation.innerText()).includes('/api/Satistics/{takerAddress}/lockedAssets or /api/Statistics/{takerAddress}/lockedAssets'), 'the other spelling of a path is not beside it')
  await page.waitForFunction(() => scrollY > 0)
  const summaries = await page.locator('article.operation h3').allTextContents()
  want(new Set(summaries).size === summaries.length, `operations are listed twice: ${summaries.filter((each, i) => summaries.indexOf(each) !== i)}`)
})

// Without scripts all of it is there, and a link to a schema unfolds it.
export const withoutScripts = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${gateway}/docs/`)
  await page.locator('article', { has: page.locator('#orderById') }).getByRole('link', { name: 'Order', exact: true }).first().click()
  await page.locator('#schema-Order').getByText('makerOrderNonce').waitFor()
  want((await text(page, '#schema-Order')).includes('required'), 'the schema of an order does not say what is required')
})
