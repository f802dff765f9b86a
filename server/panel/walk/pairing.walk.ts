import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from './phones'
import { Server, Visitor } from './world'

// Codes grow old ten times faster than they do: the first in 6 seconds, one that is typed in 16.
const phones = new Phones()
let server: Server
let visitor: Visitor
let token: string

beforeAll(async () => {
  await phones.start()
  server = new Server([], { ...phones.environ, TRUNKLINE_WEB_TEST_SPEED: '10' })
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
  phones.end()
})

/** reference makes one that is linked to a phone, and opens its page. */
async function reference(name: string): Promise<number> {
  const { id } = await server.call<{ id: number }>(token, 'POST', '/reference', { name, type: 'provider-web' })
  await visitor.page.goto(`${server.url}/panel/references/${id}`)
  await visitor.page.getByRole('heading', { name }).waitFor()
  return id
}

const qr = () => visitor.page.getByRole('img', { name: 'QR code to link the phone' })
const badge = (state: string) => visitor.page.locator('header .badge', { hasText: state })

/** code is what the QR code on the screen says. */
async function code(id: number): Promise<string> {
  const { qr } = await server.call<{ qr: { code: string } }>(token, 'GET', `/reference/session/status?reference=${id}`)
  return qr.code
}

test('a QR code is shown, replaced as it grows old, and scanned', async () => {
  const { page } = visitor
  const id = await reference('Shop')
  await page.getByRole('button', { name: 'Show a QR code' }).click()
  await qr().waitFor()
  await page.getByText(/^A new code in \d+ s$/).waitFor()
  await visitor.look('pairing-qr')
  const first = await qr().getAttribute('src')
  await expect.poll(() => qr().getAttribute('src'), { timeout: 40_000 }).not.toBe(first)
  await badge('pairing').waitFor()
  const owner = await phones.add('Shop')
  await phones.tell({ do: 'scan', phone: owner, code: await code(id) })
  await badge('connected').waitFor()
  await qr().waitFor({ state: 'detached' })
  await page.getByText(owner).first().waitFor()
  await visitor.look('pairing-linked')
  const ana = await phones.add('Ana')
  await phones.tell({ do: 'write', phone: ana, to: owner, text: 'price?' })
  await page.getByRole('main').getByRole('link', { name: 'Inbox' }).click()
  await page.getByText('price?').first().click()
  const poll = { type: 'poll', question: 'Lunch?', options: ['soup', 'salad'] }
  await server.call(token, 'POST', '/chats/send', { reference: id, chatId: ana, message: poll })
  await phones.tell({ do: 'vote', phone: ana, text: 'salad' })
  await page.getByText('vote in a poll').waitFor()
  await page.getByText('salad: 1').waitFor()
  await visitor.look('inbox-poll')
  await page.goto(`${server.url}/panel/references/${id}`)
  await badge('connected').waitFor()
  await phones.tell({ do: 'unlink', phone: owner })
  await badge('logged out').waitFor()
  await page.getByRole('button', { name: 'Show a QR code' }).waitFor()
  await page.getByText('It was unlinked on the phone').waitFor()
  await visitor.look('pairing-unlinked')
})

test('a code is typed on the phone', async () => {
  const { page } = visitor
  await reference('Office')
  await page.getByRole('button', { name: 'Link with a code instead' }).click()
  await page.getByLabel('Phone number').fill('12')
  visitor.expected.push(/422 \(Unprocessable/)
  await page.getByRole('button', { name: 'Get a code' }).click()
  await page.locator('.wrong').waitFor()
  const owner = await phones.add('Office')
  await page.getByLabel('Phone number').fill(`+${owner}`)
  await page.getByRole('button', { name: 'Get a code' }).click()
  const shown = page.locator('.pairing-code')
  await shown.waitFor()
  await visitor.look('pairing-code')
  await phones.tell({ do: 'type', phone: owner, code: await shown.innerText() })
  await badge('connected').waitFor()
})

test('it asks for a passkey, and says in words why a phone was not linked', async () => {
  const { page } = visitor
  const late = await reference('Late')
  await page.getByRole('button', { name: 'Link with a code instead' }).click()
  await page.getByLabel('Phone number').fill(`+${await phones.add('Late')}`)
  await page.getByRole('button', { name: 'Get a code' }).click()
  await page.locator('.pairing-code').waitFor()

  const careful = await reference('Careful')
  await page.getByRole('button', { name: 'Show a QR code' }).click()
  await qr().waitFor()
  const owner = await phones.add('Careful', true)
  await phones.tell({ do: 'scan', phone: owner, code: await code(careful) })
  await page.getByText('WhatsApp asks for the passkey of this account.').waitFor()
  await visitor.look('pairing-passkey')
  await page.getByLabel('Answer').fill('no answer')
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await page.getByText('This is not the answer of the script.').waitFor()
  const { passkey } = await server.call<{ passkey: { options: { challenge: string } } }>(token, 'GET', `/reference/session/status?reference=${careful}`)
  const { signed } = await phones.tell({ do: 'sign', phone: owner, code: passkey.options.challenge })
  await page.getByLabel('Answer').fill(signed!)
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await badge('connected').waitFor()

  await page.goto(`${server.url}/panel/references/${late}`)
  await page.getByText('No phone linked the device while codes were shown.').waitFor()
  await page.getByRole('button', { name: 'Show a QR code' }).waitFor()
  await visitor.look('pairing-expired')
})
