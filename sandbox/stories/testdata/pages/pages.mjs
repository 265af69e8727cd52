// Walks through the pages of a running gateway in Chromium. The first argument is what to look at, as JSON; what is
// wrong comes out a line each, and nothing else does.
//
// Each module here is about one page or a few: every function that it exports is a walk, and its pages, by name, are
// looked at in each theme and width.
import { close, look } from './browser.mjs'
import { appearance } from './appearance.mjs'
import { figures } from './figures.mjs'

const modules = [
  'home',
  'search',
  'order',
  'awaited',
  'swap',
  'trade',
  'list',
  'newcomer',
  'locked',
  'statistics',
  'problem',
  'docs',
  'operators',
]

const pages = {}
for (const name of modules.filter((each) => look.only.length === 0 || look.only.includes(each))) {
  const { pages: own, ...walks } = await import(`./${name}.mjs`)
  for (const walk of Object.values(walks)) await walk()
  Object.assign(pages, own)
}
await appearance(pages)
await figures(pages)
await close()
