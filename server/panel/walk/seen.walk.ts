import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let reference: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Phone', type: 'provider-sandbox' })).id
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (text: string, from = 'ana') => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from, name: from, type: 'text', text })
const send = (message: unknown) => server.call(token, 'POST', '/chats/send', { reference, chatId: 'ana@sandbox', message })
const open = (chat: string, search = '') => visitor.page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent(chat)}${search}`)
const list = () => visitor.page.getByRole('region', { name: 'Inbox' })
const messages = () => visitor.page.getByRole('region', { name: 'Messages' })
const composer = () => visitor.page.getByLabel('Message', { exact: true })

async function unread(): Promise<number | undefined> {
  const page = await server.call<{ items: { id: string; unread: number }[] }>(token, 'GET', `/chats/list?reference=${reference}&search=ana%40sandbox`)
  return page.items.find((one) => one.id === 'ana@sandbox')?.unread
}

/** hide makes the tab hidden, or shown again, as the browser does when another is opened. */
async function hide(hidden: boolean) {
  await visitor.page.evaluate((now) => {
    Object.defineProperty(document, 'hidden', { value: now, configurable: true })
    Object.defineProperty(document, 'visibilityState', { value: now ? 'hidden' : 'visible', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

test('a chat that is seen has nothing unread, whoever wrote last', async () => {
  await write('one')
  await write('two')
  await send({ type: 'text', text: 'answer of a program' })
  await expect.poll(unread).toBe(2)
  await open('ana@sandbox')
  await messages().getByText('answer of a program').waitFor()
  await expect.poll(unread).toBe(0)
  await list().getByText('unread').waitFor({ state: 'detached' })
})

test('a tab that was hidden marks what it shows as read when it returns', async () => {
  await hide(true)
  await write('three')
  await messages().getByText('three', { exact: true }).waitFor()
  await list().getByText('unread').waitFor()
  await visitor.look('inbox-unread')
  expect(await unread()).toBe(1)
  await hide(false)
  await expect.poll(unread).toBe(0)
  await list().getByText('unread').waitFor({ state: 'detached' })
})

test('a send that failed is marked in the list', async () => {
  const group = await server.call<{ chatId: string }>(token, 'POST', '/chats/group', { reference, subject: 'Friends', participants: ['ana@sandbox'] })
  await server.call(token, 'PATCH', '/chats/group', { reference, chatId: group.chatId, leave: true })
  const message = { type: 'text', text: 'to a group that was left' }
  await expect(server.call(token, 'POST', '/chats/send', { reference, chatId: group.chatId, message })).rejects.toThrow('not_in_group')
  await list().getByRole('link', { name: 'to a group that was left' }).getByText('failed').waitFor()
  await visitor.look('inbox-failed')
})

test('a chat keeps its composer however many ids contain its id', async () => {
  const { page } = visitor
  for (let at = 0; at < 201; at++) await write('crowd', `${at}ana`)
  await open('ana@sandbox', '?search=ana')
  await messages().getByText('three', { exact: true }).waitFor()
  await composer().waitFor()
  await page.getByRole('region', { name: 'Contact' }).getByText('ana@sandbox', { exact: true }).waitFor()
  await write('five')
  await messages().getByText('five', { exact: true }).waitFor()
  await composer().fill('still here')
  await page.keyboard.press('Control+Enter')
  await messages().getByText('still here', { exact: true }).waitFor()
})

test('a part of an id opens no other chat', async () => {
  visitor.expected.push(/404 \(Not Found\)|422/)
  await open('ana@sandb')
  await composer().waitFor()
  await visitor.look('inbox-no-such-chat')
  await expect.poll(() => visitor.page.getByRole('heading', { level: 2 }).first().innerText()).toBe('ana@sandb')
  await expect.poll(() => visitor.page.getByRole('region', { name: 'Contact' }).count()).toBe(0)
})
