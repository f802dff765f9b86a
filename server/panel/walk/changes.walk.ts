import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let reference: number
let first: string

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  await write({ type: 'text', text: 'the very first' })
  first = await idOf('the very first')
  for (let at = 0; at < 250; at++) await write({ type: 'text', text: `message ${at}` })
  await open()
  await messages().getByText('message 249').waitFor()
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (message: object) => server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: 'ana', name: 'Ana', ...message })
const send = (message: object, context?: { messageId: string }) => server.call<{ message: { id: string } }>(token, 'POST', '/chats/send', { reference, chatId: 'ana@sandbox', message, ...(context ? { context } : {}) })
const open = () => visitor.page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}`)
const messages = () => visitor.page.getByRole('region', { name: 'Messages', exact: true })
const bubble = (text: string) => messages().locator('.bubble', { hasText: text })
const rows = () => messages().getByRole('listitem').first().getAttribute('aria-setsize').then(Number)

/** idOf finds a message by the text that it was written with. */
async function idOf(text: string): Promise<string> {
  const page = await server.call<{ items: { id: string; text?: string }[] }>(token, 'GET', `/chats/messages?reference=${reference}&chatId=ana%40sandbox&limit=200`)
  const found = page.items.find((one) => one.text === text)
  expect(found, text).toBeDefined()
  return found?.id ?? ''
}

test('edits, deletions and reactions change the message they are about', async () => {
  const { message: sent } = await send({ type: 'text', text: 'It costs 20' })
  await write({ type: 'text', text: 'Please hury' })
  await write({ type: 'text', text: 'sent by mistake' })
  await bubble('sent by mistake').waitFor()
  const before = await rows()
  await send({ type: 'edit', messageId: sent.id, text: 'It costs 25' })
  await bubble('It costs 25').getByText('edited').waitFor()
  await write({ type: 'reaction', messageId: sent.id, emoji: '👍' })
  await bubble('It costs 25').getByLabel('Reactions').getByText('👍').waitFor()
  await write({ type: 'edit', messageId: await idOf('Please hury'), text: 'Please hurry' })
  await bubble('Please hurry').getByText('edited').waitFor()
  await send({ type: 'reaction', messageId: await idOf('Please hury'), emoji: '🏃' })
  await bubble('Please hurry').getByText('🏃').waitFor()
  await write({ type: 'revoke', messageId: await idOf('sent by mistake') })
  await bubble('deleted').waitFor()
  await expect.poll(() => messages().getByText('sent by mistake').count()).toBe(0)
  await expect.poll(() => messages().getByText('Please hury').count()).toBe(0)
  expect(await rows()).toBe(before)
  await visitor.look('inbox-changes')
  await write({ type: 'reaction', messageId: sent.id, emoji: '' })
  await expect.poll(() => bubble('It costs 25').getByLabel('Reactions').count()).toBe(0)
  await visitor.page.reload()
  await bubble('It costs 25').getByText('edited').waitFor()
})

test('a reply shows what it answers, and leads there', async () => {
  const { page } = visitor
  await bubble('Please hurry').hover()
  await messages().getByRole('listitem').filter({ hasText: 'Please hurry' }).getByRole('button', { name: 'Reply' }).click()
  await page.getByLabel('Message', { exact: true }).fill('We do')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await bubble('We do').getByRole('button', { name: 'Ana' }).getByText(/Please hu/).waitFor()
  await send({ type: 'text', text: 'about your first words' }, { messageId: first })
  const quote = bubble('about your first words').getByRole('button', { name: 'the very first' })
  await quote.waitFor()
  await visitor.look('inbox-quote')
  await quote.click()
  await expect.poll(() => page.locator('.bubble[aria-current]').innerText()).toContain('the very first')
  await messages().getByText('message 0', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Newest message' }).click()
  await bubble('about your first words').waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('')
})
