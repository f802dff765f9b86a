import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

// An inbox of 10,000 chats, and a thread of 10,000 messages.
const size = 10_000
const fill = process.env.PANEL_FILL ?? join(import.meta.dirname, '../../../bin/fill')

const server = new Server()
let visitor: Visitor
let token: string
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  await visitor.page.goto('about:blank')
  await server.stop()
  execFileSync(fill, [join(server.data, 'trunkline.db'), String(reference), String(size), String(size)], { stdio: 'inherit' })
  await server.start()
})

afterAll(async () => {
  await visitor.end(server)
})

/** Frame is one that took longer than 50 ms, and how long of that our own script ran. */
interface Frame {
  all: number
  own: number
}

type Watched = Window & { longFrames: Frame[] }

/** watch notes the frames that take long from here on. */
const watch = () =>
  visitor.page.evaluate(() => {
    const w = window as unknown as Watched
    w.longFrames = []
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { scripts: { duration: number }[] })[]) {
        w.longFrames.push({ all: entry.duration, own: Math.max(0, ...entry.scripts.map((script) => script.duration)) })
      }
    }).observe({ type: 'long-animation-frame' })
  })

/** longest is how long our script ran at a stretch since it was last asked, in milliseconds, if that was noticed. */
const longest = () =>
  visitor.page.evaluate(() => {
    const w = window as unknown as Watched
    const frames = w.longFrames.splice(0)
    return Math.max(0, ...frames.map((frame) => frame.own))
  })

/**
 * stretch is how many times longer work takes than its processor time, because others have the processors:
 * the same little work takes its own time at least once in a hundred.
 */
const stretch = () =>
  visitor.page.evaluate(() => {
    let sink = 0
    const times = Array.from({ length: 100 }, () => {
      const from = performance.now()
      for (let i = 0; i < 300_000; i++) sink += i % 7
      return performance.now() - from
    })
    return sink < 0 ? 0 : times.reduce((sum, time) => sum + time) / (times.length * Math.min(...times))
  })

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** known is how many items of a list were read. */
const known = (list: Locator) => list.locator('li').first().getAttribute('aria-setsize').then(Number)

/** roll scrolls through a list, up or down, as fast as frames come, until so many items were read. */
async function roll(list: Locator, step: number, until: number) {
  await list.evaluate(
    (box, [step, until]) =>
      new Promise<void>((done) => {
        const next = () => {
          const read = Number(box.querySelector('li')?.getAttribute('aria-setsize'))
          if (read >= until) return done()
          box.scrollTop += step
          requestAnimationFrame(next)
        }
        next()
      }),
    [step, until] as const,
  )
}

/** rows are how many are drawn, of both lists and the phone. */
const rows = () => visitor.page.locator('.virtual-rows > li').count()

test('a big inbox stays quick', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
  const chats = page.getByRole('region', { name: 'Inbox' })
  const thread = page.getByRole('region', { name: 'Messages' })
  await thread.getByText(`Message ${2 * size - 2}`).waitFor()
  await chats.getByText('Contact 9998').waitFor()
  await watch()
  const stretched: number[] = []
  const took: Record<string, number[]> = { 'scrolling chats': [], 'scrolling messages': [], typing: [], 'live messages': [] }
  const round = async (name: string, act: () => Promise<void>) => {
    await longest()
    await act()
    took[name]?.push(await longest())
    expect(await rows(), name).toBeLessThan(300)
  }
  for (let at = 1; at <= 5; at++) {
    const part = (size / 5) * at
    await round('scrolling chats', () => roll(chats, 4000, part))
    await round('scrolling messages', () => roll(thread, -4000, part))
    await round('typing', () => page.getByLabel('Message', { exact: true }).pressSequentially('How much is it, and when is it there? '))
    await round('live messages', async () => {
      const end = () => thread.evaluate((box) => (box.scrollTop = box.scrollHeight))
      await end()
      for (let i = 0; i < 5; i++) await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text: `live ${at} ${i}` })
      // Older messages may still come, and the end move with them: whoever reads scrolls on.
      await expect.poll(() => end().then(() => thread.getByText(`live ${at} 4`).isVisible()), { timeout: 30_000 }).toBe(true)
    })
    stretched.push(await stretch())
    for (const list of [chats, thread]) expect(await known(list)).toBeGreaterThanOrEqual(part)
  }
  console.log(`longest of our own tasks, ms: ${JSON.stringify(took, (_, value: unknown) => (typeof value === 'number' ? Math.round(value) : value))}; work takes ${median(stretched).toFixed(1)} times its time`)
  for (const [name, values] of Object.entries(took)) expect(median(values), name).toBeLessThanOrEqual(50 * median(stretched))
  await visitor.look('inbox-big')
}, 180_000)
