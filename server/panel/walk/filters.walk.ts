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
  reference = (await server.call<{ id: number }>(token, 'POST', '/reference', { name: 'Shop', type: 'provider-sandbox' })).id
  for (let at = 0; at < 120; at++) {
    const name = at === 0 ? 'ana' : at === 1 ? 'ben' : `crowd${at}`
    await server.call(token, 'POST', `/sandbox/${reference}/messages`, { from: name, name, type: 'text', text: 'hello' })
    if (name !== 'ana') await server.call(token, 'POST', '/chats/read', { reference, chatId: `${name}@sandbox` })
  }
  await server.call(token, 'PATCH', '/chats', { reference, chatId: 'ben@sandbox', handoff: 'take' })
  await server.call(token, 'PATCH', '/chats', { reference, chatId: 'crowd119@sandbox', tags: ['vip'] })
})

afterAll(async () => {
  await visitor.end(server)
})

const chats = () => visitor.page.getByRole('region', { name: 'Inbox' }).getByRole('link')
const shown = () => chats().locator('strong').allInnerTexts()
const show = (what: string) => visitor.page.getByLabel('Show', { exact: true }).selectOption(what)

test('the list shows the chats that one asks for, however far down they are', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/inbox/${reference}`)
  await chats().first().waitFor()
  await show('Unread')
  await expect.poll(shown).toEqual(['ana'])
  await visitor.look('inbox-filter')
  await show('With a person')
  await expect.poll(shown).toEqual(['ben'])
  await show('Waiting for a person')
  await page.getByText('No chat matches.').waitFor()
  await show('All chats')
  await page.getByLabel('Tag', { exact: true }).selectOption('vip')
  await expect.poll(shown).toEqual(['crowd119'])
})

test('the filters stay in the address, with the chat that is opened', async () => {
  const { page } = visitor
  await page.getByLabel('Tag', { exact: true }).selectOption('All tags')
  await show('Unread')
  await chats().first().click()
  await page.getByRole('region', { name: 'Messages', exact: true }).getByText('hello').waitFor()
  expect(new URL(page.url()).search).toBe('?filter=unread')
  await page.reload()
  await expect.poll(shown).toEqual(['ana']) // which is read now, but open
  await page.setViewportSize({ width: 360, height: 740 })
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await page.getByText('No chat matches.').waitFor()
  await visitor.fits()
  await visitor.look('inbox-filter-phone')
})
