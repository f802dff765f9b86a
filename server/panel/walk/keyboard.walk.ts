import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  const token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  for (const name of ['ana', 'ben', 'carla']) await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: name, name, type: 'text', text: `from ${name}` })
  await visitor.page.goto(`${server.url}/panel/inbox/${reference}`)
  await list().getByRole('link', { name: 'ana' }).waitFor()
})

afterAll(async () => {
  await visitor.end(server)
})

const list = () => visitor.page.getByRole('region', { name: 'Inbox' })
const messages = () => visitor.page.getByRole('region', { name: 'Messages', exact: true })
const composer = () => visitor.page.getByLabel('Message', { exact: true })
const isFocused = () => composer().evaluate((element) => element === document.activeElement)

test('a conversation is found, opened and answered with the keyboard', async () => {
  const { keyboard } = visitor.page
  for (const key of ['j', 'j', 'k', 'j', 'Enter']) await keyboard.press(key)
  await messages().getByText('from ben').waitFor()
  await expect.poll(isFocused).toBe(true)
  await keyboard.type('first line')
  await keyboard.press('Shift+Enter')
  await keyboard.type('second')
  await keyboard.press('Enter')
  await messages().getByText('first line second').waitFor()
  await expect.poll(() => composer().inputValue()).toBe('')
  await keyboard.press('Escape')
  await keyboard.press('r')
  await expect.poll(isFocused).toBe(true)
  await visitor.look('inbox-keys')
  await keyboard.type('about that')
  await keyboard.press('Enter')
  await messages().locator('.bubble', { hasText: 'about that' }).getByRole('button', { name: 'from ben' }).waitFor()
  await expect.poll(() => composer().inputValue()).toBe('')
  await keyboard.press('r')
  await expect.poll(() => composer().inputValue()).toBe('r') // as it is typed
  await composer().fill('')
  await keyboard.press('Escape')
  await keyboard.press('?')
  await visitor.page.getByText('reply to the last message').waitFor()
  await visitor.look('keys')
  await keyboard.press('Escape')
})

test('Enter begins a line for those who send with Ctrl+Enter', async () => {
  const { page } = visitor
  await page.getByRole('button', { name: 'Settings of the inbox' }).click()
  await page.getByLabel('Send with Ctrl+Enter').check()
  await visitor.look('inbox-settings')
  await page.keyboard.press('Escape')
  await page.reload()
  await messages().getByText('about that').waitFor()
  await composer().fill('one')
  await composer().press('Enter')
  await page.keyboard.type('two')
  await expect.poll(() => composer().inputValue()).toBe('one\ntwo')
  await page.keyboard.press('Control+Enter')
  await messages().getByText('one two').waitFor()
})
