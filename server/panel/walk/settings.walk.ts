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
  await login.getByLabel('Your current password').fill('not this one')
  await login.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').first().waitFor()
  await expect.poll(() => login.getByLabel('New password').inputValue()).toBe('a longer password')
  await page.getByLabel('Language of the panel').selectOption('es')
  await page.getByRole('heading', { name: 'Ajustes' }).waitFor()
  await page.getByLabel('Idioma del panel').selectOption('en')
})

test('people are invited with a role, and go', async () => {
  const { page } = visitor
  await press('People')
  await page.getByText('ana@example.com').waitFor()
  await press('Invite a person')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill('ben@example.com')
  await dialog.getByLabel('Role').selectOption('viewer')
  await visitor.look('settings-invite')
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
  const link = (await dialog.locator('pre').innerText()).trim()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Revoke the invitation of ben@example.com' }).waitFor()

  const other = await visitor.context.browser()!.newContext({ locale: 'en-GB' })
  const his = await other.newPage()
  await his.goto(link.replace(/^https?:\/\/[^/]+/, server.url))
  await his.getByLabel('Your name').fill('Ben')
  await his.getByLabel('Password').fill('quite another phrase')
  await his.getByRole('button', { name: 'Accept the invitation' }).click()
  await his.getByRole('heading', { name: 'Welcome to Trunkline' }).waitFor()

  await page.reload()
  const ben = page.getByRole('listitem').filter({ hasText: 'ben@example.com' })
  await ben.getByText('Viewer').waitFor()
  await visitor.look('settings-people')
  await ben.getByRole('button', { name: 'Change' }).click()
  await dialog.getByLabel('Role').selectOption('')
  await dialog.getByLabel('chats.send').check()
  await visitor.look('settings-person')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await ben.getByText('references.read, chats.read, chats.send, usage.read').waitFor()

  await ben.getByRole('button', { name: 'Sessions and tokens' }).click()
  await dialog.getByRole('button', { name: 'End', exact: true }).click()
  await dialog.getByText('There are no sessions.').waitFor()
  await page.keyboard.press('Escape')
  await his.reload()
  await his.locator('form').getByRole('button', { name: 'Log in' }).waitFor()
  await other.close()

  await press('Remove Ben')
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('ben@example.com').waitFor({ state: 'detached' })
})

test('the audit log shows what was done', async () => {
  const { page } = visitor
  await press('Audit log')
  const removal = page.getByRole('main').getByRole('listitem').filter({ hasText: 'user.delete' })
  await removal.getByText('ana@example.com').waitFor()
  await page.getByLabel('Action').fill('user.update')
  await page.getByLabel('Action').press('Enter')
  await removal.waitFor({ state: 'detached' })
  await page.getByRole('main').getByRole('listitem').filter({ hasText: 'user.update' }).first().locator('summary').click()
  await page.getByText('"changed"').first().waitFor()
  await visitor.look('settings-audit')
  const csv = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download as CSV' }).click()
  expect((await csv).suggestedFilename()).toBe('audit.csv')
})

test('a token is shown once, and revoked', async () => {
  const { page } = visitor
  await press('Tokens')
  await page.getByRole('heading', { name: 'No tokens yet' }).waitFor()
  await visitor.look('settings-tokens-empty')
  await press('New token')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Purpose').fill('shop')
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
  for (const part of ['me', 'people', 'tokens', 'audit', 'account']) {
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
  await dialog.getByLabel('Your current password').fill('not this one')
  await dialog.getByRole('button', { name: 'Delete the account' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Your current password').fill('correct horse battery')
  await dialog.getByRole('button', { name: 'Delete the account' }).click()
  await page.getByRole('button', { name: 'Log in' }).first().waitFor()
})
