import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor

beforeAll(async () => {
  await server.start()
  server.url = server.url.replace('127.0.0.1', 'localhost') // browsers make no passkeys for addresses
  visitor = await Visitor.open(server)
  const device = await visitor.context.newCDPSession(visitor.page)
  await device.send('WebAuthn.enable')
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  })
  await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

test('a passkey is added in the settings, once for a device', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/settings`)
  const add = async (name: string) => {
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Your current password').fill('correct horse battery')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    return dialog
  }
  await add('Phone')
  await page.getByRole('button', { name: 'Remove Phone' }).waitFor()
  await visitor.look('settings-passkeys')
  const dialog = await add('Again')
  await dialog.getByText('This device already has a passkey for you.').waitFor()
  await visitor.look('settings-passkey-again')
  await page.keyboard.press('Escape')
})

test('it logs in alone', async () => {
  const { page } = visitor
  await visitor.context.clearCookies()
  await page.goto(`${server.url}/panel/`)
  const signIn = page.getByRole('button', { name: 'Sign in with a passkey' })
  await signIn.waitFor()
  await visitor.look('login-passkey')
  await signIn.click()
  await page.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()
})

test('once removed it logs nobody in', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/settings`)
  await page.getByRole('button', { name: 'Remove Phone' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your current password').fill('correct horse battery')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove Phone' }).waitFor({ state: 'detached' })
  await visitor.context.clearCookies()
  await page.goto(`${server.url}/panel/`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('the passkey is unknown to this server').waitFor()
  expect(await page.getByLabel('Password').isVisible()).toBe(true)
})
