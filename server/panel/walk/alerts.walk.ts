import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let reference: number

declare global {
  interface Window {
    notified: Notification[]
    tones: number
  }
}

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  await write('hello')
  // What the browser is asked for is noted, and done.
  await visitor.page.addInitScript(() => {
    window.notified = []
    window.tones = 0
    window.Notification = class extends Notification {
      constructor(title: string, options?: NotificationOptions) {
        super(title, options)
        window.notified.push(this)
      }
    }
    const begin = AudioContext.prototype.createOscillator
    AudioContext.prototype.createOscillator = function () {
      window.tones++
      return begin.call(this)
    }
  })
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (text: string) => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', type: 'text', text })
const title = () => visitor.page.title()
const shown = () => visitor.page.evaluate(() => window.notified.map((one) => `${one.title}: ${one.body}`))
const tones = () => visitor.page.evaluate(() => window.tones)

/** hide makes the tab hidden, or shown again, as the browser does when another is opened. */
async function hide(hidden: boolean) {
  await visitor.page.evaluate((now) => {
    Object.defineProperty(document, 'hidden', { value: now, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

/** turnOn checks an alert in the settings of the inbox. */
async function turnOn(label: string) {
  await visitor.page.getByRole('button', { name: 'Settings of the inbox' }).click()
  await visitor.page.getByLabel(label).click()
}

test('the title counts what came while the tab was hidden', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/`)
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
  await page.goto(`${server.url}/panel/inbox/${reference}`)
  await page.getByRole('region', { name: 'Inbox' }).getByRole('link').waitFor()
  await write('seen')
  await page.getByRole('region', { name: 'Inbox' }).getByText('seen').waitFor()
  expect(await title()).toBe('Trunkline')
  await hide(true)
  await write('one')
  await write('two')
  await expect.poll(title).toBe('(2) Trunkline')
  expect(await shown()).toEqual([])
  expect(await tones()).toBe(0)
  await hide(false)
  await expect.poll(title).toBe('Trunkline')
})

test('a browser that allows no notifications is told so', async () => {
  const { page } = visitor
  await page.evaluate(() => (Notification.requestPermission = () => Promise.resolve('denied')))
  await turnOn('Show notifications')
  await page.getByText('The browser does not allow notifications here.').waitFor()
  await expect.poll(() => page.getByLabel('Show notifications').isChecked()).toBe(false)
  await page.reload()
})

test('notifications and a sound say that a contact has written', async () => {
  const { page } = visitor
  await visitor.context.grantPermissions(['notifications'], { origin: server.url })
  await turnOn('Show notifications')
  await expect.poll(() => page.getByLabel('Show notifications').isChecked()).toBe(true)
  await page.getByLabel('Play a sound').check()
  await expect.poll(tones).toBe(1)
  await visitor.look('inbox-alerts')
  await page.keyboard.press('Escape')
  await hide(true)
  await write('are you there?')
  await expect.poll(shown).toEqual(['Ana: are you there?'])
  expect(await tones()).toBe(2)
  await page.evaluate(() => window.notified[0]?.onclick?.(new Event('click')))
  await page.getByRole('region', { name: 'Messages', exact: true }).getByText('are you there?').waitFor()
  await hide(false)
})
