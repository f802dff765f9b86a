import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let codes: string[]

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

/** totp is the code of RFC 6238 that an authenticator app shows for a key. */
function totp(key: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...key.replace(/=+$/, '')].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const bytes = Buffer.from(bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const mac = createHmac('sha1', bytes).update(counter).digest()
  const at = mac.at(-1)! & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

async function logIn() {
  const { page } = visitor
  await page.getByRole('main').getByLabel('E-mail').fill('ana@example.com')
  await page.getByLabel('Password').fill('correct horse battery')
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
}

test('a second factor is turned on with an authenticator app', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/settings`)
  await page.getByRole('button', { name: 'Turn on the second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your current password').fill('correct horse battery')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('img', { name: 'QR code of the key' }).waitFor()
  await visitor.look('settings-factor')
  await dialog.getByLabel('Code').fill(totp((await dialog.locator('pre').innerText()).trim()))
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByText('Keep them in a safe place.').waitFor()
  codes = (await dialog.locator('pre').innerText()).trim().split('\n')
  expect(codes).toHaveLength(10)
  await page.keyboard.press('Escape')
  await page.getByText('10 recovery codes left').waitFor()
})

test('a log-in then asks for a code, and takes a recovery code once', async () => {
  const { page } = visitor
  await visitor.context.clearCookies()
  await page.goto(`${server.url}/panel/`)
  await logIn()
  await page.getByLabel('Code').fill('not a code')
  await visitor.look('login-code')
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Code').fill(codes[0]!)
  await page.locator('form').getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
  await page.goto(`${server.url}/panel/settings`)
  await page.getByText('9 recovery codes left').waitFor()
})
