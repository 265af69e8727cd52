// The reference of the API.
import { look, visit } from './browser.mjs'

export const content = () => visit({}, async (page) => {
  await page.goto(`${look.gateway}/docs/`)
  await page.locator('.opblock').nth(14).waitFor()
})
