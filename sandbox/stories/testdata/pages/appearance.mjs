// Every page in both themes and at a phone's width, as docs/screens has them: nothing wider than the window, nothing
// that axe objects to, nothing that moves while it loads.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { look, visit, want, wrong } from './browser.mjs'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
}

export async function appearance(pages) {
  for (const [theme, options] of Object.entries(looks)) {
    await visit(options, async (page) => {
      for (const [name, path] of Object.entries(pages)) await inspect(page, `${name}-${theme}`, new URL(path, look.gateway).href)
    })
  }
}

async function inspect(page, name, url) {
  await page.goto(url)
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  want(over <= 0, `${name} is ${over} pixels too wide`)
  await page.screenshot({ path: `${look.screens}/${name}.jpg`, type: 'jpeg', quality: 50, caret: 'hide', animations: 'disabled' })
  if (look.shots) await page.screenshot({ path: `${look.shots}/${name}.png`, fullPage: true })
  const { shift, moved } = await page.evaluate(() => ({ shift: window.layoutShift, moved: window.moved }))
  want(shift === 0, `parts of ${name} move by ${shift} while it loads: ${moved}`)
  await judge(page, name)
}

// judge tells what axe objects to, in what is folded up as well.
export async function judge(page, name) {
  await page.evaluate(() => { // axe judges what is laid out
    for (const each of document.querySelectorAll('details')) each.open = true
    for (const each of document.querySelectorAll('main *')) {
      if (getComputedStyle(each).contentVisibility === 'auto') each.style.contentVisibility = 'visible'
    }
  })
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => window.axe.run())
  for (const each of violations) wrong(`${name}: ${each.id}: ${each.help}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)
}
