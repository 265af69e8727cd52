// What each page takes, opened for the first time by a processor of a quarter of this one's speed: until its largest part
// is painted, how far parts move, and how much is transferred.
import { look, visit, want } from './browser.mjs'

const mostBytes = 150_000 // with headers
const slower = 4

export async function figures(pages) {
  console.error('page          largest paint   layout shift   transferred   requests')
  for (const [name, path] of Object.entries(pages)) {
    await visit({ viewport: { width: 1280, height: 900 } }, async (page, context) => {
      const devTools = await context.newCDPSession(page)
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: slower })
      await page.goto(new URL(path, look.gateway).href)
      await page.waitForFunction(() => window.largestPaint > 0)
      const { paint, shift, moved, bytes, requests } = await page.evaluate(async () => {
        await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
        const loads = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        return { paint: window.largestPaint, shift: window.layoutShift, moved: window.moved, bytes: loads.reduce((sum, each) => sum + each.transferSize, 0), requests: loads.length }
      })
      console.error(`${name.padEnd(12)} ${Math.round(paint).toString().padStart(11)} ms ${shift.toFixed(4).padStart(14)} ${bytes.toString().padStart(13)} ${requests.toString().padStart(10)}`)
      want(!look.mostPaint || shift === 0, `parts of ${name} move by ${shift} while it loads slowly: ${moved}`)
      want(bytes < mostBytes, `${name} and all that it loads are ${bytes} bytes`)
      want(!look.mostPaint || paint <= look.mostPaint, `the largest part of ${name} was painted after ${Math.round(paint)} ms`)
    })
  }
}
