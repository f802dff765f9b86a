import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  await visitor.signUp(server)
})

afterAll(async () => {
  await visitor.end(server)
})

const press = (name: string) => visitor.page.getByRole('main').getByRole('button', { name, exact: true }).first().click()

test('a user changes the own name, and the password only with the present one', async () => {
  const { page } = visitor
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Your name').fill('Ana Maria')
  await page.locator('form', { has: page.getByLabel('Your name') }).getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await visitor.look('settings')
  const login = page.locator('form', { has: page.getByLabel('New password') })
  visitor.expected.push(/422 \(Unprocessable Entity\) \S+\/user\/[\w-]+$/)
  await login.getByLabel('New password').fill('a longer password')
  await login.getByLabel('Your present password').fill('not this one')
  await login.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').first().waitFor()
  await expect.poll(() => login.getByLabel('New password').inputValue()).toBe('a longer password')
  await page.getByLabel('Language of the panel').selectOption('es')
  await page.getByRole('heading', { name: 'Ajustes' }).waitFor()
  await page.getByLabel('Idioma del panel').selectOption('en')
})

test('people come with permissions, and go', async () => {
  const { page } = visitor
  await press('People')
  await page.getByText('ana@example.com').waitFor()
  await press('Add a person')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Ben')
  await dialog.getByLabel('E-mail').fill('ben@example.com')
  await dialog.getByLabel('Password').fill('correct horse battery')
  await dialog.getByLabel('chats.read').check()
  await visitor.look('settings-person')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('ben@example.com').waitFor()
  await visitor.look('settings-people')
  await page.getByRole('listitem').filter({ hasText: 'ben@example.com' }).getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('chats.send').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('listitem').filter({ hasText: 'ben@example.com' }).getByText('chats.read, chats.send').waitFor()
  await press('Remove Ben')
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('ben@example.com').waitFor({ state: 'detached' })
})

test('a token is shown once, and revoked', async () => {
  const { page } = visitor
  await press('Tokens')
  await page.getByRole('heading', { name: 'No tokens yet' }).waitFor()
  await visitor.look('settings-tokens-empty')
  await press('New token')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What it is for').fill('shop')
  await dialog.getByLabel('chats.send').check()
  await dialog.getByRole('button', { name: 'Create' }).click()
  const token = (await dialog.locator('pre').innerText()).trim()
  const may = await server.call<{ permissions: string[] }>(token, 'GET', '/user/permissions')
  expect(may.permissions).toEqual(['chats.send'])
  await page.keyboard.press('Escape')
  await page.getByText('shop').waitFor()
  await visitor.look('settings-tokens')
  await press('Revoke shop')
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByRole('heading', { name: 'No tokens yet' }).waitFor()
})

test('pages fit a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  for (const part of ['me', 'people', 'tokens', 'account']) {
    await page.goto(`${server.url}/panel/settings?part=${part}`)
    await page.getByRole('main').getByRole('heading', { name: 'Settings' }).waitFor()
    await visitor.fits()
    await visitor.look(`settings-phone-${part}`)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('the account ends only with the password', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/settings?part=account`)
  await page.getByText('Messages received').waitFor()
  await visitor.look('settings-account')
  await press('Delete the account')
  const dialog = page.getByRole('dialog')
  visitor.expected.push(/422 \(Unprocessable Entity\) \S+\/account$/)
  await dialog.getByLabel('Your present password').fill('not this one')
  await dialog.getByRole('button', { name: 'Delete the account' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Your present password').fill('correct horse battery')
  await dialog.getByRole('button', { name: 'Delete the account' }).click()
  await page.getByRole('button', { name: 'Log in' }).first().waitFor()
})
