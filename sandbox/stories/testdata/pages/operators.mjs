// The operators' status page.
import { look, text, visit, want } from './browser.mjs'

const { admin, token } = look

export const pages = { operators: `${admin}/` }

// Operators see how everything is, and that it is kept up to date until they pause it.
export const content = () => visit({}, async (page) => {
  await page.goto(`${admin}/`)
  want((await text(page, '.state')).includes('Healthy'), `operators read: ${await text(page, '.state')}`)
  want(await page.locator('#chain-rows tr').count() >= 5, 'operators do not see the chains')
  want(await page.locator('#endpoint-rows .dot.good').count() >= 5, 'operators do not see the endpoints')
  want(await page.locator('#venue-rows tr').count() >= 8, 'operators do not see the venues')
  await page.locator('.spark').first().waitFor({ timeout: 40_000 }) // a value is added every 10 seconds
  want(await page.locator('.spark').count() === 6, 'operators do not see six lines of history')
  const asOf = await page.locator('#as-of').innerText()
  await page.waitForFunction((before) => document.getElementById('as-of').innerText !== before, asOf)
  await page.getByRole('button', { name: 'Pause' }).click()
  want((await page.locator('[data-pause]').getAttribute('aria-pressed')) === 'true', 'the page does not say that it is paused')
})

// Operators take an endpoint out of use and back, by buttons that want the token, with scripts and without.
export async function commands() {
  for (const javaScriptEnabled of [true, false]) {
    await visit({ javaScriptEnabled }, async (page) => {
      const row = page.locator('#endpoint-rows tr', { has: page.getByRole('rowheader', { name: 'lifi' }) })
      const press = async (name) => {
        if (!javaScriptEnabled) await page.getByLabel("Operators' token").fill(token) // which is typed anew
        await row.getByRole('button', { name }).click()
      }
      await page.goto(`${admin}/`)
      await page.getByLabel("Operators' token").fill(token)
      await press('Cordon')
      await row.getByText('cordoned', { exact: true }).waitFor()
      await page.getByText('The endpoint is cordoned').waitFor()
      await press('Uncordon')
      await row.getByText('ready', { exact: true }).waitFor()
      if (!javaScriptEnabled) await page.getByLabel("Operators' token").fill(token)
      await page.getByLabel('About a chain').selectOption('1')
      await page.getByRole('button', { name: 'Purge' }).click()
      await page.getByText('Purged').waitFor()
      want(!page.url().includes(token), 'the token is in the address')
    })
  }
}

// Somebody without the token is told so and changes nothing.
export const refused = () => visit({ javaScriptEnabled: false }, async (page) => {
  await page.goto(`${admin}/`)
  await page.getByLabel("Operators' token").fill('guessed')
  await page.getByRole('button', { name: 'Cordon: lifi' }).click()
  await page.getByText('Not done: missing or wrong token').waitFor()
  want(await page.getByRole('button', { name: 'Uncordon: lifi' }).count() === 0, 'an endpoint was cordoned without the token')
})
